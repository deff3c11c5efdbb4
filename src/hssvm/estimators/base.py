"""What all estimators share: kernel, compression, solver."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from hssvm.estimators.callbacks import CallbackSupportMixin, FitTasks
from hssvm.estimators.certificate import Certificate, certify
from hssvm.estimators.checks import check_features, check_kernel, warn_about
from hssvm.estimators.forecast import Forecast, forecast
from hssvm.estimators.report import FitReport
from hssvm.estimators.saving import SavableEstimator, has_form
from hssvm.estimators.scaling import Scaling
from hssvm.hss import ClusterTree, HSSMatrix, NestedNystroem, Strategy, compress
from hssvm.hss.strategies import largest_size
from hssvm.kernels import (
    CallableKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
)
from hssvm.kernels.base import Floats, Rows, require_positive
from hssvm.kernels.rows import KernelRows
from hssvm.persistence.archive import require
from hssvm.predict import ExpansionPredictor, LeafwisePredictor
from hssvm.problems import Problem
from hssvm.solvers import (
    ADMM,
    PaperADMM,
    Refine,
    Solution,
    Status,
    initial_beta,
    paper_beta,
    polish,
)
from hssvm.solvers.equality import constrained_prox
from hssvm.systems import HSSSystem

logger = logging.getLogger(__name__)

EXACT_ROWS, EXACT_TOL = 2000, 1e-7
"""Up to so many rows are one leaf: nothing is compressed, and iterations are cheap. The solution is
then exact, whatever `tol` is; float32 ends at the root of that gap."""

RANK = 72
"""Of the leaves where K~ is all there is."""

START_RANK, START_TOL, START_ITER = 32, 1e-2, 100
"""Rank, tolerance and most iterations where K~ is a start for the true kernel."""

MANY_ROWS = 100_000
"""From here a start has the full rank. It costs time like n, and saves refinement, which costs time
like n times the support vectors."""

REFINED = 0.1
"""Share of `tol` to which refinement goes: it hardly costs more, and at the default the dual
objective then agrees with LIBSVM's to five digits."""

BUDGET, PATIENCE = 60.0, 5.0
"""refine='auto' refines if one pass over the kernel matrix takes less than so many seconds, and
gives up after so many times the budget. On the data sets of the benchmarks refinement took between
a tenth of a pass and five passes."""

FLOATS = [np.float64, np.float32]
"""Types of X that are kept as they are; others become the first."""

REPORT_ROWS = 128
"""Rows of the true kernel matrix that the report looks at."""


