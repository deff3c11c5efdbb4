"""Targets in Python under atheris, and a target in C++ under libFuzzer itself."""

import hashlib
import os
import subprocess
import tempfile
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

LIMITS = ["-timeout=60", "-rss_limit_mb=4096", "-max_len=100000", "-len_control=0"]
"""Seconds, memory and bytes for one input; an option that the user gives replaces these."""

DEPTH = "-mutate_depth=2"
"""Changes of one input in a row; after more of them, hardly any file is read to its end."""


def run_python(name, corpus, options):
    """Run a target with the coverage of hssvm."""
    import atheris

    with atheris.instrument_imports(include=["hssvm"]):
        target = import_module(f"fuzz.{name}")
        seeds = target.seeds()
    write_seeds(corpus, seeds)
    folder = Path(tempfile.mkdtemp())  # stays, as atheris ends the process without any clean-up

    def change(content, max_size, seed):
        rng = np.random.default_rng(seed)

        def mutate(part):
            return atheris.Mutate(part, max_size)

        if rng.random() < 0.5:  # most of the corpus is refused, and more changes do not repair it
            content = seeds[rng.integers(len(seeds))]
        if rng.random() < 0.2:
            return mutate(content)
        try:
            changed = target.changed(content, rng, mutate)
        except Exception:  # what is damaged has no parts
            return mutate(content)
        return changed if len(changed) <= max_size else content

    def read(content):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(content, folder)

    atheris.Setup(["fuzz", *LIMITS, DEPTH, found(corpus), *options], read, custom_mutator=change)
    atheris.Fuzz()


def run_compiled(root, corpus, options):
    """Compile ``libsvm_text.cpp``, and become this program."""
    from fuzz.data import LIBSVM

    write_seeds(corpus, [bytes([head]) + LIBSVM for head in range(4)])
    program = root / "build" / "fuzz" / "libsvm_text_target"
    source = root / "tools" / "fuzz" / "libsvm_text.cpp"
    flags = ["-std=c++17", "-O1", "-g", "-fsanitize=fuzzer,address,undefined"]
    flags += ["-fno-sanitize-recover=all", f"-I{root / 'cpp'}"]
    subprocess.run(["clang++", *flags, str(source), "-o", str(program)], check=True)
    os.execv(program, [str(program), *LIMITS, found(corpus), *options])


def found(corpus):
    """Return the option that writes findings beside the corpus."""
    return f"-artifact_prefix={corpus}-"


def write_seeds(corpus, seeds):
    """Write the first inputs; like libFuzzer, name each by the hash of its content."""
    for content in seeds:
        name = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        (corpus / name).write_bytes(content)
