import numpy as np
import pytest

from hssvm import HSS, Cells
from hssvm.hss import HSSANN, NestedNystroem

LEAST = [(HSS, "n_trees", 1), (HSS, "leaf_size", 2), (HSS, "max_rank", 1), (Cells, "n_trees", 1),
         (Cells, "size", 20)]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "least"), LEAST)
def test_parameters_are_none_or_integers_that_are_large_enough(kind, name, least):
    message = f"{name}=.* must be None or an integer >= {least}"
    for wrong in (0, -1, least - 1):
        with pytest.raises(ValueError, match=message):
            kind(**{name: wrong})
    for wrong in (25.0, "25", [25], True):
        with pytest.raises(TypeError, match=message):
            kind(**{name: wrong})
    for right in (25, np.int64(25), np.array(25)):
        assert kind(**{name: right}) == kind(**{name: 25})
        assert type(getattr(kind(**{name: right}), name)) is int
    assert getattr(kind(**{name: None}), name) is None


@pytest.mark.parametrize("compressor", [NestedNystroem(rtol=0.1), HSSANN()])
def test_a_rank_beside_a_compressor_is_refused(compressor):
    """It would have no effect."""
    with pytest.raises(ValueError, match="pass max_rank to the compressor"):
        HSS(max_rank=20, compressor=compressor)


@pytest.mark.parametrize("n_trees", [3, np.int64(3)])
def test_a_forest_needs_a_kernel_that_extends_to_new_points(n_trees):
    with pytest.raises(ValueError, match=r"n_trees=3 .*set compressor=None or n_trees=None"):
        HSS(n_trees, compressor=HSSANN())
    assert HSS(1, compressor=HSSANN()).trees == 1
    assert HSS(n_trees, compressor=NestedNystroem()).trees == 3


def test_a_compressor_is_an_object():
    for wrong in ("nystroem", NestedNystroem):
        with pytest.raises(TypeError, match=r"a compressor of hssvm\.hss such as NestedNystroem"):
            HSS(compressor=wrong)
