"""The training pipeline, from a problem to a fitted model, without scikit-learn.

`tasks` turns targets into a `hssvm.problems.Problem`; `config` holds the user's choices, from which
it makes a `plan` for the data. If that is affordable, `pipeline` solves the problem on the exact
kernel: directly (`exact`, with `exact_solver` and `pairs`), or from a `start` on the compressed
kernel (`compression`, `solve`) where it pays. Otherwise it solves the problem on several compressed
kernels and averages the models (`forest`). It returns a `result` with a `report` on its accuracy
and cost. `monitor` connects a running fit with its caller. The estimators, on one machine or on a
cluster, validate and translate their parameters, call these functions, and store the result::

    task    = Classification(class_weight, Cs)
    problem = task.problem(X, y, weight, kernel, communicator)
    result  = train(problem, kernel, X, config, report, monitor)

`memory` predicts the memory of a fit; `certificate` evaluates the gap of a model on the exact
kernel; `scaling` and `moments` standardize the features; `checks` detects data that do not suit
the parameters.
"""

from hssvm.training.config import TrainingConfig
from hssvm.training.monitor import Monitor
from hssvm.training.pipeline import train
from hssvm.training.plan import Route, TrainingPlan
from hssvm.training.planning import plan_problem, plan_task
from hssvm.training.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.tasks import Classification, NoveltyDetection, Regression, Task

__all__ = [
    "Classification",
    "FitReport",
    "Monitor",
    "NoveltyDetection",
    "Regression",
    "Route",
    "Task",
    "TrainingConfig",
    "TrainingPlan",
    "TrainingResult",
    "plan_problem",
    "plan_task",
    "train",
]
