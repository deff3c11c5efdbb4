"""hssvm.SVR beside the exact SVR of LIBSVM and scikit-learn-intelex.

python -m benchmarks.peers.regression [NAME ...] [--repeats 3] [--no-libsvm]

Features and y are standardized; a fifth of the rows is the test set. All in one process; the best
time of the repeats counts, LIBSVM (sklearn.svm.SVR) runs once. Threads: set OMP_NUM_THREADS.
"""

import argparse

from sklearn.svm import SVR as LibSVR
from sklearnex.svm import SVR as IntelSVR

from benchmarks.peers.settings import load_regression
from benchmarks.timing import timed
from hssvm import SVR


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["casp", "cadata"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-libsvm", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.names:
        (X, y, X_test, y_test), parameters = load_regression(name)
        models = {
            "hssvm": lambda seed: SVR(**parameters, random_state=seed),
            "compressed": lambda seed: SVR(**parameters, random_state=seed, refine=False),
            "sklearnex": lambda seed: IntelSVR(**parameters, cache_size=2000),
        }
        if not arguments.no_libsvm:
            models["LIBSVM"] = lambda seed: LibSVR(**parameters, cache_size=2000)
        print(f"{name}: {X.shape[0]:,} x {X.shape[1]}, {parameters}", flush=True)
        for key, make in models.items():
            repeats = 1 if key == "LIBSVM" else arguments.repeats
            fits = [timed(lambda: make(seed).fit(X, y)) for seed in range(repeats)]
            model = fits[0][0]
            seconds = min(t for _, t in fits)
            score, predict = timed(lambda: model.score(X_test, y_test))
            print(
                f"  {key:12s} fit {seconds:7.2f} s  predict {predict:6.2f} s  R^2 {score:.4f}  "
                f"{len(model.support_):,} support vectors",
                flush=True,
            )


if __name__ == "__main__":
    main()
