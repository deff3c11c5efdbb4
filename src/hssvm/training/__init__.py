"""The training pipeline, from a problem to a fitted model, without scikit-learn.

`tasks` turns targets into a `hssvm.problems.Problem`; `config` holds the user's choices, from which
it makes a `plan` for the data. `pipeline` compresses the kernel (`compression`), solves the problem
on the compressed kernel and, if that is affordable, on the exact kernel (`solve`). Otherwise it
averages the models of several trees (`forest`). It returns a `result` with a `report` on its
accuracy and cost. `monitor` connects a running fit with its caller. The estimators, on one machine
or on a cluster, validate and translate their parameters, call these functions, and store the
result::

    task    = Classification(class_weight, Cs)
    problem = task.problem(X, y, weight, kernel, communicator)
    result  = train(problem, kernel, X, config, report, monitor)

`memory` predicts the memory of a fit; `certificate` evaluates the gap of a model on the exact
kernel; `scaling` and `moments` standardize the features; `checks` detects data that do not suit
the parameters.
"""

from hssvm.training.config import TrainingConfig
from hssvm.training.monitor import Monitor
from hssvm.training.pipeline import train, train_on
from hssvm.training.plan import TrainingPlan
from hssvm.training.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.tasks import Classification, NoveltyDetection, Regression, Task

__all__ = [
    "Classification",
    "FitReport",
    "Monitor",
    "NoveltyDetection",
    "Regression",
    "Task",
    "TrainingConfig",
    "TrainingPlan",
    "TrainingResult",
    "train",
    "train_on",
]
