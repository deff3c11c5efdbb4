"""``python -m hssvm`` runs the command line, or a program that uses `sklearn.svm`."""

import sys

from hssvm.cli import main

arguments = sys.argv[1:]
program = arguments[1:] if arguments[:1] == ["--verbose"] else arguments
if program and (program[0] == "-m" or program[0].endswith(".py")):
    from hssvm.dropin.script import run_script

    run_script(program, verbose=program is not arguments)
else:
    main()
