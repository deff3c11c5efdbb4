import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

from benchmarks.data import cache
from hssvm import _core
from hssvm.io import load_data

PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def text_of(X, y, number=repr):
    """LIBSVM text without the zeros."""
    X = scipy.sparse.csr_array(X)
    lines = []
    for i, label in enumerate(y):
        row = slice(X.indptr[i], X.indptr[i + 1])
        pairs = zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)
        lines.append(" ".join([number(float(label)), *(f"{j + 1}:{number(v)}" for j, v in pairs)]))
    return ("\n".join(lines) + "\n").encode()


def sparse_rows(rng, shape=(200, 30), density=0.2):
    X = rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)
    X[rng.random(shape) > density] = 0
    X[-1, -1] = 1  # so that the text tells the width
    return scipy.sparse.csr_array(X)


def read_text(tmp_path, text, **options):
    path = tmp_path / "rows.svm"
    path.write_bytes(text)
    return load_data(path, **options)


def assert_as_sklearn(path, **options):
    """The same arrays, not only the same numbers."""
    X, y = load_data(path, **options)
    expected, labels = load_svmlight_file(str(path), zero_based=False, **options)
    assert X.shape == expected.shape and X.dtype == expected.dtype
    if scipy.sparse.issparse(X):
        assert X.format == "csr" and 2 * X.nnz <= X.shape[0] * X.shape[1]
        for part in ("indptr", "indices", "data"):
            assert_array_equal(getattr(X, part), getattr(expected, part))
    else:
        assert 2 * expected.nnz > X.shape[0] * X.shape[1]
        assert_array_equal(X, expected.toarray())
    assert_array_equal(y, labels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [0.1, 0.9])
@pytest.mark.parametrize("number", ["{:.3g}", "{:.17g}", "{:.25e}", "{:+.6f}", "{!r}"])
def test_agrees_with_sklearn(number, density, dtype, tmp_path, rng):
    X = sparse_rows(rng, density=density)
    path = tmp_path / "rows"
    path.write_bytes(text_of(X, rng.integers(-3, 4, 200), number.format))
    assert_as_sklearn(path, dtype=dtype)
    assert_as_sklearn(path, dtype=dtype, n_features=100)


def test_agrees_with_sklearn_over_many_pieces(tmp_path, rng, monkeypatch):
    """Lines are cut between reads and between threads."""
    monkeypatch.setattr("hssvm.io.libsvm._CHUNK", 1 << 21)
    path = tmp_path / "rows.svm"
    path.write_bytes(40 * text_of(sparse_rows(rng, (2000, 50)), rng.standard_normal(2000)))
    assert path.stat().st_size > 1 << 23
    assert_as_sklearn(path, dtype=np.float64)
    with open(path, "ab") as file:
        file.write(b"1 1:1\n1 1:oops\n1 0:1\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}, line 80002: '1:oops'")):
        load_data(path)


@pytest.mark.parametrize("name", ["a9a", "w8a", "ijcnn1", "cod-rna", "usps"])
def test_agrees_with_sklearn_on_real_files(name, tmp_path):
    packed = cache.find(f"{name}.test")
    if packed is None:
        pytest.skip(f"no {name}.test")
    path = tmp_path / "rows"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    assert_as_sklearn(path, dtype=np.float32)


def test_what_the_format_allows(tmp_path):
    text = b"# a comment\n\n+1 qid:3 1:1. 4:-.5e1\r\n \t\r\n-1e0\t2:0 3:+2E-1#x\n0x\n"
    with pytest.raises(ValueError, match="line 6: label '0x' is not a finite number"):
        read_text(tmp_path, text)
    X, y = read_text(tmp_path, text[:-1].replace(b"0x", b"0"))  # nor a last newline
    assert_array_equal(y, [1, -1, 0])
    assert_array_equal(X.indices, [0, 3, 1, 2])
    assert_array_equal(X.data, np.float32([1, -5, 0, 0.2]))
    assert_array_equal(X.indptr, [0, 2, 4, 4])
    assert X.shape == (3, 4) and X.data.dtype == np.float32


def test_a_byte_order_mark_is_skipped(tmp_path):
    text = "1 1:2 2:3\n-1 2:4\n"
    (tmp_path / "plain").write_text(text)
    X, y = load_data(tmp_path / "plain")
    (tmp_path / "marked").write_text(text, encoding="utf-8-sig")
    marked = load_data(tmp_path / "marked")
    assert_array_equal(marked[0], X)
    assert_array_equal(marked[1], y)
    (tmp_path / "only").write_bytes(b"\xef\xbb\xbf")
    with pytest.raises(ValueError, match="has no rows"):
        load_data(tmp_path / "only")


def test_dense_above_half(tmp_path):
    X, _ = read_text(tmp_path, b"1 1:1\n1 2:1\n")
    assert scipy.sparse.issparse(X)
    X, _ = read_text(tmp_path, b"1 1:1 2:0\n1 2:1\n")
    assert_array_equal(X, [[1, 0], [0, 1]])


