"""LIBSVM model files from fitted estimators; `save_libsvm` is a method of `KernelModel`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.calibration import Calibration
from hssvm.estimators.monitoring.warn import warn
from hssvm.kernels import Gaussian, Linear, Polynomial
from hssvm.messages import Message, api, value_error
from hssvm.persistence.libsvm import LibsvmModel, write_libsvm, write_range
from hssvm.predictors import ExpansionPredictor
from hssvm.problems import PairsProblem

if TYPE_CHECKING:
    from hssvm.estimators.models.model import KernelModel


def save_libsvm(
    self: KernelModel,
    path: str | os.PathLike[str],
    *,
    range_path: str | os.PathLike[str] | None = None,
) -> None:
    """Write the fitted model as text that LIBSVM reads (``svm-predict``).

    Its decision values are the same, up to rounding. LIBSVM predicts with the exact kernel and
    all support vectors, so a model on the compressed kernel is refused, and so is a model that
    LIBSVM cannot express: one-vs-rest with more than two classes, kernels other than linear,
    poly and rbf, and labels that are not integers. Probabilities of two classes are kept, if
    they come from 'sigmoid' or 'temperature'. The names of the features and the report are
    lost. An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    path : str or path
    range_path : str or path, optional
        For a model with `scaling`, which LIBSVM does not have: a second file, with which
        ``svm-scale -r`` scales new rows before ``svm-predict``.

    Raises
    ------
    ValueError
        If LIBSVM cannot express the model; the message says what to do.

    See Also
    --------
    hssvm.load_libsvm : Loads such a file.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import hssvm
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> model = hssvm.SVC(gamma=0.5).fit(X, np.where(np.hypot(*X.T) < 1, 1, -1))
    >>> path = os.path.join(tempfile.mkdtemp(), "rings.model")
    >>> model.save_libsvm(path)
    >>> with open(path) as file:
    ...     print(file.readline() + file.readline() + file.readline(), end="")
    svm_type c_svc
    kernel_type rbf
    gamma 0.5
    >>> loaded = hssvm.load_libsvm(path)
    >>> bool(np.allclose(loaded.decision_function(X), model.decision_function(X)))
    True
    """
    content = to_libsvm(self, self._require_exact_predictions("LIBSVM"))
    if self.feature_quantiles_ is not None:
        raise value_error(
            "LIBSVM cannot express the quantiles of the features; fit with "
            f"{api:scaling='standard'}, or save the model with save_numpy or save"
        )
    if self.feature_factor_ is None and range_path is not None:
        raise value_error(f"the model does not scale the features; leave out {api:range_path}")
    if self.feature_factor_ is not None:
        if range_path is None:
            raise value_error(
                f"the model scales the features, and LIBSVM does not; pass {api:range_path} to "
                "write a file for svm-scale too, or scale the features before fitting"
            )
        write_range(self.feature_shift_, self.feature_factor_, range_path)
    write_libsvm(content, path)


def to_libsvm(model: Any, exact: ExpansionPredictor) -> LibsvmModel:
    """Return the content of a file; ValueError if LIBSVM cannot express the model.

    Parameters
    ----------
    model : fitted estimator
    exact : ExpansionPredictor
        Its support vectors and coefficients.
    """
    kernel, rho = exact.kernel, -model.intercept_
    if not isinstance(kernel, Gaussian | Linear | Polynomial):
        raise value_error(
            f"LIBSVM does not have the kernel {kernel!r}; fit with {api:kernel='rbf'}, 'poly' "
            "or 'linear'"
        )
    X, coef, no_labels = exact.X, exact.Z.astype(np.float64), np.empty(0, np.int64)
    if not hasattr(model, "classes_"):
        if coef.shape[1] > 1:
            raise value_error(
                f"a model of LIBSVM predicts one value, but this one predicts {coef.shape[1]}; "
                "save it with save_numpy or save, or fit a model for each"
            )
        name = "one_class" if hasattr(model, "offset_") else "epsilon_svr"
        return LibsvmModel(name, kernel, X, coef, rho, no_labels, no_labels)
    labels = integer_labels(model.classes_)
    if labels.size == 2:
        labels, codes = labels[::-1], (coef[:, 0] < 0).astype(np.int64)  # the first is positive
    elif model.multi_class_ != "ovo":
        raise value_error(
            "LIBSVM trains more than two classes one-vs-one, but the model is one-vs-rest; fit "
            f"with {api:multi_class='ovo'}"
        )
    elif exact.counts is not None:
        codes = np.repeat(np.arange(labels.size), exact.counts)
    else:
        codes = _codes_of_pairs(coef, labels.size)
        places = PairsProblem(codes, np.ones(codes.size), labels.size).column_of
        coef = np.take_along_axis(coef, places, axis=1)
    order, counts = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=labels.size)
    sigmoids = None if model.calibration_ is None else _sigmoids(model.calibration_, labels.size)
    return LibsvmModel("c_svc", kernel, X[order], coef[order], rho, labels, counts, sigmoids)


def integer_labels(classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return labels as LIBSVM stores them: integers of 32 bits."""
    limits = np.iinfo(np.int32)
    within_limits = classes.dtype.kind in "biuf" and bool(
        np.all((classes >= limits.min) & (classes <= limits.max))
    )
    labels = classes.astype(np.int64) if within_limits else np.empty(0, np.int64)
    if not np.array_equal(labels, classes):
        raise ValueError(
            "the labels of LIBSVM are integers of at most 32 bits, but the model has the labels "
            f"{', '.join(map(str, classes[:5].tolist()))}{', ...' if classes.size > 5 else ''}; "
            "replace them by integers before fitting"
        )
    return labels


def _codes_of_pairs(Z: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    """Return the classes of support vectors from the signs of their coefficients (n, n_pairs)."""
    first, second = np.triu_indices(n_classes, 1)
    pair = np.argmax(Z != 0, axis=1)
    positive = np.take_along_axis(Z, pair[:, None], axis=1)[:, 0] > 0
    return np.where(positive, first[pair], second[pair])


def _sigmoids(calibration: Calibration, n_classes: int) -> NDArray[np.float64] | None:
    """Return probA and probB of two classes, (2, 1); warn if LIBSVM cannot express them."""
    method, curves = calibration
    if n_classes == 2 and method == "sigmoid":
        return curves[0][:, None]
    if n_classes == 2 and method == "temperature":  # softmax of -beta f and beta f
        return np.array([[-2 * curves[0][0]], [0.0]])
    warn(
        Message(
            "probabilities are left out: LIBSVM supports only sigmoids of the decision values of "
            f"two classes; fit two classes with {api:probability='sigmoid'} to keep them"
        ),
        UserWarning,
    )
    return None
