"""``python -m hssvm`` runs the command line."""

from hssvm.cli import main

main()
