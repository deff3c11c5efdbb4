"""Why decision values differ from LIBSVM's: the kinds of differences, and a proof of each.

Two models are two points (z, b) of one problem, with its primal and dual value by definition. The
dual value D of a feasible point is a lower bound of the optimal value, so the primal value of a
point exceeds the optimal value by at most its *excess* over D. As the primal is strongly convex,

    |f(x) - f*(x)| <= sqrt(2 excess k(x, x))

for the decision values f = Kz without the intercept. Of two points with different decision values,
at least one has a large excess, or the intercept is not unique.
"""

from dataclasses import dataclass

import numpy as np

SAME = 1e-3
"""Largest difference of decision values that are the same, relative to their size."""


@dataclass
class Box:
    """min 1/2 z'Kz - linear'z + l1 |z|_1 with lower <= z <= upper and sum z = total."""

    K: np.ndarray
    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    l1: float = 0.0
    total: float = 0.0

    @classmethod
    def of_classes(cls, K, sign, cost):
        return cls(K, sign, np.minimum(sign * cost, 0), np.maximum(sign * cost, 0))

    def dual(self, z):
        return self.linear @ z - self.l1 * np.abs(z).sum() - z @ self.K @ z / 2

    def primal(self, z, b):
        """The loss of a row is the largest value that its coefficient could add to the dual."""
        slope = self.linear - self.K @ z - b
        gains = 0 * slope, self.upper * (slope - self.l1), self.lower * (slope + self.l1)
        return z @ self.K @ z / 2 + b * self.total + np.maximum.reduce(gains).sum()

    def steps(self, z):
        """Slopes of the objective for a rise and a fall of each z, infinite at the bounds."""
        slope, l1 = self.K @ z - self.linear, self.l1
        near = 1e-12 * (self.upper - self.lower)
        rise = np.where(z < self.upper - near, slope + np.where(z >= 0, l1, -l1), np.inf)
        fall = np.where(z > self.lower + near, slope - np.where(z <= 0, l1, -l1), -np.inf)
        return rise, fall

    def violation(self, z):
        """What LIBSVM compares with tol."""
        rise, fall = self.steps(z)
        return fall.max() - rise.min()

    def best_intercepts(self, z):
        """Ends of the interval of intercepts with the smallest primal value."""
        middle = self.linear - self.K @ z
        points = np.concatenate([middle - self.l1, middle + self.l1])
        values = np.array([self.primal(z, b) for b in points])
        best = points[values <= values.min() + 1e-7 * np.abs(values).min()]
        return best.min(), best.max()

    def libsvm_intercept(self, z):
        """Apply LIBSVM's rule to coefficients, after rounding those that nearly are at a bound."""
        z, size = z.copy(), self.upper - self.lower
        for end in (0 * z, self.lower, self.upper):
            near = np.abs(z - end) <= 1e-9 * size
            z[near] = end[near]
        rise, fall = self.steps(z)
        free = (z != 0) & np.isfinite(rise) & np.isfinite(fall)
        return -rise[free].mean() if free.any() else -(rise.min() + fall.max()) / 2


@dataclass
class NuClassifier:
    """min 1/2 z'Kz with 0 <= sign z <= weight, sum z = 0 and sum |z| = nu sum weight."""

    K: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    nu: float

    def margin(self, z):
        """The divisor of the coefficients and the intercept of a model."""
        return self.nu * self.weight.sum() / np.abs(z).sum()

    def dual(self, z):
        return -z @ self.K @ z / 2

    def primal(self, z, b):
        """With the best margin: the weight of the rows within is nu times that of all rows."""
        values = self.sign * (self.K @ z + b)
        margins = np.concatenate([values, [0.0]])[:, None]
        loss = np.maximum(0, margins - values) @ self.weight
        best = (loss - self.nu * self.weight.sum() * margins[:, 0]).min()
        return z @ self.K @ z / 2 + best

    def violation(self, z):
        slope, size = self.sign * (self.K @ z), np.abs(z)
        return max(
            _spread(slope[own], size[own], self.weight[own])
            for own in (self.sign > 0, self.sign < 0)
        )


