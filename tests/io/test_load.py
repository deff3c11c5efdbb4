import builtins
import bz2
import gzip
import io
import lzma
import subprocess
import sys
import threading
import warnings
import zipfile

import numpy as np
import pytest
from helpers.platforms import linux
from numpy.testing import assert_array_equal

from hssvm.io import load_data
from hssvm.io.columns import Known, Roles
from hssvm.io.files import Source
from hssvm.io.load import read_parts, read_table

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TEXT = {"libsvm": b"1 2:3\n2 1:4 2:5\n", "csv": b"1,0,3\n2,4,5\n"}
X, Y = np.float32([[0, 3], [4, 5]]), np.float64([1, 2])


@pytest.mark.parametrize(
    ("name", "format"),
    [
        *((f"rows{ending}", "libsvm") for ending in ["", ".libsvm", ".svm", ".svmlight", ".txt"]),
        *((f"rows.scale{ending}", "libsvm") for ending in [".t", ".tr", ".train", ".test", ".T"]),
        ("rows.csv", "csv"),
        ("ROWS.CSV", "csv"),
    ],
)
def test_the_ending_tells_the_format(name, format, tmp_path):
    for packing, pack in {"": bytes, **PACK}.items():
        path = tmp_path / (name + packing)
        path.write_bytes(pack(TEXT[format]))
        X_read, y = load_data(str(path))
        assert_array_equal(X_read, X)
        assert_array_equal(y, Y)


@pytest.mark.parametrize("format", TEXT)
def test_or_the_caller_does(format, tmp_path):
    path = tmp_path / "rows.data.gz"
    path.write_bytes(gzip.compress(TEXT[format]))
    with pytest.raises(
        ValueError, match=r"rows.data.gz: .*extension '.data' is unknown; pass format='libsvm' or"
    ):
        load_data(path)
    assert_array_equal(load_data(path, format=format)[0], X)
    with pytest.raises(ValueError, match=r"format must be one of 'libsvm', 'csv'.* got 'arff'"):
        load_data(path, format="arff")


@pytest.mark.parametrize("format", TEXT)
@pytest.mark.parametrize("packing", PACK)
def test_damaged_packing(format, packing, tmp_path, rng):
    packed = PACK[packing](b"".join(b"%d,%d\n" % (i, 3 * i) for i in rng.integers(0, 9999, 5000)))
    path = tmp_path / f"rows{packing}"
    for damaged in (packed[: len(packed) // 2], b"not packed at all"):
        path.write_bytes(damaged)
        with pytest.raises(
            ValueError, match=f"rows{packing} cannot be decompressed .* create it again"
        ):
            load_data(path, format=format)


def test_parameters_are_checked(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(TEXT["libsvm"])
    with pytest.raises(ValueError, match=r"dtype must be np.float32 or np.float64, got int64"):
        load_data(path, dtype=np.int64)
    for n_features in (0, 2**31):
        with pytest.raises(ValueError, match="n_features must be between"):
            load_data(path, n_features=n_features)
    with pytest.raises(ValueError, match="target applies only to tables"):
        load_data(path, target=0)
    with pytest.raises(FileNotFoundError):
        load_data(tmp_path / "nothing.xz")
    assert load_data(path, n_features=3)[0].shape == (2, 3)


def test_columns_are_checked(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b,c\n" + TEXT["csv"])
    assert_array_equal(load_data(path, n_features=2)[0], X)
    assert_array_equal(load_data(path, target="a")[1], Y)
    assert_array_equal(load_data(path, target=-1)[1], [3, 5])
    with pytest.raises(ValueError, match="has 2 features, but n_features is 3"):
        load_data(path, n_features=3)
    with pytest.raises(ValueError, match="no column 'd'; its columns are 'a', 'b', 'c'"):
        load_data(path, target="d")
    for target in (3, -4):
        with pytest.raises(ValueError, match=f"no column {target}; its columns are 0 to 2"):
            load_data(path, target=target)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", [np.int8([1, 2]), np.array(["a", "b"]), np.array([b"a", b"b"])])
def test_npz(labels, dtype, tmp_path):
    path = tmp_path / "rows.npz"
    np.savez_compressed(path, X=np.asfortranarray(X), y=labels, other=np.array([None]))
    X_read, y = load_data(path, dtype=dtype)
    assert X_read.dtype == dtype and X_read.flags.c_contiguous
    assert_array_equal(X_read, X)
    assert_array_equal(y, labels.astype(str) if labels.dtype.kind in "US" else Y)
    np.savez(path, X=X)
    assert load_data(path)[1] is None


def test_npy(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.column_stack([Y, X]).astype(np.int16))
    assert_array_equal(load_data(path)[0], X)
    assert_array_equal(load_data(path)[1], Y)
    assert_array_equal(load_data(path, target=-1)[1], X[:, 1])
    assert load_data(path, target=False)[0].shape == (2, 3)
    with pytest.raises(ValueError, match="has no column names; pass the index of 'y'"):
        load_data(path, target="y")


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"Z": X}, "no array X; its arrays are Z"),
        ({}, "no array X; its arrays are none"),
        ({"X": X, "y": Y[:1]}, r"X has 2 rows, but y has shape \(1,\)"),
        ({"X": X, "y": X}, "X has 2 rows, but y has shape"),
        ({"X": X[0]}, "expected a table of numbers, got shape"),
        ({"X": X.astype(str)}, "expected a table of numbers, .* <U"),
        ({"X": X[:0]}, "has no rows"),
        ({"X": np.array([[1, 2], [np.nan, 3]])}, "feature 0 of row 1 is nan; impute"),
        ({"X": np.array([[1, 2e300]])}, r"feature 1 of row 0 is 2e\+300; .* dtype=np.float64"),
        ({"X": X, "y": Y * np.inf}, "label of row 0 is inf"),
        ({"X": X, "y": Y.astype("M8[s]")}, "labels must be numbers or strings, got datetime64"),
        ({"X": X, "y": np.array([None, 1])}, "cannot be read as a NumPy file: .*allow_pickle"),
    ],
)
def test_arrays_that_cannot_be_used(arrays, problem, tmp_path):
    np.savez(tmp_path / "rows.npz", **arrays)
    with pytest.raises(ValueError, match=f"rows.npz.*{problem}"):
        load_data(tmp_path / "rows.npz")


