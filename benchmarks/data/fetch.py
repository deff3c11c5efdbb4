"""Download a data set from its publisher, convert it, compare its rows with ours, and keep it.

All of this is in a folder inside the cache that is removed at the end; files are moved from there
into the cache once all of them have the rows they should have.
"""

import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from benchmarks.data import cache
from benchmarks.data.formats import opened
from benchmarks.data.pmlb import TABLES
from benchmarks.data.sets import SETS

ALL_SETS = SETS | {f"pmlb/{name}": about for name, about in TABLES.items()}


class FetchError(Exception):
    """A data set could not be fetched; nothing of it was kept."""


def cached(name):
    """Whether all files of a set are in the cache."""
    return all(cache.find(file) for file in ALL_SETS[name].files(name))


def fetch(name, mirror=None):
    """Add a set to the cache, unless it is there.

    `mirror` is the address of a folder with the published files, each under its own address: what
    ``wget --force-directories`` makes of them.
    """
    about = ALL_SETS[name]
    if cached(name):
        return
    if about.stored_as:
        fetch(about.stored_as, mirror)
        return
    if about.reason:
        raise FetchError(f"{name} cannot be fetched: {about.reason}.")
    target = cache.folder()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target) as work:
        made = [
            _fetched_part(part, file, about.features, Path(work), mirror)
            for part, file in zip(about.parts, about.files(name), strict=True)
        ]
        for path in made:
            final = target / path.relative_to(work)
            final.parent.mkdir(exist_ok=True)
            path.replace(final)


def _fetched_part(part, file, features, work, mirror):
    """Path of a file for the cache, with the rows that it should have."""
    paths = [_downloaded(published, work / "published", mirror) for published in part.files]
    (work / file).parent.mkdir(exist_ok=True)
    if part.reader is None:
        shutil.move(paths[0], work / f"{file}.tsv.gz")
    else:
        cache.write(file, *_rows(part, paths, features), work)
    try:
        found = cache.digest(*cache.read(file, features, work))
    except Exception as error:
        raise FetchError(f"{_origin(part)} cannot be read ({error}).") from error
    if found != cache.listed()[file]:
        raise FetchError(f"{_origin(part)} has other rows than those that the benchmarks ran on.")
    return cache.find(file, work)


def _downloaded(published, folder, mirror):
    url = f"{mirror.rstrip('/')}/{published.url.partition('//')[2]}" if mirror else published.url
    # A mirror may have packed a file again; its rows are compared in any case.
    known_hash = None if mirror else published.known_hash
    pooch = _pooch()
    try:
        return Path(pooch.retrieve(url, known_hash, PurePosixPath(url).name, folder))
    except (OSError, ValueError) as error:
        raise FetchError(f"{url} cannot be downloaded ({error}).") from error


def _pooch():
    try:
        import pooch
    except ImportError:
        sys.exit("downloads need pooch: pip install pooch")
    pooch.get_logger().setLevel("WARNING")
    return pooch


def _rows(part, paths, features):
    """Rows and labels of published files, which may have any content."""
    try:
        with ExitStack() as stack:
            files = [
                stack.enter_context(opened(path, published.member))
                for path, published in zip(paths, part.files, strict=True)
            ]
            return part.reader(*files, features=features)
    except Exception as error:
        raise FetchError(f"{_origin(part)} cannot be read ({error}).") from error


def _origin(part):
    return part.files[0].url
