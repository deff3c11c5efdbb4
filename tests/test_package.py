import subprocess
import sys
import time
from pathlib import Path

import hssvm


def test_has_a_version():
    assert hssvm.__version__[0].isdigit()


def test_imports_quickly_and_only_what_it_needs():
    code = "import sys, hssvm.hss, hssvm.io, hssvm.operators; print('sklearn' in sys.modules)"
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        out = subprocess.check_output([sys.executable, "-c", code], text=True)
        seconds.append(time.perf_counter() - start)
        assert out.strip() == "False"
    assert min(seconds) < 2


def test_every_part_is_found_by_name():
    parts = {path.parent.name for path in Path(hssvm.__file__).parent.glob("*/__init__.py")}
    assert parts <= set(dir(hssvm))
    assert all(getattr(hssvm, part).__name__ == f"hssvm.{part}" for part in parts)
