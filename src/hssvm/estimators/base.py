"""What all estimators share: kernel, compression, solver."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from hssvm import _core
from hssvm.estimators.callbacks import CallbackSupportMixin, FitTasks
from hssvm.estimators.certificate import Certificate, certify
from hssvm.estimators.checks import check_features, check_kernel, warn_about
from hssvm.estimators.forecast import Forecast, forecast
from hssvm.estimators.memory import FitMemory, require_within
from hssvm.estimators.parameters import (
    RULES,
    InvalidParameterError,
    Rule,
    as_scalar,
    check_parameter,
    check_parameters,
)
from hssvm.estimators.report import FitReport
from hssvm.estimators.saving import SavableEstimator, has_form, name_of
from hssvm.estimators.scaling import Scaling, require_moderate
from hssvm.estimators.warn import warn
from hssvm.hss import ClusterTree, HSSMatrix, NestedNystroem, Strategy, compress
from hssvm.hss.hashing import cut_width
from hssvm.hss.tree import depth_for
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
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.rows import KernelRows
from hssvm.kernels.sparse_format import require_valid_sparse
from hssvm.persistence.archive import require
from hssvm.predict import ExpansionPredictor, LeafwisePredictor
from hssvm.problems import Problem
from hssvm.solvers import (
    ADMM,
    PaperADMM,
    Refine,
    Solution,
    initial_beta,
    paper_beta,
    polish,
)
from hssvm.solvers.equality import constrained_prox
from hssvm.systems import HSSSystem

logger = logging.getLogger(__name__)

EXACT_ROWS, EXACT_TOL = 2000, 1e-7
"""Up to so many rows are one leaf: nothing is compressed, and iterations are cheap. The solution is
then exact, whatever `tol` is; float32 ends at the root of that gap. Where ADMM does not get there,
the working-set solver takes over."""

EXACT_WORK = 10.0
"""Nominal seconds that it may take for that, see `BUDGET`; a tenth if the gap is below tol."""

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
"""refine='auto' refines if one pass over the kernel matrix takes less than BUDGET nominal seconds
(counted operations, at their cost on the two cores of the benchmarks), and stops after PATIENCE
times that budget. On the data sets of the benchmarks refinement took between a tenth of a pass and
five passes. No clock decides: the same seed gives the same model on a busy machine."""

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

    _task: ClassVar[str]
    """What the report calls the task."""

    _rules: ClassVar[Mapping[str, Rule]] = RULES
    """What the parameters accept."""

    warm_start = False
    memory_limit: float | None = None

    _kernels: ClassVar[dict[str, Callable[[Any, float], Kernel]]] = {
        "rbf": lambda self, gamma: Gaussian(gamma),
        "laplacian": lambda self, gamma: Laplacian(gamma),
        "matern32": lambda self, gamma: Matern32(gamma),
        "matern52": lambda self, gamma: Matern52(gamma),
        "poly": lambda self, gamma: Polynomial(gamma, float(self.coef0), int(self.degree)),
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
        return self._kernels[self.kernel](self, gamma())

    def _check_parameters(self) -> None:
        check_parameters(self.get_params(deep=False), self._rules)
        known = [*self._kernels, "linear"]
        if isinstance(self.kernel, str):
            fits = self.kernel in known
        else:
            fits = callable(self.kernel) or isinstance(self.kernel, Kernel)
        if not fits or isinstance(self.kernel, type):
            raise InvalidParameterError(
                f"kernel must be one of {', '.join(map(repr, known))}, a Kernel such as "
                "hssvm.kernels.Gaussian(0.5), or a function of two sets of rows; got "
                f"{self.kernel!r}. Kernels must be positive semi-definite, which the sigmoid is "
                "not; a precomputed matrix cannot be compressed without its rows."
            )

    def _refines(self, X: Rows, kernel: Kernel) -> bool:
        """Whether to go on to the exact kernel: as asked for, or if it takes few operations."""
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
        work = X.shape[0] ** 2 * KernelRows(kernel, X).value_cost
        logger.debug("one pass over the kernel matrix: %.2g s (nominal)", work)
        return work < BUDGET

    def _build_tree(self, X: Rows, report: FitReport, seed: int) -> ClusterTree:
        with report.stage("tree"):
            return ClusterTree.build(X, leaf_size=self._leaf_size(X.shape[0]), random_state=seed)

    def _leaf_size(self, n_rows: int) -> int:
        """Rows in a leaf, at most: all of them up to `EXACT_ROWS`."""
        leaf_size = int(self.leaf_size)
        return n_rows if leaf_size < n_rows <= EXACT_ROWS else leaf_size

    def _strategy(self, n_rows: int, *, as_start: bool) -> Strategy:
        if self.compression is not None:
            return self.compression
        max_rank = None if self.max_rank is None else int(self.max_rank)
        if max_rank is None:
            max_rank = START_RANK if as_start and n_rows < MANY_ROWS else RANK
        return NestedNystroem(rtol=self.rtol, max_rank=max_rank, surplus=self.surplus)

    def _memory(self, X: Rows, n_columns: int, refine: bool) -> FitMemory:
        """What the memory of a fit depends on, with the largest ranks."""
        n, p = X.shape
        depth = depth_for(n, self._leaf_size(n))
        strategy = self._strategy(n, as_start=refine)
        sparse = scipy.sparse.issparse(X)
        return FitMemory(
            n_rows=n,
            n_features=p,
            n_columns=n_columns,
            row_bytes=X.data.nbytes + X.indices.nbytes + 8 * n if sparse else X.nbytes,
            itemsize=X.dtype.itemsize,
            sparse=sparse,
            scaled=self.scaling is not None,
            refines=refine,
            cut_width=cut_width(X),
            ranks=[0, *(strategy.largest_rank(depth, level) for level in range(1, depth + 1))],
            surplus=self.surplus,
            n_threads=_core.thread_count(),
        )

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
        strategy = self._strategy(X.shape[0], as_start=as_start)
        with report.stage("compress"):
            return compress(kernel, X, tree, strategy, random_state=seed)

    def _prepare(
        self, X: Rows, weight: Floats, n_columns: int, report: FitReport, seed: int
    ) -> tuple[HSSMatrix, bool]:
        """Compress the kernel matrix; say whether it is only a start for the true one."""
        kernel = self._make_kernel(X, weight, self.gamma)
        refine = self._refines(X, kernel)
        if self.memory_limit is not None:
            require_within(self.memory_limit, self._memory(X, n_columns, refine))
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
        solver = self._solver(problem, tasks, exact=exact, as_start=refine)
        with report.stage("solve", goal=solver.tol if isinstance(solver, ADMM) else None):
            if refine and self.warm_start and start is not None:
                solution = Solution.at(problem, start, system.matmul(start))
            else:
                solution = solver.solve(problem, system, start)
            ended = solution.ended
            if exact and ended is None:
                polish(problem, system, solution)
        report.take_start(system, solution)
        report.take_blocks(system.matrix)
        if ended is not None:
            # a start converges at START_TOL; without refinement that is not enough
            solution.end(np.flatnonzero(solution.gap > self.tol), ended)
        elif refine:
            tol = float(self.tol) * REFINED
            with report.stage("refine", goal=tol):
                work = BUDGET * PATIENCE
                solution = self._refine(problem, system.matrix, solution, tasks, tol, work)
        elif exact:
            self._finish_exact(problem, system.matrix, solution, report, tasks)
        refine = refine and ended is None
        if self.tol is not None:
            solution.accept(self.tol)
        on_true_kernel = refine or system.matrix.tree.depth == 0
        report.take(solution, on_true_kernel=on_true_kernel, refined=refine)
        for advice in sorted({s.value for s in solution.status if s.name not in SILENT}):
            warn(advice, ConvergenceWarning)
        return solution, refine

    def _solver(
        self, problem: Problem, tasks: FitTasks, *, exact: bool, as_start: bool
    ) -> ADMM | PaperADMM:
        if self.tol is None:
            return PaperADMM(self.max_iter)
        tol, max_iter = float(self.tol), int(self.max_iter)
        if exact:
            tol = min(tol, exact_tol(problem))
        elif as_start:
            tol, max_iter = max(tol, START_TOL), min(max_iter, START_ITER)
        return ADMM(tol, max_iter, tasks.after_look)

    def _refine(
        self,
        problem: Problem,
        matrix: HSSMatrix,
        start: Solution,
        tasks: FitTasks,
        tol: float,
        max_work: float,
    ) -> Solution:
        """Solve on the exact kernel; `max_work` nominal seconds hold unless more is asked for."""
        limited = self.max_time is None and (self.refine == "auto" or not self.refine)
        solver = Refine(
            tol,
            self._cache(matrix.X, problem.k),
            tasks.seconds_left,
            tasks.after_look,
            max_work if limited else np.inf,
        )
        return solver.solve(problem, KernelRows(matrix.kernel, matrix.X), start)

    def _cache(self, X: Rows, n_columns: int) -> float:
        """Bytes for kernel values during refinement: `cache_size`, or what the limit leaves."""
        cache = float(self.cache_size) * 1e6
        if self.memory_limit is None:
            return cache
        return min(cache, self._memory(X, n_columns, True).cache_within(self.memory_limit))

    def _finish_exact(
        self,
        problem: Problem,
        matrix: HSSMatrix,
        solution: Solution,
        report: FitReport,
        tasks: FitTasks,
    ) -> None:
        """Give columns that ADMM has left short of an exact solution to the working-set solver."""
        tol = min(self.tol, exact_tol(problem))
        left = np.flatnonzero(solution.gap > tol)
        if left.size:
            with report.stage("refine", goal=tol):
                start = solution.columns(left)
                work = EXACT_WORK if (start.gap > self.tol).any() else EXACT_WORK / 10
                refined = self._refine(problem.columns(left), matrix, start, tasks, tol, work)
            report.n_rounds[left] = refined.n_iter
            solution.improve(left, refined)

    def _check_rows(self, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Rows to train on, scaled as asked for, and their y if there is one."""
        require_valid_sparse(X)
        data = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", **options)
        X, *rest = data if isinstance(data, tuple) else (data,)
        if self.scaling != "minmax":
            require_moderate(X)
        scaling = Scaling.of(X, self.scaling)
        self.feature_shift_, self.feature_factor_ = scaling.shift, scaling.factor
        self.target_name_, self.data_checksum_ = name_of(y), None
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
        report, seed = self._report(), self._seed()
        matrix, refine = self._prepare(X, weight, problem.k, report, seed)
        tasks.done("compress")
        self._fit_problem(matrix, problem, report, tasks, seed, refine=refine)

    def _report(self) -> FitReport:
        """Begin a report."""
        return FitReport(task=self._task)

    def _tasks(self) -> FitTasks:
        """Check the parameters, and begin a fit."""
        self._check_parameters()
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
        model._check_parameters()
        data = model._check_rows(X, y, **options)
        X, y = data if isinstance(data, tuple) else (data, None)
        kernel = model._make_kernel(X, np.ones(X.shape[0]), model.gamma)
        return forecast(model, X, y, model._refines(X, kernel))

    def _decision_values(self, X: Any) -> Floats:
        """Values of all columns at new rows, (m, k)."""
        values = self._values_without_intercept(X)
        return values + self.intercept_.astype(values.dtype)

    def _values_without_intercept(self, X: Any) -> Floats:
        check_is_fitted(self)
        predictor = self._predictor()
        dtype = predictor.X.dtype
        require_valid_sparse(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=dtype, order="C", reset=False)
        return predictor(self._scaling(X))

    def _predictor(self) -> LeafwisePredictor | ExpansionPredictor:
        check_parameter("prediction", self.prediction, RULES["prediction"])
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
        require_valid_sparse(X)
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
        return int(check_random_state(as_scalar(self.random_state)).randint(2**31 - 1))


SILENT = ("CONVERGED", "FIXED")


def exact_tol(problem: Problem) -> float:
    """Gap of an exact solution in the precision of the problem."""
    return EXACT_TOL if problem.dtype == np.float64 else EXACT_TOL**0.5


def mean_diagonal(matrix: HSSMatrix) -> float:
    """Mean of k(x, x), from at most a thousand rows."""
    step = max(1, matrix.tree.n // 1000)
    with np.errstate(over="ignore"):
        mean = float(np.mean(matrix.kernel.diag(matrix.X[::step]), dtype=np.float64))
    if not np.isfinite(mean):
        raise ValueError(
            f"{matrix.kernel!r} has values beyond the range of {matrix.dtype}; lower its degree or "
            "gamma, or scale the features"
        )
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
