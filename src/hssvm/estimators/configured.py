"""The parameters common to all estimators, on one machine or on a cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, Literal

from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from hssvm.estimators.inputs.kernel import (
    RADIAL,
    check_kernel_parameter,
    make_kernel,
    radial_type,
)
from hssvm.estimators.inputs.parameters import (
    INSTEAD,
    RULES,
    InvalidParameterError,
    Rule,
    as_bytes,
    as_calibrator,
    as_scalar,
    check_parameters,
    refuse_parameters,
)
from hssvm.kernels import Kernel
from hssvm.messages import api
from hssvm.training import Approximation, Cells, TrainingConfig
from hssvm.training.scales.scaling import LEARNED

HELD_OUT_ROWS = {"sigmoid": 10_000, "temperature": 10_000, "isotonic": 30_000}
"""Number of out-of-fold decision values that are enough to calibrate probabilities. Isotonic
functions have many parameters."""


class ConfiguredSVM(BaseEstimator):
    """Checks the parameters, and translates them for `hssvm.training`.

    Subclasses have the parameters kernel, gamma, degree, coef0, tol, max_iter, max_time, scaling,
    approximation, random_state and verbose. The parameters with a default here are
    optional.
    """

    _rules: ClassVar[Mapping[str, Rule]] = RULES
    """Accepted values of the parameters."""

    _instead: ClassVar[Mapping[str, str]] = INSTEAD
    """Alternatives to parameters that the estimator does not have, for errors."""

    _averages: ClassVar[bool] = True
    """Whether models of different rows can be averaged."""

    _n_passes: ClassVar[int] = 1
    """Number of passes over the kernel matrix that an exact solution needs."""

    _has_target: ClassVar[bool] = True
    """Whether fits have targets, from which scales can be learned."""

    solver: Literal["admm", "paper"] = "admm"
    refine: bool | Literal["auto"] = False
    prediction: str = "auto"
    warm_start: bool = False
    out_of_fold: bool = False
    probability: Literal["sigmoid", "isotonic", "temperature"] | bool | None = None
    memory_limit: float | str | None = None
    approximation: Approximation | None
    max_time: float | None

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the constructor errors that explain what to pass instead."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            setattr(cls, "__init__", _explaining(cls.__init__))  # noqa: B010, mypy refuses =

    def _check_parameters(self) -> None:
        check_parameters(self.get_params(deep=False), self._rules)
        self._check_kernel()
        if self._refine_requested and self.prediction == "compressed":
            raise ValueError(
                "prediction='compressed' needs a model on the compressed kernel, but refine=True "
                "trains on the exact one; set approximation=HSS() or prediction='auto'"
            )
        self._check_approximation()
        if self._refine_requested and self.solver == "paper":
            raise ValueError(
                "refine=True is not available with solver='paper'; set refine=False or "
                "solver='admm'"
            )

    def _check_kernel(self) -> None:
        check_kernel_parameter(self.kernel)
        if self.scaling in LEARNED:
            self._check_learned_scaling(self.scaling, self.kernel)

    def _check_learned_scaling(self, scaling: str, kernel: Any) -> None:
        if not self._has_target:
            raise InvalidParameterError(
                f"{api:scaling={scaling!r}} learns from targets, and {type(self).__name__} has "
                f"none; set {api:scaling={LEARNED[scaling]!r}}"
            )
        if radial_type(kernel) is None:
            raise InvalidParameterError(
                f"{api:scaling={scaling!r}} needs a kernel that depends on distances, but "
                f"kernel={kernel!r}; set {api:scaling={LEARNED[scaling]!r}}, or kernel to one of "
                f"{', '.join(map(repr, RADIAL))}"
            )

    def _check_approximation(self) -> None:
        approximation, coupled = self.approximation, self._coupled
        if isinstance(approximation, Cells):
            if self._refine_requested:
                raise InvalidParameterError(
                    f"approximation={approximation} trains a model for each cell, but "
                    f"{api:refine=True} trains one on all rows; set {api:refine='auto'} or "
                    "approximation=None"
                )
            if coupled is not None:
                raise InvalidParameterError(
                    f"approximation={approximation} is not available with {coupled}; set "
                    "approximation=HSS()"
                )
        elif approximation is not None and approximation.trees > 1:
            n_trees = approximation.trees
            if self.prediction == "exact":
                raise InvalidParameterError(
                    f"n_trees={n_trees} averages decision values, while prediction='exact' would "
                    "have to average coefficients, which is less accurate; set prediction='auto' "
                    "or n_trees=None"
                )
            if self._refine_requested:
                raise InvalidParameterError(
                    f"{api:n_trees={n_trees}} averages models on compressed kernels, but "
                    f"{api:refine=True} trains on the exact one; set {api:refine=False} or "
                    f"{api:n_trees=None}"
                )

    @property
    def _coupled(self) -> str | None:
        """What needs one model of all rows, if anything does."""
        if not self._averages:
            return type(self).__name__
        if self.prediction != "auto":
            return f"prediction={self.prediction!r}"
        return "solver='paper'" if self.solver == "paper" else None

    @property
    def _refine_requested(self) -> bool:
        return self.refine != "auto" and bool(self.refine)

    @property
    def _held_out(self) -> float:
        """Number of rows for which out-of-fold decision values are needed."""
        if self.out_of_fold:
            return math.inf
        calibrator = as_calibrator(self.probability)
        return 0 if calibrator is None else HELD_OUT_ROWS[calibrator]

    def _config(self) -> TrainingConfig:
        """Return the configuration of a fit, with a new seed."""
        refine, tol = as_scalar(self.refine), as_scalar(self.tol)
        return TrainingConfig(
            tol=None if tol is None else float(tol),
            max_iter=as_scalar(self.max_iter),
            solver=self.solver,
            refine=False if self.prediction == "compressed" else refine,
            limit_work=self.max_time is None and not self._refine_requested,
            approximation=self.approximation,
            coupled=self._coupled is not None,
            max_time=as_scalar(self.max_time),
            held_out=self._held_out,
            exact_prediction=self.prediction == "exact",
            n_passes=self._n_passes,
            memory_limit=as_bytes(self.memory_limit),
            scaled=self.scaling is not None,
            seed=self._seed(),
        )

    def _kernel_of(self, kernel: Any, gamma: Callable[[], float]) -> Kernel:
        """Return the kernel of a parameter; `gamma` is called only if the kernel has one."""
        return make_kernel(kernel, gamma, self.degree, self.coef0)

    def _seed(self) -> int:
        return int(check_random_state(as_scalar(self.random_state)).randint(2**31 - 1))


def _explaining(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor with the same signature, which scikit-learn reads."""

    @wraps(init)
    def wrapped(self: ConfiguredSVM, *args: Any, **parameters: Any) -> None:
        refuse_parameters(type(self).__name__, parameters, self._instead)
        init(self, *args, **parameters)

    return wrapped