def test_rows_without_labels_or_features(tmp_path):
    X, y = read_text(tmp_path, b"1:1\n\nqid:7 2:3 3:4\n")
    assert y is None
    assert_array_equal(X.toarray(), [[1, 0, 0], [0, 3, 4]])
    X, y = read_text(tmp_path, b"1\n2\n")
    assert X.shape == (2, 0)
    assert_array_equal(y, [1, 2])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 0:1 1:2", "index 0, but indices count from 1"),
        ("1 3:1 2:1", "index 2 after 3; sort"),
        ("1 3:1 3:1", "index 3 after 3; sort"),
        ("1 8:1", "index 8 is above 7, .* raise n_features"),
        ("1 99999999999:1", "index 99999999999 is above 7"),
        ("1,3 1:1", "several labels, '1,3'; keep one"),
        ("yes 1:1", "label 'yes' is not a finite number"),
        ("nan 1:1", "label 'nan' is not a finite number"),
        ("1e999 1:1", "label '1e999' is not a finite number"),
        ("2:1", "no label before '2:1'"),
        ("1 2", "'2' is not index:value with two numbers$"),
        ("1 2:", "'2:' is not index:value .* impute"),
        ("1 2:nan", "'2:nan' is not index:value .* impute"),
        ("1 2:1e", "'2:1e' is not index:value"),
        ("1 2:.", "'2:.' is not index:value"),
        ("1 2:0x10", "'2:0x10' is not index:value"),
        ("1 2:1,5", "'2:1,5' is not index:value"),
        ("1 -2:1", "'-2:1' is not index:value"),
        ("1 2 :1", "'2' is not index:value"),
        ("1 :1", "':1' is not index:value"),
        ("1 2:1e39", "'2:1e39' is too large for float32; read with dtype=np.float64"),
        ("1 2:-1e310", "'2:-1e310' is too large; rescale"),
        ("1 2:\0", r"'2:\?' is not index:value"),
        ("1 2:" + 99 * "x", "'2:x{38}...' is not index:value"),
    ],
)
def test_malformed_lines_are_named(line, problem, tmp_path):
    text = f"1 1:1\n# comment\n{line}\n1 0:1\n".encode()
    with pytest.raises(ValueError, match=f"rows.svm, line 3: {problem}"):
        read_text(tmp_path, text, n_features=7)


def test_files_without_rows(tmp_path):
    for text in (b"", b"\n", b"# nothing\n\n"):
        with pytest.raises(ValueError, match=r"rows\.svm has no rows"):
            read_text(tmp_path, text)


def value_of(number):
    """A number as the core reads it."""
    text = _core.LibsvmText_f64(1)
    text.feed(b"1 1:" + number + b"\n")
    return text.take()[3][0]


@given(
    st.from_regex(rb"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})", fullmatch=True),
    st.integers(-340, 280),
)
def test_every_number_is_rounded_correctly(digits, exponent):
    assert value_of(b"%se%d" % (digits, exponent)) == float(b"%se%d" % (digits, exponent))
    assert value_of(digits) == float(digits)


@pytest.mark.parametrize(
    "number",
    [
        b"9007199254740993",  # half way between two doubles
        b"9007199254740993.00000000000000000001",
        b"2.2250738585072011e-308",
        b"4.9e-324",
        b"2.4e-324",
        b"1e-400",
        b"-1e-99999999999999999999",
        b"0e99999999999999999999",
        b"000000000000000000000e400",
        b"1.7976931348623157e308",
        b"0." + 400 * b"0" + b"1e400",
        b"1" + 400 * b"0" + b"e-400",
        400 * b"0" + b"1e-360",
        b"1e22",
        b"1e23",
    ],
)
def test_numbers_at_the_edge(number):
    assert value_of(number) == float(number)
    assert np.signbit(value_of(number)) == number.startswith(b"-")


@pytest.mark.parametrize("number", [b"1.8e308", b"1" + 400 * b"0", b"0.01e99999999999999999999"])
def test_numbers_that_are_too_large(number):
    with pytest.raises(ValueError, match="too large; rescale"):
        value_of(number)


@pytest.mark.parametrize("packing", PACK)
@given(data=st.data())
def test_written_rows_come_back(packing, data, tmp_path_factory):
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    finite = st.floats(
        width=32 if dtype == np.float32 else 64, allow_nan=False, allow_infinity=False
    )
    X = data.draw(arrays(dtype, shape, elements=finite, fill=st.just(0)))
    y = data.draw(arrays(np.float64, shape[0], elements=st.floats(-1e300, 1e300)))
    path = tmp_path_factory.getbasetemp() / f"rows.txt{packing}"
    path.write_bytes(PACK[packing](text_of(X, y)))
    X_read, y_read = load_data(path, n_features=shape[1], dtype=dtype)
    dense = X_read.toarray() if scipy.sparse.issparse(X_read) else X_read
    assert dense.dtype == dtype
    assert_array_equal(dense, X)
    assert_array_equal(y_read, y)
