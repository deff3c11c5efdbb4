"""Writes models in the present version of the format: ``cd tests; python -m helpers.stored``.

For a new version; files of earlier ones stay as they are.
"""

import json
from pathlib import Path

import numpy as np
import scipy.sparse

from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM
from hssvm.persistence.model import VERSION
from hssvm.training import config

FOLDER = Path(__file__).parents[1] / "persistence" / "stored"


def decision_values(model, X):
    return model.predict(X) if isinstance(model, SVR) else model.decision_function(X)


def leafwise(X):
    y = np.digitize(X[:, 0], [-1.0, 1.0])
    model = SVC(
        C=1, gamma=0.5, approximation=HSS(n_trees=3, leaf_size=20, max_rank=4), random_state=0
    )
    return model.fit(X, np.array(["left", "middle", "right"])[y])


def expansion(X):
    model = SVC(
        C=10,
        kernel="matern32",
        gamma=1.0,
        refine=True,
        approximation=HSS(leaf_size=20),
        random_state=0,
    )
    return model.fit(X.astype(np.float32), X.sum(axis=1) > 0)


def sparse(X):
    model = SVCCV(
        Cs=[0.1, 1.0], gammas=[1.0], kernel="poly", coef0=1.0, degree=2, cv=3, tol=1e-2,
        approximation=HSS(n_trees=1, leaf_size=20, max_rank=4), class_weight={1: 1.0, 2: 2.0},
        random_state=0,
    )  # fmt: skip
    return model.fit(scipy.sparse.csr_array(X), np.where(X[:, 0] > 0, 1, 2))


def regression(X):
    model = SVR(
        C=10, gamma=0.5, epsilon=0.05, scaling="standard",
        approximation=HSS(n_trees=2, leaf_size=20, max_rank=4), random_state=0,
    )  # fmt: skip
    return model.fit(X, np.sin(2 * X[:, 0]) + X[:, 1])


def cells(X):
    model = SVC(C=10, gamma=0.5, approximation=Cells(size=30, n_trees=2), random_state=0)
    return model.fit(X, np.digitize(X[:, 0], [-1.0, 1.0]))


def novelty(X):
    return OneClassSVM(nu=0.2, gamma=0.5, scaling="minmax", random_state=0).fit(X)


def main():
    config.EXACT_ROWS = 0  # leaves for few rows
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2)).round(1)
    T = rng.standard_normal((5, 2)).round(2)
    FOLDER.mkdir(exist_ok=True)
    for make in (leafwise, expansion, sparse, regression, cells, novelty):
        model = make(X)
        name = FOLDER / f"v{VERSION}-{make.__name__}"
        model.save(name.with_suffix(".hssvm"))
        expected = {
            "class": type(model).__name__,
            "parameters": {name: getattr(model, name) for name in ("kernel", "tol")},
            "approximation": repr(model.approximation),
            "X": T.tolist(),
            "values": decision_values(model, T).tolist(),
            "predict": model.predict(T).tolist(),
        }
        name.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")
        print(name.stem, name.with_suffix(".hssvm").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
