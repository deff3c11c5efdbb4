"""The Tanimoto kernel on molecular fingerprints, beside a Gaussian kernel and a random forest.

python -m benchmarks.kernels.fingerprints [exact|accuracy|large ...]

*exact* compares the model on 10,000 molecules of HIV (MoleculeNet, 2,048 bits) with scikit-learn's
on the precomputed matrix. *accuracy* trains on 80% of the 41,120 molecules and gives the ROC AUC on
the others. *large* trains on 100,000 random fingerprints, and gives the peak memory. Threads: set
OMP_NUM_THREADS.
"""

import argparse
import resource

import numpy as np
import scipy.sparse
from sklearn import svm
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.datasets import load
from benchmarks.kernels.objective import dual_objective
from benchmarks.timing import timed
from hssvm import SVC
from hssvm.kernels import Tanimoto

N_EXACT = 10_000
N_LARGE = 105_000


def _hiv():
    X, y, test_X, test_y = load("hiv")
    X = X if test_X is None else scipy.sparse.vstack([X, test_X])
    y = y if test_y is None else np.concatenate([y, test_y])
    return scipy.sparse.csr_array(X).astype(np.float32), np.asarray(y)


def exact():
    X, y = _hiv()
    chosen = np.random.default_rng(0).permutation(y.size)[: N_EXACT + 2000]
    train, test = chosen[:N_EXACT], chosen[N_EXACT:]
    X, kernel, balanced = X.astype(np.float64), Tanimoto(), {"class_weight": "balanced"}
    model = SVC(1.0, kernel=kernel, tol=1e-5, **balanced)
    _, seconds = timed(lambda: model.fit(X[train], y[train]))
    K, block_seconds = timed(lambda: kernel.block(X[train]))
    theirs = svm.SVC(kernel="precomputed", tol=1e-5, cache_size=2000, **balanced)
    _, their_seconds = timed(lambda: theirs.fit(K, y[train]))
    ours, dual = (dual_objective(K, m) for m in (model, theirs))
    labels = theirs.predict(kernel.block(X[test], X[train]))
    print(f"{N_EXACT:,} molecules: dual {ours:.6f}, scikit-learn {dual:.6f}, "
          f"relative difference {abs(ours - dual) / abs(dual):.1e}")  # fmt: skip
    print(
        f"labels equal on {np.mean(model.predict(X[test]) == labels):.2%} of {test.size:,} others"
    )
    print(
        f"seconds {seconds:.1f}, scikit-learn {their_seconds:.1f} and {block_seconds:.1f} for the "
        f"matrix; {model.support_.size:,} support vectors"
    )
    print(model.certify(X[train], y[train]))


def accuracy():
    X, y = _hiv()
    train, test = train_test_split(np.arange(y.size), test_size=0.2, stratify=y, random_state=0)
    balanced = {"class_weight": "balanced"}
    models = {
        "Tanimoto, exact": SVC(1.0, kernel="tanimoto", refine=True, **balanced),
        "Tanimoto, 1 tree": SVC(
            1.0, kernel="tanimoto", refine=False, n_trees=1, random_state=0, **balanced
        ),
        "Tanimoto, 4 trees": SVC(
            1.0, kernel="tanimoto", refine=False, n_trees=4, random_state=0, **balanced
        ),
        "Gaussian, exact": SVC(1.0, gamma="scale", refine=True, **balanced),
        "random forest": RandomForestClassifier(500, n_jobs=-1, random_state=0, **balanced),
    }
    for name, model in models.items():
        _, seconds = timed(lambda model=model: model.fit(X[train], y[train]))
        if isinstance(model, SVC):
            scores = model.decision_function(X[test])
        else:
            scores = model.predict_proba(X[test])[:, 1]
        print(
            f"{name:22s} ROC AUC {roc_auc_score(y[test], scores):.4f}  {seconds:6.1f} s", flush=True
        )


def random_fingerprints(n, rng):
    """Fingerprints around 500 scaffolds of 40 of 2,048 bits, with bits flipped and added."""
    scaffolds = np.array([rng.choice(2048, 40, replace=False) for _ in range(500)])
    family = rng.integers(500, size=n)
    kept = rng.random((n, 40)) < 0.7
    rows = np.repeat(np.arange(n), kept.sum(axis=1))
    columns = scaffolds[family][kept]
    noise = rng.integers(0, 2048, (n, 15))
    rows = np.concatenate([rows, np.repeat(np.arange(n), 15)])
    columns = np.concatenate([columns, noise.ravel()])
    X = scipy.sparse.csr_array((np.ones(rows.size, np.float32), (rows, columns)), shape=(n, 2048))
    X.sum_duplicates()
    X.data[:] = 1
    active = rng.random(500) < 0.3
    return X, active[family] ^ (rng.random(n) < 0.05)


def large():
    X, y = random_fingerprints(N_LARGE, np.random.default_rng(0))
    test_X, test_y = X[-5000:], y[-5000:]
    for name, options in {"compressed": {"refine": False}, "default": {}}.items():
        model, seconds = timed(
            lambda options=options: SVC(
                1.0, kernel="tanimoto", memory_limit="3GB", random_state=0, **options
            ).fit(X[:-5000], y[:-5000])
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name}: {X.shape[0] - 5000:,} fingerprints, {seconds:.1f} s, accuracy "
            f"{model.score(test_X, test_y):.4f}, peak memory {peak:.2f} GB",
            flush=True,
        )
        print(model.summary())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"exact": exact, "accuracy": accuracy, "large": large}
    parser.add_argument("parts", nargs="*", default=list(parts))
    for part in parser.parse_args().parts:
        parts[part]()
