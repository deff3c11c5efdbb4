"""All benchmarks one after the other, from those that take minutes to those that take hours.

python -m benchmarks [NAME ...] [--resume]

A benchmark that fails does not stop the others. Threads: set OMP_NUM_THREADS.
"""

import argparse
import subprocess
import sys

from benchmarks.pages import MODULES


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODULES))
    parser.add_argument("--resume", action="store_true", help="keep the runs that are there")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(MODULES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(MODULES)}")
    failed = []
    for name, module in MODULES.items():
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
