"""Families of candidates: a kernel and a scaling, of which a search chooses gamma and C."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import scipy.sparse

from hssvm.estimators.inputs.kernel import RADIAL, check_kernel_parameter, has_gamma
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.estimators.inputs.points import indexed_kernel
from hssvm.kernels import Kernel
from hssvm.kernels.base import Rows
from hssvm.training.data.checks import MIN_CHECKED_ROWS
from hssvm.training.data.scaling import features_differ
from hssvm.training.scales.scaling import LEARNED

TABLE_KERNELS = ["rbf", "exponential", "laplacian"]
"""Kernels that are compared by default; only the first where the rows are no table."""

MIN_TABLE_ROWS, MAX_TABLE_FEATURES = 100, 300
"""Least number of rows, and largest number of features, for which several kernels and scalings are
compared by default. A comparison on fewer rows is chance; with more features, such as pixels, they
have the same unit, and L1 distances are slow."""


class Family(NamedTuple):
    """Candidates with the same kernel and scaling.

    Attributes
    ----------
    kernel : str, Kernel or callable
        A value of the parameter `kernel`.
    scaling : {None, 'standard', 'minmax', 'quantiles', 'learned', 'learned-quantiles'}
    """

    kernel: Any
    scaling: str | None

    def __str__(self) -> str:
        return f"{self.kernel}" if self.scaling is None else f"{self.kernel}, {self.scaling}"


class Candidate(NamedTuple):
    """The parameters of a model.

    gamma is NaN for kernels without one, and epsilon for classifiers.
    """

    family: Family
    gamma: float
    C: float
    epsilon: float = math.nan

    def __str__(self) -> str:
        gamma = "" if math.isnan(self.gamma) else f", gamma={self.gamma:.4g}"
        return f"{self.family}, C={self.C:.4g}{gamma}"


def listed(value: Any) -> list[Any]:
    """Return the values of a parameter that accepts one or several."""
    return list(value) if isinstance(value, list | tuple) else [value]


def is_auto(value: Any) -> bool:
    """Whether a parameter has the value 'auto'."""
    return isinstance(value, str) and value == "auto"


def check_kernels(kernels: Any) -> None:
    """Raise an error unless `kernels` is a kernel, or several kernels of rows of numbers."""
    if not listed(kernels):
        raise InvalidParameterError(
            f"kernel must be a kernel or a non-empty list of kernels, got {kernels!r}"
        )
    for kernel in listed(kernels):
        if is_auto(kernel):
            continue
        check_kernel_parameter(kernel)
        if kernel is not kernels and indexed_kernel(kernel) is not None:
            raise InvalidParameterError(
                f"kernel={kernels!r} contains {kernel!r}, whose points are not rows of numbers; "
                f"pass kernel={kernel!r} alone"
            )


def make_families(
    kernels: Any,
    scalings: Any,
    X: Rows,
    make_kernel: Callable[[Any, float], Kernel],
    *,
    Cs_searched: bool,
    gammas_searched: bool,
) -> list[Family]:
    """Combine kernels and scalings, without repetitions.

    Parameters
    ----------
    kernels, scalings
        Parameters of `SVCCV` or `SVRCV`; 'auto' stands for several if gamma is searched.
    X : (n, p) array or CSR matrix
        Not scaled.
    make_kernel : callable
        Called with a value of the parameter `kernel`, and gamma.
    Cs_searched, gammas_searched : bool
        Whether values are searched; otherwise, they are given.
    """
    wide = gammas_searched and is_table(X)
    families = []
    for given in listed(kernels):
        automatic = TABLE_KERNELS if wide else TABLE_KERNELS[:1]
        for kernel in automatic if is_auto(given) else [given]:
            searches = Cs_searched or (gammas_searched and has_gamma(kernel))
            kinds = _automatic_scalings(X, make_kernel(kernel, 1.0), searches)
            if wide and isinstance(kernel, str) and kernel in RADIAL:
                kinds = [*kinds, "quantiles", *LEARNED]
            for kind in listed(scalings):
                families += [Family(kernel, one) for one in (kinds if is_auto(kind) else [kind])]
    return [family for i, family in enumerate(families) if family not in families[:i]]


def is_table(X: Rows) -> bool:
    """Whether rows may gain from other kernels than the Gaussian, and from learned scales."""
    n, p = X.shape
    return not scipy.sparse.issparse(X) and n >= MIN_TABLE_ROWS and p <= MAX_TABLE_FEATURES


def _automatic_scalings(X: Rows, kernel: Kernel, searches: bool) -> list[str | None]:
    """Return None, 'standard', or both to compare them."""
    if not kernel.scale_sensitive:
        return [None]
    if features_differ(X):
        return ["standard"]
    compares = searches and not scipy.sparse.issparse(X) and X.shape[0] >= MIN_CHECKED_ROWS
    return [None, "standard"] if compares else [None]
