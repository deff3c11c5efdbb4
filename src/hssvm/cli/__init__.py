"""The command line: ``hssvm train``, ``predict``, ``cv``, ``info``, ``forecast``.

`app` has the commands and `options` what they accept; `training` fits and resumes, `progress` shows
how far it is, `tables` what came out; `streams` reads stdin and writes stdout where a file is
called ``-``; `messages` puts what the library says in the words of the command line.
"""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from hssvm.cli.app import run
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The command line needs two more packages: pip install 'hssvm[cli]'")
    except KeyboardInterrupt:
        sys.exit(130)
    run()
