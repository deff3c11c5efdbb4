"""``hssvm convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def convert(
    model: Annotated[Path, typer.Argument(help="Model file of hssvm or LIBSVM; - is stdin.")],
    output: Annotated[Path, typer.Argument(help="File of the other kind; - is stdout.")],
    features: Annotated[
        int | None,
        typer.Option(
            help="Number of features of a LIBSVM model.  [default: the largest index in the file]"
        ),
    ] = None,
    range_path: Annotated[
        Path | None,
        typer.Option(
            "--range",
            metavar="FILE",
            help="Also write the scaling of the features, for svm-scale -r.  [default: none]",
        ),
    ] = None,
) -> None:
    """Convert a model of hssvm to a LIBSVM model, or a LIBSVM model to a model of hssvm.

    The content of the file determines the direction. The decision values remain the same.

    hssvm convert a9a.hssvm a9a.model; svm-predict a9a.test a9a.model labels.txt

    hssvm convert svm-train.model a9a.hssvm --features 123
    """
    import hssvm
    from hssvm.cli import checks, tables
    from hssvm.cli.context import print_result, working
    from hssvm.cli.streams import STREAM, input_file, load_model, write_file
    from hssvm.persistence.archive import is_archive
    from hssvm.training.reports.summary import counted

    checks.check_inputs(model)
    checks.check_model_output(output, model, name="OUTPUT")
    _refuse(range_path in (output, STREAM), "--range", "name a file other than OUTPUT.")
    if range_path is not None:
        checks.check_output(range_path, model, name="--range")
    with working(), input_file(model) as path:
        if is_archive(path):
            kind, loaded = "LIBSVM model", load_model(path)
            _refuse(features is not None, "--features", f"{model} has its own; leave it out.")
            _refuse(
                output.suffix == checks.ENDING,
                "OUTPUT",
                f"{model} is a model of hssvm, so the output is a LIBSVM model; use another file "
                f"extension than {checks.ENDING}.",
            )
            n_bytes = write_file(lambda to: loaded.save_libsvm(to, range_path=range_path), output)
        else:
            kind, loaded = "model", hssvm.load_libsvm(path, n_features=features)
            _refuse(range_path is not None, "--range", "LIBSVM models do not scale.")
            n_bytes = write_file(loaded.save, output)
    vectors = counted(loaded.dual_coef_.shape[1], "support vector")
    print_result(
        f"{kind} in {output}, {tables.size_of(n_bytes)}: {type(loaded).__name__}, "
        f"{counted(loaded.n_features_in_, 'feature')}, {vectors}",
        output,
    )


def _refuse(condition: bool, name: str, problem: str) -> None:
    if condition:
        raise typer.BadParameter(problem, param_hint=name)
