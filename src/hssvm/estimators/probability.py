"""Probabilities and prediction sets of the classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hssvm.estimators.available import available_after
from hssvm.estimators.calibration import (
    COVERAGE,
    Calibration,
    conformal_quantile,
    fit_calibration,
    kept_scores,
    nonconformity,
    probabilities,
    require_ascending,
)
from hssvm.estimators.inputs.parameters import as_calibrator, check_parameter
from hssvm.kernels.base import Floats
from hssvm.messages import api, value_error
from hssvm.persistence.archive import has_form, require

METHODS = "sigmoid", "isotonic", "temperature"


def _require_probabilities(model: ProbabilityMixin) -> None:
    if as_calibrator(model.probability) is None and model.calibration_ is None:
        raise AttributeError(
            f"{type(model).__name__} has probabilities only if it is trained with them; set "
            "probability='sigmoid' and fit again"
        )


class ProbabilityMixin:
    """Probabilities and prediction sets from out-of-fold decision values."""

    _saved: ClassVar[tuple[str, ...]] = ("calibration_", "nonconformity_scores_")

    classes_: NDArray[Any]
    probability: Literal["sigmoid", "isotonic", "temperature"] | bool | None
    calibration_: Calibration | None = None
    nonconformity_scores_: NDArray[np.float64] | None = None
    _from_values: Callable[[Callable[[Floats], NDArray[Any]], Any], NDArray[Any]]
    _by_class: Callable[[Floats], Floats]

    def _calibrate(
        self, values: Floats | None, codes: NDArray[np.int64], weight: Floats, seed: int
    ) -> None:
        """Set the probabilities and nonconformity scores.

        Parameters
        ----------
        values : (m,) or (m, n_classes), or None
            Decision values of rows that the models have not seen, as `decision_function` returns
            them; None if there are none.
        codes : (m,) int64
        weight : (m,)
        seed : int
        """
        self.calibration_ = self.nonconformity_scores_ = None
        if values is None:
            return
        used = weight > 0
        scores = np.take_along_axis(nonconformity(values), codes[:, None], axis=1)[:, 0]
        self.nonconformity_scores_ = kept_scores(scores[used], seed)
        calibrator = as_calibrator(self.probability)
        if calibrator is not None:
            columns = values.reshape(codes.size, -1)
            n_classes = self.classes_.size
            self.calibration_ = fit_calibration(
                calibrator, columns[used], codes[used], n_classes, weight[used]
            )

    @available_after(_require_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes; only with `probability`.

        The class with the largest probability may differ from the result of `predict`, which does
        not use probabilities.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m, n_classes) array
            With the classes in the order of `classes_`.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVC
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((2000, 2))
        >>> y = X[:, 0] + 0.5 * rng.standard_normal(2000) > 0
        >>> model = SVC(probability="sigmoid", random_state=0).fit(X, y)
        >>> likely = model.predict_proba([[-2.0, 0.0], [2.0, 0.0]]) > 0.8
        >>> likely
        array([[ True, False],
               [False,  True]])
        """
        return self._from_values(self._probability_function(), X)

    def _probability_function(self) -> Callable[[Floats], Floats]:
        """Return the function from the values of the columns to probabilities."""
        check_is_fitted(self)
        calibration, by_class, n_classes = self.calibration_, self._by_class, self.classes_.size
        if calibration is None:
            raise value_error(
                f"the model has no probabilities: it was trained {api:with probability=None}, "
                f"or stopped early; fit it again, with more {api:max_time} if that is set"
            )

        def of_values(values: Floats) -> Floats:
            columns = by_class(values).reshape(len(values), -1)
            return probabilities(calibration, columns, n_classes)

        return of_values

    @available_after(_require_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities; see `predict_proba`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m, n_classes) array
        """
        probability_of = self._probability_function()

        def logarithms(values: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                return np.log(probability_of(values))

        return self._from_values(logarithms, X)

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Sets of classes that contain the true class with a given probability.

        These are conformal prediction sets: a class is in the set of a row if its decision value
        falls short of the best other class by no more than in most rows of the training data, as
        seen by models that were not trained on these rows. A row that no class fits has an empty
        set. Available with `probability` or ``out_of_fold=True``.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix
        coverage : float, default=0.9
            Fraction of new rows whose set contains their class, if they are drawn like the training
            rows. All rows count alike, whatever their weight.

        Returns
        -------
        (m, n_classes) array of bool
            Whether a class is in the set, in the order of `classes_`.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVC
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((2000, 2))
        >>> y = X[:, 0] + 0.5 * rng.standard_normal(2000) > 0
        >>> model = SVC(out_of_fold=True, random_state=0).fit(X, y)
        >>> model.predict_set([[0.0, 0.0], [2.0, 0.0]])
        array([[ True,  True],
               [False,  True]])
        """
        check_is_fitted(self)
        check_parameter("coverage", coverage, COVERAGE)
        if self.nonconformity_scores_ is None:
            raise ValueError(
                "predict_set needs decision values of rows that the models have not seen; set "
                "out_of_fold=True, or probability, and fit again, with more max_time if that is set"
            )
        by_class, most = self._by_class, conformal_quantile(self.nonconformity_scores_, coverage)
        return self._from_values(lambda values: nonconformity(by_class(values)) <= most, X)

    def _check_calibration(self) -> None:
        """Raise ValueError if the attributes, which come from a file, are invalid."""
        require_ascending(self.nonconformity_scores_)
        n_classes = self.classes_.size
        if self.calibration_ is not None:
            method, curves = self.calibration_
            n_curves = 1 if method == "temperature" or n_classes == 2 else n_classes
            sizes = {"sigmoid": (2,), "temperature": (1,)}
            require(method in METHODS and len(curves) == n_curves, "calibration_ is invalid")
            for curve in curves:
                shape = sizes.get(method) or (2, curve.shape[-1])
                valid = has_form(curve, np.float64, shape) and bool(np.isfinite(curve).all())
                ascending = method != "isotonic" or bool(np.all(np.diff(curve[0]) >= 0))
                require(valid and ascending, "calibration_ is invalid")
