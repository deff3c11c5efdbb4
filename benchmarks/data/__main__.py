"""Get the data sets that the benchmarks read.

python -m benchmarks.data list
python -m benchmarks.data fetch [NAME ...] [--from URL]

`list` shows what there is. `fetch` downloads sets from their publishers into the folder that
HSSVM_DATA names, or else into the user's cache folder. The name `pmlb` stands for all tables of
PMLB; without names, everything that can be fetched is downloaded. Sets that are there are not
downloaded again. With --from, files come from a mirror that has each under its address, as ``wget
--force-directories`` stores it. Downloads need the package pooch.
"""

import argparse
import sys

from benchmarks.data import cache
from benchmarks.data.fetch import ALL_SETS, FetchError, cached, fetch


def parser():
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names, sizes and publishers")
    fetching = commands.add_parser("fetch", help="download data sets")
    fetching.add_argument("names", nargs="*", metavar="NAME")
    fetching.add_argument("--from", dest="mirror", metavar="URL", help="address of a mirror")
    return made


def chosen(names):
    """The sets of these names, "pmlb" being all of its tables."""
    known = [name for name, about in ALL_SETS.items() if not about.reason]
    if not names:
        return known
    tables = [name for name in known if name.startswith("pmlb/")]
    found = [name for given in names for name in (tables if given == "pmlb" else [given])]
    unknown = [name for name in found if name not in ALL_SETS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; see python -m benchmarks.data list")
    return found


def show():
    print(f"{'name':36}{'rows':>16}{'features':>10}{'MB':>7}  publisher; state")
    for name, about in ALL_SETS.items():
        rows = " + ".join(f"{n:,}" for n in about.rows)
        missing = f"cannot be fetched: {about.reason}" if about.reason else "not cached"
        origin = f"{about.publisher}; {'cached' if cached(name) else missing}"
        print(f"{name:36}{rows:>16}{about.features:>10,}{about.megabytes:>7.1f}  {origin}")
    print(f"cache: {cache.folder()}")


def fetch_all(names, mirror):
    """Fetch sets one after the other; those that cannot be had do not stop the others."""
    failed = []
    for name in names:
        if cached(name):
            print(f"{name}: in the cache")
            continue
        try:
            fetch(name, mirror)
        except FetchError as error:
            print(error, file=sys.stderr)
            failed.append(name)
        else:
            print(f"{name}: fetched", flush=True)
    if failed:
        sys.exit(f"not fetched: {', '.join(failed)}")


def main(argv=None):
    arguments = parser().parse_args(argv)
    if arguments.command == "list":
        show()
    else:
        fetch_all(chosen(arguments.names), arguments.mirror)


if __name__ == "__main__":
    main()
