"""``python -m hssvm`` is the command line."""

from hssvm.cli import main

main()
