"""Estimators from LIBSVM model files."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np

from hssvm.estimators import SVC, SVR, OneClassSVM
from hssvm.estimators.models.reports import pack_report, untrained_report
from hssvm.estimators.models.saving import restore_model
from hssvm.kernels import Gaussian, Linear, Polynomial
from hssvm.messages import Message, api
from hssvm.persistence.libsvm import LibsvmModel, read_libsvm, with_order
from hssvm.persistence.plain import to_plain
from hssvm.persistence.predictors import Arrays, pack_predictor
from hssvm.predictors import ExpansionPredictor, PairwisePredictor
from hssvm.training import FitReport

TASKS = {
    "c_svc": (SVC, "classification"),
    "nu_svc": (SVC, "classification"),
    "epsilon_svr": (SVR, "regression"),
    "nu_svr": (SVR, "regression"),
    "one_class": (OneClassSVM, "novelty detection"),
}
"""Estimators and names of the task by svm_type."""


def load_libsvm(path: str | os.PathLike[str], *, n_features: int | None = None) -> Any:
    r"""Load a model that was trained by LIBSVM (``svm-train``), or written by `SVC.save_libsvm`.

    The result predicts in float64, and can be saved like any other model. Files of LIBSVM do not
    say how the model was trained: `fit_report_` is empty, there is no `support_`, parameters such
    as C have their default values, and `certify` is not available.

    Parameters
    ----------
    path : str or path
        The kernel must be linear, polynomial or rbf.
    n_features : int, optional
        Number of columns of the rows to predict. By default the largest index of a feature in the
        file, which is too small if the last features of all support vectors are 0.

    Returns
    -------
    SVC, SVR or OneClassSVM
        For the types c_svc and nu_svc, epsilon_svr and nu_svr, and one_class. Probabilities of two
        classes are kept.

    Raises
    ------
    ValueError
        If the file is malformed; the message names the line.

    Notes
    -----
    If several of more than two classes get the same number of votes, `predict` returns the smallest
    label, and LIBSVM the label that occurred first in its training data.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import hssvm
    >>> lines = ["svm_type c_svc", "kernel_type rbf", "gamma 0.5", "nr_class 2", "total_sv 2"]
    >>> lines += ["rho 0.25", "label 1 -1", "nr_sv 1 1", "SV", "1 1:2", "-1 2:1"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.model"
    ...     _ = path.write_text("\n".join(lines))
    ...     model = hssvm.load_libsvm(path)
    >>> model.predict([[2.0, 0.0], [0.0, 1.0]])
    array([ 1, -1])
    """
    content = read_libsvm(path, n_features)
    if content.sigmoids is not None and content.n_classes > 2:
        warnings.warn(
            Message(
                f"the probabilities of {path} are left out: with more than two classes, LIBSVM "
                "computes them in another way than hssvm; train with "
                f"{api:probability='sigmoid'} to get some"
            ),
            stacklevel=2,
        )
    try:
        return restore_model(TASKS[content.svm_type][0], *_pack(content))
    except ValueError as error:
        raise ValueError(f"{path} is not a model that hssvm can represent: {error}") from error


def _pack(content: LibsvmModel) -> tuple[dict[str, Any], Arrays]:
    """Return the document and arrays of a model file of hssvm."""
    parameters, attributes = _kernel_parameters(content.kernel), dict[str, Any]()
    if content.labels.size:
        order = np.argsort(content.labels)
        attributes |= {
            "classes_": content.labels[order],
            "n_support_": content.counts[order],
            "multi_class_": "ovo",
            "calibration_": None,
        }
        # of two classes, the first is positive in LIBSVM, and the last in hssvm
        content = with_order(content, order[::-1] if order.size == 2 else order)
    if content.labels.size == 2 and content.sigmoids is not None:
        parameters["probability"] = "sigmoid"
        attributes["calibration_"] = "sigmoid", [content.sigmoids[:, 0]]
    predictor = _predictor(content)
    attributes |= {
        "intercept_": -content.rho,
        "offset_": content.rho,
        "nonconformity_scores_": None,
        "feature_shift_": None,
        "feature_factor_": None,
        "_feature_scales": None,
    }
    fields, arrays = pack_predictor(predictor)
    document = {
        **fields,
        "parameters": parameters,
        "kernel": to_plain(content.kernel),
        "feature_names": None,
        "target_name": None,
        "data_checksum": None,
        "forest": None,
        "attributes": {name: to_plain(value) for name, value in attributes.items()},
        "fit_report": pack_report(_report(content, predictor.n_columns)),
    }
    return document, arrays


def _predictor(content: LibsvmModel) -> ExpansionPredictor:
    if content.labels.size > 2:
        return PairwisePredictor(content.kernel, content.X, content.coef, content.counts)
    return ExpansionPredictor(content.kernel, content.X, content.coef)


def _kernel_parameters(kernel: Gaussian | Linear | Polynomial) -> dict[str, Any]:
    """Return the parameters of an estimator with this kernel."""
    if isinstance(kernel, Linear):
        return {"kernel": "linear"}
    return {"kernel": "rbf" if isinstance(kernel, Gaussian) else "poly", **asdict(kernel)}


def _report(content: LibsvmModel, n_columns: int) -> FitReport:
    return untrained_report(
        TASKS[content.svm_type][1],
        n_columns=n_columns,
        n_features=int(content.X.shape[1]),
        n_classes=int(content.labels.size),
        n_support=int(content.X.shape[0]),
    )
