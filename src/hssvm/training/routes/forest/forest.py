"""Forests: the same problem on several compressed kernels, and the mean of their decision values.

A compressed kernel is inaccurate mainly near the borders of its leaves. Trees from different random
numbers have different borders, so the mean of a few of them is closer to the exact kernel than one
tree of a much larger rank.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.predictors import LeafExpansions, LeafwisePredictor
from hssvm.problems import Problem
from hssvm.solvers import Solution
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult

COMPARED_ROWS = 10_000
"""Number of training rows at which the trees are compared."""


@dataclass(frozen=True, eq=False)
class TrainedTree:
    """The model of one tree.

    Attributes
    ----------
    solution : Solution
    expansions : LeafExpansions or None
        None if the solution is on the exact kernel, or the compressor does not extend to new
        points.
    report : FitReport
    out_of_fold : (n, k) or None
        Decision values at the training rows, each from a model without the fold of the row.
    """

    solution: Solution
    expansions: LeafExpansions | None
    report: FitReport
    out_of_fold: Floats | None = None


@dataclass(eq=False)
class Forest:
    """The mean of the models of several trees; more trees can be added at any time.

    Attributes
    ----------
    fingerprint : int
        See `fingerprint`.
    report : FitReport
    Z : (n, k)
        Mean coefficients; without rows before the first tree is added.
    intercept : (k,)
        Mean intercept.
    expansions : list of LeafExpansions
    out_of_fold : (n, k) or None
        Mean out-of-fold decision values.
    first_Z : (n, k) or None
        Coefficients of the first tree; None if it was trained in an earlier fit.
    """

    fingerprint: int
    report: FitReport
    n_trees: int = 0
    Z: Floats = field(default_factory=lambda: np.empty((0, 0)))
    intercept: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    expansions: list[LeafExpansions] = field(default_factory=list)
    out_of_fold: Floats | None = None
    first_Z: Floats | None = None

    @classmethod
    def of(
        cls,
        fingerprint: int,
        report: FitReport,
        predictor: LeafwisePredictor,
        support: NDArray[np.int64],
        coefficients: Floats,
        n_rows: int,
        out_of_fold: Floats | None = None,
    ) -> Forest:
        """Return the forest of a trained model, with `n_rows` training rows."""
        Z: Floats = np.zeros((n_rows, coefficients.shape[1]), coefficients.dtype)
        Z[support] = coefficients
        trees = predictor.trees_of_training_rows()
        return cls(fingerprint, report, len(trees), Z, predictor.intercept, trees, out_of_fold)

    def add(self, tree: TrainedTree) -> None:
        """Add a tree; the result does not depend on when the trees are added."""
        self.n_trees += 1
        if self.n_trees == 1:
            self.Z, self.intercept = tree.solution.Z, tree.solution.intercept
            self.first_Z = self.Z
            self.out_of_fold = tree.out_of_fold
        else:
            self.Z = self.Z + (tree.solution.Z - self.Z) / self.n_trees
            if self.out_of_fold is not None and tree.out_of_fold is not None:
                step = (tree.out_of_fold - self.out_of_fold) / self.n_trees
                self.out_of_fold = self.out_of_fold + step
            self.report.add_tree(tree.report)
        if tree.expansions is not None:
            self.expansions.append(tree.expansions)
            self.intercept = np.mean([one.intercept for one in self.expansions], axis=0)
        self.report.n_support = int(self.Z.any(axis=1).sum())

    def result(
        self,
        problem: Problem,
        kernel: Kernel,
        X: Rows,
        seed: int,
        communicator: Communicator = SERIAL,
    ) -> TrainingResult:
        """Return the model, with the training rows X; compare the trees at some of them."""
        predictor = None
        if self.expansions:
            clip = problem.clip if self.report.n_cells else np.inf
            predictor = LeafwisePredictor.of(kernel, X, self.expansions, clip)
        if predictor is not None and self.n_trees > 1:
            with self.report.stage("finish"):
                rows = compared_rows(X.shape[0], seed)
                self.report.compare_trees(predictor.decisions(X[rows]), communicator)
        return TrainingResult(
            problem,
            kernel,
            X,
            self.Z,
            self.intercept,
            predictor,
            self.report,
            self.first_Z,
            self.out_of_fold,
            self.fingerprint,
        )


def compared_rows(n_rows: int, seed: int) -> NDArray[np.int64]:
    """Indices of the training rows at which the trees are compared, ascending."""
    n_compared = min(n_rows, COMPARED_ROWS)
    return np.sort(np.random.default_rng(seed).choice(n_rows, n_compared, replace=False))


def fingerprint(problem: Problem, kernel: Kernel, X: Rows, plan: TrainingPlan) -> int:
    """Checksum of everything that determines a tree: rows, problem, kernel and parameters.

    A forest may grow only if the checksum is unchanged.
    """
    same = replace(plan, n_trees=1, limit_work=False, memory_limit=None)
    checksum = zlib.crc32(repr((kernel, same)).encode())
    coordinates = kernel.coordinates(X)
    rows = [X.data, X.indices, X.indptr] if scipy.sparse.issparse(X) else [X]
    if coordinates is not X:  # the rows are only point indices
        rows = [coordinates, kernel.diag(X)]
    for array in [*rows, *problem.arrays]:
        checksum = zlib.crc32(np.ascontiguousarray(array).data.cast("B"), checksum)
    return checksum
