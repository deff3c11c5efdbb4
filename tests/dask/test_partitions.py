import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask import delayed
from numpy.testing import assert_array_equal

from hssvm.dask import partitions as module
from hssvm.dask.partitions import Partition, as_partitions
from hssvm.dask.plan import plan
from hssvm.dask.shuffle import collect_parts


class Source:
    """The same rows in every form."""

    def __init__(self, rng, folder):
        self.X = rng.standard_normal((601, 3)).astype(np.float32)
        self.y = rng.choice(["no", "yes"], 601)
        self.weight = rng.random(601)
        self.frame = pd.DataFrame(self.X, columns=list("abc")).assign(
            label=self.y, mass=self.weight
        )
        self.folder = folder

    def arrays(self):
        X = da.from_array(self.X, chunks=(100, 2))
        return X, da.from_array(self.y, chunks=250), da.from_array(self.weight, chunks=100)

    def unknown_chunks(self):
        arrays = (da.from_array(a, chunks=(150, *a.shape[1:])) for a in self.columns())
        keep = da.ones(601, chunks=150, dtype=bool)
        return tuple(a[keep] for a in arrays)

    def sparse_chunks(self):
        X, y, weight = (da.from_array(a, chunks=(150, *a.shape[1:])) for a in self.columns())
        return X.map_blocks(scipy.sparse.csr_array), y, weight

    def columns(self):
        return self.X, self.y, self.weight

    def series(self):
        frame = dd.from_pandas(self.frame, npartitions=4)
        return frame[list("abc")], frame["label"], frame["mass"]

    def names(self):
        return dd.from_pandas(self.frame, npartitions=4), "label", "mass"

    def parquet(self):
        paths = [self.folder / f"{i}.parquet" for i in range(3)]
        for path, begin in zip(paths, (0, 250, 500), strict=True):
            self.frame[begin : begin + 250].to_parquet(path)
        return paths, "label", "mass"

    def parquet_folder(self):
        paths, *names = self.parquet()
        return str(paths[0].parent), *names

    def delayed_triples(self):
        return [delayed(tuple)([c[r] for c in self.columns()]) for r in self.thirds()], None, None

    def futures(self, client):
        triples = [tuple(c[r] for c in self.columns()) for r in self.thirds()]
        return [client.submit(tuple, triple) for triple in triples], None, None

    def thirds(self):
        return [slice(0, 200), slice(200, 200), slice(200, 601)]

    def numpy(self):
        return self.columns()

    def csr(self):
        return scipy.sparse.csr_matrix(self.X), list(self.y), self.weight

    def pandas(self):
        return self.frame.drop(columns="mass"), "label", self.frame["mass"]