def test_numpy_files_that_cannot_be_used(tmp_path):
    path = tmp_path / "rows.npz"
    np.savez(path, X=X)
    with pytest.raises(ValueError, match=r"labels of an .npz file are its array y"):
        load_data(path, target=0)
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[:100], whole[:-30], whole.replace(b"NUMPY", b"XXXXX")):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"rows.npz cannot be read as a NumPy file"):
            load_data(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("X.npy", "text")
    with pytest.raises(ValueError, match=r"rows.npz"):
        load_data(path)
    np.save(tmp_path / "row.npy", Y)
    with pytest.raises(ValueError, match=r"expected a table, got shape \(2,\)"):
        load_data(tmp_path / "row.npy")
    (tmp_path / "rows.npz.gz").write_bytes(gzip.compress(whole))
    with pytest.raises(ValueError, match="only text files may be compressed; decompress it first"):
        load_data(tmp_path / "rows.npz.gz")


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"

    def write(**columns):
        pyarrow.parquet.write_table(pyarrow.table(columns), path)

    write(y=[1, 2], a=[False, True], b=pyarrow.array([3, 5], pyarrow.uint8()))
    X_read, y = load_data(path)
    assert X_read.dtype == np.float32 and X_read.flags.c_contiguous
    assert_array_equal(X_read, [[0, 3], [1, 5]])
    assert_array_equal(y, Y)
    assert_array_equal(load_data(path, target="b", dtype=np.float64)[1], [3, 5])
    assert load_data(path, target=False)[1] is None

    kinds = pyarrow.array(["rose", "iris"])
    for column in (kinds, kinds.dictionary_encode()):
        write(x=[0.5, 1.5], kind=column)
        assert load_data(path, target=-1)[1].tolist() == ["rose", "iris"]
        with pytest.raises(ValueError, match=r"column 'kind' has .*string.* instead of numbers"):
            load_data(path)
    for x in ([1.0, None], pyarrow.array(["a", None])):
        write(y=[1, 2], x=x)
        with pytest.raises(ValueError, match="column 'x' has no value in row 1; impute"):
            load_data(path)
    write(y=[1, 2], x=[1.0, 1e300])
    with pytest.raises(ValueError, match=r"feature 0 of row 1 is inf; .* dtype=np.float64"):
        load_data(path)
    write(y=[[1], [2]], x=[1.0, 2.0])
    with pytest.raises(ValueError, match="labels must be numbers or strings"):
        load_data(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"rows.parquet cannot be read as Parquet"):
        load_data(path)


def test_parquet_is_read_in_the_calling_thread(tmp_path, rng, monkeypatch):
    """Other threads may need the interpreter when it has exited, which ends the process."""
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    path, threads = tmp_path / "rows.parquet", set()
    columns = {name: rng.standard_normal(1000) for name in "yab"}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=100)

    class Watched(io.FileIO):
        def read(self, *size):
            threads.add(threading.get_ident())
            return super().read(*size)

    monkeypatch.setattr(Source, "_open_again", lambda source: Watched(source.path))
    X, y = load_data(path, dtype=np.float64)
    assert_array_equal(X, np.column_stack([columns["a"], columns["b"]]))
    assert_array_equal(y, columns["y"])
    assert threads == {threading.get_ident()}


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install hssvm\[parquet\]"):
        load_data(tmp_path / "rows.parquet")


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_mutated_numpy_files_are_read_or_refused(ending, tmp_path, rng):
    path = tmp_path / f"rows{ending}"
    if ending == ".npy":
        np.save(path, np.column_stack([Y, X]))
    else:
        np.savez_compressed(path, X=X, y=Y)
    load_data(path)
    whole, n_read = path.read_bytes(), 0
    for _ in range(600):
        damaged = bytearray(whole)
        for at in rng.integers(0, min(len(whole), 130), rng.integers(1, 4)):
            damaged[at] = (
                rng.integers(256) if rng.random() < 0.5 else rng.choice(list(b"(){}[]',:9"))
            )
        path.write_bytes(damaged)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy's, of headers that Python 2 has written
                load_data(path)
            n_read += 1
        except ValueError as error:
            assert str(path) in str(error)
    assert n_read < 595


