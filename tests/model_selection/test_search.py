"""The walk over candidates, on landscapes that are known."""

import numpy as np
import pytest

from hssvm.model_selection.search import Free, Given, Search


def walk(gammas, Cs, mean, stopped=lambda: False):
    """A search with three folds and the scores ``mean(log10 gamma, log10 C)``."""
    calls = []

    def score(gamma, values):
        calls.append((gamma, values))
        means = [mean(np.log10(gamma), np.log10(C)) for C in values]
        return np.array(means)[:, None] + [-0.01, 0, 0.01]

    search = Search(gammas, Cs, score, stopped)
    search.run()
    return search, calls


def test_given_values_are_all_scored_once():
    search, calls = walk(Given([0.1, 1.0]), Given([1.0, 10.0, 100.0]), lambda g, c: g - c)
    assert calls == [(0.1, [1.0, 10.0, 100.0]), (1.0, [1.0, 10.0, 100.0])]
    gammas, Cs, scores = search.grid()
    assert gammas.tolist() == [0.1, 1.0]
    assert Cs.tolist() == [1.0, 10.0, 100.0]
    assert scores.shape == (2, 3, 3)
    assert search.best() == (1.0, 1.0)


def test_the_walk_finds_a_peak_beyond_the_first_values(rng):
    peak = rng.uniform(-3, 3, 2)
    search, calls = walk(
        Free(1.0), Free(1.0, start=2), lambda g, c: -((g - peak[0]) ** 2) - (c - peak[1]) ** 2
    )
    assert np.abs(np.log10(search.best()) - peak).max() <= 0.25 + 1e-9  # half a step
    assert len({gamma for gamma, _ in calls}) <= 9
    assert sum(len(values) for _, values in calls) <= 40
    gammas, Cs, scores = search.grid()
    assert np.all(np.diff(gammas) > 0)
    assert np.all(np.diff(Cs) > 0)
    assert np.count_nonzero(~np.isnan(scores[:, :, 0])) == len(search.scores)


def test_the_walk_stays_where_all_is_equal():
    search, calls = walk(Free(0.5), Free(1.0, start=2), lambda g, c: 1.0)
    assert sum(len(values) for _, values in calls) == 17  # two neighborhoods with one center
    assert np.allclose(search.best(), (0.05, 1.0))  # of equals the smoothest


def test_the_walk_ends_on_an_endless_slope():
    search, _ = walk(Free(1.0), Free(1.0), lambda g, c: g + c)
    assert np.allclose(search.best(), (1e4, 1e4))


def test_a_search_that_is_stopped_has_what_it_scored():
    done = []

    def stopped():
        done.append(True)
        return len(done) > 1

    search, calls = walk(Given([0.1, 1.0, 10.0]), Given([1.0]), lambda g, c: g, stopped)
    assert len(calls) == 1
    gammas, _, scores = search.grid()
    assert gammas.size == 3
    assert np.isnan(scores[1:]).all()
    assert search.best() == (0.1, 1.0)


def test_values_are_needed():
    with pytest.raises(ValueError, match="at least one value"):
        Given([])
    search = Search(Given([1.0]), Given([1.0]), lambda g, C: np.full((1, 2), np.nan), lambda: False)
    search.run()
    with pytest.raises(ValueError, match="use fewer folds"):
        search.best()
