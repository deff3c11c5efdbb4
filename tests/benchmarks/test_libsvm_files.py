import bz2
import gzip
import lzma

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from benchmarks import libsvm_files
from benchmarks.libsvm_files import SETS, find, load
from benchmarks.paper import published

PACK = {"": bytes, ".xz": lzma.compress, ".bz2": bz2.compress, ".gz": gzip.compress}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HSSVM_DATA", str(tmp_path))
    return tmp_path


def text_of(X, y):
    """LIBSVM text without the zeros."""
    lines = (
        " ".join([f"{label:+d}", *(f"{j + 1}:{row[j]}" for j in np.flatnonzero(row))])
        for row, label in zip(X, y, strict=True)
    )
    return ("\n".join(lines) + "\n").encode()


def heart_like(rng):
    """Numbers in place of the 270 rows of heart_scale."""
    X = rng.standard_normal((270, 13)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = 0
    X[0, -1] = 1
    return X, rng.choice([-1, 1], 270)


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("ending", ["", ".train", ".tr", ".txt", ".train.txt"])
def test_every_compression_and_ending_of_a_set_in_one_file(compression, ending, folder, rng):
    X, y = heart_like(rng)
    (folder / f"heart_scale{ending}{compression}").write_bytes(PACK[compression](text_of(X, y)))
    X_train, y_train, X_test, y_test = load("heart_scale")
    assert X_train.shape == (189, 13) and X_test.shape == (81, 13)
    assert X_train.dtype == X_test.dtype == y_train.dtype == y_test.dtype == np.float32
    both = np.column_stack([np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])])
    whole = np.column_stack([X, y])
    assert_allclose(both[np.lexsort(both.T)], whole[np.lexsort(whole.T)], rtol=1e-6)
    assert np.array_equal(load("heart_scale")[2], X_test)


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("ending", [".t", ".test", ".t.txt", ".test.txt"])
def test_every_compression_and_ending_of_a_test_file(compression, ending, folder):
    train, test = folder / "a9a.xz", folder / f"a9a{ending}{compression}"
    train.touch()
    test.touch()
    assert find("a9a") == [train, test]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("cod-rna", ["cod-rna", "cod-rna.t"]),
        ("cod-rna", ["cod.rna.train.gz", "cod_rna.test"]),
        ("rcv1.binary", ["rcv1_train.binary.bz2", "rcv1_test.binary.bz2"]),
        ("rcv1.binary", ["rcv1.binary", "rcv1.t"]),
        ("ijcnn1", ["ijcnn1.bz2", "ijcnn1.t.bz2"]),
        ("skin_nonskin", ["skin.nonskin.txt"]),
        ("webspam", ["webspam_wc_normalized_unigram.svm.xz"]),
        ("susy", ["SUSY.xz"]),
    ],
)
def test_spellings(name, files, folder):
    for file in [*files, "susy_sample.train.xz", "webspam_wc_normalized_trigram.svm.xz"]:
        (folder / file).touch()
    assert find(name) == [folder / file for file in files]


def test_the_published_name_comes_first(folder):
    """ijcnn1.tr is a part of ijcnn1."""
    for file in ["ijcnn1.tr", "ijcnn1.bz2", "ijcnn1.t"]:
        (folder / file).touch()
    assert find("ijcnn1")[0] == folder / "ijcnn1.bz2"


def test_a_published_test_file(folder, rng):
    """All of it, in order, with the width of the training file."""
    n_train, n_test = SETS["a8a"].rows
    y = rng.choice([-1, 1], n_train + n_test)
    columns = rng.integers(1, 123, n_train + n_test)  # 123, the last, is only in training
    lines = [f"{label:+d} {j}:1" for label, j in zip(y, columns, strict=True)]
    lines[0] += " 123:1"
    (folder / "a8a").write_text("\n".join(lines[:n_train]))
    (folder / "a8a.t").write_text("\n".join(lines[n_train:]))
    X_train, y_train, X_test, y_test = load("a8a")
    assert scipy.sparse.issparse(X_train) and scipy.sparse.issparse(X_test)
    assert X_train.format == X_test.format == "csr" and X_train.dtype == np.float32
    assert X_train.shape == (n_train, 123) and X_test.shape == (n_test, 123)
    assert np.array_equal(X_test.indices, columns[n_train:] - 1)
    assert np.array_equal(np.concatenate([y_train, y_test]), y)


