"""Benchmarks of forests: several compressed kernels whose decision values are averaged."""
