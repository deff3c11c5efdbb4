import io
import os
import stat
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from helpers.platforms import posix
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from hssvm.persistence.archive import Archive, write

ARRAYS = {"X": np.arange(6.0).reshape(3, 2), "ends": np.array([0, 3])}


def load_data(path):
    with open(path, "rb") as file:
        archive = Archive(file)
        return archive.document(), archive.arrays()


def zipped(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)


def npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays=st.dictionaries(
        st.sampled_from(["X", "W", "support"]),
        hnp.arrays(
            st.sampled_from(["<f4", ">f8", "<i4", ">i8"]),
            hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5),
        ),
    )
)
def test_arrays_come_back(arrays, tmp_path):
    write(tmp_path / "a", {"n": 1}, arrays)
    document, back = load_data(tmp_path / "a")
    assert document == {"n": 1}
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype.newbyteorder("<")
        assert back[name].shape == array.shape
        assert_array_equal(back[name], array)


def test_numpy_opens_it(tmp_path):
    write(tmp_path / "a", {}, ARRAYS)
    with np.load(tmp_path / "a") as file:
        assert set(file.files) == {"model.json", "X", "ends"}
        assert_array_equal(file["X"], ARRAYS["X"])


def test_arrays_larger_than_a_chunk(tmp_path, monkeypatch, rng):
    monkeypatch.setattr("hssvm.persistence.archive.CHUNK", 100)
    array = rng.standard_normal((7, 11))
    write(tmp_path / "a", {}, {"X": array})
    assert_array_equal(load_data(tmp_path / "a")[1]["X"], array)


def test_the_same_content_is_the_same_file(tmp_path):
    for name in "ab":
        write(tmp_path / name, {"n": 1}, ARRAYS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@posix
def test_permissions_are_those_of_any_new_file(tmp_path):
    write(tmp_path / "a", {}, {})
    (tmp_path / "b").touch()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "b").stat().st_mode
    )


