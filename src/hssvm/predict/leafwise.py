"""Prediction with the compressed kernel, from one leaf.

Under k~ the rest of the tree reaches a point t only through the basis of its leaf I, so

    f(t) = k(t, X_I) w_I,    w_I = z_I + scatter_J(P delta_I),

where ``k(t, J) P`` is that basis at t and delta_I are the coefficients that the sweep down of K~ z
leaves at the leaf. `HSSMatrix.leaf_weights` has w.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.matrix import Above, HSSMatrix
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Floats, Kernel, Rows, rows_like


class LeafwisePredictor:
    """Functions ``K~ z`` at new points, for the columns z of `Z`.

    Parameters
    ----------
    matrix : HSSMatrix
    Z : (n, k)
    above : callable, optional
        Where the matrix is a part of a larger one: answers for the rest; see `HSSMatrix.far_field`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.predict import LeafwisePredictor
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> H = compress(Gaussian(gamma=0.1), X)
    >>> Z = np.random.default_rng(1).standard_normal((2000, 1))
    >>> bool(np.allclose(LeafwisePredictor(H, Z)(X), H @ Z))  # at the points themselves
    True
    """

    def __init__(self, matrix: HSSMatrix, Z: Floats, above: Above | None = None) -> None:
        tree, weights = matrix.tree, matrix.leaf_weights(Z, above)
        used = np.any(weights[tree.perm] != 0, axis=1)
        rows = tree.perm[used]
        self.kernel = matrix.kernel
        self.ends = np.concatenate([[0], np.cumsum(used)])[tree.offsets(tree.depth)]
        self.X = matrix.X[rows]
        self.weights = weights[rows]
        self.tree = replace(
            tree, perm=np.empty(0, np.int64)
        )  # only the cuts are needed from now on

    @classmethod
    def restore(
        cls, kernel: Kernel, X: Rows, weights: Floats, ends: NDArray[np.int64], tree: ClusterTree
    ) -> LeafwisePredictor:
        """Return a predictor with these attributes, as another one had them."""
        self = cls.__new__(cls)
        self.kernel, self.X, self.weights, self.ends, self.tree = kernel, X, weights, ends, tree
        return self

    def __call__(self, X: Rows) -> Floats:
        """Values at the rows of `X`, (m, k), in the precision of the training rows."""
        X = rows_like(X, self.X)
        return self.kernel.grouped_product(X, self.tree.route(X), self.X, self.ends, self.weights)
