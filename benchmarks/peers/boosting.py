"""hssvm.SVR beside gradient boosting on smooth functions of few features.

python -m benchmarks.peers.boosting [NAME ...] [--rounds 1000] [--max-time SECONDS]

Features and y are standardized; errors are root mean squares on held-out rows, in units of the
standard deviation of y. Threads: set OMP_NUM_THREADS.
"""

import argparse

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.peers.settings import load_regression
from benchmarks.timing import timed
from hssvm import SVR


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["power", "kin40k"])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--max-time", type=float, default=None, help="of hssvm")
    arguments = parser.parse_args()
    for name in arguments.names:
        (X, y, X_test, y_test), parameters = load_regression(name)
        print(f"{name}: {X.shape[0]:,} x {X.shape[1]}, {parameters}", flush=True)
        limit = {"max_time": arguments.max_time, "random_state": 0}
        models = {
            "boosting": HistGradientBoostingRegressor(max_iter=arguments.rounds, random_state=0),
            "forest": SVR(**parameters, **limit, refine=False),
            "SVR": SVR(**parameters, **limit),
        }
        for label, model in models.items():
            _, fit = timed(lambda model=model: model.fit(X, y))
            predicted, predict = timed(lambda model=model: model.predict(X_test))
            error = np.sqrt(np.mean((predicted - y_test) ** 2))
            print(
                f"  {label:10s} fit {fit:7.1f} s  predict {predict:6.2f} s  error {error:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
