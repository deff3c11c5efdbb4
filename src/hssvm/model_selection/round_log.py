"""Log messages of a search: round, rows, candidates, and the best of them so far."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hssvm.progress import SearchRound, emit
from hssvm.training.reports.summary import counted

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class RoundLog:
    """Emits the state of a round.

    Parameters
    ----------
    round, n_rounds, n_rows : int
        Index of the round, number of rounds of the search, and number of rows of this one.

    Examples
    --------
    >>> from hssvm.model_selection.round_log import RoundLog
    >>> log = RoundLog(0, n_rounds=3, n_rows=2000)
    >>> log.add(0.25, [1.0, 10.0], [0.8, 0.9])
    >>> str(log)
    'round 1 of 3, 2,000 rows: 2 candidates, best score 0.9 at C=10, gamma=0.25'
    """

    round: int
    n_rounds: int
    n_rows: int
    n_scored: int = 0
    best: tuple[float, float, float] = (-math.inf, math.nan, math.nan)

    def add(self, gamma: float, Cs: Sequence[float], means: Sequence[float]) -> None:
        """Log candidates of one gamma; a mean score is NaN if there is none."""
        for C, mean in zip(Cs, means, strict=True):
            if not math.isnan(mean):
                self.n_scored += 1
                self.best = max(self.best, (float(mean), C, gamma), key=lambda best: best[0])
        scores = " ".join(f"{mean:.4g}" for mean in means)
        logger.debug("%d rows, gamma %g: mean scores %s", self.n_rows, gamma, scores)
        if self.n_scored:
            emit(SearchRound(self.round, str(self)), "%s", self)

    def __str__(self) -> str:
        score, C, gamma = self.best
        values = f"C={C:.4g}" + ("" if math.isnan(gamma) else f", gamma={gamma:.4g}")
        return (
            f"round {self.round + 1} of {self.n_rounds}, {counted(self.n_rows, 'row')}: "
            f"{counted(self.n_scored, 'candidate')}, best score {score:.4g} at {values}"
        )
