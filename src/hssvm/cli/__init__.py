"""The command line: ``hssvm train``, ``predict``, ``cv``, ``info`` and others; see `app`.

`app` runs the `commands`, which share a `context`; `options` defines their options, which `parsing`
converts and `checks` compares with the files; `training` fits and resumes, `progress` shows the
progress of a fit, `tables` its result; `streams` reads stdin and writes stdout for files named
``-``; `predictions` writes files of predictions, and `scores` scores them; `messages` puts
options for parameters in the messages of the library.

The commands import the library, NumPy and rich when they run, so that ``--help`` is quick.
"""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from hssvm.cli.app import run
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The command line needs typer and rich: pip install 'hssvm[cli]'")
    except KeyboardInterrupt:
        sys.exit(130)
    run()
