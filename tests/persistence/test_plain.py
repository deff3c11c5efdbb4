import json
import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from hssvm import HSS, Cells
from hssvm.hss import HSSANN, NestedNystroem
from hssvm.kernels import CallableKernel, Gaussian, Linear, Polynomial
from hssvm.persistence.plain import DTYPES, OBJECTS, from_plain, to_plain

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    scalars,
    lambda v: st.lists(v) | st.lists(v).map(tuple) | st.dictionaries(st.integers() | st.text(), v),
    max_leaves=20,
)
arrays = hnp.arrays(
    st.sampled_from(DTYPES).map(np.dtype), hnp.array_shapes(min_dims=1, max_dims=3, max_side=4)
)


def there_and_back(value):
    return from_plain(json.loads(json.dumps(to_plain(value), allow_nan=False)))


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    return a == b


@given(values)
def test_values_come_back(value):
    assert same(there_and_back(value), value)


@given(arrays)
def test_arrays_come_back(array):
    back = there_and_back(array)
    assert back.dtype == array.dtype
    assert_array_equal(back, array)


@pytest.mark.parametrize(
    "value",
    [
        Gaussian(0.3), Polynomial(0.5, 1.0, 2), Linear(), NestedNystroem(), HSSANN(), HSS(3, 20),
        HSS(compressor=HSSANN()), Cells(100),
    ],
)  # fmt: skip
def test_kernels_and_strategies_come_back(value):
    assert there_and_back(value) == value
    assert type(there_and_back(value)) is type(value)


def test_numpy_scalars_become_python_ones():
    assert same(to_plain([np.float32(0.5), np.int8(3), np.bool_(True), np.str_("a")]),
                [0.5, 3, True, "a"])  # fmt: skip


def test_object_arrays_of_strings_become_arrays_of_strings():
    back = there_and_back(np.array(["a", "bcd"], dtype=object))
    assert back.dtype == "<U3"
    assert back.tolist() == ["a", "bcd"]


class Mine(Gaussian):
    pass


@pytest.mark.parametrize(
    "value",
    [
        print,
        {1},
        b"a",
        1j,
        np.random.RandomState(0),
        Mine(1.0),
        CallableKernel(print),
        np.array([1, "a"], dtype=object),
        np.array(["a", "a\0"], dtype=object),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([1j]),
        [print],
    ],
)
def test_nothing_else_is_plain(value):
    with pytest.raises(TypeError, match="cannot be converted"):
        to_plain(value)


tags = st.sampled_from(["float", "tuple", "dict", "array", "dtype", "object", "fields", "x"])
names = st.sampled_from([*OBJECTS, *DTYPES, "str", "inf", "object", "gamma", "O"])
documents = st.recursive(
    scalars | names,
    lambda v: st.lists(v) | st.dictionaries(tags | names, v),
    max_leaves=15,
)


@given(documents)
def test_any_other_json_is_refused_or_read(document):
    with suppress(ValueError, TypeError, OverflowError), np.errstate(all="ignore"):
        from_plain(document)


@pytest.mark.parametrize(
    "document",
    [
        {"array": ["a", 1], "dtype": "str"},
        {"array": [1], "dtype": "object"},
        {"object": "Gaussian", "fields": {"gamma": "1"}},
        {"object": "print", "fields": {}},
        {"x": 1},
    ],
)
def test_unknown_objects_are_refused(document):
    with pytest.raises(ValueError, match=r"items of another type|is unknown"):
        from_plain(document)


def test_a_long_string_among_many_takes_no_memory():
    items = ["a" * 100_000] + [""] * 100_000
    with pytest.raises(ValueError, match="too large"):
        from_plain({"array": items, "dtype": "str"})
