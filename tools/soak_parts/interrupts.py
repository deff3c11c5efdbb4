"""Signals at random moments of fits and saves.

A saved file must be the old one or the new one, complete. After an interrupt, a fit raises
KeyboardInterrupt or, inside `stop_on_interrupt`, returns a model that can be used and resumed.
"""

import faulthandler
import signal
import sys
import time
from pathlib import Path

import numpy as np

import hssvm
from hssvm import HSS, SVC
from hssvm.estimators.monitoring.callbacks import stop_on_interrupt
from hssvm.persistence.replace import _open_unnamed
from hssvm.training import config
from soak_parts import Outcome, finish, start, start_part
from soak_parts.models import draw_estimator, draw_rows, fit

MAX_SECONDS = 120
KILLED = (signal.SIGKILL, signal.SIGTERM)
WAYS = [
    ["--refine", "yes"], ["--approximation", "cells"], ["--approximation", "hss", "--trees", "3"],
]  # fmt: skip
"""Options that choose the solver of a fit."""


def run(seed, folder, seconds):
    """Start a child, and send it a signal."""
    # what a background job starts would ignore the signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(seed)
    number = signal.SIGINT if rng.random() < 0.6 else KILLED[rng.integers(2)]
    name = ["hssvm train", *ACTIONS][rng.integers(len(ACTIONS) + 1)]
    if name in ACTIONS:
        findings = interrupt(name, rng, folder, number)
    else:
        findings = interrupt_command(rng, folder, number)
    return Outcome(1, [f"{name}, {number.name}: {text}" for text in findings])


def interrupt(name, rng, folder, number):
    """Return what is wrong after a signal in a child that does something over and over."""
    process = start_part("interrupts", name, rng.integers(2**31), folder)
    if process.stdout.readline() != "ready\n":
        return [str(finish(process, MAX_SECONDS))]
    time.sleep(rng.uniform(0, 1))
    process.send_signal(number)
    ended = finish(process, MAX_SECONDS)
    expected = 0 if number == signal.SIGINT else -number
    # Python discards an interrupt that occurs in a finalizer.
    lost = ended.code is None and "Exception ignored" in ended.err
    findings = [] if ended.code == expected or lost else [str(ended)]
    return findings + wrong_files(folder, number)


def wrong_files(folder, number):
    """Return the files that are not complete."""
    if (folder / "old").exists():
        complete = {(folder / name).read_bytes() for name in ("old", "new")}
    else:
        complete = set()
    wrong = []
    for path in sorted((folder / "saved").glob("*")):
        left = path.suffix == ".part"
        if left and number in KILLED and not has_unnamed_files(folder):
            continue  # a killed process cannot remove them
        if path.read_bytes() not in complete or (left and number == signal.SIGINT):
            wrong.append(f"{path.name} of {path.stat().st_size} bytes was left behind")
    return wrong


def has_unnamed_files(folder):
    """Whether the file system supports files that disappear with their process."""
    file = _open_unnamed(folder, 0o600)
    if file is not None:
        file.close()
    return file is not None


def save(rng, folder):
    """Replace a file by one of two models, by turns, until there is an interrupt."""
    X, y = draw_rows(rng, 2000)
    models = [fit(SVC(C=C, approximation=HSS(), tol=0.1, random_state=0), X, y) for C in (0.1, 10)]
    write = SVC.save
    if rng.random() < 0.5:
        models = [fit(SVC(C=C, multi_class="ovo"), X[:300], y[:300]) for C in (0.1, 10)]
        write = SVC.save_libsvm
    write(models[0], folder / "old")
    write(models[1], folder / "new")
    (folder / "saved").mkdir()
    path = folder / "saved" / "model"
    if rng.random() < 0.5:
        write(models[0], path)
    try:
        ready()
        while True:
            for model in models:
                write(model, path)
    except KeyboardInterrupt:
        pass


def fit_and_raise(rng, folder):
    """After KeyboardInterrupt, the same estimator gives the same model as without."""
    X, y = draw_rows(rng, int(rng.integers(100, 800)))
    model = draw_estimator(rng)
    expected = values(fit(model, X, y), X)
    try:
        ready()
        while True:
            fit(model, X, y)
    except KeyboardInterrupt:
        pass
    np.testing.assert_array_equal(values(fit(model, X, y), X), expected)


def fit_and_stop(rng, folder):
    """Inside `stop_on_interrupt`, the fit gives a model that can be saved and resumed."""
    X, y = draw_rows(rng, int(rng.integers(500, 3000)))
    model = draw_estimator(rng)
    while "warm_start" not in model.get_params():
        model = draw_estimator(rng)
    model.set_params(tol=1e-3)
    stopped = []
    with stop_on_interrupt(lambda: stopped.append(True)):
        ready()
        while not stopped:
            fit(model, X, y)
    assert np.isfinite(values(model, X)).all()
    model.save(folder / "model")
    loaded = hssvm.load(folder / "model")
    np.testing.assert_array_equal(values(loaded, X), values(model, X))
    if set(model.fit_report_.status) & {"STOPPED", "FEWER_TREES"}:
        fit(loaded.set_params(warm_start=True), X, y)
        assert not set(loaded.fit_report_.status) & {"STOPPED", "FEWER_TREES"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def values(model, X):
    """Decision values, or predictions of a regression."""
    return getattr(model, "decision_function", model.predict)(X)


def ready():
    """Tell the parent that it may send the signal."""
    print("ready", flush=True)


def interrupt_command(rng, folder, number):
    """Return what is wrong after a signal in ``hssvm train``."""
    X = rng.uniform(-3, 3, (3000, 2))
    np.savez(folder / "data.npz", X=X, y=np.sin(3 * X[:, 0]) + rng.standard_normal(3000) > 0)
    (folder / "saved").mkdir()
    path, before = folder / "saved" / "model", None
    if rng.random() < 0.5:
        before = b"what was there"
        path.write_bytes(before)
    process = start(
        sys.executable, "-m", "hssvm", "train", folder / "data.npz", "-o", path, "--C", "1e4",
        "--tol", "1e-6", *WAYS[rng.integers(len(WAYS))],
    )  # fmt: skip
    time.sleep(rng.uniform(0.5, 8))  # not while the interpreter starts
    process.send_signal(number)
    ended = finish(process, MAX_SECONDS)
    expected = {0, -number, 130} if number == signal.SIGINT else {0, -number}
    findings = [] if ended.code in expected else [str(ended)]
    written = ended.code == 0 or "the model is" in ended.err
    content = path.read_bytes() if path.exists() else None
    if content != before:
        hssvm.load(path).predict(X)
    elif written:
        findings.append(f"there is no model\n{ended}")
    if number not in KILLED and sorted((folder / "saved").iterdir()) not in ([], [path]):
        findings.append("more than the model was left behind")
    return findings


ACTIONS = {action.__name__: action for action in (save, fit_and_raise, fit_and_stop)}

if __name__ == "__main__":
    faulthandler.dump_traceback_later(2 * MAX_SECONDS, exit=True)
    config.EXACT_ROWS = 0  # compress few rows too
    ACTIONS[sys.argv[1]](np.random.default_rng(int(sys.argv[2])), Path(sys.argv[3]))
