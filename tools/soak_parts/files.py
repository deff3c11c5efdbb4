"""Changed files: models, LIBSVM models, and data.

The only allowed outcomes are a ValueError that names the file, and something that can be used.
"""

import bz2
import faulthandler
import gzip
import io
import lzma
import re
import resource
import sys
import traceback
from pathlib import Path

import numpy as np
from helpers.mutants import CHANGES, arrays_changed, bytes_changed, document_changed
from helpers.outcomes import data_outcome, model_outcome
from helpers.text_mutants import LINES, lines_changed, overwrite, text_changed, words_changed

import hssvm
from hssvm.training import config
from soak_parts import ROOT, Outcome, finish, start_part
from soak_parts.models import draw_estimator, draw_rows, fit

N_FILES = 300
MAX_SECONDS = 60
"""Limit for one file."""
MAX_MEMORY = 2**31
"""Number of bytes that a child may use besides those it has used before."""


def run(seed, folder, seconds, n_files=N_FILES):
    """Change one file in many ways."""
    ended = finish(start_part("files", seed, folder, n_files), n_files * MAX_SECONDS)
    names = re.findall(r"^file .*", ended.out, re.MULTILINE)
    findings = re.findall(r"^FINDING (.*?)^END", ended.out, re.MULTILINE | re.DOTALL)
    if ended.code != 0:
        findings.append(f"{names[-1] if names else 'before the first file'}: {ended}")
    return Outcome(len(names), findings)


def main(seed, folder, n_files):
    """Run in the child: name every file before it is read, and print what should not happen."""
    config.EXACT_ROWS = 0  # compress few rows too
    rng = np.random.default_rng(seed)
    draw = DRAWN[rng.integers(len(DRAWN))]
    path, change, outcome = draw(rng, folder)
    path.touch()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MAX_MEMORY, resource.RLIM_INFINITY))
    for number in range(n_files):
        print(f"file {number} of {draw.__name__}", flush=True)
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        try:
            overwrite(path, change(np.random.default_rng([seed, number])))
            outcome(path)
        except Exception:
            print(f"FINDING file {number} of {draw.__name__}:\n{traceback.format_exc()}END")


def model(rng, folder):
    """A new model."""
    path = folder / "model.hssvm"
    fit(draw_estimator(rng), *draw_rows(rng, int(rng.integers(60, 120)))).save(path)
    return path, _model_changed(path.read_bytes()), model_outcome


def stored_model(rng, folder):
    """One of the stored models."""
    stored = sorted((ROOT / "tests/persistence/stored").glob("*.hssvm"))
    content = stored[rng.integers(len(stored))].read_bytes()
    return folder / "model.hssvm", _model_changed(content), model_outcome


def _model_changed(content):
    def change(rng):
        changed = content
        for structural in (document_changed, arrays_changed):
            if rng.random() < 0.2:
                changed = structural(changed, rng)
        return CHANGES[rng.integers(len(CHANGES))](changed, rng)

    return change


def libsvm_model(rng, folder):
    """A LIBSVM model, of a fitted model that LIBSVM can express."""
    path = folder / "model"
    X, y = draw_rows(rng, int(rng.integers(30, 60)))
    kernel = ["rbf", "linear", "poly"][rng.integers(3)]
    probability = [None, "sigmoid"][rng.integers(2)] if y.max() == 1 else None
    cls = [hssvm.SVC, hssvm.SVR, hssvm.OneClassSVM][rng.integers(3)]
    options = {"probability": probability, "multi_class": "ovo"} if cls is hssvm.SVC else {}
    fit(cls(kernel=kernel, refine=True, **options), X, y).save_libsvm(path)
    content = path.read_bytes()

    def change(rng):
        changes = (bytes_changed, words_changed, lines_changed)
        changed = content
        for _ in range(rng.integers(1, 4)):
            changed = changes[rng.integers(3)](changed, rng) if changed else changed
        return changed

    return path, change, lambda path: model_outcome(path, hssvm.load_libsvm)


def text(rng, folder):
    """LIBSVM text or CSV, sometimes compressed."""
    format = ["libsvm", "csv"][rng.integers(2)]
    packed, pack = [
        ("", bytes), ("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress),
        (".xz", lzma.compress),
    ][rng.integers(5)]  # fmt: skip

    def change(rng):
        content = b"".join(LINES[format][i] for i in rng.integers(0, 5, rng.integers(1, 9)))
        for _ in range(rng.integers(4)):
            content = text_changed(content, rng) if content else content
        content = pack(content)
        return bytes_changed(content, rng) if packed and rng.random() < 0.5 else content

    return folder / f"rows.{format}{packed}", change, data_outcome


def parquet(rng, folder):
    """A Parquet file with columns of several types."""
    import pyarrow
    import pyarrow.parquet

    n = int(rng.integers(1, 2000))
    columns = {
        "y": rng.choice(["a", "b"], n) if rng.random() < 0.5 else rng.integers(3, size=n),
        "floats": rng.standard_normal(n),
        "integers": rng.integers(-9, 9, n).astype(rng.choice(["int8", "uint16", "int64"])),
        "truths": rng.random(n) < 0.5,
        "few": np.repeat(1.5, n),
    }
    file = io.BytesIO()
    pyarrow.parquet.write_table(
        pyarrow.table(columns), file,
        compression=["none", "snappy", "gzip", "zstd"][rng.integers(4)],
        use_dictionary=bool(rng.integers(2)),
        data_page_version=["1.0", "2.0"][rng.integers(2)],
    )  # fmt: skip
    content = file.getvalue()

    def change(rng):
        changed = content
        for _ in range(rng.integers(1, 4)):
            changed = bytes_changed(changed, rng) if len(changed) > 2 else changed
        return changed

    return folder / "rows.parquet", change, data_outcome


DRAWN = (model, model, stored_model, libsvm_model, text, parquet)

if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
