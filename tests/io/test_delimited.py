import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from hssvm.io import load_data
from hssvm.io.columns import Known, Roles
from hssvm.io.files import Source
from hssvm.io.load import read_table

PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def read_text(tmp_path, text, name="rows.csv", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return load_data(path, **options)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
@pytest.mark.parametrize("header", [False, True])
@settings(max_examples=40)
@given(data=st.data())
def test_written_rows_come_back(packing, ending, header, data, tmp_path_factory):
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    n, p = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    finite = st.floats(
        width=32 if dtype == np.float32 else 64, allow_nan=False, allow_infinity=False
    )
    X = data.draw(arrays(dtype, (n, p), elements=finite))
    y = data.draw(arrays(np.float64, n, elements=st.floats(-1e300, 1e300)))
    target = data.draw(st.integers(-p - 1, p))
    rows = np.insert(X.astype(np.float64), target % (p + 1), y, axis=1)
    between = "," if ending == ".csv" else "\t"
    lines = [between.join(map(repr, row)) for row in rows.tolist()]
    if header:
        lines.insert(0, between.join(f"column {j}" for j in range(p + 1)))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    path = tmp_path_factory.getbasetemp() / f"rows{ending}{packing}"
    path.write_bytes(PACK[packing](end.join(lines).encode()))
    for which in [target, f"column {target % (p + 1)}"] if header else [target]:
        X_read, y_read = load_data(path, dtype=dtype, target=which)
        assert X_read.dtype == dtype and X_read.flags.c_contiguous
        assert_array_equal(X_read, X)
        assert_array_equal(y_read, y)


def test_labels_may_be_text(tmp_path):
    X, y = read_text(tmp_path, 'kind,a,b\n"rose, red",1,2\n\n Öl ,3, 4\n')
    assert_array_equal(X, [[1, 2], [3, 4]])
    assert y.tolist() == ["rose, red", "Öl"]
    _, y = read_text(tmp_path, "1,1_0\n2,1_1\n", target=1)
    assert y.tolist() == ["1_0", "1_1"]
    _, y = read_text(tmp_path, "\ufeff1,5\nb,6\n")
    assert y.tolist() == ["1", "b"]


@pytest.mark.parametrize(
    ("text", "n_rows"),
    [
        ("1,2\n3,4\n", 2),
        ("y,x\n3,4\n", 1),
        ("y,0\n3,4\n", 1),
        ("a,0\nb,4\n", 2),
        ("y,x\na,4\n", 1),
        ("1,2\n", 1),
    ],
)
def test_header_is_text_above_numbers(text, n_rows, tmp_path):
    assert len(read_text(tmp_path, text)[0]) == n_rows


def test_no_labels(tmp_path):
    X, y = read_text(tmp_path, "a,b\n1,2\n3,4\n", target=False)
    assert y is None
    assert_array_equal(X, [[1, 2], [3, 4]])


def test_many_rows(tmp_path, rng):
    """More than NumPy reads at once."""
    table = rng.standard_normal((120_000, 3)).round(3)
    path = tmp_path / "rows.csv"
    np.savetxt(path, table, "%g", ",")
    X, y = load_data(path, dtype=np.float64)
    assert_array_equal(np.column_stack([y, X]), table)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1,2", "2 fields instead of 3"),
        ("1,2,3,4", "4 fields instead of 3"),
        ("1,,3", "no value in column 'a'; impute it or drop the line"),
        ("1,2,NaN", "no value in column 'b'; impute"),
        ("1,?,2", "no value in column 'a'; impute"),
        (",2,3", "no value in column 'y'"),
        ("1,x,3", "'x' in column 'a' is not a finite number"),
        ("1,2,inf", "'inf' in column 'b' is not a finite number"),
        ("1,1_0,3", "'1_0' in column 'a' is not a finite number"),
        ("1,1e39,3", "'1e39' in column 'a' is too large for float32; read with dtype=np.float64"),
        ("nan,1,3", "no value in column 'y'"),
        ("1,2,3\0", "line contains NUL|.* is not a finite number"),
    ],
)
def test_malformed_lines_are_named(line, problem, tmp_path):
    with pytest.raises(ValueError, match=rf"rows.csv, line 5: ({problem})"):
        read_text(tmp_path, f"y,a,b\n1,2,3\n\n1,2,3\n{line}\n1,2,3\n")


def test_columns_without_names_have_numbers(tmp_path):
    with pytest.raises(ValueError, match="line 2: no value in column 1;"):
        read_text(tmp_path, "1,2\n1,\n")


