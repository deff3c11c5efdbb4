"""scikit-learn's own tests of `sklearn.svm` pass with the drop-ins."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from deselected import DESELECTED

SUITE = ("sklearn.svm.tests.test_svm", "sklearn.svm.tests.test_sparse")


@pytest.mark.slow
def test_passes_the_tests_of_scikit_learn(tmp_path):
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path)]
    command += ["-p", "no:cacheprovider", "-p", "scikit_learn_suite", "--pyargs", *SUITE]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert len(DESELECTED) <= 15
    counted = re.search(r"^ *(\d+) trained by hssvm$", done.stdout, re.MULTILINE)
    assert int(counted[1]) > 150, done.stdout
