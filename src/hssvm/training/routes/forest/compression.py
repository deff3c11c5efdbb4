"""Compression of the kernel matrix as planned."""

from __future__ import annotations

from hssvm.hss import ClusterTree, HSSMatrix, compress
from hssvm.hss.scratch import Scratch
from hssvm.hss.splitters import Splitter
from hssvm.hss.tree import Node
from hssvm.kernels.base import Kernel, Rows
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.report import FitReport


def build_tree(
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    index: int = 0,
    splitter: Splitter | None = None,
    node: Node | None = None,
) -> ClusterTree:
    """Build the cluster tree with the given index in the forest, or its subtree below a node."""
    seed = plan.tree_seed(index)
    with report.stage("tree"):
        return ClusterTree.build(
            kernel.coordinates(X), plan.leaf_size, splitter, random_state=seed, node=node
        )


def compress_kernel(
    kernel: Kernel,
    X: Rows,
    tree: ClusterTree,
    plan: TrainingPlan,
    report: FitReport,
    index: int = 0,
    scratch: Scratch | None = None,
) -> HSSMatrix:
    """Compress the kernel matrix on the tree with the given index."""
    seed = plan.tree_seed(index)
    with report.stage("compress"):
        return compress(kernel, X, tree, plan.compressor, random_state=seed, scratch=scratch)
