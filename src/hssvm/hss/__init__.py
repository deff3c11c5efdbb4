"""Hierarchically semi-separable (HSS) approximation of kernel matrices.

**The matrix.** A balanced binary tree splits the points into leaves. Every node has *candidates* I:
the points of a leaf, or the skeletons of its two children. The node selects a *skeleton* J from
them, and an orthonormal *basis* of the space spanned by the functions k(., j), j in J. Its rank is
the number of basis functions; all interactions with the rest of the tree go through them. With
``K_JJ = L L'`` the basis is ``k_J L^-T Q``; Q has orthonormal columns, and is the identity unless
the skeleton has more points than the rank. For siblings a, b and their parent p::

    U = K_IJ L^-T Q                                       a leaf's points in its basis
    C = Q_a' L_a^-1 K(J_a, J_b) L_b^-T Q_b                coupling; a contraction
    M = [I C; C' I]                                       inner products of the children's bases
    V = blkdiag(Q_a' L_a^-1, Q_b' L_b^-1) K(I_p, J_p) L_p^-T Q_p      ... and with the basis of p

For four leaves 1..4 with parents 5 (of 1, 2) and 6 (of 3, 4), and the root 7::

    K~ = [ K_11           U1 C12 U2'     U15 C56 U36'   U15 C56 U46' ]    U15 = U1 V5[:r1]
         [ U2 C12' U1'    K_22           U25 C56 U36'   U25 C56 U46' ]    U25 = U2 V5[r1:]
         [ U36 C56' U15'  U36 C56' U25'  K_33           U3 C34 U4'   ]    U36 = U3 V6[:r3]
         [ U46 C56' U15'  U46 C56' U25'  U4 C34' U3'    K_44         ]    U46 = U4 V6[r3:]

That is, ``K~ = blkdiag(K_ii - U_i U_i') + U M~ U'``, where ``M~`` has the same form one level up:
its diagonal blocks are ``M_p - V_p V_p'``, and M at the root. Each of these blocks is the Gram
matrix of the residuals of some functions after a projection, so every term, and with it K~, is
positive semi-definite for any ranks and samples. The diagonal blocks of the leaves are exact.

**The factor.** At a leaf ``A = K_ii - U U' + shift I``; ``A = Lc Lc'``, ``Lc^-1 U = Q R``,
``W = Lc^-T Q``. The parent's block is ``A = I + R (M - V V') R'`` and its basis ``U = R V``, with
R = blkdiag(R_a, R_b). A solve sweeps up, ``c = W' b``, and down, ``x = A^-1 b + W (s - c)``, where
s is the parent's solution for c. A >= shift I at the leaves and A >= I above them, so the
factorization never divides by a small pivot.

**Difference from the paper.** Cipolla and Gondzio (2021) compress by interpolative decomposition
against nearest neighbors. Their matrix may be indefinite and does not extend to new points; the
nested Nystroem form is positive semi-definite and does extend. The paper's form is available as
`HSSANN`: the same K~ with ``U = X_I`` (rows of K interpolated from the rows J, so ``X_J = I``),
``V = X_p``, ``C = K(J_a, J_b)``. ``K_ii - U U'`` may then be indefinite, so the factor does not
subtract ``U U'``: ``A = K_ii + shift I`` and ``A = I + R [0 C; C' 0] R'``, which are positive
definite exactly if K~ + shift I is.

Reading order: `tree` (with `splitters`), `samples`, `compressors` (`nystroem`; `hss_ann` with
`neighbors`), `compress`, `matrix`, `ulv`, `inverse` and `variance` (with `nodes`), `error`. The
operations on one node are in C++: split.hpp, skeleton.hpp, compress.hpp, interpolate.hpp and
ulv.hpp; sweep.hpp applies them to all nodes of a level.
"""

from hssvm.hss.compress import compress
from hssvm.hss.compressors import Compressor
from hssvm.hss.error import estimate_error, estimate_product_error, estimate_quadratic_form_error
from hssvm.hss.hss_ann import HSSANN
from hssvm.hss.inverse import inverse_diagonal, log_determinant
from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.nystroem import NestedNystroem
from hssvm.hss.splitters import Splitter, TwoMeansSplitter
from hssvm.hss.tree import ClusterTree
from hssvm.hss.ulv import ULVFactor, factor
from hssvm.hss.variance import PosteriorVariance

__all__ = [
    "HSSANN",
    "ClusterTree",
    "Compressor",
    "HSSMatrix",
    "NestedNystroem",
    "PosteriorVariance",
    "Splitter",
    "TwoMeansSplitter",
    "ULVFactor",
    "compress",
    "estimate_error",
    "estimate_product_error",
    "estimate_quadratic_form_error",
    "factor",
    "inverse_diagonal",
    "log_determinant",
]
