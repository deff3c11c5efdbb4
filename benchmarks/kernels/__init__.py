"""Kernels for fingerprints, and kernels given by their matrix."""
