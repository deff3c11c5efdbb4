"""All benchmarks one after the other, those that take minutes first, and those that take hours.

python -m benchmarks [NAME ...] [--resume]

A benchmark that fails does not stop the others. Threads: set OMP_NUM_THREADS.
"""

import argparse
import subprocess
import sys

COMMANDS = {
    "single_rows": "benchmarks.micro.single_rows",
    "streaming": "benchmarks.micro.streaming",
    "many_classes": "benchmarks.peers.many_classes",
    "precomputed_sets": "benchmarks.kernels.precomputed_sets",
    "engine": "benchmarks.micro.engine",
    "tuning": "benchmarks.peers.tuning",
    "busy": "benchmarks.micro.busy",
    "reduced": "benchmarks.micro.reduced",
    "multi_class": "benchmarks.peers.multi_class",
    "precomputed": "benchmarks.kernels.precomputed",
    "growth": "benchmarks.scaling.growth",
    "threads": "benchmarks.micro.threads",
    "coverage": "benchmarks.peers.coverage",
    "forest_scores": "benchmarks.forest.out_of_fold",
    "large": "benchmarks.peers.large",
    "dropin": "benchmarks.peers.dropin",
    "fingerprints": "benchmarks.kernels.fingerprints",
    "probability": "benchmarks.peers.probability",
    "compare": "benchmarks.peers.compare",
    "scaling": "benchmarks.scaling.cluster",
    "defaults": "benchmarks.peers.defaults",
    "forests": "benchmarks.forest.sets",
    "large_forests": "benchmarks.forest.large",
    "out_of_core": "benchmarks.scaling.out_of_core",
    "cluster_exact": "benchmarks.scaling.exact",
    "exact": "benchmarks.peers.exact",
    "folds": "benchmarks.peers.folds",
    "choose": "benchmarks.peers.choose",
    "paper": "benchmarks.paper",
    "forest_choice": "benchmarks.forest.choose",
}
"""The modules by the name of their results."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMMANDS))
    parser.add_argument("--resume", action="store_true", help="keep the runs that are there")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(COMMANDS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(COMMANDS)}")
    failed = []
    for name, module in COMMANDS.items():
        if arguments.names and name not in arguments.names:
            continue
        print(f"{name}: python -m {module}", flush=True)
        command = [sys.executable, "-m", module, *(["--resume"] if arguments.resume else [])]
        if subprocess.run(command).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
