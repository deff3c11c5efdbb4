"""Which pairs of gamma and C to score: all that are given, or a walk from coarse to fine.

Candidates are points of a lattice. An axis with given values has all of them in every
neighborhood; a free axis has three, two steps apart: a factor of 10. The walk scores the
neighborhood of a center, moves to the best point, and repeats, so that it leaves the first values
where better ones lie outside; then it does the same one step apart, a factor of 3.2. On smooth
landscapes some 20 pairs with 6 values of gamma are enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

STEPS = (2, 1)

MOVES, REACH = 8, 8
"""Moves of the center for one step, and positions to either side of the origin, at most."""


class Axis(ABC):
    """Values of a parameter by position."""

    start: int

    @abstractmethod
    def value(self, position: int) -> float:
        """Return the value at a position."""

    @abstractmethod
    def around(self, position: int, step: int) -> list[int]:
        """Positions of a neighborhood."""

    @property
    @abstractmethod
    def required(self) -> range:
        """Positions that a grid has, whether or not they were scored."""


@dataclass(frozen=True)
class Given(Axis):
    """Values to score without exception.

    Parameters
    ----------
    values : list of float
        Ascending.
    """

    values: list[float]
    start: int = 0

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("Cs and gammas must have at least one value each")

    def value(self, position: int) -> float:
        """Return the value at a position."""
        return self.values[position]

    def around(self, position: int, step: int) -> list[int]:
        """All positions."""
        return list(self.required)

    @property
    def required(self) -> range:
        """All positions."""
        return range(len(self.values))


@dataclass(frozen=True)
class Free(Axis):
    """Values to find.

    Parameters
    ----------
    origin : float
        Value at position 0; half a decade lies between two positions.
    """

    origin: float
    start: int = 0

    def value(self, position: int) -> float:
        """Return the value at a position."""
        return float(self.origin * 10 ** (position / 2))

    def around(self, position: int, step: int) -> list[int]:
        """Return the position and its neighbors, the position first."""
        near = (position, position - step, position + step)
        return [p for p in near if abs(p) <= REACH]

    @property
    def required(self) -> range:
        """None."""
        return range(0)


@dataclass(eq=False)
class Search:
    """A walk over candidates, and their scores so far.

    Parameters
    ----------
    gammas, Cs : Axis
    score : callable
        Called as ``score(gamma, Cs)`` with a value and a list of them; returns (n_Cs, n_folds),
        NaN for what was not scored.
    stopped : callable
        Whether to end before the next call of `score`.
    """

    gammas: Axis
    Cs: Axis
    score: Callable[[float, list[float]], Scores]
    stopped: Callable[[], bool]
    scores: dict[tuple[int, int], Scores] = field(default_factory=dict)

    def run(self) -> None:
        """Score candidates until the best has been compared with its neighbors."""
        center = (self.gammas.start, self.Cs.start)
        for step in STEPS:
            for _ in range(MOVES):
                self._visit(center, step)
                best = self._best(center)
                if best == center or self.stopped():
                    break
                center = best

    def best(self) -> tuple[float, float]:
        """Gamma and C of the best mean score, of equals the smallest; ValueError without any."""
        known = self._known()
        if not known:
            raise ValueError(
                "no parameters have a score in every fold; if a fold has rows of one class "
                "only, take fewer folds or another scoring"
            )
        g, c = min(pair for pair, mean in known.items() if mean == max(known.values()))
        return self.gammas.value(g), self.Cs.value(c)

    def grid(self) -> tuple[NDArray[np.float64], NDArray[np.float64], Scores]:
        """Values of gamma and of C, ascending, and scores (n_gammas, n_Cs, n_folds).

        A pair that was not scored has NaN.
        """
        G, D = (self._positions(axis) for axis in (0, 1))
        n_folds = next(iter(self.scores.values())).size
        scores = np.full((len(G), len(D), n_folds), np.nan)
        for (g, c), value in self.scores.items():
            scores[G.index(g), D.index(c)] = value
        values = [[axis.value(p) for p in some] for axis, some in ((self.gammas, G), (self.Cs, D))]
        return np.array(values[0]), np.array(values[1]), scores

    def _positions(self, axis: int) -> list[int]:
        required = (self.gammas, self.Cs)[axis].required
        return sorted({*(pair[axis] for pair in self.scores), *required})

    def _visit(self, center: tuple[int, int], step: int) -> None:
        for g in self.gammas.around(center[0], step):
            new = [c for c in self.Cs.around(center[1], step) if (g, c) not in self.scores]
            if new and not self.stopped():
                scores = self.score(self.gammas.value(g), [self.Cs.value(c) for c in new])
                self.scores.update({(g, c): s for c, s in zip(new, scores, strict=True)})

    def _best(self, center: tuple[int, int]) -> tuple[int, int]:
        """The best candidate, the center if it is as good."""
        known = self._known()
        if not known or known.get(center) == max(known.values()):
            return center
        return max(known, key=lambda pair: known[pair])

    def _known(self) -> dict[tuple[int, int], float]:
        """Mean scores of what has been scored."""
        means = {pair: float(mean_scores(scores)) for pair, scores in self.scores.items()}
        return {pair: mean for pair, mean in means.items() if not np.isnan(mean)}


def mean_scores(scores: Scores) -> Scores:
    """Mean over the folds, without the last digits: rounding must not decide between equals."""
    return scores.mean(axis=-1).round(12)
