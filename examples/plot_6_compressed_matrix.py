"""
The compressed matrix
=====================

Why a kernel matrix of n rows can be kept in O(n) numbers.
"""

# %%
# Take 1,500 rows in three groups. How fast the singular values of their kernel matrix fall depends
# on the width h of the kernel: the wide one has a low rank, the narrow one has not, and no matrix
# of low rank is near it.

from sklearn.datasets import make_blobs

from hssvm.hss import ClusterTree, compress, estimate_error
from hssvm.kernels import Gaussian
from hssvm.plotting import KernelMatrixDisplay, RankDisplay, SingularValueDisplay

X, _ = make_blobs(1500, n_features=2, centers=3, random_state=0)
SingularValueDisplay.from_rows(X, hs=[0.1, 0.3, 1, 3]).plot()

# %%
# But the matrix has an order in it. A tree cuts the rows in two halves, each of these in two, and
# so on; in the order of its leaves nearby rows stand side by side. Off the diagonal the matrix is
# then smooth, and low rank is enough there, block by block.

kernel = Gaussian(gamma=1 / (2 * 1.0**2))
KernelMatrixDisplay.from_rows(X, kernel, leaf_size=100).plot()

# %%
# ``compress`` keeps the blocks of the leaves exactly and gives every other block a basis for its
# rows and one for its columns. Bases of large nodes are made from those of their children.

tree = ClusterTree.build(X, leaf_size=100)
H = compress(kernel, X, tree, rtol=1e-3)
print(f"relative error {estimate_error(H):.1e}")
print(f"{H.nbytes / 1e6:.1f} MB; the dense matrix has {8 * len(X) ** 2 / 1e6:.1f} MB")

# %%
# With more rows the dense matrix grows like n * n, the compressed one at most like n.

for n in (5_000, 20_000):
    many, _ = make_blobs(n, n_features=2, centers=3, random_state=0)
    large = compress(kernel, many, rtol=1e-3)
    print(f"{n:6,} rows: {large.nbytes / 1e6:5.1f} MB, dense {8 * n**2 / 1e6:7,.0f} MB")

# %%
# The ranks of the first one. From level to level blocks double, and their ranks grow more slowly.

RankDisplay.from_matrix(H).plot()
