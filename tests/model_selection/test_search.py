"""The walk over candidates, on landscapes that are known."""

import numpy as np
import pytest

from hssvm.kernels import Gaussian
from hssvm.model_selection.families import Family
from hssvm.model_selection.race import Race
from hssvm.model_selection.rounds import (
    CELL_ROWS,
    EXACT_ROWS,
    affordable_rows,
    fold_rows,
    round_sizes,
)
from hssvm.model_selection.search import COARSE, FINE, Free, Given, Search

RBF = Family("rbf", None)


def race_of(gammas, Cs, stopped=lambda: False):
    """A race of a single family."""
    return Race([Search(RBF, gammas, Cs, stopped)])


def best(race):
    """Gamma and C of the best candidate."""
    candidate, *_ = race.leaders()
    return candidate.gamma, candidate.C


def walk(gammas, Cs, mean, stopped=lambda: False):
    """A search with three folds and the scores ``mean(log10 gamma, log10 C)``."""
    calls = []

    def score(family, gamma, values):
        calls.append((gamma, values))
        means = [mean(np.log10(gamma), np.log10(C)) for C in values]
        return np.array(means)[:, None] + [-0.01, 0, 0.01]

    race = race_of(gammas, Cs, stopped)
    race.walk(score, COARSE)
    race.walk(score, FINE)
    return race, calls


def test_given_values_are_all_scored_once():
    race, calls = walk(Given([0.1, 1.0]), Given([1.0, 10.0, 100.0]), lambda g, c: g - c)
    assert calls == [(0.1, [1.0, 10.0, 100.0]), (1.0, [1.0, 10.0, 100.0])]
    gammas, Cs, scores = race.searches[0].grid()
    assert gammas.tolist() == [0.1, 1.0]
    assert Cs.tolist() == [1.0, 10.0, 100.0]
    assert scores.shape == (2, 3, 3)
    assert best(race) == (1.0, 1.0)


def test_the_walk_finds_a_peak_beyond_the_first_values(rng):
    peak = rng.uniform(-3, 3, 2)
    race, calls = walk(
        Free(1.0), Free(1.0, start=2), lambda g, c: -((g - peak[0]) ** 2) - (c - peak[1]) ** 2
    )
    # half a step, or a whole one where the gain is too small to walk on
    assert np.abs(np.log10(best(race)) - peak).max() <= 0.5 + 1e-9
    assert len({gamma for gamma, _ in calls}) <= 9
    assert sum(len(values) for _, values in calls) <= 40
    gammas, Cs, scores = race.searches[0].grid()
    assert np.all(np.diff(gammas) > 0)
    assert np.all(np.diff(Cs) > 0)
    assert np.count_nonzero(~np.isnan(scores[:, :, 0])) == len(race.searches[0].rounds[0])


def test_the_walk_stays_where_all_is_equal():
    race, calls = walk(Free(0.5), Free(1.0, start=2), lambda g, c: 1.0)
    assert sum(len(values) for _, values in calls) == 13  # a box and a cross with one center
    assert np.allclose(best(race), (0.05, 1.0))  # of equals the smoothest


def test_the_walk_ends_on_an_endless_slope():
    race, _ = walk(Free(1.0), Free(1.0), lambda g, c: g + c)
    assert np.allclose(best(race), (1e4, 1e4))


def test_a_search_that_is_stopped_has_what_it_scored():
    done = []

    def stopped():
        done.append(True)
        return len(done) > 1

    race, calls = walk(Given([0.1, 1.0, 10.0]), Given([1.0]), lambda g, c: g, stopped)
    assert len(calls) == 1
    gammas, _, scores = race.searches[0].grid()
    assert gammas.size == 3
    assert np.isnan(scores[1:]).all()
    assert best(race) == (0.1, 1.0)


def test_values_are_needed():
    with pytest.raises(ValueError, match="at least one value"):
        Given([])
    race = race_of(Given([1.0]), Given([1.0]))
    race.walk(lambda family, g, C: np.full((1, 2), np.nan), FINE)
    assert race.leaders() == []


