"""Data sets come from a server that stands in for their publishers, in the formats of these."""

import lzma
from functools import partial
from hashlib import md5

import numpy as np
import pytest
import scipy.sparse
from helpers.publishers import Interrupted, compressed, publish, serving
from numpy.testing import assert_array_equal

from benchmarks.data import __main__ as command
from benchmarks.data import cache, lzw
from benchmarks.data.cache import MissingData
from benchmarks.data.entries import DataSet, File, Part
from benchmarks.data.fetch import ALL_SETS, FetchError, fetch
from benchmarks.data.formats import array_of_idx, delimited, idx, libsvm
from benchmarks.data.sets import BINARY, MULTICLASS, REGRESSION, SETS
from benchmarks.datasets import load, scaled
from benchmarks.limit import limited

SITE = "https://data.example/"
TEXT = tuple(Part((File(SITE + path),), libsvm) for path in ("tiny", "tiny.t.bz2"))
PLAIN = (Part((File(SITE + "tiny.zip", "tiny.csv"),), partial(delimited, delimiter=",")),)
PACKED = (
    Part(
        (File(SITE + "tiny.zip", "tiny.data.gz"),),
        partial(delimited, header=1, target=0, labels=np.negative),
    ),
)
IMAGES = tuple(
    Part((File(f"{SITE}{of}-images.gz"), File(f"{SITE}{of}-labels.gz")), idx) for of in "ab"
)
FORMATS = {
    "LIBSVM text": (BINARY, TEXT),
    "a table in a zip": (REGRESSION, PLAIN),
    "a packed table in a zip": (BINARY, PACKED),
    "images": (MULTICLASS, IMAGES),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("HSSVM_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tiny(tmp_path, monkeypatch, rng):
    """Add a set "tiny", and write its files for a server; return its rows, and their folder."""

    def add(task, parts):
        rows = [rows_of(task, n, rng) for n in (40, 30)[: len(parts)]]
        about = DataSet(task, tuple(len(y) for _, y in rows), 9, "nobody", 0.1, parts)
        digests = {
            file: cache.digest(*part) for file, part in zip(about.files("tiny"), rows, strict=True)
        }
        monkeypatch.setitem(ALL_SETS, "tiny", about)
        monkeypatch.setitem(SETS, "tiny", about)
        monkeypatch.setattr(cache, "listed", lambda: digests)
        labels = getattr(parts[0].reader, "keywords", {}).get("labels", np.positive)
        publish(tmp_path / "site", parts, [(X, labels(y)) for X, y in rows])
        return rows, tmp_path / "site"

    return add


def rows_of(task, n, rng):
    """Pixels for several classes; otherwise values, some of them zero."""
    if task == MULTICLASS:
        X = rng.integers(256, size=(n, 9)).astype(np.float32) / np.float32(255)
        return X, rng.integers(10, size=n)
    X = rng.standard_normal((n, 9)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = 0
    y = rng.choice([-1.0, 1.0], n) if task == BINARY else np.round(rng.standard_normal(n), 3)
    return X, y


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_set_in_every_format(kind, folder, tiny):
    task, parts = FORMATS[kind]
    rows, site = tiny(task, parts)
    with serving(site) as (address, _):
        fetch("tiny", address)
    assert len(files_in(folder)) == len(parts)
    X, y, X_test, y_test = load("tiny")
    assert X.dtype == np.float32
    if len(parts) == 2:
        for found, expected in zip((X, y, X_test, y_test), (*rows[0], *rows[1]), strict=True):
            assert_array_equal(found, expected)
    else:
        assert (len(y), len(y_test)) == (32, 8)
        both = np.column_stack([np.concatenate([X, X_test]), np.concatenate([y, y_test])])
        whole = np.column_stack(rows[0])
        assert_array_equal(both[np.lexsort(both.T)], whole[np.lexsort(whole.T)])


def test_a_table_of_pmlb_is_kept_as_it_is(folder, tiny, monkeypatch):
    part = Part((File(SITE + "tiny.tsv.gz"),))
    [(X, y)], site = tiny(REGRESSION, (part,))
    with serving(site) as (address, _):
        fetch("tiny", address)
    published = (site / "data.example" / "tiny.tsv.gz").read_bytes()
    assert (folder / "tiny.tsv.gz").read_bytes() == published
    found = cache.read("tiny", None)
    assert_array_equal(found[0], X)
    assert_array_equal(found[1], y)


def test_what_is_cached_is_not_downloaded_again(folder, tiny, capsys):
    _, site = tiny(BINARY, TEXT)
    with serving(site) as (address, requested):
        for state in ("fetched", "in the cache"):
            command.main(["fetch", "tiny", "--from", address + "/"])
            assert capsys.readouterr().out == f"tiny: {state}\n"
            assert requested == ["/data.example/tiny", "/data.example/tiny.t.bz2"]
    command.main(["list"])
    assert "30         9    0.1  nobody; cached\n" in capsys.readouterr().out


def assert_nothing_is_kept(folder, address, message):
    with pytest.raises(FetchError, match=message):
        fetch("tiny", address)
    assert files_in(folder) == []


def test_other_rows_are_refused(folder, tiny, rng):
    """Also if only the last part has them."""
    rows, site = tiny(BINARY, TEXT)
    changed = rows[1][0].copy()
    changed[-1, -1] += 1
    publish(site, TEXT, [rows[0], (changed, rows[1][1])])
    with serving(site) as (address, _):
        assert_nothing_is_kept(folder, address, r"tiny\.t\.bz2 has other rows than")


@pytest.mark.parametrize(("task", "parts"), FORMATS.values(), ids=FORMATS)
def test_damaged_files_are_refused(task, parts, folder, tiny):
    _, site = tiny(task, parts)
    for path in (site / "data.example").iterdir():
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
    with serving(site) as (address, _):
        assert_nothing_is_kept(folder, address, "cannot be read|other rows")


@pytest.mark.parametrize(("task", "parts"), FORMATS.values(), ids=FORMATS)
def test_an_error_page_is_refused(task, parts, folder, tiny):
    _, site = tiny(task, parts)
    for path in (site / "data.example").iterdir():
        path.write_text("<html>Come back later</html>")
    with serving(site) as (address, _):
        assert_nothing_is_kept(folder, address, "cannot be read")


def test_interrupted_downloads_leave_nothing(folder, tiny, monkeypatch):
    _, site = tiny(BINARY, TEXT)
    with serving(site, Interrupted) as (address, _):
        assert_nothing_is_kept(folder, address, "cannot be downloaded")
    with serving(site / "data.example") as (address, _):
        assert_nothing_is_kept(folder, address, "cannot be downloaded.*404")
    assert_nothing_is_kept(folder, address, "cannot be downloaded")  # nobody answers

    def stop(*given):
        assert files_in(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "digest", stop)
    with serving(site) as (address, _), pytest.raises(KeyboardInterrupt):
        fetch("tiny", address)
    assert files_in(folder) == []


def test_a_known_hash_of_a_publisher(folder, tiny):
    part = Part((File(SITE + "tiny"),), libsvm)
    _, site = tiny(BINARY, (part,))
    good = md5((site / "data.example" / "tiny").read_bytes()).hexdigest()
    with serving(site / "data.example") as (address, _):
        for known in (good[::-1], good):
            file = File(f"{address}/tiny", known_hash=f"md5:{known}")
            about = DataSet(BINARY, (40,), 9, "nobody", 0.1, (Part((file,), libsvm),))
            ALL_SETS["tiny"] = about  # `tiny` restores it
            if known == good:
                fetch("tiny")
            else:
                assert_nothing_is_kept(folder, None, "hash of downloaded file")
    assert files_in(folder) == ["tiny.xz"]


def test_a_missing_set_ends_a_benchmark(folder):
    message = (
        "^ijcnn1.train is not in .*cache; get it with: python -m benchmarks.data fetch ijcnn1$"
    )
    with pytest.raises(MissingData, match=message):
        load("ijcnn1")
    with pytest.raises(MissingData, match=message):
        limited(60, load, "ijcnn1")
    with pytest.raises(MissingData, match=r"fetch pmlb/adult$"):
        cache.read("pmlb/adult", None)


def test_without_a_named_folder(monkeypatch):
    monkeypatch.delenv("HSSVM_DATA", raising=False)
    assert cache.folder().name == "hssvm"


def test_what_the_command_refuses(folder, capsys):
    with pytest.raises(SystemExit, match="not fetched: higgs_sample, pmlb/titanic"):
        command.main(["fetch", "higgs_sample", "pmlb/titanic"])
    found = capsys.readouterr().err.splitlines()
    assert found[0] == (
        "higgs_sample cannot be fetched: it is not known which rows of HIGGS it has."
    )
    assert len(found) == 2
    with pytest.raises(SystemExit, match=r"unknown: ijcnn; see python -m benchmarks\.data list"):
        command.main(["fetch", "ijcnn"])
    assert not folder.exists()


def test_names():
    assert command.chosen(["a9a"]) == ["a9a"]
    assert len(command.chosen(["pmlb"])) == 62
    every = command.chosen([])
    assert {"covtype.binary", "pmlb/adult"} < set(every)
    assert "higgs_sample" not in every


def test_the_entries():
    """Every file has a digest; what cannot be fetched has a reason."""
    digests = cache.listed()
    for name, about in ALL_SETS.items():
        assert set(about.files(name)) <= set(digests)
        if about.reason or about.stored_as:
            assert not about.parts
        else:
            assert len(about.parts) == len(about.rows)
    assert sum(len(about.files(n)) for n, about in ALL_SETS.items()) == len(digests) + 1  # covtype


def test_a_digest_is_of_the_rows(rng):
    X, y = rows_of(BINARY, 20, rng)
    stored = scipy.sparse.csr_matrix(X)
    explicit = scipy.sparse.csr_matrix(np.ones_like(X))
    explicit.data[:] = X.ravel()
    expected = cache.digest(X, y)
    assert cache.digest(stored, y) == cache.digest(explicit, y.astype(np.int8)) == expected
    assert explicit.nnz == X.size  # it was not changed
    assert cache.digest(X, -y) != expected
    assert cache.digest(X[:, ::-1], y) != expected
    assert cache.digest(np.column_stack([X, np.zeros(20)]), y) != expected


def test_what_compress_has_packed(rng):
    """Text, and bytes for which the codes reach their full width."""
    for content in (b"a", b"abc" * 5000, rng.bytes(100_000)):
        assert lzw.unpack(compressed(content)) == content
    for damaged in (b"", b"\x1f\x9d", b"<html>", b"\x1f\x9d\x90\xff\xff\xff"):
        with pytest.raises(ValueError, match=r"damaged|not a file"):
            lzw.unpack(damaged)


def test_images_have_bytes():
    with pytest.raises(ValueError, match="not a file of bytes"):
        array_of_idx(bytes([0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0]))


def test_scales(rng):
    X, X_test = rng.standard_normal((2, 50, 4)).astype(np.float32)
    X[:, 0] = 3
    new, new_test = scaled(X, X_test, "minmax")
    assert_array_equal(new[:, 0], 0)
    assert np.abs(new[:, 1:].min(axis=0) + 1).max() < 1e-6
    assert np.abs(new[:, 1:].max(axis=0) - 1).max() < 1e-6
    new, new_test = scaled(X, X_test, "standard")
    assert np.abs(new.mean(axis=0)).max() < 1e-6
    assert np.abs(new[:, 1:].std(axis=0) - 1).max() < 1e-5
    assert np.abs((new_test - new[0]) * X.std(axis=0) - (X_test - X[0]))[:, 1:].max() < 1e-5
    with pytest.raises(ValueError, match="Sparse rows"):
        scaled(scipy.sparse.csr_matrix(X), X_test, "minmax")
    with pytest.raises(ValueError, match="scale is None"):
        scaled(X, X_test, "robust")


def test_the_format_of_the_cache(tmp_path, rng):
    X, y = rows_of(REGRESSION, 5, rng)
    cache.write("a", X.astype(np.float64), y, tmp_path)
    assert lzma.decompress((tmp_path / "a.xz").read_bytes()).count(b"\n") == 5
    cache.write("b", np.array([[0, 255]], np.uint8), np.array([7]), tmp_path)
    assert_array_equal(cache.read("b", None, tmp_path)[0], [[0, 1]])
    np.savez(tmp_path / "c.npz", bits=np.packbits([[1, 0, 0, 0, 0, 0, 1, 1]], axis=1), y=[1])
    assert_array_equal(cache.read("c", None, tmp_path)[0].toarray(), [[1, 0, 0, 0, 0, 0, 1, 1]])