class KernelMachine(CallbackSupportMixin, SavableEstimator):
    """Base of the estimators: translates parameters and runs the stages of a fit.

    Subclasses have the parameters kernel, gamma, degree, coef0, tol, max_iter, beta, refine,
    max_time, cache_size, prediction, scaling, leaf_size, max_rank, rtol, surplus, compression and
    random_state.
    """

    _saved = (*SavableEstimator._saved, "feature_shift_", "feature_factor_")

    warm_start = False
    memory_limit: float | None = None

    _kernels: ClassVar[dict[str, Callable[[Any, float], Kernel]]] = {
        "rbf": lambda self, gamma: Gaussian(gamma),
        "laplacian": lambda self, gamma: Laplacian(gamma),
        "matern32": lambda self, gamma: Matern32(gamma),
        "matern52": lambda self, gamma: Matern52(gamma),
        "poly": lambda self, gamma: Polynomial(gamma, self.coef0, self.degree),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_report_")

    def _make_kernel(self, X: Rows, sample_weight: Floats, gamma: float | str) -> Kernel:
        return self._kernel_with(lambda: gamma_of_rows(gamma, X, sample_weight))

    def _kernel_with(self, gamma: Callable[[], float]) -> Kernel:
        """Return the kernel; `gamma` is asked where the kernel has one."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if callable(self.kernel):
            return CallableKernel(self.kernel)
        if self.kernel == "linear":
            return Linear()
        if self.kernel not in self._kernels:
            known = ", ".join(map(repr, [*self._kernels, "linear"]))
            raise ValueError(
                f"kernel must be one of {known}, a Kernel of hssvm.kernels, or a function of two "
                f"sets of rows; got {self.kernel!r}. Kernels must be positive semi-definite, which "
                "the sigmoid is not; a precomputed matrix cannot be compressed without its rows."
            )
        return self._kernels[self.kernel](self, gamma())

    def _check_prediction(self) -> None:
        if self.prediction not in ("auto", "leafwise", "exact"):
            raise ValueError(
                f"prediction must be 'auto', 'leafwise' or 'exact', got {self.prediction!r}"
            )

    def _refines(self, X: Rows, kernel: Kernel) -> bool:
        """Whether to go on to the true kernel: as asked for, or if the forecast allows it."""
        if self.refine not in (True, False, "auto"):
            raise ValueError(f"refine must be True, False or 'auto', got {self.refine!r}")
        self._check_prediction()
        if not (self.compression is None or isinstance(self.compression, Strategy)):
            raise TypeError(
                "compression must be None or a strategy of hssvm.hss such as "
                f"NeighbourInterpolation(), got {self.compression!r}"
            )
        asked = self.refine != "auto" and bool(self.refine)
        if asked and self.prediction == "leafwise":
            raise ValueError(
                "prediction='leafwise' uses the compressed kernel, which a refined model has left; "
                "take refine=False or prediction='auto'"
            )
        if asked and self.tol is None:
            raise ValueError("refine needs a tol; tol=None is the paper's setting")
        if X.shape[0] <= EXACT_ROWS:
            return False
        if self.refine != "auto":
            return bool(self.refine)
        if self.prediction == "leafwise" or self.tol is None:
            return False
        forecast = KernelRows(kernel, X).seconds_per_pass()
        logger.info("one pass over the kernel matrix: %.1f s (forecast)", forecast)
        return forecast < BUDGET

    def _check_solver(self) -> None:
        if self.tol is not None and not self.tol > 0:
            raise ValueError(f"tol must be positive or None, got {self.tol!r}")
        if self.max_iter < 1:
            raise ValueError(f"max_iter must be at least 1, got {self.max_iter!r}")
        if self.beta not in (None, "paper"):
            require_positive(beta=self.beta)

    def _build_tree(self, X: Rows, report: FitReport, seed: int) -> ClusterTree:
        self._check_solver()
        leaf_size = self.leaf_size
        if 2 <= leaf_size < X.shape[0] <= EXACT_ROWS:
            leaf_size = X.shape[0]
        with report.stage("tree"):
            return ClusterTree.build(X, leaf_size=leaf_size, random_state=seed)

    def _compress(
        self,
        X: Rows,
        kernel: Kernel,
        tree: ClusterTree,
        report: FitReport,
        seed: int,
        *,
        as_start: bool = False,
    ) -> HSSMatrix:
        max_rank = self.max_rank
        if max_rank is None:
            max_rank = START_RANK if as_start and X.shape[0] < MANY_ROWS else RANK
        strategy = self.compression
        if strategy is None:
            strategy = NestedNystroem(rtol=self.rtol, max_rank=max_rank, surplus=self.surplus)
        size = largest_size(strategy, tree.n, tree.depth) * X.dtype.itemsize
        if self.memory_limit is not None and size > self.memory_limit:
            raise MemoryError(
                f"matrix and factor may take {size / 1e9:.2g} GB, more than the memory_limit of "
                f"{self.memory_limit / 1e9:.2g} GB; lower max_rank or leaf_size, or give X in "
                "float32. (`forecast` says what they are likely to take.)"
            )
        with report.stage("compress"):
            return compress(kernel, X, tree, strategy, random_state=seed)

    def _prepare(
        self, X: Rows, weight: Floats, report: FitReport, seed: int
    ) -> tuple[HSSMatrix, bool]:
        """Compress the kernel matrix; say whether it is only a start for the true one."""
        kernel = self._make_kernel(X, weight, self.gamma)
        refine = self._refines(X, kernel)
        tree = self._build_tree(X, report, seed)
        return self._compress(X, kernel, tree, report, seed, as_start=refine), refine

    def _factor(self, matrix: HSSMatrix, problem: Problem, report: FitReport) -> HSSSystem:
        if self.beta is None:
            beta = initial_beta(problem, mean_diagonal(matrix))
        elif self.beta == "paper":
            beta = paper_beta(problem.n)
        else:
            beta = float(self.beta)
        with report.stage("factor"):
            return HSSSystem(matrix, shift=beta)

    def _solve(
        self,
        problem: Problem,
        system: HSSSystem,
        report: FitReport,
        tasks: FitTasks,
        start: Floats | None = None,
        *,
        refine: bool = False,
    ) -> tuple[Solution, bool]:
        """Return the solution, and whether it is refined: not if time or patience ended before."""
        exact = system.matrix.tree.depth == 0 and self.tol is not None
        with report.stage("solve"):
            if refine and self.warm_start and start is not None:
                solution = Solution.at(problem, start, system.matmul(start))
            else:
                solver = self._solver(problem, tasks, exact=exact, as_start=refine)
                solution = solver.solve(problem, system, start)
            ended = not {Status.STOPPED, Status.MAX_TIME}.isdisjoint(solution.status)
            if exact and not ended:
                polish(problem, system, solution)
                solution.accept(self.tol)
        report.take_start(system, solution)
        refine = refine and not ended
        if refine:
            with report.stage("refine"):
                solution = self._refine(problem, system.matrix, solution, tasks)
                solution.accept(self.tol)
        on_true_kernel = refine or system.matrix.tree.depth == 0
        report.take(solution, on_true_kernel=on_true_kernel, refined=refine)
        for advice in sorted({s.value for s in solution.status if s.name not in SILENT}):
            warnings.warn(advice, ConvergenceWarning, stacklevel=4)
        return solution, refine

    def _solver(
        self, problem: Problem, tasks: FitTasks, *, exact: bool, as_start: bool
    ) -> ADMM | PaperADMM:
        if self.tol is None:
            return PaperADMM(self.max_iter)
        tol, max_iter = self.tol, self.max_iter
        if exact:
            tol = min(tol, EXACT_TOL if problem.dtype == np.float64 else EXACT_TOL**0.5)
        elif as_start:
            tol, max_iter = max(tol, START_TOL), min(max_iter, START_ITER)
        return ADMM(tol, max_iter, tasks.after_look)

    def _refine(
        self, problem: Problem, matrix: HSSMatrix, start: Solution, tasks: FitTasks
    ) -> Solution:
        require_positive(cache_size=self.cache_size)
        max_time = tasks.seconds_left
        if self.refine == "auto" and self.max_time is None:
            max_time = BUDGET * PATIENCE
        solver = Refine(self.tol * REFINED, self.cache_size * 1e6, max_time, tasks.after_look)
        return solver.solve(problem, KernelRows(matrix.kernel, matrix.X), start)

    def _check_rows(self, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Rows to train on, scaled as asked for, and their y if there is one."""
        data = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", **options)
        X, *rest = data if isinstance(data, tuple) else (data,)
        scaling = Scaling.of(X, self.scaling)
        self.feature_shift_, self.feature_factor_ = scaling.shift, scaling.factor
        return (scaling(X), *rest) if rest else scaling(X)

    @property
    def _scaling(self) -> Scaling:
        return Scaling(self.feature_shift_, self.feature_factor_)

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        for name in ("feature_shift_", "feature_factor_"):
            value = getattr(self, name)
            fits = value is None or (
                has_form(value, np.float64, (self.n_features_in_,)) and np.isfinite(value).all()
            )
            require(fits, f"{name} does not fit")

    def _check_weight(self, sample_weight: Any, X: Rows) -> Floats:
        if sample_weight is None:
            return np.ones(X.shape[0])
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _fit_problem(
        self,
        matrix: HSSMatrix,
        problem: Problem,
        report: FitReport,
        tasks: FitTasks,
        seed: int,
        start: Floats | None = None,
        *,
        refine: bool,
    ) -> None:
        """Solve a problem, and set the fitted attributes and `fit_report_`."""
        warn_about(check_features(matrix.X, matrix.kernel), report)
        system = self._factor(matrix, problem, report)
        tasks.done("factor")
        start = self._warm_start(problem) if start is None else start
        solution, refine = self._solve(problem, system, report, tasks, start, refine=refine)
        with report.stage("finish"):
            self.support_ = np.flatnonzero(np.any(solution.Z != 0, axis=1))
            self.support_vectors_ = matrix.X[self.support_]
            self.dual_coef_ = np.ascontiguousarray(solution.Z[self.support_].T)
            self.intercept_ = solution.intercept
            self.n_iter_ = report.n_iter + report.n_rounds
            self.kernel_ = matrix.kernel
            leafwise = matrix.projection and not refine
            self._leafwise = LeafwisePredictor(matrix, solution.Z) if leafwise else None
            report.estimate(system, solution, REPORT_ROWS, seed)
        warn_about(check_kernel(matrix.X, matrix.kernel, seed), report)
        self.fit_report_ = report

    def _fit_rows(self, X: Rows, weight: Floats, problem: Problem, tasks: FitTasks) -> None:
        """Compress the kernel matrix of rows, and solve a problem on it."""
        report, seed = FitReport(), self._seed()
        matrix, refine = self._prepare(X, weight, report, seed)
        tasks.done("compress")
        self._fit_problem(matrix, problem, report, tasks, seed, refine=refine)

    def _tasks(self) -> FitTasks:
        """Begin a fit."""
        if self.max_time is not None:
            require_positive(max_time=self.max_time)
        return FitTasks(self, self.max_time)

    def _warm_start(self, problem: Problem) -> Floats | None:
        """Coefficients of the last fit, if they are wanted and fit, moved to where they may be."""
        if not (self.warm_start and hasattr(self, "dual_coef_")):
            return None
        if (self.fit_report_.n_rows, self.dual_coef_.shape[0]) != (problem.n, problem.k):
            logger.info("warm start: the last fit had other rows or classes; starting at 0")
            return None
        Z: Floats = np.zeros((problem.n, problem.k), problem.dtype)
        Z[self.support_] = self.dual_coef_.T
        weight = np.ones(problem.n, problem.dtype)
        return constrained_prox(problem, Z, weight, np.zeros(problem.k), exactly=True)[0]

    def _forecast(self, X: Any, y: Any = "no_validation", **options: Any) -> Forecast:
        model = clone(self)
        data = model._check_rows(X, y, **options)
        X, y = data if isinstance(data, tuple) else (data, None)
        model.set_params(scaling=None)  # the rows are scaled already
        kernel = model._make_kernel(X, np.ones(X.shape[0]), model.gamma)
        return forecast(model, X, y, model._refines(X, kernel))

    def _decision_values(self, X: Any) -> Floats:
        """Values of all columns at new rows, (m, k)."""
        check_is_fitted(self)
        predictor = self._predictor()
        dtype = predictor.X.dtype
        X = validate_data(self, X, accept_sparse="csr", dtype=dtype, order="C", reset=False)
        values = predictor(self._scaling(X))
        return values + self.intercept_.astype(values.dtype)

    def _predictor(self) -> LeafwisePredictor | ExpansionPredictor:
        self._check_prediction()
        if self.prediction == "exact" or (self.prediction == "auto" and self._leafwise is None):
            self._require_support("prediction='exact'")
            return ExpansionPredictor(self.kernel_, self.support_vectors_, self.dual_coef_.T)
        if self._leafwise is None:
            raise ValueError(
                "a refined model has no leaves to predict from, nor has one whose compression is "
                "no projection, or one that was saved with prediction='exact'; fit with "
                "refine=False and compression=None"
            )
        return self._leafwise

    def _check_certified(self, X: Any, y: Any = "no_validation") -> Any:
        """Check the rows (and labels) that a model was trained on."""
        check_is_fitted(self)
        self._require_support("certify")
        dtype = self.dual_coef_.dtype
        data = validate_data(self, X, y, accept_sparse="csr", dtype=dtype, order="C", reset=False)
        rows = data[0] if isinstance(data, tuple) else data
        if self.support_[-1:] >= rows.shape[0]:
            raise ValueError("certify needs the rows that the model was trained on; X has fewer")
        return data

    def _certify(self, problem: Problem, X: Rows, n_rows: int | None) -> Certificate:
        Z = np.zeros((problem.n, problem.k))
        Z[self.support_] = self.dual_coef_.T
        rows = KernelRows(self.kernel_, self._scaling(X).astype(np.float64))
        return certify(problem, rows, Z, self.intercept_, n_rows, self._seed())

    def summary(self) -> str:
        """How exact the fit is and what it cost, as text; the figures are in `fit_report_`."""
        check_is_fitted(self)
        return f"{self}\n{self.fit_report_.summary()}"

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))


