"""LIBSVM text in MB/s of unpacked text, beside scikit-learn's reader.

python -m benchmarks.micro.reading
python -m benchmarks.micro.reading $HSSVM_DATA/ijcnn1.test.xz --threads 2
"""

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from benchmarks.timing import timed
from hssvm.io import load_data
from hssvm.io.files import Source


def dense(rng, number):
    """20,000 rows of 40 numbers each."""
    values = rng.standard_normal((20_000, 40)).tolist()
    return "".join(
        " ".join(["+1", *(f"{j}:{number.format(v)}" for j, v in enumerate(row, 1))]) + "\n"
        for row in values
    )


def binary(rng):
    """100,000 rows with 14 of 123 features, all 1."""
    columns = np.sort(rng.random((100_000, 123)).argpartition(14, axis=1)[:, :14]) + 1
    return "".join("-1 " + " ".join(f"{j}:1" for j in row) + "\n" for row in columns.tolist())


def generated(folder):
    """Name and path of texts of different kinds."""
    rng = np.random.default_rng(0)
    texts = {
        "dense, 6 digits": dense(rng, "{:.6g}"),
        "dense, 17 digits": dense(rng, "{:.17g}"),
        "sparse, ones": binary(rng),
    }
    for i, (name, text) in enumerate(texts.items()):
        path = folder / str(i)
        path.write_text(text)
        yield name, path


def unpacked(file, folder):
    path = folder / "text"
    with Source(file).unpacked() as source, open(path, "wb") as target:
        shutil.copyfileobj(source, target)
    return path


def compare(name, path, repeats):
    megabytes = path.stat().st_size / 1e6
    ours = theirs = np.inf
    for _ in range(repeats):  # in turns, so that a busy moment of the machine hits both
        (X, y), seconds = timed(lambda: load_data(path, format="libsvm"))
        ours = min(ours, seconds)
        (expected, labels), seconds = timed(
            lambda: load_svmlight_file(str(path), dtype=np.float32, zero_based=False)
        )
        theirs = min(theirs, seconds)
    assert abs(expected - X).max() == 0 and np.array_equal(y, labels)
    print(
        f"{name:24s} {megabytes:7.1f} MB   hssvm {megabytes / ours:6.1f} MB/s   scikit-learn "
        f"{megabytes / theirs:6.1f} MB/s   {theirs / ours:5.1f} x"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="LIBSVM text; by default some is made")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, threadpool_limits(options.threads):
        folder = Path(name)
        if options.file:
            files = [(options.file.name, unpacked(options.file, folder))]
        else:
            files = generated(folder)
        for title, path in files:
            compare(title, path, options.repeats)


if __name__ == "__main__":
    main()
