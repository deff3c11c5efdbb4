"""Files of predictions, written part by part: text, a line per row, or Parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from hssvm.cli.streams import STREAM
from hssvm.io.parquet import import_parquet
from hssvm.loading.parts import output_columns
from hssvm.persistence.replace import replacing

PARQUET = ".parquet"


class TextWriter:
    """Writes a line per row."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file  # None is stdout

    def write(self, predicted: NDArray[Any]) -> None:
        """Write the predictions for some rows, (m,) or (m, k)."""
        numbers = predicted.reshape(len(predicted), -1)
        form = "{:.9g}" if numbers.dtype.kind == "f" else "{}"
        line = " ".join([form] * numbers.shape[1]) + "\n"
        text = "".join(line.format(*row) for row in numbers.tolist())
        if self._file is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            self._file.write(text.encode())


class ParquetColumns:
    """Writes columns of a Parquet file, part by part."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._parquet = file, import_parquet()
        self._writer: Any = None

    def write_columns(self, columns: dict[str, NDArray[Any]]) -> None:
        """Write some rows, which always have the same columns."""
        import pyarrow

        table = pyarrow.table(columns)
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()


class ParquetWriter(ParquetColumns):
    """Writes one column, or one for each class, quantile or target."""

    def __init__(self, file: IO[bytes], name: str, estimator: Any) -> None:
        super().__init__(file)
        self._name, self._estimator = name, estimator

    def write(self, predicted: NDArray[Any]) -> None:
        """Write the predictions for some rows, (m,) or (m, k)."""
        self.write_columns(output_columns(self._estimator, self._name, predicted))


@contextmanager
def writing(path: Path, name: str, estimator: Any) -> Iterator[TextWriter | ParquetWriter]:
    """Context with a writer to a file, which appears when it is complete, or to stdout.

    Parameters
    ----------
    path : path
        Parquet if it ends with .parquet, else text.
    name : str
        What is written: the column name, or the prefix of the names of several columns.
    estimator : fitted estimator
    """
    if path == STREAM:
        yield TextWriter(None)
        return
    with output_file(path) as file:
        if path.suffix.lower() == PARQUET:
            with closing(ParquetWriter(file, name, estimator)) as writer:
                yield writer
        else:
            yield TextWriter(file)


@contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """Context with a file that appears when it is complete, or with a device or pipe."""
    if path.exists() and not path.is_file():  # a device or a pipe
        with path.open("wb") as file:
            yield file
    else:
        with replacing(path) as file:
            yield file
