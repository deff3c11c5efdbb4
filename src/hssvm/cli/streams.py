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
from hssvm.loading.parts import split_model

T = TypeVar("T")

STREAM = Path("-")


def data_source(path: Path) -> Source:
    """Return the source of a file, or of stdin."""
    return Source.from_stream(sys.stdin.buffer, "stdin") if path == STREAM else Source(path)


def load_parts(path: Path) -> tuple[Any, Any]:
    """Load a model from a file or from stdin, and its encoder, None if it has none."""
    with input_file(path) as file:
        loaded = hssvm.load(file)
    return split_model(loaded)


def load_model(path: Path) -> Any:
    """Load a model for a format that has no place for an encoder."""
    model, encoder = load_parts(path)
    if encoder is not None:
        raise ValueError(
            f"{path} encodes the columns of a table, which other formats cannot contain; encode "
            "the table with hssvm.tables.TableEncoder, and export a model of the result"
        )
    return model


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


def save_model(estimator: Any, path: Path, encoder: Any = None) -> int:
    """Save a model, and the encoder in front of it, to a file or to stdout; return the bytes."""
    from sklearn.pipeline import make_pipeline

    model = estimator if encoder is None else make_pipeline(encoder, estimator)
    return write_file(lambda to: hssvm.save(model, to), path)


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
