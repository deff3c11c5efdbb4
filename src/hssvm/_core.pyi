"""The compiled core. Arrays are C-contiguous; one precision, float32 or float64, per call."""

from collections.abc import Callable
from typing import overload

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.floating]
_Indices = NDArray[np.int64]

def set_max_threads(n: int) -> None:
    """Limit loops to `n` threads, in addition to OpenMP's own limit; 0 for none."""

def thread_count() -> int:
    """Return the number of threads that a long loop would run on now."""

def trim_heap() -> None:
    """Return freed memory to the system."""

class Kernel:
    def __init__(
        self,
        name: str,
        gamma: float = 1.0,
        coef0: float = 0.0,
        degree: int = 1,
        similarity: str = "products",
    ) -> None: ...

class Rows:
    """Rows of data: ``Rows(X)`` or ``Rows(indptr, indices, data, n_features)``."""

    def __init__(self, *arrays: _Floats | NDArray[np.integer] | int) -> None: ...

class KernelMatrix:
    """``KernelMatrix(kernel, rows)``, ``(function, n)`` or ``(matrices, product)``."""

    def __init__(
        self,
        kernel: Kernel | Callable[[_Indices, _Indices, str], _Floats] | list[KernelMatrix],
        rows: Rows | int | bool,
    ) -> None: ...

class LeafExpansions:
    """The kernel expansions of the leaves of one tree; see `hssvm.predictors.LeafExpansions`."""

    def __init__(
        self,
        kernel: Kernel,
        Y: Rows,
        rows: _Indices,
        ends: _Indices,
        W: _Floats,
        directions: _Floats,
        thresholds: _Floats,
        constants: _Floats | None,
        clip: float,
    ) -> None: ...
    def add_to(self, X: _Floats, out: _Floats) -> None: ...

class ShapleyRules:
    """Gauss-Legendre rules with bounds on their error; see `hssvm.predictors.nodes`."""

    def __init__(
        self,
        ends: _Indices,
        nodes: NDArray[np.float64],
        weights: NDArray[np.float64],
        widths: NDArray[np.float64],
        limits: NDArray[np.float64],
        negligible: float,
    ) -> None: ...

class ChildBases:
    """Bases of a level's nodes for the level above: L and Q of `compress.hpp`."""

    def __init__(
        self,
        sizes: _Indices,
        ranks: _Indices,
        cholesky: NDArray[np.float64],
        rotation: NDArray[np.float64],
    ) -> None: ...
    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class LevelLayout:
    def __init__(
        self,
        offsets: _Indices,
        ranks: _Indices,
        child_ranks: _Indices | None,
        rows: _Indices | None,
    ) -> None: ...

class LibsvmText_f32:
    """LIBSVM text that arrives in chunks of whole lines."""

    def __init__(self, max_index: int) -> None: ...
    def feed(self, lines: bytes) -> None: ...
    def take(
        self,
    ) -> tuple[
        NDArray[np.float64] | None, _Indices, NDArray[np.int32], NDArray[np.float32], int
    ]: ...

class LibsvmText_f64:
    def __init__(self, max_index: int) -> None: ...
    def feed(self, lines: bytes) -> None: ...
    def take(
        self,
    ) -> tuple[
        NDArray[np.float64] | None, _Indices, NDArray[np.int32], NDArray[np.float64], int
    ]: ...

