"""Benchmarks; each module is a command, ``python -m benchmarks.micro.engine --help``."""
