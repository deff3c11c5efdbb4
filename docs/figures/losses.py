"""The loss of a prediction by its distance from the target, for each loss."""

import numpy as np
from matplotlib import pyplot as plt

from hssvm.problems import (
    CensoredProblem,
    HuberProblem,
    QuantileProblem,
    SquaredSVRProblem,
    SVRProblem,
)

plt.style.use("chart.mplstyle")

EPSILON = 0.5
ONE, ZERO = np.ones((1, 1)), np.zeros((1, 1))
PROBLEMS = {
    "SVR": [("epsilon = 0.5", SVRProblem(ZERO, ONE, np.array([EPSILON])))],
    "SVR(loss=...)": [
        ("squared", SquaredSVRProblem(ZERO, ONE, np.array([EPSILON]))),
        ("huber", HuberProblem(ZERO, ONE, np.array([EPSILON]))),
    ],
    "QuantileSVR": [
        (f"quantile = {q:g}", QuantileProblem(ZERO, ONE, np.array([q]))) for q in (0.5, 0.9)
    ],
    "CensoredSVR": [
        ("known", CensoredProblem(ZERO, ZERO, ONE, np.array([EPSILON]))),
        ("at least y", CensoredProblem(ZERO, ZERO + np.inf, ONE, np.array([EPSILON]))),
    ],
}
STYLES = [("#0f9ab5", "-"), ("#e0762b", "--")]


def loss(problem, error):
    """The losses of a row with y = 0 and C = 1, at several errors."""
    first = np.zeros(1, np.int64)
    return [problem.losses(first, np.full((1, 1), e), np.zeros(1))[0, 0] for e in error]


errors = np.linspace(-2, 2, 401)
fig, axes = plt.subplots(1, len(PROBLEMS), figsize=(10, 2.8), sharey=True)
for ax, (name, problems) in zip(axes, PROBLEMS.items(), strict=True):
    for (label, problem), (color, line) in zip(problems, STYLES, strict=False):
        ax.plot(errors, loss(problem, errors), line, color=color, label=label)
    ax.set(title=name, xlabel="prediction minus y", ylim=(-0.1, 2.6))
    ax.legend(frameon=False, loc="upper center")
axes[0].set_ylabel("loss / C")
