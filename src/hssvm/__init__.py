"""Nonlinear support vector machines at scale.

`kernels` and `hss` are the engine: the kernel matrix of n points, compressed to O(n) numbers and
factored once. `systems` puts the compressed and the dense matrix behind one interface.
"""

from importlib.metadata import version

__version__ = version("hssvm")
__all__ = ["__version__"]
