"""Files that may be named ``-``, which means stdin or stdout."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import hssvm
from hssvm.io.files import Source

T = TypeVar("T")

STREAM = Path("-")


def data_source(path: Path) -> Source:
    """Return the source of a file, or of stdin."""
    return Source.from_stream(sys.stdin.buffer, "stdin") if path == STREAM else Source(path)


def load_model(path: Path) -> Any:
    """Load a model from a file or from stdin."""
    with input_file(path) as file:
        return hssvm.load(file)


@contextmanager
def input_file(path: Path) -> Iterator[Path]:
    """Yield the path of a file, or of a copy of stdin."""
    if path != STREAM:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stdin"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


def save_model(estimator: Any, path: Path) -> int:
    """Save a model to a file or to stdout; return its size in bytes."""
    return write_file(estimator.save, path)


def write_file(write: Callable[[Path], None], path: Path) -> int:
    """Call `write` for a file, or for one that is copied to stdout; return its size in bytes."""
    if path != STREAM:
        write(path)
        return path.stat().st_size
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stdout"
        write(copy)
        with copy.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return copy.stat().st_size


def one_ahead(parts: Iterator[T]) -> Iterator[T]:
    """Yield the parts, and read the next one in another thread in the meantime."""
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(next, parts, None)
        while (part := ahead.result()) is not None:
            ahead = pool.submit(next, parts, None)
            yield part