def test_gains_smaller_than_their_error_do_not_move_the_center():
    gains = {0.0: [0.0, 0.0, 0.0], 1.0: [0.3, -0.2, -0.04]}

    def score(family, gamma, values):
        base = 0.5 - abs(np.log10(gamma))
        return np.array([base + np.array(gains.get(np.log10(C), [-0.1] * 3)) for C in values])

    race = race_of(Free(1.0), Free(1.0))
    race.walk(score, COARSE)
    assert max(position for _, position in race.searches[0].rounds[0]) == COARSE
    assert best(race) == (1.0, 10.0)  # of the scored ones, still the best


def test_rounds_do_not_mix():
    def score(factor):
        return lambda family, gamma, values: np.array([[factor * C] * 3 for C in values])

    race = race_of(Given([1.0]), Given([1.0, 2.0, 3.0, 4.0]))
    race.walk(score(1), COARSE)
    race.begin_round()
    race.again(score(-1), 2)
    assert best(race) == (1.0, 3.0)
    assert race.searches[0].grid()[2][0, :, 0].tolist() == [1, 2, -3, -4]
    race.begin_round()
    race.again(lambda family, gamma, values: np.full((len(values), 3), np.nan), 1)
    assert best(race) == (1.0, 3.0)
    assert race.last_round == 1
    assert race.searches[0].grid()[2][0, :, 0].tolist() == [1, 2, -3, -4]
    race.begin_round()
    race.again(score(1), 2)
    assert best(race) == (1.0, 4.0)


def test_rows_too_few_for_a_score():
    race = race_of(Given([1.0]), Given([1.0, 2.0, 3.0]))
    race.walk(lambda family, gamma, values: np.full((len(values), 3), np.nan), COARSE)
    race.begin_round()
    race.again(lambda family, gamma, values: np.array([[C] * 3 for C in values]), 2)
    assert best(race) == (1.0, 2.0)  # of those that were scored


def test_a_stopped_round_has_scored_the_best_first():
    calls = []

    def score(family, gamma, values):
        calls.append(gamma)
        return np.array([[-abs(np.log10(gamma) - 1)] * 3 for _ in values])

    race = race_of(Given([0.01, 0.1, 1.0, 10.0, 100.0]), Free(1.0), lambda: len(calls) > 5)
    race.walk(score, COARSE)
    race.begin_round()
    race.walk(score, FINE)
    assert calls[5] == 10.0
    assert best(race)[0] == 10.0


def test_sizes_of_rounds():
    assert round_sizes(1000, None) == [1000]
    assert round_sizes(4000, None) == [2000, 4000]
    assert round_sizes(90_000, None) == [2000, 9487, 45_000]
    assert round_sizes(90_000, 1) == [90_000]
    assert round_sizes(90_000, 9) == [30_000, 90_000]
    assert round_sizes(1500, 100) == [1500]
    kernel = Gaussian(1.0)
    assert affordable_rows(kernel, np.zeros((3000, 2), np.float32)) == 3000
    many = affordable_rows(kernel, np.zeros((10**6, 2), np.float32))
    wide = affordable_rows(kernel, np.zeros((10**6, 800), np.float32))
    assert 2000 < wide < many < 10**6


def test_rows_of_folds():
    kernels, X = [Gaussian(1.0), Gaussian(2.0)], np.zeros((10**6, 2), np.float32)
    affordable = affordable_rows(kernels[0], X)
    assert fold_rows(kernels, X, cells=False, searched=False) == affordable
    assert fold_rows(kernels, X, cells=False, searched=True) == EXACT_ROWS < affordable
    assert fold_rows(kernels, X[:3000], cells=False, searched=True) == 3000
    wide = np.zeros((10**6, 800), np.float32)
    assert fold_rows(kernels, wide, cells=True, searched=True) == CELL_ROWS
    assert fold_rows(kernels, wide[:100], cells=True, searched=False) == 100
