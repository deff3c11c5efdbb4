"""Search over pairs of gamma and C: over all given values, or from a coarse to a fine grid.

Candidates are points of a lattice. On an axis with given values, a neighborhood contains all of
them; on a free axis it contains three, a factor of 10 apart. The search scores the neighborhood of
a center, moves to the best point, and repeats, so that it can leave the initial neighborhood. Then
it does the same with values a factor of 3.2 apart. If the score is a smooth function of the
parameters, about 20 pairs with 6 values of gamma are enough.
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
"""Maximum number of moves of the center per step size, and of positions on each side of the
origin."""


class Axis(ABC):
    """The values of a parameter, by position."""

    start: int

    @abstractmethod
    def value(self, position: int) -> float:
        """Return the value at a position."""

    @abstractmethod
    def around(self, position: int, step: int) -> list[int]:
        """Return the positions of a neighborhood."""

    @property
    @abstractmethod
    def required(self) -> range:
        """Positions that belong to the grid even if they were not scored."""


@dataclass(frozen=True)
class Given(Axis):
    """An axis of given values, all of which are scored.

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
        """Return all positions."""
        return list(self.required)

    @property
    def required(self) -> range:
        """All positions."""
        return range(len(self.values))


@dataclass(frozen=True)
class Free(Axis):
    """An axis on which the best value is searched.

    Parameters
    ----------
    origin : float
        Value at position 0; positions are half a decade apart.
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
        """No positions."""
        return range(0)


@dataclass(eq=False)
class Search:
    """A search over candidates, and their scores so far.

    Parameters
    ----------
    gammas, Cs : Axis
    score : callable
        Called as ``score(gamma, Cs)`` with a list of values of C; returns (n_Cs, n_folds), with NaN
        for candidates that were not scored.
    stopped : callable
        Whether to stop before the next call of `score`.
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
        """Return gamma and C of the best mean score, of several the smallest gamma, then C."""
        known = self._known()
        if not known:
            raise ValueError(
                "no candidate has a score in every fold; if the time was up, raise max_time; if a "
                "fold has rows of only one class, use fewer folds or another scoring"
            )
        g, c = min(pair for pair, mean in known.items() if mean == max(known.values()))
        return self.gammas.value(g), self.Cs.value(c)

    def grid(self) -> tuple[NDArray[np.float64], NDArray[np.float64], Scores]:
        """Return the values of gamma and C, ascending, and the scores (n_gammas, n_Cs, n_folds).

        The scores of pairs that were not tried are NaN.
        """
        G, D = (self._positions(axis) for axis in (0, 1))
        n_folds = next(iter(self.scores.values())).size
        scores = np.full((len(G), len(D), n_folds), np.nan)
        for (g, c), value in self.scores.items():
            scores[G.index(g), D.index(c)] = value
        gammas = np.array([self.gammas.value(g) for g in G])
        Cs = np.array([self.Cs.value(c) for c in D])
        return gammas, Cs, scores

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
        """Return the best candidate, preferring the center in case of a tie."""
        known = self._known()
        if not known or known.get(center) == max(known.values()):
            return center
        return max(known, key=lambda pair: known[pair])

    def _known(self) -> dict[tuple[int, int], float]:
        """Mean scores of the candidates that have been scored."""
        means = {pair: float(mean_scores(scores)) for pair, scores in self.scores.items()}
        return {pair: mean for pair, mean in means.items() if not np.isnan(mean)}


def mean_scores(scores: Scores) -> Scores:
    """Mean over the folds, rounded so that rounding errors do not break ties."""
    return scores.mean(axis=-1).round(12)
