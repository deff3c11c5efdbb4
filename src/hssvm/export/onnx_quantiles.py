"""Normal scores of the features as ONNX operators: bisection for the knots around each value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.export.onnx_operators import Graph

MIN_GAP = 1e-300
"""Distance of knots up to which the scores jump instead of rising with a slope, which would be
infinite."""


def normal_scores(graph: Graph, quantiles: NDArray[np.float64], rows: str) -> str:
    """Add the normal scores of rows (m, p) in float64, as `hssvm.training.data.quantiles` does."""
    knots, scores = quantiles
    p, m = knots.shape
    gaps = np.diff(knots, append=knots[:, -1:])
    steps = np.diff(scores, append=scores[:, -1:])
    slopes = np.divide(steps, gaps, out=np.zeros_like(steps), where=gaps > MIN_GAP)
    rows = graph.op(
        "Min", graph.op("Max", rows, graph.constant(knots[:, 0])), graph.constant(knots[:, -1])
    )
    flat_knots, length = graph.constant(knots.ravel()), m
    first = graph.constant(np.arange(p) * m)  # position in the flat array of each feature
    left = graph.op("Add", graph.cast(graph.op("Mul", rows, graph.constant(0.0)), np.int64), first)
    while length > 1:
        half = length // 2
        probe = graph.op("Add", left, graph.constant(half))
        beyond = graph.op("Greater", graph.op("Gather", flat_knots, probe), rows)
        reached = graph.cast(graph.op("Not", beyond), np.int64)
        left = graph.op("Add", left, graph.op("Mul", reached, graph.constant(half)))
        length -= half
    knot, score, slope = (
        graph.op("Gather", graph.constant(values.ravel()), left)
        for values in (knots, scores, slopes)
    )
    rise = graph.op("Mul", graph.op("Sub", rows, knot), slope)
    return graph.op("Add", score, rise)
