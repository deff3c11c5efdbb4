"""Choice of the candidates whose mean is the final model.

Forward selection: the best candidate comes first, and then, one after the other, the one whose
mean with those before it scores highest in the folds, as long as this score does not fall beyond
chance: without evidence, more models are the better guess. Bad candidates, and good ones that make
the same errors as others, are left out. See Caruana et al., Ensemble selection from libraries of
models (2004).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from hssvm.model_selection.search import Scores, mean_scores, standard_error

T = TypeVar("T")


def choose_members(
    ranked: Sequence[T], best_scores: Scores, score: Callable[[list[T]], Scores], count: int
) -> list[T]:
    """Choose at most `count` candidates.

    Parameters
    ----------
    ranked : sequence
        The candidates, the best first.
    best_scores : (n_folds,)
        The scores of the first.
    score : callable
        Returns the scores of the mean of some candidates.
    count : int

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.model_selection.forward import choose_members
    >>> def score(members):  # minus the error of the mean of the members
    ...     return np.array([-abs(np.mean(members))])
    >>> choose_members([1.0, -2.0, 3.0, 8.0], np.array([-1.0]), score, 3)
    [1.0, -2.0]
    """
    members, reached = list(ranked[:1]), best_scores
    while len(members) < min(count, len(ranked)):
        left = [one for one in ranked if one not in members]
        found = [score([*members, one]) for one in left]
        best = max(range(len(left)), key=lambda i: _rank(found[i]))
        losses = reached - found[best]
        if not losses.mean() <= standard_error(losses):
            break
        members.append(left[best])
        if losses.mean() <= 0:
            reached = found[best]
    return members


def _rank(scores: Scores) -> float:
    mean = float(mean_scores(scores))
    return -math.inf if math.isnan(mean) else mean
