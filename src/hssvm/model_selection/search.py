"""Search over pairs of gamma and C of a family: all given values, or from a coarse to a fine grid.

Candidates are points of a lattice. On an axis with given values, a neighborhood contains all of
them; on a free axis it contains three, a factor of 10 apart. The search scores the neighborhood of
a center, moves to the best point, and repeats, so that it can leave the initial neighborhood. Then
it does the same with values a factor of 3.2 apart.

The search may continue with other scores, from more rows; see `hssvm.model_selection.rounds`.
Scores of different rounds are not compared with each other. Searches of several families run
together; see `hssvm.model_selection.race`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.model_selection.families import Family

Scores = NDArray[np.float64]
Score = Callable[[Family, float, list[float]], Scores]
Pair = tuple[int, int]

COARSE, FINE = 2, 1
"""Distances of neighbors on a free axis."""

FIRST_C = 2
"""Position of ten units of C, where the search starts."""

MOVES, REACH = 8, 8
"""Maximum number of moves of the center per step size, and of positions on each side of the
origin."""

MIN_GAIN = 0.01
"""Smallest gain for which the center moves, relative to the range of the scores; it must also
exceed its standard error. On smooth data, the scores of a regression increase slightly up to the
largest C, whose models take the longest."""


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
        """Return all positions, the nearest first."""
        return sorted(self.required, key=lambda other: abs(other - position))

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


def axis_of_C(Cs: int | Sequence[float] | str, unit: float) -> Axis:
    """Return the axis of a parameter `Cs` of a search: 'auto', a number of values, or values."""
    if isinstance(Cs, str):
        return Free(unit, start=FIRST_C)
    if isinstance(Cs, int):
        return Given((unit * np.logspace(-2, 2, Cs)).tolist())
    return Given(np.unique(Cs).tolist())


@dataclass(eq=False)
class Search:
    """A search over pairs of gamma and C, and their scores so far.

    Parameters
    ----------
    family : Family
        Kernel and scaling of the candidates.
    gammas, Cs : Axis
    stopped : callable
        Whether to stop before the next scores.

    Attributes
    ----------
    rounds : list of dict
        The scores of each round, (n_folds,), by pairs of positions; NaN if a candidate could not be
        scored.
    center : pair
        Positions whose neighborhood is scored next.
    """

    family: Family
    gammas: Axis
    Cs: Axis
    stopped: Callable[[], bool]
    rounds: list[dict[Pair, Scores]] = field(default_factory=lambda: [{}])
    center: Pair = field(init=False)

    def __post_init__(self) -> None:
        self.center = self.gammas.start, self.Cs.start

    def move(self, score: Score, step: int) -> bool:
        """Score the neighborhood of the center, and move to the best; False if there is none.

        Parameters
        ----------
        score : callable
            Called as ``score(family, gamma, Cs)`` with a list of values of C; returns
            (n_Cs, n_folds).
        step : int
        """
        center, near = self.center, self.Cs.around(self.center[1], step)
        for g in self.gammas.around(center[0], step):
            cross = step == FINE and g != center[0] and isinstance(self.Cs, Free)
            self.score(score, g, [center[1]] if cross else near)
        before, self.center = self.center, self._best_neighbor()
        return self.center != before and not self.stopped()

    def score_line(self, score: Score, step: int) -> None:
        """Score the values of C around the center."""
        self.score(score, self.center[0], self.Cs.around(self.center[1], step))

    def recenter(self) -> None:
        """Move the center to the best candidate of the last round with scores."""
        known = self.known(self.last_round)
        self.center = max(known, key=lambda pair: known[pair], default=self.center)

    def begin_round(self) -> None:
        """Continue with other scores."""
        self.rounds.append({})

    @property
    def last_round(self) -> int:
        """Index of the last round with scores; 0 if there is none."""
        return max((r for r in range(len(self.rounds)) if self.known(r)), default=0)

    @property
    def scored(self) -> dict[Pair, Scores]:
        """The last scores of all candidates."""
        last: dict[Pair, Scores] = {}
        for r, scored in enumerate(self.rounds):
            known = self.known(r)
            last |= {p: scores for p, scores in scored.items() if p in known or p not in last}
        return last

    def grid(self) -> tuple[NDArray[np.float64], NDArray[np.float64], Scores]:
        """Return the values of gamma and C, ascending, and the scores (n_gammas, n_Cs, n_folds).

        If a pair has several scores, the last one is returned; pairs that were not tried have NaN.
        """
        last = self.scored
        G, D = (
            sorted({*(pair[i] for pair in last), *axis.required})
            for i, axis in enumerate((self.gammas, self.Cs))
        )
        n_folds = next(iter(last.values())).size
        scores = np.full((len(G), len(D), n_folds), np.nan)
        for (g, c), value in last.items():
            scores[G.index(g), D.index(c)] = value
        gammas = np.array([self.gammas.value(g) for g in G])
        Cs = np.array([self.Cs.value(c) for c in D])
        return gammas, Cs, scores

    def score(self, score: Score, g: int, positions: list[int]) -> None:
        """Score candidates of one gamma that this round does not have yet."""
        new = [c for c in positions if (g, c) not in self.rounds[-1]]
        if new and not self.stopped():
            scores = score(self.family, self.gammas.value(g), [self.Cs.value(c) for c in new])
            self.rounds[-1].update({(g, c): s for c, s in zip(new, scores, strict=True)})

    @property
    def top(self) -> Scores | None:
        """The scores of the best candidate of this round, (n_folds,), if there is one."""
        known = self.known(-1)
        return self.rounds[-1][max(known, key=lambda pair: known[pair])] if known else None

    def known(self, round: int) -> dict[Pair, float]:
        """Mean scores of the candidates of a round that could be scored."""
        means = {pair: float(mean_scores(scores)) for pair, scores in self.rounds[round].items()}
        return {pair: mean for pair, mean in means.items() if not np.isnan(mean)}

    def _best_neighbor(self) -> Pair:
        """Return the best candidate, or the center if it is about as good."""
        scored, known = self.rounds[-1], self.known(-1)
        best = max(known, key=lambda pair: known[pair], default=self.center)
        if self.center not in known:
            return best
        gains = scored[best] - scored[self.center]
        least = max(standard_error(gains), MIN_GAIN * (known[best] - min(known.values())))
        return best if known[best] - known[self.center] > least else self.center


def standard_error(values: Scores) -> float:
    """Standard error of the mean over the folds; 0 if there is a single one."""
    return float(values.std(ddof=1) / values.size**0.5) if values.size > 1 else 0.0


def mean_scores(scores: Scores) -> Scores:
    """Mean over the folds, rounded so that rounding errors do not break ties."""
    return scores.mean(axis=-1).round(12)
