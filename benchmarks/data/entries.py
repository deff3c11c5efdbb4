"""What is known of a data set, and of the files that it is published in."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A published file, and its hash if the publisher or another source states one."""

    url: str
    member: str = ""
    known_hash: str | None = None


@dataclass(frozen=True)
class Part:
    """The training rows, the test rows, or all rows, and the reader of the files they are in.

    Without a reader, the published file is kept as it is.
    """

    files: tuple[File, ...]
    reader: Callable | None = None


@dataclass(frozen=True)
class DataSet:
    """A data set.

    Attributes
    ----------
    task : str
    rows : tuple of int
        Of the training and test rows, or of all rows if they are not divided.
    features : int
    publisher : str
    megabytes : float
        About how much its files take in the cache.
    parts : tuple of Part
        As many as `rows`; none if the set cannot be fetched.
    sparse : bool
    positive : int
        The label of the positive class; all others are the negative one.
    stored_as : str
        The set whose files it uses, if it has no files of its own.
    reason : str
        Why it cannot be fetched.
    """

    task: str
    rows: tuple[int, ...]
    features: int
    publisher: str
    megabytes: float
    parts: tuple[Part, ...] = ()
    sparse: bool = False
    positive: int = 1
    stored_as: str = ""
    reason: str = ""

    def files(self, name):
        """Names of its files in the cache, without suffixes."""
        stored = self.stored_as or name
        return [f"{stored}.train", f"{stored}.test"] if len(self.rows) == 2 else [stored]
