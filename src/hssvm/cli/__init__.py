"""The command line: ``hssvm train``, ``predict``, ``cv``, ``info``, ``forecast``.

`app` has the commands, `progress` what they show while they work.
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
    run()
