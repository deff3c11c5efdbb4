"""A race of families: the searches of several families run together, in rounds.

All families start on few rows, with three values of C; the best of them continue. In every step,
each of these scores the neighborhood of its best candidate; a family that another one beats with
confidence gets no more candidates. Of the others, a third continues with finer steps and more rows,
and the best candidates of all families meet in the last rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hssvm.model_selection.families import Candidate, Family
from hssvm.model_selection.rounds import FACTOR
from hssvm.model_selection.search import (
    MOVES,
    Pair,
    Score,
    Scores,
    Search,
    mean_scores,
    standard_error,
)
from hssvm.training.scales.scaling import LEARNED, base_of

WALKING = 4
"""Minimum number of families that continue after the first three values of C. On small tables, the
best of twelve is nearly always among them: more cost time, and do not lower the errors."""

CONFIDENCE = 2.0
"""A family is beaten if its best candidate scores lower than the best of all by this many standard
errors of the difference over the folds."""


@dataclass(eq=False)
class Race:
    """Searches of several families.

    Parameters
    ----------
    searches : list of Search
    n_kept : int
        Number of families that stay to the end, even if they are beaten.

    Attributes
    ----------
    running : list of Search
        The searches that get more candidates.
    """

    searches: list[Search]
    n_kept: int = 1
    running: list[Search] = field(init=False)

    def __post_init__(self) -> None:
        self.running = list(self.searches)

    def start(self, score: Score, step: int) -> None:
        """Score values of C at the first gamma of every family; keep the best families.

        Learned scales are only tried on features that are not clearly worse than others.
        """
        if len(self.running) <= max(WALKING, self.n_kept):
            return
        plain = [search for search in self.running if search.family.scaling not in LEARNED]
        for search in plain:
            search.score_line(score, step)
        for search in [search for search in self.running if search not in plain]:
            if self._may_gain(search.family, plain):
                search.score_line(score, step)
            else:
                self.running.remove(search)
        self.keep_best(WALKING)

    def walk(self, score: Score, step: int) -> None:
        """Score candidates until the best of every family has been compared with its neighbors.

        Parameters
        ----------
        score : callable
        step : int
            See `Search.move`.
        """
        for search in self.running:
            search.recenter()
        moving = self.running
        for _ in range(MOVES):
            moved = [search for search in moving if search.move(score, step)]
            self._drop_beaten()
            moving = [search for search in moved if search in self.running]
            if not moving:
                break

    def keep_best(self, least: int = 1) -> None:
        """Stop the families with the lowest scores.

        A third remains, and at least `n_kept` and `least`.
        """
        third = math.ceil(len(self.running) / FACTOR)
        best = self._ranked()[: max(self.n_kept, least, third)]
        self.running = [search for search in self.running if search in best]

    def again(self, score: Score, count: int) -> None:
        """Score the best candidates of the last round with scores in this one."""
        means = self._means(self.last_round)
        if not means:  # with so few rows, no candidate could be scored
            means = {
                (s, pair): 0.0
                for s, search in enumerate(self.searches)
                for pair in search.rounds[-2]
            }
        ranked = sorted(means, key=lambda key: (-means[key], key))
        left = list(
            dict.fromkeys([*ranked[:count], *self._leaders(self.last_round)[: self.n_kept]])
        )
        for s, search in enumerate(self.searches):
            pairs = [pair for other, pair in left if other == s]
            for g in dict.fromkeys(g for g, _ in pairs):
                search.score(score, g, [c for other, c in pairs if other == g])

    def begin_round(self) -> None:
        """Continue with other scores."""
        for search in self.searches:
            search.rounds.append({})

    @property
    def n_last(self) -> int:
        """Number of candidates of the last round."""
        return sum(len(search.rounds[-1]) for search in self.searches)

    @property
    def last_round(self) -> int:
        """Index of the last round with scores; 0 if there is none."""
        return max(search.last_round for search in self.searches)

    def leaders(self, epsilon: float = math.nan) -> list[Candidate]:
        """Return the best candidate of every family of the last round with scores, the best first.

        The list is empty if no candidate has a score in every fold. Ties go to the first family,
        the smallest gamma, and the smallest C.
        """
        found = [(self.searches[s], pair) for s, pair in self._leaders(self.last_round)]
        return [
            Candidate(search.family, search.gammas.value(g), search.Cs.value(c), epsilon)
            for search, (g, c) in found
        ]

    def of(self, family: Family) -> Search:
        """Return the search of a family."""
        return next(search for search in self.searches if search.family == family)

    def _means(self, round: int) -> dict[tuple[int, Pair], float]:
        """Mean scores of a round, by index of the search and pair of positions."""
        return {
            (s, pair): mean
            for s, search in enumerate(self.searches)
            for pair, mean in search.known(round).items()
        }

    def _leaders(self, round: int) -> list[tuple[int, Pair]]:
        """Return the best candidates of all families of a round, the best first."""
        means = self._means(round)
        ranked = sorted(means, key=lambda key: (-means[key], key))
        best_of = dict(reversed(ranked))
        return [(s, pair) for s, pair in ranked if best_of[s] == pair]

    def _drop_beaten(self) -> None:
        """Stop the families whose best candidate is beaten by the best of all."""
        ranked = self._ranked()
        best, kept = ranked[0].top, ranked[: self.n_kept]
        if best is None or best.size == 1:  # a single fold tells nothing about the error
            return
        self.running = [
            search for search in self.running if search in kept or not _is_beaten(search.top, best)
        ]

    def _may_gain(self, family: Family, plain: list[Search]) -> bool:
        """Whether the plain features of a learned family are not clearly worse than others."""
        tops = {s.family.scaling: s.top for s in plain if s.family.kernel == family.kernel}
        own = tops.pop(base_of(family.scaling), None)
        return not any(top is not None and _is_beaten(own, top) for top in tops.values())

    def _ranked(self) -> list[Search]:
        """Return the searches that get more candidates, the best first."""
        return sorted(self.running, key=lambda search: -_mean(search.top))


def _mean(scores: Scores | None) -> float:
    return -math.inf if scores is None else float(mean_scores(scores))


def _is_beaten(scores: Scores | None, best: Scores) -> bool:
    if scores is None:
        return False
    differences = best - scores
    return bool(differences.mean() > CONFIDENCE * standard_error(differences))
