"""One large fit: time, accuracy, peak memory.

python -m benchmarks.peers.large covtype.binary [--max-rank 64]
"""

import argparse
import resource
import time

from benchmarks.peers.settings import load_setting
from hssvm import SVC


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--max-rank", type=int, default=SVC().max_rank)
    arguments = parser.parse_args()
    (X, y, Xt, yt), parameters = load_setting(arguments.name)
    start = time.perf_counter()
    model = SVC(**parameters, max_rank=arguments.max_rank, random_state=0).fit(X, y)
    fit = time.perf_counter() - start
    start = time.perf_counter()
    accuracy = 100 * model.score(Xt, yt)
    predict = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(model.summary())
    print(f"fit {fit:.1f} s, predict {len(yt):,} rows {predict:.2f} s, accuracy {accuracy:.2f} %")
    print(f"peak memory of the process {peak:.2f} GB, data included")


if __name__ == "__main__":
    main()