def test_the_larger_label_is_positive(folder, rng):
    X, y = heart_like(rng)
    (folder / "heart_scale").write_bytes(text_of(X, np.where(y > 0, 2, 1)))
    _, y_train, _, y_test = load("heart_scale")
    assert y_train.sum() + y_test.sum() == y.sum()


def test_a_missing_file_says_where_to_get_it(folder):
    (folder / "cod-rna.xz").touch()
    with pytest.raises(FileNotFoundError) as caught:
        load("cod-rna")
    assert f"{libsvm_files.PAGE}binary/cod-rna.t " in str(caught.value)
    assert "binary/cod-rna " not in str(caught.value)
    assert str(folder) in str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"binary/SUSY\.xz .*binary\.html"):
        load("susy")
    with pytest.raises(ValueError, match="mnist' is none of a8a, w7a"):
        load("mnist")


@pytest.mark.parametrize("compression", PACK)
def test_a_truncated_download_is_refused(compression, folder, rng):
    packed = PACK[compression](text_of(*heart_like(rng)))
    (folder / f"heart_scale{compression}").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ValueError, match=r"heart_scale.*Download .*binary/heart_scale again"):
        load("heart_scale")


def test_rows_and_features_are_counted(folder, rng):
    X, y = heart_like(rng)
    file = folder / "heart_scale"
    file.write_bytes(text_of(X[1:], y[1:]))
    with pytest.raises(ValueError, match="269 rows instead of 270"):
        load("heart_scale")
    file.write_bytes(text_of(X[:, :12], y))
    with pytest.raises(ValueError, match="12 features instead of 13"):
        load("heart_scale")
    file.write_bytes(text_of(np.column_stack([X, np.ones(270)]), y))
    with pytest.raises(ValueError, match="14 features"):
        load("heart_scale")
    file.write_text("<html>Not found</html>")
    with pytest.raises(ValueError, match="cannot be read"):
        load("heart_scale")


@pytest.mark.parametrize("name", ["a8a", "skin_nonskin"])
def test_positives_of_the_real_files_are_those_of_the_paper(name, data):
    data(name)
    counts = published.DATA_SETS[name]
    _, y_train, _, y_test = load(name)
    assert (len(y_train), len(y_test)) == (counts.train_rows, counts.test_rows)
    positives = (y_train > 0).sum() + (y_test > 0).sum()
    assert positives == counts.train_positives + counts.test_positives


def test_counts_agree_with_the_table_of_the_paper():
    assert set(SETS) == {*published.DATA_SETS, "heart_scale"}
    for name, counts in published.DATA_SETS.items():
        spec = SETS[name]
        n_test = round(spec.test_share * spec.rows[-1])
        n_train = spec.rows[0] if len(spec.rows) == 2 else spec.rows[0] - n_test
        assert (n_train, n_test) == (counts.train_rows, counts.test_rows)
        # the paper has 122, the width of the test files of a8a and a9a
        assert spec.features == counts.features + (name in ["a8a", "a9a"])


def test_published_tables_have_every_set_and_values_on_the_grid():
    tables = [published.LIBSVM, published.RACQP, *published.HSS.values()]
    assert all(list(table) == list(published.DATA_SETS) for table in tables)
    assert published.HSS.keys() == published.TOLERANCES.keys()
    for table in published.HSS.values():
        for result in table.values():
            assert result.h in published.H_GRID
            assert set(result.C) <= set(published.C_GRID)


def test_some_published_values():
    assert published.HSS["loose"]["w8a"].compress == 10476.2
    assert published.HSS["tight"]["susy"] == (
        14495.9,
        159.972,
        18264.2,
        15.889,
        1,
        (0.1, 1, 10),
        72.047,
    )
    assert published.LIBSVM["webspam"] == (13354.384, 99.081)
    assert published.RACQP["susy"] is None
    assert [published.beta(n) for n in (22_696, 171_540, 3_500_000)] == [100, 1000, 10_000]