def test_a_header_that_is_cut_short(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    path.write_bytes(path.read_bytes().replace(b"(2, 2)", b"(2, 2 "))
    with pytest.raises(ValueError, match="cannot be read as a NumPy file"):
        load_data(path)


def pack_repeated(path, line, n_bytes):
    """Write a number of bytes of one repeated line, packed to a few kilobytes."""
    packer, piece = lzma.LZMACompressor(preset=0), line * (2**16 // len(line))
    with open(path, "wb") as file:
        for _ in range(n_bytes // len(piece)):
            file.write(packer.compress(piece))
        file.write(packer.flush())


@pytest.mark.parametrize(("line", "format"), [(b"1 1:1\n", "libsvm"), (b"1,1\n", "csv")])
def test_a_small_file_that_unpacks_to_a_large_one(line, format, tmp_path, monkeypatch):
    monkeypatch.setattr("hssvm.io.files.ALWAYS_ALLOWED", 2**20)
    path = tmp_path / "rows.xz"
    pack_repeated(path, line, 2**19)
    load_data(path, format=format)
    pack_repeated(path, line, 2**22)
    with pytest.raises(
        ValueError, match=r"rows.xz decompresses to more than 100 times its size; .* decompress it"
    ):
        load_data(path, format=format)


@linux
def test_many_bytes_without_a_line_end_take_bounded_memory(tmp_path):
    path = tmp_path / "rows.xz"
    pack_repeated(path, b"1", 3 * 2**27)
    code = (
        "import re, sys; from hssvm.io import load_data\n"
        "try: load_data(sys.argv[1])\n"
        "except ValueError as error: print(error)\n"
        "print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    message, kilobytes = run.stdout.splitlines()
    assert "decompresses to more than 100 times its size" in message
    assert int(kilobytes) < 1e6


def test_a_small_npz_that_unpacks_to_gigabytes(tmp_path):
    path = tmp_path / "rows.npz"
    np.savez_compressed(path, X=np.zeros((2**19, 80)))
    with pytest.raises(ValueError, match=r"rows.npz .*X.npy decompresses to more than 100 times"):
        load_data(path)


def test_streams(tmp_path):
    for format, text in TEXT.items():
        source = Source.from_stream(io.BytesIO(text), "stdin")
        table = read_table(source, rule=Roles(), format=format)
        assert_array_equal(table.X, X)
        assert_array_equal(table.y, Y)
        with pytest.raises(ValueError, match="the format of stdin is unknown"):
            read_table(source, rule=Roles())
    with pytest.raises(ValueError, match="stdin, line 2"):
        read_table(
            Source.from_stream(io.BytesIO(b"1,2\n1,x\n"), "stdin"), rule=Roles(), format="csv"
        )


@pytest.mark.parametrize("ending", ["csv", "libsvm", "csv.gz"])
@pytest.mark.parametrize("labels", [["1", "-1"], ["yes", "no"]])
def test_parts_are_the_whole(ending, labels, rng, tmp_path, monkeypatch):
    if ending == "libsvm":
        labels = ["1", "-1"]
    monkeypatch.setattr("hssvm.io.load.PART_ROWS", 7)
    monkeypatch.setattr("hssvm.io.libsvm._CHUNK", 100)
    X, y = rng.standard_normal((40, 3)).round(3), rng.choice(labels, 40)
    if ending == "libsvm":
        lines = [f"{t} 1:{a} 2:{b} 3:{c}" for t, (a, b, c) in zip(y, X, strict=True)]
    else:
        lines = ["label,a,b,c"] + [f"{t},{a},{b},{c}" for t, (a, b, c) in zip(y, X, strict=True)]
    lines[10:10] = ["", ""]
    text = "\n".join(lines).encode()
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    names = None if ending == "libsvm" else ["a", "b", "c"]
    target = None if ending == "libsvm" else "label"
    rule = Known(3, names, target)
    parts = list(read_parts(Source(path), rule=rule, dtype=np.float64))
    assert len(parts) > 2
    np.testing.assert_array_equal(np.concatenate([part.X for part in parts]), X)
    expected = y.astype(float) if labels[0] == "1" else y
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), expected)


def test_labels_of_later_parts_agree_with_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr("hssvm.io.load.PART_ROWS", 2)
    path, rule = tmp_path / "rows.csv", Known(1, ["a"], "label")
    path.write_text("label,a\n1,1\n2,2\nthree,3\n")
    with pytest.raises(
        ValueError, match=r"'three' is not a number, but the labels of the first rows"
    ):
        list(read_parts(Source(path), rule=rule))
    path.write_text("label,a\none,1\ntwo,2\n3,3\n")
    assert [part.y.tolist() for part in read_parts(Source(path), rule=rule)] == [
        ["one", "two"],
        ["3"],
    ]


def test_a_part_does_not_end_inside_quotes(tmp_path, monkeypatch):
    monkeypatch.setattr("hssvm.io.load.PART_ROWS", 2)
    path = tmp_path / "rows.csv"
    path.write_text('label,a\nx,1\n"y\n\nz",2\nx,3\nx,4\n')
    parts = list(read_parts(Source(path), rule=Known(1, ["a"], "label")))
    assert [part.X.ravel().tolist() for part in parts] == [[1, 2], [3, 4]]
    assert parts[0].y.tolist() == ["x", "y\n\nz"]


@pytest.mark.parametrize("label", ['5" pipe', '"5"" pipe"', '"a, b"'])
def test_quotes_that_do_not_reach_beyond_a_line(label, tmp_path, monkeypatch):
    monkeypatch.setattr("hssvm.io.load.PART_ROWS", 2)
    path = tmp_path / "rows.csv"
    path.write_text(f"label,a\nx,0\n{label},1\nx,2\nx,3\n")
    parts = list(read_parts(Source(path), rule=Known(1, ["a"], "label")))
    assert [part.X.ravel().tolist() for part in parts] == [[0, 1], [2, 3]]
    assert parts[0].y[1] == label.strip('"').replace('""', '"')


@pytest.mark.parametrize(("name", "text"), [("a.csv", "a,b\n"), ("a.libsvm", "# none\n")])
def test_parts_of_a_file_without_rows(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match="no rows"):
        list(read_parts(Source(tmp_path / name), rule=Known(2, ["a", "b"])))
