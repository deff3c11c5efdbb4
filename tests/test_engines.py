"""The recipes of docs/guide/score.md and docs/dask.md for Spark and Ray, run as they are."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

import hssvm
from hssvm.arrow import predict_batches

DOCS = Path(__file__).parents[1] / "docs"
SCORING, TRAINING = DOCS / "guide/score.md", DOCS / "dask.md"


def block(heading, language, page=SCORING):
    """The first block of code below a heading, or the first words of a line, of a page."""
    text = page.read_text().split(f"{heading}", 1)[1]
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask uses it
def test_training_on_rows_of_spark(tmp_path):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    write = block("# Train where data live", "py", TRAINING)
    train = block("Then train on it", "py", TRAINING)
    (tmp_path / "write.py").write_text(WRITING + write)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "write.py"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=600)
    assert len(list((tmp_path / "rows.parquet").glob("part-*.parquet"))) > 1
    client = pytest.importorskip("distributed").Client
    with contextlib.chdir(tmp_path), client(processes=False, dashboard_address=":0"):
        exec(train, {})
    rows = pyarrow.parquet.read_table(tmp_path / "rows.parquet").to_pandas()
    assert hssvm.load(tmp_path / "model.hssvm").score(rows[["load"]], rows["label"]) > 0.95


WRITING = """
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, rand

spark = SparkSession.builder.master("local[2]").getOrCreate()
rows = spark.range(2000).select(rand(0).alias("load"))
rows = rows.withColumn("label", (col("load") > 0.5).cast("long"))
"""