def interpolate_columns(X: _Floats, x: _Floats, y: _Floats, out: _Floats) -> None: ...
def kernel_block(kernel: Kernel, X: Rows, Y: Rows, out: _Floats) -> None: ...
def sign_sums(
    V: NDArray[np.float64],
    X: NDArray[np.float64],
    Y: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def grouped_product(
    kernel: Kernel,
    X: Rows,
    x_order: _Indices,
    x_offsets: _Indices,
    Y: Rows,
    y_order: _Indices,
    y_offsets: _Indices,
    W: _Floats,
    out: _Floats,
) -> None: ...
def shapley_values(
    rules: ShapleyRules,
    term_ends: _Indices,
    kinds: NDArray[np.int32],
    gammas: NDArray[np.float64],
    support: NDArray[np.float64],
    W: NDArray[np.float64],
    X: NDArray[np.float64],
    background: NDArray[np.float64],
    background_weight: NDArray[np.float64],
    values: NDArray[np.float64],
    base: NDArray[np.float64],
) -> None: ...
def split_level(
    X: Rows,
    halves: _Indices,
    seeds: NDArray[np.uint64],
    n_samples: int,
    n_starts: int,
    n_iterations: int,
    perm: _Indices,
    directions: _Floats,
    thresholds: _Floats,
) -> None: ...
def project(X: Rows, directions: _Floats, node: _Indices, values: _Floats) -> None: ...
def ties_below(
    first: int, n_ties: int, n_below: int, seed: int, below: NDArray[np.bool_]
) -> None: ...
def sample_positions(n_rows: int, n_samples: int, seed: int, positions: _Indices) -> None: ...
def route(
    X: Rows, depth: int, directions: _Floats, thresholds: _Floats, leaf: _Indices
) -> None: ...
def compress_level_f32(
    K: KernelMatrix,
    candidates: _Indices,
    offsets: _Indices,
    samples: _Indices,
    max_rank: int,
    max_size: int,
    rtol: float,
    children: ChildBases | None,
) -> tuple[_Indices, _Indices, _Indices, _Floats, _Floats, _Floats, ChildBases]: ...

compress_level_f64 = compress_level_f32

def factor_level(
    level: LevelLayout,
    K: KernelMatrix | None,
    shift: _Floats | None,
    basis: _Floats,
    coupling: _Floats,
    projection: bool,
    child_R: _Floats | None,
    packed: _Floats,
    W: _Floats,
    R: _Floats,
) -> None: ...
def solve_up_leaves(
    level: LevelLayout, packed: _Floats, W: _Floats, B: _Floats, X: _Floats, c: _Floats
) -> None: ...
def solve_up(
    level: LevelLayout, packed: _Floats, W: _Floats, coefficients: _Floats, c: _Floats
) -> None: ...
def solve_down(level: LevelLayout, W: _Floats, delta: _Floats, rows: _Floats) -> None: ...
def matmul_up(level: LevelLayout, basis: _Floats, B: _Floats, c: _Floats) -> None: ...
def matmul_down_leaves(
    level: LevelLayout, K: KernelMatrix, basis: _Floats, delta: _Floats, B: _Floats, Y: _Floats
) -> None: ...
def matmul_down(
    level: LevelLayout, basis: _Floats, coupling: _Floats, delta: _Floats, coefficients: _Floats
) -> None: ...
def matmul_down_leaves_from_factor(
    level: LevelLayout,
    packed: _Floats,
    basis: _Floats,
    projection: bool,
    delta: _Floats,
    B: _Floats,
    Y: _Floats,
) -> None: ...
def interpolate_level_f32(
    K: KernelMatrix,
    candidates: _Indices,
    offsets: _Indices,
    left: _Indices | None,
    samples: _Indices,
    sample_offsets: _Indices,
    max_rank: int,
    rtol: float,
    atol: float,
) -> tuple[_Indices, _Indices, _Floats, _Floats]: ...

interpolate_level_f64 = interpolate_level_f32

def leaf_weights(
    level: LevelLayout,
    skeleton_offsets: _Indices,
    skeleton: _Indices,
    expansion: _Floats,
    delta: _Floats,
    weights: _Floats,
) -> None: ...
def shifted_prox(
    V: _Floats,
    beta: _Floats,
    tau: _Floats,
    lower: _Floats,
    upper: _Floats,
    l1_weight: NDArray[np.float64],
    Z: _Floats,
    sums: _Floats,
) -> None: ...
def set_symmetric(block: _Floats, at: _Indices, K: _Floats) -> None: ...
def smo(
    K: _Floats,
    offsets: _Indices,
    members: _Indices,
    lower: _Floats,
    upper: _Floats,
    l1_weight: NDArray[np.float64],
    z: _Floats,
    g: _Floats,
    tol: NDArray[np.float64],
    max_steps: int,
    steps: _Indices,
    stop: Callable[[], object] | None = None,
    ridge: _Floats | None = None,
) -> None: ...
def add_transposed_product(block: _Floats, W: _Floats, out: _Floats) -> None: ...

class SmallKernelMatrix:
    def __init__(self, kernel: Kernel, X: Rows) -> None: ...

def solve_small(
    K: SmallKernelMatrix | _Floats,
    linear: _Floats,
    lower: _Floats,
    upper: _Floats,
    l1_weight: float,
    z: _Floats,
    F: NDArray[np.float64],
    tol: float,
    max_steps: int,
    stop: Callable[[], object] | None = None,
    ridge: _Floats | None = None,
) -> tuple[int, float]: ...
@overload
def solve_parts(
    kernel: Kernel,
    X: Rows,
    offsets: _Indices,
    rows: _Indices,
    lower: _Floats,
    upper: _Floats,
    linear: _Floats,
    l1_weight: NDArray[np.float64],
    tol: NDArray[np.float64],
    max_steps: _Indices,
    z: _Floats,
    F: _Floats,
    primal: NDArray[np.float64],
    dual: NDArray[np.float64],
    intercept: NDArray[np.float64],
    steps: _Indices,
    stop: Callable[[], object] | None = None,
    ridge: _Floats | None = None,
) -> None: ...
@overload
def solve_parts(
    K: KernelMatrix,
    offsets: _Indices,
    rows: _Indices,
    lower: _Floats,
    upper: _Floats,
    linear: _Floats,
    l1_weight: NDArray[np.float64],
    tol: NDArray[np.float64],
    max_steps: _Indices,
    z: _Floats,
    F: _Floats,
    primal: NDArray[np.float64],
    dual: NDArray[np.float64],
    intercept: NDArray[np.float64],
    steps: _Indices,
    stop: Callable[[], object] | None = None,
    ridge: _Floats | None = None,
) -> None: ...
