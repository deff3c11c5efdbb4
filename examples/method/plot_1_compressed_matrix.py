"""
The compressed matrix
=====================

Why O(n) numbers are enough to store the kernel matrix of n rows.
"""

# %%
# Take 1,500 rows in three groups. The width h of the kernel determines how fast the singular
# values of their kernel matrix decay. With a wide kernel, the matrix has a low rank. With a
# narrow kernel, it does not, and no matrix of low rank is close to it.

from sklearn.datasets import make_blobs

from hssvm.hss import ClusterTree, compress, estimate_error
from hssvm.kernels import Gaussian
from hssvm.plotting import KernelMatrixDisplay, RankDisplay, SingularValueDisplay

X, _ = make_blobs(1500, n_features=2, centers=3, random_state=0)
SingularValueDisplay.from_rows(X, hs=[0.1, 0.3, 1, 3]).plot()

# %%
# But the matrix has a structure. A cluster tree splits the rows into two halves, each of these
# into two, and so on. In the order of its leaves, nearby rows are next to each other. Off the
# diagonal, the matrix is then smooth, and each block has a low rank.

kernel = Gaussian(gamma=1 / (2 * 1.0**2))
KernelMatrixDisplay.from_rows(X, kernel, leaf_size=100).plot()

# %%
# ``compress`` keeps the blocks of the leaves exact, and represents every other block by a basis
# for its rows and a basis for its columns. The bases of large nodes are built from those of their
# children.

tree = ClusterTree.build(X, leaf_size=100)
H = compress(kernel, X, tree, rtol=1e-3)
print(f"relative error {estimate_error(H):.1e}")
print(f"{H.nbytes / 1e6:.1f} MB; the dense matrix has {8 * len(X) ** 2 / 1e6:.1f} MB")

# %%
# With more rows, the dense matrix grows like n * n, the compressed one at most like n.

for n in (5_000, 20_000):
    many, _ = make_blobs(n, n_features=2, centers=3, random_state=0)
    large = compress(kernel, many, rtol=1e-3)
    print(f"{n:6,} rows: {large.nbytes / 1e6:5.1f} MB, dense {8 * n**2 / 1e6:7,.0f} MB")

# %%
# Plot the ranks of the first matrix. From level to level, the blocks double in size, and their
# ranks grow more slowly.

RankDisplay.from_matrix(H).plot()
