"""The figures of the paper, and one of ours."""

import matplotlib
import numpy as np

from benchmarks.libsvm_files import load
from benchmarks.paper import published
from benchmarks.paper.grid import accuracies, best
from benchmarks.paper.methods import SEED, gamma_of
from hssvm.hss import compress
from hssvm.kernels import Gaussian
from hssvm.plotting import (
    KernelMatrixDisplay,
    RankDisplay,
    ScoreGridDisplay,
    SingularValueDisplay,
)

WIDTHS = (0.1, 0.3, 1, 3, 10)
HEAT_MAPS = ("a9a", "ijcnn1")
RANKS_OF = "cod-rna", 10


def draw_all(results, folder):
    """Write every picture whose data are there, as PNG."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    for name, draw in PICTURES.items():
        try:
            figure = draw(results)
        except LookupError as missing:
            print(f"{name}.png: not drawn. {missing}", flush=True)
            continue
        # Without the version of matplotlib the same picture is the same file.
        figure.savefig(folder / f"{name}.png", dpi=120, metadata={"Software": None})
        pyplot.close(figure)


def heart_rows():
    """All 270 rows of heart_scale."""
    X, _, X_test, _ = rows_of("heart_scale")
    return np.concatenate([X, X_test]).astype(np.float64)


def rows_of(name):
    try:
        return load(name)
    except FileNotFoundError as missing:
        raise LookupError(str(missing)) from missing


def singular_values(results):
    display = SingularValueDisplay.from_rows(heart_rows(), WIDTHS).plot()
    display.ax_.set_title("heart_scale, 270 rows")
    return display.figure_


def kernel_matrix(results):
    display = KernelMatrixDisplay.from_rows(heart_rows(), Gaussian(gamma_of(1)), leaf_size=20)
    figure = display.plot().figure_
    figure.suptitle("heart_scale, h = 1")
    return figure


def heat_maps(results):
    from matplotlib import pyplot

    methods = {"tight": "HSS-ANN, tight", "compressed": "hssvm, compressed"}
    names = [name for name in HEAT_MAPS if all(best(results, name, method) for method in methods)]
    if not names:
        raise LookupError(f"There are no results of {' or '.join(HEAT_MAPS)}.")
    figure, axes = pyplot.subplots(
        len(names), 2, figsize=(9, 3.25 * len(names)), layout="constrained", squeeze=False
    )
    for row, name in zip(axes, names, strict=True):
        scores = np.array(
            [[accuracies(results, name, method, h) for h in published.H_GRID] for method in methods]
        )
        low, high = np.nanmin(scores), np.nanmax(scores)
        for ax, label, grid in zip(row, methods.values(), scores, strict=True):
            display = ScoreGridDisplay.from_scores(published.H_GRID, published.C_GRID, grid)
            display.score_name = "accuracy, %"
            display.plot(ax, vmin=low, vmax=high)
            ax.set_title(f"{name}: {label}\n{ax.get_title().replace(chr(10), ' at ')}")
    return figure


def ranks(results):
    name, h = RANKS_OF
    X = rows_of(name)[0]
    matrix = compress(Gaussian(gamma_of(h)), X, random_state=SEED, max_rank=72)
    display = RankDisplay.from_matrix(matrix).plot()
    display.ax_.set_title(f"{name}, h = {h}\n" + display.ax_.get_title())
    return display.figure_


PICTURES = {
    "singular_values": singular_values,
    "kernel_matrix": kernel_matrix,
    "heat_maps": heat_maps,
    "ranks": ranks,
}
