"""Cross-validation of the support vector classifier on Dask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from hssvm.dask.base import DASK_INSTEAD
from hssvm.dask.classify import classified
from hssvm.dask.plan import Layout
from hssvm.dask.svc import SVC
from hssvm.estimators.calibration import require_calibrator
from hssvm.estimators.inputs.parameters import (
    CLASSIFIER_INSTEAD,
    GAMMAS,
    POSITIVES,
    RULES,
    Rule,
    as_calibrator,
)
from hssvm.estimators.monitoring.warn import warn
from hssvm.exceptions import DataWarning
from hssvm.training import Approximation, Classification
from hssvm.training.data.checks import check_edge
from hssvm.training.plan import FOLDS


class SVCCV(SVC):
    """`SVC` with C and gamma chosen by cross-validation.

    For every gamma, one fit trains the models of all values of C that leave out a fold, as columns
    of the same solves on compressed kernels. The score is the accuracy on rows that a model has not
    seen, at most 30,000 of every worker. Then the model with the best pair is trained on all rows.
    Five folds are drawn at random.

    Parameters
    ----------
    Cs : sequence of float, default=(0.01, 0.1, 1, 10, 100)
    gammas : sequence of float, 'scale' and 'auto', default=('scale',)
    kernel, degree, coef0, class_weight, tol, solver, max_iter, max_time, refine, scaling, \
approximation, probability, random_state, verbose, client
        As in `SVC`. `refine` and `probability` apply to the final model; `max_time` applies to each
        fit.

    Attributes
    ----------
    C_, gamma_ : float
        The best values; in case of a tie, the smaller C, then the first gamma.
    scores_ : (n_gammas, n_Cs, 5) array
        Accuracy on each fold.
    best_params_ : dict
        C and gamma; without gamma if the kernel has none.
    best_score_ : float
        Mean accuracy of the best pair.
    classes_, intercept_, n_iter_, fit_report_, n_features_in_
        As in `SVC`, with the best values, trained on all rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from hssvm.dask import SVCCV
    >>> client = Client(processes=False, n_workers=2, dashboard_address=":0")
    >>> X = da.random.default_rng(0).standard_normal((4000, 2), chunks=(1000, 2))
    >>> y = (X**2).sum(axis=1) < 1
    >>> model = SVCCV(Cs=[0.01, 1], random_state=0).fit(X, y)
    >>> model.C_, model.scores_.shape, bool(model.best_score_ > 0.97)
    (1.0, (1, 2, 5), True)
    >>> client.close()
    """

    _instead: ClassVar[Mapping[str, str]] = {
        **CLASSIFIER_INSTEAD,
        **DASK_INSTEAD,
        "max_members": "leave it out, searches on a cluster train one model; on one machine, "
        "hssvm.SVCCV averages several",
    }
    _rules: ClassVar[Mapping[str, Rule]] = {**RULES, "Cs": [POSITIVES], "gammas": [GAMMAS]}

    def __init__(
        self,
        Cs: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0),
        gammas: Sequence[float | Literal["scale", "auto"]] = ("scale",),
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        tol: float | None = None,
        solver: Literal["admm", "paper"] = "admm",
        max_iter: int | None = None,
        max_time: float | None = None,
        refine: bool | Literal["auto"] = "auto",
        scaling: Literal["standard", "minmax", "quantiles", "learned", "learned-quantiles"]
        | None = None,
        approximation: Approximation | None = None,
        probability: Literal["sigmoid", "isotonic", "temperature"] | bool | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Client | None = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.solver = solver
        self.max_iter = max_iter
        self.max_time = max_time
        self.refine = refine
        self.scaling = scaling
        self.approximation = approximation
        self.probability = probability
        self.random_state = random_state
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SVCCV:
        """Choose C and gamma, and train on `X` and `y`.

        Parameters
        ----------
        X, y, sample_weight
            As in `SVC.fit`. They are read twice for every gamma, and twice for the final model.

        Returns
        -------
        self
        """
        self._check_parameters()
        require_calibrator(as_calibrator(self.probability))
        scores = np.array([self._search(gamma, X, y, sample_weight) for gamma in self.gammas])
        mean = scores.mean(axis=2)
        order = np.argsort(self.Cs, kind="stable")
        g, at = divmod(int(np.argmax(mean[:, order])), order.size)
        c = int(order[at])
        C, gamma = float(self.Cs[c]), self.gammas[g]
        self._fit_columns(X, y, sample_weight, np.array([C]), gamma)
        self.C_, self.gamma_ = C, getattr(self.kernel_, "gamma", np.nan)
        self._best_gamma = gamma
        self.best_params_ = {"C": self.C_}
        if not np.isnan(self.gamma_):
            self.best_params_["gamma"] = self.gamma_
        self.scores_, self.best_score_ = scores, float(mean[g, c])
        advice = check_edge("C", scores[g, order], at, self.fit_report_.n_rows, searches=False)
        if advice is not None:
            self.fit_report_.advice.append(str(advice))
            warn(advice, DataWarning)
        return self

    def _search(self, gamma: Any, X: Any, y: Any, sample_weight: Any) -> NDArray[np.float64]:
        """Scores for all values of C, (n_Cs, n_folds)."""
        parameters = self.get_params(deep=False)
        del parameters["Cs"], parameters["gammas"]
        parameters.update(gamma=gamma, refine=False, probability=None)
        return SearchSVC(**parameters).scores(X, y, sample_weight, np.asarray(self.Cs))

    def _fitted_task(self, layout: Layout) -> Classification:
        return self._classification(layout, np.array([self.C_]))

    def _local_parameters(self) -> dict[str, Any]:
        parameters = super()._local_parameters()
        del parameters["Cs"], parameters["gammas"]
        return {**parameters, "C": self.C_, "gamma": self._best_gamma}


class SearchSVC(SVC):
    """An `SVC` for every C, scored by models that leave out a fold."""

    out_of_fold = True

    def scores(
        self, X: Any, y: Any, sample_weight: Any, Cs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Train, and return the accuracy for every C on each fold, (n_Cs, n_folds)."""
        task_of = partial(self._classification, Cs=Cs)
        held_out = self._fit(X, y, sample_weight, task_of, self.gamma, classify=True)
        if held_out is None:
            raise ValueError(
                "the models that leave out a fold are not complete; set a larger max_time"
            )
        classes = self._model.layout.classes
        assert classes is not None
        scores = np.empty((Cs.size, FOLDS))
        truth = classes.labels[held_out.y]
        columns = held_out.values.reshape(truth.size, Cs.size, -1)
        for j in range(Cs.size):
            correct = classified(columns[:, j], classes.labels) == truth
            for f in range(FOLDS):
                weight = held_out.weight * (held_out.fold == f)
                scores[j, f] = weight[correct].sum() / weight.sum()
        return scores
