"""Learning tasks: small objects that turn targets into problems.

They are the same on one machine and on a cluster, where they are sent to the workers, which create
the problem of each part from its rows.
"""

from hssvm.training.tasks.base import Targets, Task, class_targets, value_targets
from hssvm.training.tasks.classification import Classification
from hssvm.training.tasks.novelty import NoveltyDetection, raised_intercept
from hssvm.training.tasks.regression import (
    CensoredRegression,
    QuantileRegression,
    Regression,
    RidgeRegression,
)

__all__ = [
    "CensoredRegression",
    "Classification",
    "NoveltyDetection",
    "QuantileRegression",
    "Regression",
    "RidgeRegression",
    "Targets",
    "Task",
    "class_targets",
    "raised_intercept",
    "value_targets",
]