@pytest.mark.parametrize("at", ["write_array", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_all_or_nothing(at, error, before, tmp_path, monkeypatch):
    def fail(*args, **options):
        raise error

    path = tmp_path / "a"
    if before is not None:
        path.write_bytes(before)
    owner = {"write_array": np.lib.format, "fsync": os, "replace": Path}[at]
    with monkeypatch.context() as patch:
        patch.setattr(owner, at, fail)
        with pytest.raises(type(error)):
            write(path, {}, ARRAYS)
    assert [p.name for p in tmp_path.iterdir()] == ([] if before is None else ["a"])
    assert before is None or path.read_bytes() == before
    write(path, {}, ARRAYS)
    assert load_data(path)[0] == {}


def test_a_folder_stays_a_folder(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        write(tmp_path / "a", {}, ARRAYS)
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing is not a folder; create it"):
        write(tmp_path / "missing" / "a", {}, ARRAYS)


ran = []


def run(what):
    ran.append(what)


class Payload:
    def __reduce__(self):
        return run, ("the payload",)


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_a_pickled_object_is_refused_and_not_loaded(version, tmp_path):
    member = npy(np.array([Payload(), 1], dtype=object), allow_pickle=True, version=version)
    np.lib.format.read_array(io.BytesIO(member), allow_pickle=True)
    assert ran.pop() == "the payload"
    zipped(tmp_path / "a", [("model.json", "{}"), ("X.npy", member)])
    with pytest.raises(ValueError, match=r"header|not an array"):
        load_data(tmp_path / "a")
    assert not ran


@pytest.mark.parametrize("shape", ["(100000000000,)", "(100000, 1000000)", "(-1,)", "(2, 3, 1)"])
def test_a_header_cannot_ask_for_memory(shape, tmp_path):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    member = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    zipped(tmp_path / "a", [("model.json", "{}"), ("X.npy", member + bytes(40))])
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"header|contradicts its shape"):
            load_data(tmp_path / "a")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_only_arrays_that_become_smaller_are_compressed(tmp_path, rng):
    arrays = {
        "X": rng.integers(0, 5, (1000, 20)).astype(np.float32),
        "W": rng.standard_normal((1000, 20)),
    }
    write(tmp_path / "a", {}, arrays)
    with zipfile.ZipFile(tmp_path / "a") as archive:
        kinds = {info.filename: info.compress_type for info in archive.infolist()}
        assert archive.getinfo("X.npy").compress_size < arrays["X"].nbytes / 4
    deflated = {name for name, kind in kinds.items() if kind == zipfile.ZIP_DEFLATED}
    assert deflated == {"X.npy"}
    for name, array in load_data(tmp_path / "a")[1].items():
        assert_array_equal(array, arrays[name])


@pytest.mark.parametrize("n_numbers", [0, 1, 10_000, 500_000])
def test_constant_arrays_come_back(n_numbers, tmp_path):
    write(tmp_path / "a", {}, {"W": np.ones(n_numbers)})
    assert_array_equal(load_data(tmp_path / "a")[1]["W"], np.ones(n_numbers))


def test_a_compressed_array_cannot_fill_the_memory(tmp_path):
    zipped(tmp_path / "a", [("model.json", "{}")])
    with zipfile.ZipFile(tmp_path / "a", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy(np.zeros(10_000_000)))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 100 times the memory"):
            load_data(tmp_path / "a")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("document", "array"),
    [(zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED), (zipfile.ZIP_STORED, zipfile.ZIP_LZMA)],
)
def test_other_compressed_members_are_refused(document, array, tmp_path):
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("model.json", "{}" + " " * 100, document)
        archive.writestr("X.npy", npy(np.zeros(1000)), array)
    with pytest.raises(ValueError, match="compressed"):
        load_data(tmp_path / "a")


def test_damaged_compressed_bytes_are_noticed(tmp_path, rng):
    write(tmp_path / "a", {}, {"X": rng.integers(0, 5, 10_000)})
    content = bytearray((tmp_path / "a").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (tmp_path / "a").write_bytes(content)
    with pytest.raises((zipfile.BadZipFile, zlib.error, ValueError)):
        load_data(tmp_path / "a")


def test_a_document_cannot_ask_for_memory(tmp_path):
    zipped(tmp_path / "a", [("model.json", "{}")])
    content = (tmp_path / "a").read_bytes()
    entry = content.index(b"PK\x01\x02")  # of the directory, with two sizes of four bytes
    sizes = slice(entry + 20, entry + 28)
    (tmp_path / "a").write_bytes(
        content[: sizes.start] + b"\xfe\xff\xff\x7f" * 2 + content[sizes.stop :]
    )
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.getinfo("model.json").file_size == 2**31 - 2
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"model\.json has more than 67,108,864 bytes"):
            load_data(tmp_path / "a")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_a_large_document_is_neither_read_nor_written(tmp_path, monkeypatch):
    document = {"numbers": list(range(1000))}
    write(tmp_path / "a", document, {})
    monkeypatch.setattr("hssvm.persistence.archive.MAX_DOCUMENT", 1000)
    with pytest.raises(ValueError, match=r"model\.json has more than 1,000 bytes"):
        load_data(tmp_path / "a")
    with pytest.raises(ValueError, match=r"model\.json would have .* joblib"):
        write(tmp_path / "b", document, {})
    assert not (tmp_path / "b").exists()


def test_members_that_share_their_bytes_are_refused(tmp_path):
    zipped(tmp_path / "a", [("model.json", "{}"), ("X.npy", npy(np.zeros(1000)))])
    with zipfile.ZipFile(tmp_path / "a", "a") as archive:
        for i in range(10):
            info = archive.getinfo("X.npy")
            twin = zipfile.ZipInfo(f"X{i}.npy")
            for name in ("header_offset", "CRC", "file_size", "compress_size"):
                setattr(twin, name, getattr(info, name))
            archive.filelist.append(twin)
        archive._didModify = True
    with pytest.raises(ValueError, match="larger than the file"):
        load_data(tmp_path / "a")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ([("X.npy", npy(np.zeros(3)))], "no model.json"),
        ([("model.json", "[]")], "not a JSON object"),
        ([("model.json", "{}"), ("model.json", "{}")], "same name"),
        ([("model.json", "{}"), ("setup.py", "")], "'setup.py' is not an array"),
        ([("model.json", "{}"), ("X.npy", b"")], "not an array"),
        ([("model.json", "{}"), ("X.npy", npy(np.zeros(3)) + b"x")], "contradicts its shape"),
        ([("model.json", "{}"), ("X.npy", npy(np.zeros((3, 2)).T))], "header"),
        ([("model.json", "{}"), ("X.npy", npy(np.zeros(3, ">f8")))], "header"),
        ([("model.json", "{}"), ("X.npy", npy(np.array(3.0)))], "header"),
    ],
)
def test_other_archives_are_refused(members, problem, tmp_path):
    zipped(tmp_path / "a", members)
    with pytest.raises(ValueError, match=problem):
        load_data(tmp_path / "a")