@dataclass
class NuRegressor:
    """min 1/2 z'Kz - y'z with |z| <= cost, sum z = 0 and sum |z| <= nu sum cost."""

    K: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    nu: float

    def dual(self, z):
        return self.y @ z - z @ self.K @ z / 2

    def primal(self, z, b):
        """With the best epsilon, which is 0 or the distance of a row."""
        distance = np.abs(self.y - self.K @ z - b)
        tubes = np.concatenate([distance, [0.0]])[:, None]
        loss = np.maximum(0, distance - tubes) @ self.cost
        return z @ self.K @ z / 2 + (loss + self.nu * self.cost.sum() * tubes[:, 0]).min()

    def violation(self, z):
        slope = self.K @ z - self.y
        return max(_spread(s * slope, np.maximum(s * z, 0), self.cost) for s in (1, -1))


def _spread(slope, value, bound):
    """Largest gain per unit moved from one variable to another."""
    room = value < bound * (1 - 1e-12)
    return slope[value > 0].max(initial=-np.inf) - slope[room].min(initial=np.inf)


@dataclass
class Comparison:
    """Two points, ours and LIBSVM's, and decision values with them at some rows.

    Attributes
    ----------
    problem : Box, NuClassifier or NuRegressor
    z, b : pairs
    rows : (m, n)
        Kernel between the rows and the training rows.
    diagonal : (m,)
        Kernel of the rows with themselves.
    size : float
        Smallest size of the decision values.
    """

    problem: object
    z: tuple
    b: tuple
    rows: np.ndarray
    diagonal: np.ndarray
    size: float = 0.0

    def __post_init__(self):
        self.values = [self.rows @ z + b for z, b in zip(self.z, self.b, strict=True)]
        self.size = max(self.size, np.abs(self.values[1]).max())
        primal = [self.problem.primal(z, b) for z, b in zip(self.z, self.b, strict=True)]
        dual = self.problem.dual(self.z[0])
        self.scale = max(abs(primal[0]), abs(dual))
        largest = np.abs(self.z).max(axis=0)
        terms = np.abs(self.problem.K) @ largest
        self.rounding_of_slopes = 1e-12 * terms.max()
        self.rounding = 1e-12 * (terms @ largest + self.scale)
        self.excess = [max(p - dual, 0.0) + self.rounding for p in primal]

    def far(self, difference):
        return np.abs(difference).max() > SAME * self.size

    @property
    def same(self):
        return not self.far(self.values[0] - self.values[1])

    @property
    def same_but_intercept(self):
        return not self.far(self.rows @ (self.z[0] - self.z[1]))

    def assert_bounded(self):
        """Check the bound on the difference, which holds for every pair of points."""
        difference = np.abs(self.rows @ (self.z[0] - self.z[1]))
        bound = np.sqrt(2 * np.array(self.excess)).sum() * np.sqrt(self.diagonal)
        errors = 1e-9 * np.abs(self.rows) @ np.abs(self.z).max(axis=0)
        assert np.all(difference <= bound + errors)

    @property
    def libsvm_is_worse(self):
        """Whether ours is closer to the optimum than LIBSVM's, whatever the optimum is."""
        return self.excess[1] > 2 * self.excess[0]

    def no_direction(self, total):
        """Whether the optimal w of a one-class model is 0: the rows surround the origin."""
        largest = self.diagonal.max() * total**2
        return max(-2 * self.problem.dual(z) for z in self.z) <= 1e-6 * largest

    @property
    def flat(self):
        """Whether the intercepts with the smallest primal value form an interval."""
        low, high = self.problem.best_intercepts(self.z[0])
        return high - low > SAME * self.size

    def assert_middle(self):
        """Check that ours is in the middle of this interval, and LIBSVM's in it or worse."""
        low, high = self.problem.best_intercepts(self.z[0])
        margin = SAME * self.size
        assert low - margin <= self.b[1] <= high + margin or self.libsvm_is_worse
        assert abs(self.b[0] - (low + high) / 2) <= margin
        # LIBSVM takes a coefficient that misses its bound by a rounding error for a free one
        assert abs(self.problem.libsvm_intercept(self.z[1]) - self.b[0]) <= 2 * margin
