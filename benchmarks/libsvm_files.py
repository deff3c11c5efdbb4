"""Data sets of the paper by name, from LIBSVM text files in the folder of the data sets.

A file is found under its name on the LIBSVM page, or under a spelling of the set with one of the
usual endings; plain, .xz, .bz2 or .gz. Those that ``python -m benchmarks.data fetch`` writes are
such text. `benchmarks.datasets` differs where a set has no test file: it holds out 20 % of the
rows, and takes label 1 of skin_nonskin as +1.

Splits are those of the paper:

- a8a, w7a, a9a, w8a, ijcnn1, cod-rna: the published test files.
- skin_nonskin, webspam, susy: "random 30 %" of the rows are the test set. Which rows is not known;
  here they are drawn with a fixed seed. heart_scale, of which the paper has only a picture of all
  270 rows, is treated alike.
- rcv1.binary: the paper has 135,480 test rows, a fifth of the 677,399 published ones, and says
  nothing of it. Here a random fifth is drawn.
"""

import bz2
import gzip
import lzma
import zlib
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.data import cache

PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
OPEN = {"": open, ".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}
ENDINGS = [("", ".train", ".tr"), (".t", ".test")]  # of training and test files
SEED = 0


@dataclass(frozen=True)
class LibsvmSet:
    """One set as the LIBSVM page has it.

    Attributes
    ----------
    features : int
    rows : tuple of int
        Rows of the training file, and of the test file if there is one.
    files : tuple of str
        Names of these files on the page, without compression.
    compression : str
        What the page adds to those names.
    spellings : tuple of str
        Other names under which the set goes.
    sparse : bool
        Return CSR matrices.
    test_share : float
        Share of the last file that makes the test set.
    """

    features: int
    rows: tuple[int, ...]
    files: tuple[str, ...]
    compression: str = ""
    spellings: tuple[str, ...] = ()
    sparse: bool = False
    test_share: float = 1.0


SETS = {
    "a8a": LibsvmSet(123, (22_696, 9_865), ("a8a", "a8a.t"), sparse=True),
    "w7a": LibsvmSet(300, (24_692, 25_057), ("w7a", "w7a.t"), sparse=True),
    "rcv1.binary": LibsvmSet(
        47_236,
        (20_242, 677_399),
        ("rcv1_train.binary", "rcv1_test.binary"),
        ".bz2",
        ("rcv1",),
        sparse=True,
        test_share=0.2,
    ),
    "a9a": LibsvmSet(123, (32_561, 16_281), ("a9a", "a9a.t"), sparse=True),
    "w8a": LibsvmSet(300, (49_749, 14_951), ("w8a", "w8a.t"), sparse=True),
    "ijcnn1": LibsvmSet(22, (49_990, 91_701), ("ijcnn1", "ijcnn1.t"), ".bz2", ("ijcnn",)),
    "cod-rna": LibsvmSet(
        8, (59_535, 271_617), ("cod-rna", "cod-rna.t"), spellings=("cod.rna", "cod_rna", "codrna")
    ),
    "skin_nonskin": LibsvmSet(
        3, (245_057,), ("skin_nonskin",), spellings=("skin.nonskin", "skin-nonskin"), test_share=0.3
    ),
    "webspam": LibsvmSet(
        254,
        (350_000,),
        ("webspam_wc_normalized_unigram.svm",),
        ".xz",
        ("webspam.uni", "webspam_uni", "webspam_unigram"),
        test_share=0.3,
    ),
    "susy": LibsvmSet(18, (5_000_000,), ("SUSY",), ".xz", test_share=0.3),
    "heart_scale": LibsvmSet(13, (270,), ("heart_scale",), test_share=0.3),
}


def find(name):
    """Paths of the files of a set: training, and test if it has its own.

    Raises
    ------
    FileNotFoundError
        With the addresses to download from.
    """
    if name not in SETS:
        raise ValueError(f"{name!r} is none of {', '.join(SETS)}.")
    spec, folder = SETS[name], cache.folder()
    paths, missing = [], []
    for file, endings in zip(spec.files, ENDINGS, strict=False):
        stems = [file, *(s + ending for s in (name, *spec.spellings) for ending in endings)]
        candidates = (
            folder / (stem + text + compression)
            for stem in stems
            for text in ("", ".txt")
            for compression in OPEN
        )
        path = next((c for c in candidates if c.is_file()), None)
        if path is None:
            missing.append(_address(spec, file))
        paths.append(path)
    if missing:
        raise FileNotFoundError(
            f"{name} is not complete in {folder}. Download {' and '.join(missing)} "
            f"(listed on {PAGE}binary.html) into that folder; there is no need to unpack."
        )
    return paths


def load(name):
    """Return (X_train, y_train, X_test, y_test).

    X is float32, a dense array or, for a8a, a9a, w7a, w8a and rcv1.binary, a CSR matrix; values are
    as published, unscaled. y is float32, +1 for the larger label of the file and -1 for the other,
    which gives the paper's numbers of positives (for skin_nonskin, +1 is "no skin").

    Raises
    ------
    FileNotFoundError
        Where a file is missing.
    ValueError
        Where a file is broken, or has not as many rows and features as the published one.
    """
    paths = find(name)
    spec = SETS[name]
    parts = [_read(spec, i, path) for i, path in enumerate(paths)]
    X, y = parts[-1]
    in_test = np.zeros(len(y), dtype=bool)
    drawn = np.random.default_rng(SEED).permutation(len(y))[: round(spec.test_share * len(y))]
    in_test[drawn] = True
    X_train, y_train = parts[0] if len(parts) == 2 else (X[~in_test], y[~in_test])
    positive = y_train.max()
    y_train, y_test = (
        np.where(labels == positive, 1, -1).astype(np.float32) for labels in (y_train, y[in_test])
    )
    return X_train, y_train, X[in_test], y_test


def _read(spec, i, path):
    """X and y of file number i of a set, once its counts are those of the published file."""
    advice = f"Download {_address(spec, spec.files[i])} again."
    opener = OPEN.get(path.suffix, open)
    try:
        with opener(path, "rb") as file:
            X, y = load_svmlight_file(
                file, n_features=spec.features, dtype=np.float32, zero_based=False
            )
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read ({error}). {advice}") from error
    if len(y) != spec.rows[i]:
        raise ValueError(f"{path} has {len(y):,} rows instead of {spec.rows[i]:,}. {advice}")
    features = X.indices.max(initial=-1) + 1
    if i == 0 and features != spec.features:  # a test file need not show every feature
        raise ValueError(f"{path} has {features:,} features instead of {spec.features:,}. {advice}")
    return (X if spec.sparse else X.toarray()), y


def _address(spec, file):
    return f"{PAGE}binary/{file}{spec.compression}"
