"""Solutions on compressed kernels.

`route` trains the trees, `compression` compresses the kernel matrix on a tree, `solve` solves the
problem on it, and `forest` averages the models.
"""
