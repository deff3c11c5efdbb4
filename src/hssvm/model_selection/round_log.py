"""Log messages of a search: round, rows, candidates, and the best of them so far."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hssvm.model_selection.families import Candidate, Family
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
    >>> from hssvm.model_selection.families import Family
    >>> from hssvm.model_selection.round_log import RoundLog
    >>> log = RoundLog(0, n_rounds=3, n_rows=2000)
    >>> log.add(Family("rbf", None), 0.25, [1.0, 10.0], [0.8, 0.9])
    >>> str(log)
    'round 1 of 3, 2,000 rows: 2 candidates, best score 0.9 at rbf, C=10, gamma=0.25'
    """

    round: int
    n_rounds: int
    n_rows: int
    n_scored: int = 0
    best_score: float = -math.inf
    best: Candidate | None = None

    def add(
        self, family: Family, gamma: float, Cs: Sequence[float], means: Sequence[float]
    ) -> None:
        """Log candidates of one gamma; a mean score is NaN if there is none."""
        for C, mean in zip(Cs, means, strict=True):
            if not math.isnan(mean):
                self.n_scored += 1
                if self.best is None or mean > self.best_score:
                    self.best_score, self.best = float(mean), Candidate(family, gamma, C)
        scores = " ".join(f"{mean:.4g}" for mean in means)
        logger.debug("%d rows, %s, gamma %g: mean scores %s", self.n_rows, family, gamma, scores)
        if self.n_scored:
            emit(SearchRound(self.round, str(self)), "%s", self)

    def __str__(self) -> str:
        scored = counted(self.n_scored, "candidate")
        return (
            f"round {self.round + 1} of {self.n_rounds}, {counted(self.n_rows, 'row')}: {scored}, "
            f"best score {self.best_score:.4g} at {self.best}"
        )
