"""The command ``python tools/fuzz``."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[0:1] = [str(ROOT / "tools"), str(ROOT / "tests")]

import fuzz  # noqa: E402
from fuzz import run  # noqa: E402

TARGETS = "models", "encoders", "libsvm_models", "data", "libsvm_text"


def main():
    """Run a target until it finds something, or until an option of libFuzzer ends it."""
    parser = argparse.ArgumentParser(
        description=fuzz.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=TARGETS)
    target, options = parser.parse_known_args()
    corpus = ROOT / "build" / "fuzz" / target.target
    corpus.mkdir(parents=True, exist_ok=True)
    if all(option.startswith("-") for option in options):
        options.append(str(corpus))
    if target.target == "libsvm_text":
        run.run_compiled(ROOT, corpus, options)
    else:
        run.run_python(target.target, corpus, options)


if __name__ == "__main__":
    main()
