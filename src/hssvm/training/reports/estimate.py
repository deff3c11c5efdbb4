"""The expected cost of a fit."""

from __future__ import annotations

from dataclasses import dataclass

from hssvm._display import ShownAsText


@dataclass(frozen=True, eq=False, repr=False)
class CostEstimate(ShownAsText):
    """Expected cost and accuracy of a fit, as returned by `estimate_cost` of an estimator.

    Attributes
    ----------
    n_rows, n_sample : int
        Number of rows of the data, and of the larger sample.
    seconds : dict
        Seconds by stage.
    memory : float
        Peak memory of the fit in bytes, in addition to its rows.
    kernel_error : float
        Estimate of ``|K - K~|_F / |K|_F`` on the sample.
    ranks : list of int
        Largest rank per level of the sample, root first.
    refines : bool
        Whether the fit continues on the exact kernel.
    n_trees : int
        Number of trees of the forest.
    n_pairs : int
        Number of pairs of classes that are trained on the exact kernel, one-vs-one; else 0.
    cell_size : int
        Maximum number of rows of a cell; 0 if there are none.
    advice : list of str
    """

    n_rows: int
    n_sample: int
    seconds: dict[str, float]
    memory: float
    kernel_error: float
    ranks: list[int]
    refines: bool
    n_trees: int
    n_pairs: int
    cell_size: int
    advice: list[str]

    @property
    def total_seconds(self) -> float:
        """Seconds of all stages together."""
        return sum(self.seconds.values())

    def __str__(self) -> str:
        """Return a summary of a few lines."""
        stages = ", ".join(f"{name} {value:.2g}" for name, value in self.seconds.items())
        kernel = "exact, from a start on the compressed one" if self.refines else "compressed"
        if self.n_trees > 1:
            kernel = f"forest of {self.n_trees} compressed ones"
        lines = [f"estimate for {self.n_rows:,} rows, from a sample of {self.n_sample:,}"]
        if self.cell_size:
            lines.append(
                f"kernel     exact, within cells of {self.cell_size:,} rows of {self.n_trees} trees"
            )
        elif self.n_pairs:
            lines.append(f"kernel     exact, for each of {self.n_pairs} pairs of classes")
        elif not self.ranks:
            lines.append("kernel     exact")
        else:
            error, ranks = f"{self.kernel_error:.2g}", " ".join(map(str, self.ranks))
            lines += [
                f"kernel     {kernel}; relative error of the compressed one {error}",
                f"           ranks {ranks} from the top to the leaves, sample",
            ]
        lines += [
            f"memory     {self.memory / 1e6:,.0f} MB at the peak",
            f"seconds    about {self.total_seconds:.2g}: {stages}",
        ]
        return "\n".join([*lines, *(f"advice     {advice}" for advice in self.advice)])
