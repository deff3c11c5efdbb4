"""Choice of epsilon, the half-width of the tube of a regression.

It depends on the noise of the targets, which all candidates share.
"""

from __future__ import annotations

from collections.abc import Callable

from hssvm.model_selection.families import Family
from hssvm.model_selection.fold_solver import FoldSolver
from hssvm.model_selection.race import Race
from hssvm.model_selection.search import FINE, Free, Given, Scores, Search


def best_tube(race: Race, solver: FoldSolver, stopped: Callable[[], bool]) -> float:
    """Return the epsilon with which the best candidate so far scores highest.

    Parameters
    ----------
    race : Race
        After its first round.
    solver : FoldSolver
        Of this round.
    stopped : callable
        Whether to stop before the next scores.
    """
    leaders = race.leaders()
    if not leaders:
        return solver.task.tube
    axis = Free(solver.task.tube)
    search = Search(leaders[0].family, axis, Given([leaders[0].C]), stopped)
    known = race.of(leaders[0].family).top
    assert known is not None
    search.rounds[0][search.center] = known

    def score(_family: Family, epsilon: float, _Cs: list[float]) -> Scores:
        return solver.score_epsilon(leaders[0], epsilon)

    while search.move(score, FINE):
        pass
    return axis.value(search.center[0])
