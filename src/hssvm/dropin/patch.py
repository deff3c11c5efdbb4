"""Replacement of the classes of `sklearn.svm`."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import sklearn.svm
from sklearn.svm import _classes as libsvm_classes

from hssvm.dropin import classes

NAMES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
"""The classes that are replaced."""


def patch_sklearn(names: str | Iterable[str] | None = None, *, verbose: bool = False) -> None:
    """Replace classes of `sklearn.svm` by drop-ins that train with hssvm.

    The drop-ins are subclasses of scikit-learn's classes, with the same parameters and attributes.
    They solve the same problem on the exact kernel, to the same `tol`, and leave to scikit-learn
    what hssvm does not support; see :doc:`/existing_scripts`. Call this before
    ``from sklearn.svm import SVC``, which keeps the class that it finds.

    Parameters
    ----------
    names : str or iterable of str, optional
        Some of 'SVC', 'NuSVC', 'SVR', 'NuSVR' and 'OneClassSVM'; else all.
    verbose : bool, default=False
        Whether to print, for every fit, whether hssvm or scikit-learn trained it, and why. Without
        it, these are messages of the logger ``hssvm.dropin``, with level INFO.

    See Also
    --------
    unpatch_sklearn

    Examples
    --------
    >>> import hssvm
    >>> hssvm.patch_sklearn()
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import SVC
    >>> model = SVC().fit(*load_digits(return_X_y=True))
    >>> type(model).__module__, model.dual_coef_.shape[0]
    ('hssvm.dropin.classes', 9)
    >>> hssvm.unpatch_sklearn()
    """
    for name in _checked(names):
        setattr(sklearn.svm, name, getattr(classes, name))
    if verbose:
        _print_messages()


def unpatch_sklearn(names: str | Iterable[str] | None = None) -> None:
    """Undo `patch_sklearn`.

    Parameters
    ----------
    names : str or iterable of str, optional
        The classes to restore; else all.

    Examples
    --------
    >>> import hssvm, sklearn.svm
    >>> hssvm.patch_sklearn("SVC")
    >>> hssvm.unpatch_sklearn()
    >>> sklearn.svm.SVC.__module__
    'sklearn.svm._classes'
    """
    for name in _checked(names):
        setattr(sklearn.svm, name, getattr(libsvm_classes, name))


def _checked(names: str | Iterable[str] | None) -> tuple[str, ...]:
    chosen = NAMES if names is None else (names,) if isinstance(names, str) else tuple(names)
    for name in chosen:
        if name not in NAMES:
            raise ValueError(
                f"hssvm has no drop-in for sklearn.svm.{name}; choose from {', '.join(NAMES)}, or "
                "leave names out for all of them"
            )
    return chosen


def _print_messages() -> None:
    logger = logging.getLogger("hssvm.dropin")
    logger.setLevel(logging.INFO)
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("hssvm: %(message)s"))
        logger.addHandler(handler)
