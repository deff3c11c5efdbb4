"""The recipes of docs/guide/score.md for Spark and Ray, run as they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from hssvm.arrow import predict_batches

PAGE = Path(__file__).parents[1] / "docs/guide/score.md"


def block(heading, language):
    """The first block of code below a heading of the page."""
    text = PAGE.read_text().split(f"{heading}\n", 1)[1]
    return text.split(f"```{language}\n", 1)[1].split("```\n", 1)[0]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["Spark", "Ray"])
def test_recipe(engine, tmp_path):
    pytest.importorskip({"Spark": "pyspark", "Ray": "ray"}[engine])
    if engine == "Spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    script = block("# Score where data live", "python") + block(f"## {engine}", "py")
    (tmp_path / "script.py").write_text(script)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=environment, check=True, timeout=600
    )
    scored = pyarrow.parquet.read_table(tmp_path / "scored.parquet").sort_by("id")
    rows = pyarrow.parquet.read_table(tmp_path / "rows.parquet")
    batches = predict_batches(tmp_path / "machines.hssvm", rows.to_batches(), keep=["id"])
    assert scored.equals(pyarrow.Table.from_batches(batches).cast(scored.schema))