def test_files_that_cannot_be_used(tmp_path):
    for text in ("", "\n\n"):
        with pytest.raises(ValueError, match="has no rows"):
            read_text(tmp_path, text)
    with pytest.raises(ValueError, match="no rows below its header"):
        read_text(tmp_path, "y,x\n", target="y")
    with pytest.raises(ValueError, match="one column"):
        read_text(tmp_path, "1;2\n3;4\n")
    (tmp_path / "latin.csv").write_bytes("Öl,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.csv is not UTF-8 text .* convert it"):
        load_data(tmp_path / "latin.csv")


def test_rows_that_do_not_fit_the_header(tmp_path):
    with pytest.raises(ValueError, match=r"line 2: 2 fields instead of 3"):
        read_text(tmp_path, "y,a,b\n1,2\n3,4\n")


@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_separators(separator, tmp_path):
    text = "y,a,b\n1,2,3\n4,5,6\n".replace(",", separator)
    X, y = read_text(tmp_path, text, separator=separator)
    assert_array_equal(X, [[2, 3], [5, 6]])
    assert_array_equal(y, [1, 4])
    with pytest.raises(ValueError, match=r"one column .* did you mean separator="):
        read_text(tmp_path, text)
    with pytest.raises(ValueError, match="separator must be a single character"):
        read_text(tmp_path, text, separator=";;")


def test_decimal_commas_are_explained(tmp_path):
    text, remedy = "1,5;2,5\n-1,5;2e3\n", "replace decimal commas by points"
    with pytest.raises(
        ValueError, match=rf"'5;2' in column 1 .*; {remedy}, and pass separator=';'"
    ):
        read_text(tmp_path, text)
    with pytest.raises(ValueError, match=rf"'2,5' in column 1 .*; {remedy}$"):
        read_text(tmp_path, text, separator=";")
    with pytest.raises(ValueError, match=rf"'2,5' in column 'b' .*; {remedy}$"):
        read_text(tmp_path, "a;b\n" + text, separator=";")
    with pytest.raises(ValueError, match=r"'b;2' in column 1 .* did you mean separator=';'"):
        read_text(tmp_path, "1,b;2,5\n1,b;2,5\n")


def test_booleans(tmp_path):
    for text in ("y,a,b\n1,true,2\n0,FALSE,3\n", "1,True,2\n0,0,3\n"):
        X, _ = read_text(tmp_path, text)
        assert_array_equal(X, [[1, 2], [0, 3]])
    with pytest.raises(ValueError, match="line 3: 'maybe' in column 'a' is not a finite number"):
        read_text(tmp_path, "y,a\n1,true\n0,maybe\n")
    with pytest.raises(ValueError, match="line 3: no value in column 'a'"):
        read_text(tmp_path, "y,a\n1,true\n0,\n")


def test_columns_are_found_by_name(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,b,y,a\nx1,2,0,1\nx2,4,1,3\n")
    known = Known(2, ["a", "b"], "y")
    table = read_table(Source(path), rule=known)
    assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.X.flags.c_contiguous
    assert_array_equal(table.y, [0, 1])
    assert table.feature_names == ["a", "b"] and table.target == "y"
    assert table.unused == ["'id'"]
    path.write_text("b,a\n2,1\n")
    table = read_table(Source(path), rule=known)
    assert_array_equal(table.X, [[1, 2]])
    assert table.y is None
    path.write_text("b,y\n2,1\n")
    with pytest.raises(ValueError, match="lacks 'a', which the model was trained on"):
        read_table(Source(path), rule=known)
    path.write_text("a,b,a\n2,1,3\n")
    with pytest.raises(ValueError, match="has 2 columns named 'a'"):
        read_table(Source(path), rule=known)


def test_columns_without_names_are_found_by_position(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("1,2\n3,4\n")
    rule = Known(2, None, trained_target=1)
    assert read_table(Source(path), rule=rule).y is None
    path.write_text("1,9,2\n3,8,4\n")
    table = read_table(Source(path), rule=rule)
    assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert_array_equal(table.y, [9, 8])
    assert_array_equal(read_table(Source(path), rule=Known(2, None, 1, target=0)).y, [1, 3])
    with pytest.raises(ValueError, match="pass the index of the column of labels as target"):
        read_table(Source(path), rule=Known(2))
    with pytest.raises(ValueError, match="the file must have 3 columns, or 4 with"):
        read_table(Source(path), rule=Known(3, None, target=0))
    with pytest.raises(ValueError, match="has 3 columns, but the model has 4 features"):
        read_table(Source(path), rule=Known(4))


def test_weights_are_a_column(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,a,w\n0,1,0.5\n1,2,2\n")
    table = read_table(Source(path), rule=Roles("y", "w"))
    assert_array_equal(table.sample_weight, [0.5, 2])
    assert table.feature_names == ["a"]
    with pytest.raises(ValueError, match="cannot be both label and weight"):
        read_table(Source(path), rule=Roles("y", 0))
