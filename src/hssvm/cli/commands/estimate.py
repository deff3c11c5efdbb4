"""``hssvm estimate``."""

from __future__ import annotations

from hssvm.cli import options
from hssvm.cli.options import Task


def estimate(
    data: options.Data,
    task: options.TaskName = None,
    C: options.C = None,
    gamma: options.Gamma = None,
    kernel: options.KernelName = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    epsilon: options.Epsilon = None,
    loss: options.LossName = None,
    quantile: options.Quantile = None,
    scale: options.ScalingName = None,
    approximation: options.ApproximationName = None,
    cell_size: options.CellSize = None,
    trees: options.NTrees = None,
    max_rank: options.MaxRank = None,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.Target = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    double: options.Double = False,
    threads: options.Threads = None,
) -> None:
    """Estimate the time and memory of training, from a sample.

    hssvm estimate covtype.libsvm --C 32 --gamma 8 --scale minmax
    """
    import numpy as np

    from hssvm.cli import reading, training
    from hssvm.cli.checks import check_inputs
    from hssvm.cli.context import err, out, working
    from hssvm.cli.messages import in_options
    from hssvm.cli.parsing import given, parse_approximation, parse_column, parse_columns
    from hssvm.cli.progress import showing
    from hssvm.io.columns import Roles

    check_inputs(data)
    parameters = given(
        C=C, gamma=gamma, kernel=kernel, degree=degree, coef0=coef0, epsilon=epsilon,
        loss=loss, quantile=quantile, scaling=scale,
        approximation=parse_approximation(approximation, cell_size, trees, max_rank, task),
    )  # fmt: skip
    task = Task.svc if task is None else task
    estimator = training.make_estimator(task, {"random_state": 0, **parameters})
    labels, column = task is not Task.one_class, parse_column(target)
    rule = Roles(
        column if labels or column is not None else False,
        ignored=parse_columns(ignore),
        guess=False,
    )
    layout = reading.Layout(format, separator, np.float64 if double else np.float32)
    encoder = reading.make_encoder(categorical, numeric)
    with working(threads):
        with showing(err, quiet=not err.is_terminal) as progress:
            table, _ = reading.read_training(data, progress, rule, layout, encoder, labels=labels)
            rows = (table.X, table.y) if labels else (table.X,)
            cost = estimator.estimate_cost(*rows)
            cost.advice[:] = map(in_options, cost.advice)
        out.print(str(cost), highlight=False, soft_wrap=True, markup=False)