FORMS = [
    "arrays",
    "unknown_chunks",
    "sparse_chunks",
    "series",
    "names",
    "parquet",
    "parquet_folder",
    "delayed_triples",
    "futures",
    "numpy",
    "csr",
    "pandas",
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows(form, client, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SENT_BYTES", 2000)
    source = Source(rng, tmp_path)
    data = source.futures(client) if form == "futures" else getattr(source, form)()
    partitions = as_partitions(client, *data)
    assert len(partitions) > 1
    layout, _ = plan(client, partitions, 2, classify=True)
    assert layout.n_rows == 601
    assert layout.dtype == np.float32
    assert layout.sparse == (form in ("sparse_chunks", "csr"))
    assert_array_equal(layout.classes.labels, ["no", "yes"])
    parts = client.gather(collect_parts(client, partitions, layout, list(client.nthreads()), 0))
    ids = np.concatenate([part.ids for part in parts])
    assert_array_equal(np.sort(ids), np.arange(601))
    for part in parts:
        X = part.X.toarray() if layout.sparse else part.X
        assert_array_equal(X, source.X[part.ids])
        assert_array_equal(layout.classes.labels[part.y], source.y[part.ids])
        assert_array_equal(part.weight, source.weight[part.ids])
        assert part.weight.dtype == np.float64


def test_rows_alone(client, rng):
    X = rng.standard_normal((50, 2))
    for data in (X, da.from_array(X, chunks=20), [delayed(X[:20]), delayed(X[20:])]):
        partitions = client.gather(client.compute(as_partitions(client, data)))
        assert_array_equal(np.concatenate([p.X for p in partitions]), X)
        assert all(p.y is None and p.weight is None for p in partitions)


def test_other_numbers_become_float64():
    assert Partition.of(np.arange(6).reshape(3, 2)).X.dtype == np.float64
    X = np.ones((3, 2), np.float32, order="F")
    partition = Partition.of(X, [1, 2, 3], [1, 2, 3])
    assert partition.X.dtype == np.float32
    assert partition.X.flags.c_contiguous
    assert partition.weight.dtype == np.float64


ROWS = np.ones((4, 2))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((np.array([[1.0], [np.nan]]),), "first in row 1"),
        ((np.ones(4),), "two dimensions"),
        ((ROWS, np.ones(3)), "y has 3 rows, but X has 4"),
        ((ROWS, np.ones((4, 1))), "y must be one-dimensional"),
        ((ROWS, [1, 2, 3, np.inf]), "y has NaN"),
        ((ROWS, None, np.ones(5)), "sample_weight has 5 rows"),
        ((ROWS, None, [1, 1, 1, -1]), "nonnegative"),
        ((ROWS, None, [1, 1, 1, np.nan]), "finite"),
    ],
)
def test_partitions_are_checked(columns, message):
    with pytest.raises(ValueError, match=message):
        Partition.of(*columns)


FRAME = pd.DataFrame({"a": np.arange(8.0), "b": 1})


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (([[1.0, 2.0]],), TypeError, "X is a list; pass a dask array"),
        (([],), TypeError, "X is a list"),
        ((da.ones(4),), ValueError, "two dimensions"),
        ((da.ones((4, 2)), np.ones(4)), TypeError, "y is a ndarray; convert it to one"),
        ((da.ones((4, 2)), da.ones(5)), ValueError, "X has 4 rows, but y has 5"),
        ((da.ones((4, 2)), da.ones((4, 1))), ValueError, "one-dimensional"),
        (
            (dd.from_pandas(FRAME, npartitions=2), "c"),
            ValueError,
            "no column 'c'; its columns are a, b",
        ),
        ((dd.from_pandas(FRAME, npartitions=2), np.ones(8)), TypeError, "pass a dask Series"),
        (
            (dd.from_pandas(FRAME, npartitions=2), dd.from_pandas(FRAME, npartitions=3)["a"]),
            ValueError,
            "2 partitions, but y has 3",
        ),
        (
            (dd.from_pandas(FRAME, npartitions=2).values, da.ones(8, chunks=2)),
            ValueError,
            "X has 2 chunks of rows, but y has 4",
        ),
        (("rows.parquet", np.ones(3)), TypeError, "names of columns"),
        (([delayed(ROWS)], np.ones(4)), TypeError, "must be None"),
        ((ROWS, "label"), TypeError, "only if X is a DataFrame"),
        ((ROWS, np.ones(3)), ValueError, "y has 3 rows, but X has 4"),
        ((ROWS[0],), ValueError, "two dimensions"),
        ((FRAME, "c"), ValueError, "no column 'c'"),
    ],
)
def test_wrong_inputs(data, error, message):
    with pytest.raises(error, match=message):
        as_partitions(None, *data)


def test_errors_of_partitions_reach_the_driver(client, monkeypatch):
    bad = np.ones((4, 2))
    bad[2, 1] = np.inf
    partitions = as_partitions(client, [delayed((ROWS, np.ones(4))), delayed((bad, np.ones(4)))])
    with pytest.raises(ValueError, match=r"in item 1: X has NaN .* first in row 2"):
        plan(client, partitions, 2)
    monkeypatch.setattr(module, "SENT_BYTES", 16)
    with pytest.raises(ValueError, match=r"in the rows from 2 on: X has NaN .* first in row 0"):
        plan(client, as_partitions(client, bad), 2)
    with pytest.raises(ValueError, match="it must be X"):
        plan(client, as_partitions(client, [delayed((ROWS, None, None, None))]), 2)
