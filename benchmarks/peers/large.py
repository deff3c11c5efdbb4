"""One large fit: time, accuracy, peak memory.

python -m benchmarks.peers.large covtype.binary [--max-rank 64]
python -m benchmarks.peers.large covtype.binary --refine --tol 1e-2 --memory-limit 12GB
"""

import argparse
import resource

from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--max-rank", type=int)
    parser.add_argument("--refine", action="store_true", help="continue on the exact kernel")
    parser.add_argument("--tol", type=float, default=None)
    parser.add_argument("--memory-limit", help="such as 12GB")
    parser.add_argument("--verbose", type=int, default=0)
    arguments = parser.parse_args()
    (X, y, Xt, yt), parameters = load_setting(arguments.name)
    options = vars(arguments)
    del options["name"]
    model, fit = timed(lambda: SVC(**parameters, **options, random_state=0).fit(X, y))
    score, predict = timed(lambda: model.score(Xt, yt))
    accuracy = 100 * score
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(model.summary())
    print(f"fit {fit:.1f} s, predict {len(yt):,} rows {predict:.2f} s, accuracy {accuracy:.3f} %")
    print(f"peak memory of the process {peak:.2f} GB, data included")


if __name__ == "__main__":
    main()
