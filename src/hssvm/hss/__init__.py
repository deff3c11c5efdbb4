"""Hierarchically semi-separable (HSS) approximation of kernel matrices.

**The matrix.** A balanced binary tree cuts the points into leaves. Every node has *candidates* I:
the points of a leaf, or the skeletons of its two children. Of these it keeps a *skeleton* J, and
in the space spanned by the functions k(., j), j in J, an orthonormal *basis*: its rank is the
number of functions through which the rest of the tree will see the node. With ``K_JJ = L L'`` the
basis is ``k_J L^-T Q``; Q has orthonormal columns and is the identity unless the skeleton was
given more points than the rank. For siblings a, b and their parent p::

    U = K_IJ L^-T Q                                       a leaf's points in its basis
    C = Q_a' L_a^-1 K(J_a, J_b) L_b^-T Q_b                coupling; a contraction
    M = [I C; C' I]                                       inner products of the children's bases
    V = blkdiag(Q_a' L_a^-1, Q_b' L_b^-1) K(I_p, J_p) L_p^-T Q_p      ... and with that of p

Four leaves 1..4 with parents 5 (of 1, 2) and 6 (of 3, 4), and the root 7, written out::

    K~ = [ K_11           U1 C12 U2'     U15 C56 U36'   U15 C56 U46' ]    U15 = U1 V5[:r1]
         [ U2 C12' U1'    K_22           U25 C56 U36'   U25 C56 U46' ]    U25 = U2 V5[r1:]
         [ U36 C56' U15'  U36 C56' U25'  K_33           U3 C34 U4'   ]    U36 = U3 V6[:r3]
         [ U46 C56' U15'  U46 C56' U25'  U4 C34' U3'    K_44         ]    U46 = U4 V6[r3:]

that is, ``K~ = blkdiag(K_ii - U_i U_i') + U M~ U'`` with ``M~`` of the same form one level up,
where ``M_p - V_p V_p'`` takes the place of the diagonal blocks, and the root's M as it is. Each of
these blocks holds the inner products of what is left of some functions after a projection, so
every term is positive semi-definite, and K~ is, whatever the ranks and samples. Leaf blocks are
exact.

**The factor.** ``A = K_ii - U U' + shift I`` at a leaf; ``A = Lc Lc'``, ``Lc^-1 U = Q R``,
``W = Lc^-T Q``. The parent's block is ``A = I + R (M - V V') R'``, its basis ``U = R V`` with
R = blkdiag(R_a, R_b). A solve goes up, ``c = W' b``, and down, ``x = A^-1 b + W (s - c)``, where
s is what the parent finds for c. A >= shift I at the leaves and A >= I above, so no small number
is ever divided by.

**Where this leaves the paper** (Cipolla and Gondzio, 2021), which compresses by interpolative
decomposition against nearest neighbours: that matrix is not positive semi-definite, and has no
value at new points. The nested Nystroem form has both. The paper's form is here too, as
`NeighbourInterpolation`: the same K~ with ``U = X_I`` (rows of K interpolated from those of J, so
``X_J = I``), ``V = X_p``, ``C = K(J_a, J_b)``. Nothing is then known of ``K_ii - U U'``, so the
factor leaves that term where it was: ``A = K_ii + shift I`` and ``A = I + R [0 C; C' 0] R'``,
which are positive definite exactly if K~ + shift I is.

Reading order: `tree` (with `splitters`), `samples`, `strategies` (`nystroem`; `interpolation` with
`neighbours`), `compress`, `matrix`, `ulv`, `error`. The steps of one node are in C++: split.hpp,
skeleton.hpp, compress.hpp, interpolate.hpp and ulv.hpp; sweep.hpp runs them over a level.
"""

from hssvm.hss.compress import compress
from hssvm.hss.error import estimate_error, estimate_form_error, estimate_product_error
from hssvm.hss.interpolation import NeighbourInterpolation
from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.nystroem import NestedNystroem
from hssvm.hss.splitters import Splitter, TwoMeansSplitter
from hssvm.hss.strategies import Strategy
from hssvm.hss.tree import ClusterTree
from hssvm.hss.ulv import ULVFactor, factor

__all__ = [
    "ClusterTree",
    "HSSMatrix",
    "NeighbourInterpolation",
    "NestedNystroem",
    "Splitter",
    "Strategy",
    "TwoMeansSplitter",
    "ULVFactor",
    "compress",
    "estimate_error",
    "estimate_form_error",
    "estimate_product_error",
    "factor",
]
