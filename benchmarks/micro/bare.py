"""The least that factor and solve could cost on this machine, now.

`factor_seconds` makes the same LAPACK and BLAS calls, on blocks of the same layouts, as
`hssvm.hss.factor` does for a given matrix, through the same function pointers (SciPy's capsules),
and nothing else: no kernel values, no copies, no bookkeeping. ctypes releases the GIL, so the
calls run on as many threads as asked for. `copy_bandwidth` is that of a large copy.
"""

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue

import numpy as np
import scipy.linalg.cython_blas
import scipy.linalg.cython_lapack


def _routine(module, name):
    capsule = module.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    function = ctypes.CFUNCTYPE(None)(get(capsule, get_name(capsule)))
    function.argtypes = None
    return function


class _Calls:
    """The calls of one node, on the buffers of one thread."""

    def __init__(self, largest, dtype):
        prefix = "s" if dtype == np.float32 else "d"
        blas, lapack = scipy.linalg.cython_blas, scipy.linalg.cython_lapack
        for name in ("syrk", "trsm", "trmm"):
            setattr(self, name, _routine(blas, prefix + name))
        for name in ("potrf", "geqrf", "orgqr", "lauum"):
            setattr(self, name, _routine(lapack, prefix + name))
        rng = np.random.default_rng(0)
        self.source = np.eye(largest, dtype=dtype) + 1e-3
        self.basis = rng.standard_normal(largest * largest).astype(dtype)
        self.A, self.U = np.empty_like(self.source), np.empty_like(self.basis)
        self.tau, self.work = np.empty(largest, dtype), np.empty(64 * largest, dtype)
        self.one = (ctypes.c_float if dtype == np.float32 else ctypes.c_double)(1)
        self.info = ctypes.c_int()

    @staticmethod
    def _int(value):
        return ctypes.byref(ctypes.c_int(value))

    def node(self, m, rank, ra, rb):
        """Seconds in LAPACK for a node with m rows; ra, rb are 0 at a leaf."""
        # Not timed: blocks that Cholesky can factor and that do not overflow.
        self.A.ravel()[: m * m] = self.source[:m, :m].ravel()
        self.U[: m * rank] = self.basis[: m * rank]
        A, U = self.A.ctypes.data_as(ctypes.c_void_p), self.U.ctypes.data_as(ctypes.c_void_p)
        one, info = ctypes.byref(self.one), ctypes.byref(self.info)
        M, R = self._int(m), self._int(rank)
        LD, LWORK = self._int(max(m, 1)), self._int(64 * max(rank, 1))
        L, N, T, U_, R_ = (ctypes.c_char_p(c) for c in (b"L", b"N", b"T", b"U", b"R"))
        tau = self.tau.ctypes.data_as(ctypes.c_void_p)
        work = self.work.ctypes.data_as(ctypes.c_void_p)
        start = time.perf_counter()
        if ra + rb:
            RA, RB = self._int(ra), self._int(rb)
            LDA, LDB = self._int(max(ra, 1)), self._int(max(rb, 1))
            self.lauum(L, RA, U, LDA, info)
            self.lauum(L, RB, U, LDB, info)
            self.trmm(L, U_, N, N, RB, RA, one, A, LDB, U, LDB)
            self.trmm(R_, U_, T, N, RB, RA, one, A, LDA, U, LDB)
            self.trmm(L, U_, N, N, RA, R, one, A, LDA, U, LDA)
            self.trmm(L, U_, N, N, RB, R, one, A, LDB, U, LDB)
        spent = time.perf_counter() - start
        self.A.ravel()[: m * m] = self.source[:m, :m].ravel()
        self.U[: m * rank] = self.basis[: m * rank]
        tiny = ctypes.byref(type(self.one)(1e-9))
        start = time.perf_counter()
        if rank:
            self.syrk(L, N, M, R, tiny, U, LD, one, A, LD)
        self.potrf(L, M, A, LD, info)
        if rank:
            self.trsm(L, L, N, N, M, R, one, A, LD, U, LD)
            self.geqrf(M, R, U, LD, tau, work, LWORK, info)
            self.orgqr(M, R, R, U, LD, tau, work, LWORK, info)
            self.trsm(L, L, T, N, M, R, one, A, LD, U, LD)
        return spent + time.perf_counter() - start


def node_shapes(matrix):
    """(m, rank, rank_a, rank_b) of every node, leaves first."""
    layouts = []
    for i in reversed(range(matrix.tree.depth + 1)):
        ranks, m = matrix.ranks[i], np.diff(matrix.row_offsets(i))
        if i == matrix.tree.depth:
            children = np.zeros((len(ranks), 2), dtype=int)
        else:
            children = matrix.ranks[i + 1].reshape(-1, 2)
        layouts += [
            tuple(map(int, s)) for s in zip(m, ranks, children[:, 0], children[:, 1], strict=True)
        ]
    return layouts


def factor_seconds(matrix, n_threads):
    """Seconds of bare LAPACK for `factor(matrix, shift)`, the busiest thread's."""
    layouts = [s for s in node_shapes(matrix) if s[0]]
    largest = max(m for m, *_ in layouts)
    queue = SimpleQueue()
    for shape in layouts:
        queue.put(shape)

    def work(calls):
        spent = 0.0
        while True:
            try:
                spent += calls.node(*queue.get_nowait())
            except Empty:
                return spent

    with ThreadPoolExecutor(n_threads) as pool:
        return max(pool.map(work, [_Calls(largest, matrix.dtype) for _ in range(n_threads)]))


def copy_bandwidth(n_threads, n_bytes=800_000_000):
    """Bytes read and written per second by a copy too large for any cache."""
    source, target = np.ones(n_bytes // 8), np.empty(n_bytes // 8)
    ends = np.linspace(0, source.size, n_threads + 1).astype(int)

    def copy(i):
        np.copyto(target[ends[i] : ends[i + 1]], source[ends[i] : ends[i + 1]])

    best = np.inf
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(6):
            start = time.perf_counter()
            list(pool.map(copy, range(n_threads)))
            best = min(best, time.perf_counter() - start)
    return 2 * source.nbytes / best
