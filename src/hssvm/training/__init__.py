"""The training pipeline, from a problem to a fitted model, without scikit-learn.

::

    config, tasks      the user's choices; targets as problems
    planning           -> a plan, with a route, made once; and the problem
    pipeline           train: the route of the plan
      routes/exact       on the exact kernel
      routes/refined     from the compressed kernel to the exact one
      routes/forest      on one or several compressed kernels
      routes/cells       on the exact kernel within the cells of one or several trees
    result, reports    the model, its report, and the monitor of a running fit
    certificate        the gap of a model on the exact kernel
    cost, memory       the time and memory that a fit needs
    scales             scales of the features, learned from the targets
    data               rows and targets: scaling, widths, precision, checks

The estimators, on one machine or on a cluster, validate and translate their parameters, call these
functions, and store the result::

    task          = Classification(class_weight, Cs)
    plan, problem = plan_task(config, task, X, y, weight, kernel)
    result        = train(problem, kernel, X, plan, report, monitor)
"""

from hssvm.training.approximation import HSS, Approximation, Cells
from hssvm.training.config import TrainingConfig
from hssvm.training.pipeline import train
from hssvm.training.plan import Route, TrainingPlan
from hssvm.training.planning import plan_problem, plan_task
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.tasks import (
    CensoredRegression,
    Classification,
    NoveltyDetection,
    QuantileRegression,
    Regression,
    RidgeRegression,
    Task,
)

__all__ = [
    "HSS",
    "Approximation",
    "Cells",
    "CensoredRegression",
    "Classification",
    "FitReport",
    "Monitor",
    "NoveltyDetection",
    "QuantileRegression",
    "Regression",
    "RidgeRegression",
    "Route",
    "Task",
    "TrainingConfig",
    "TrainingPlan",
    "TrainingResult",
    "plan_problem",
    "plan_task",
    "train",
]