SILENT = ("CONVERGED", "FIXED")


def mean_diagonal(matrix: HSSMatrix) -> float:
    """Mean of k(x, x), from at most a thousand rows."""
    step = max(1, matrix.tree.n // 1000)
    mean = float(np.mean(matrix.kernel.diag(matrix.X[::step]), dtype=np.float64))
    return mean if mean > 0 else 1.0


def resolve_gamma(gamma: float | str, n_features: int, variance: Callable[[], float]) -> float:
    """Turn 'scale' and 'auto' into numbers, as scikit-learn does.

    'scale' is 1 / (n_features * variance of X); the variance is that of the weighted rows, so that
    a weight of 2 means the same as the row twice.
    """
    if gamma == "auto":
        return 1.0 / n_features
    if gamma == "scale":
        value = variance()
        return 1.0 / (n_features * value) if value > 0 else 1.0
    if isinstance(gamma, str):
        raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")
    require_positive(gamma=gamma)
    return float(gamma)


def gamma_of_rows(gamma: float | str, X: Rows, sample_weight: Floats) -> float:
    """Turn 'scale' and 'auto' into numbers for these rows."""
    return resolve_gamma(
        gamma, X.shape[1], lambda: _variance(X, sample_weight / sample_weight.sum())
    )


def _variance(X: Rows, weight: Floats) -> float:
    """Weighted variance of all entries of X; the weights sum to 1."""
    if scipy.sparse.issparse(X):
        mean = float((X.T @ weight).mean())
        return max(0.0, float((X.multiply(X).T @ weight).mean()) - mean**2)
    step = max(1, 2**18 // X.shape[1])
    chunks = [slice(begin, begin + step) for begin in range(0, X.shape[0], step)]
    mean = sum(float(weight[rows] @ X[rows].mean(axis=1, dtype=np.float64)) for rows in chunks)
    total = 0.0
    for rows in chunks:
        centred = X[rows].astype(np.float64) - mean
        total += float(weight[rows] @ np.einsum("ij,ij->i", centred, centred))
    return total / X.shape[1]
