"""The recipes of docs/dask.md for clusters that are not here, as far as they can be rendered."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import hssvm.dask

PAGE = Path(__file__).parents[2] / "docs/dask.md"


def block(heading, number=0):
    """A block of code below a heading of the page that tests do not run as it is."""
    section = PAGE.read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```py\n(.*?)```", section, re.DOTALL)[number]


def arguments_of(code, function):
    """The keyword arguments of a call in a block of code."""
    tree = ast.parse(code)
    names = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
    }
    (call,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == function
    )
    return {
        keyword.arg: eval(compile(ast.Expression(keyword.value), "page", "eval"), names)
        for keyword in call.keywords
    }


@pytest.mark.filterwarnings("ignore")  # of the other packages
def test_job_script_for_slurm():
    jobqueue = pytest.importorskip("dask_jobqueue")
    arguments = arguments_of(block("SLURM"), "SLURMCluster")
    del arguments["interface"]  # of the machines of the example
    inside = {"host": "127.0.0.1", "dashboard_address": ":0"}
    with jobqueue.SLURMCluster(**arguments, scheduler_options=inside) as cluster:
        script = cluster.job_script()
    assert "#SBATCH -n 1\n" in script
    assert "#SBATCH --cpus-per-task=32\n" in script
    assert "#SBATCH -t 04:00:00\n" in script
    assert " --nthreads 32 " in script
    assert "--nworkers" not in script  # one worker for each machine


@pytest.mark.filterwarnings("ignore")
def test_specification_for_kubernetes():
    operator = pytest.importorskip("dask_kubernetes.operator")
    arguments = arguments_of(block("Kubernetes"), "KubeCluster")
    inspect.signature(operator.KubeCluster).bind(**arguments)
    found = operator.make_cluster_spec(**arguments)["spec"]
    (worker,) = found["worker"]["spec"]["containers"]
    assert found["worker"]["replicas"] == 10
    assert worker["args"][:6] == ["dask", "worker", "--nworkers", "1", "--nthreads", "16"]
    assert worker["resources"]["limits"] == {"cpu": "16", "memory": "64Gi"}
    assert worker["image"] == found["scheduler"]["spec"]["containers"][0]["image"]


def write_as_spark(folder, table, n_files):
    """Write a table as Spark does: parts, hidden checksums, and an empty file at the end."""
    folder.mkdir(parents=True)
    for i, rows in enumerate(np.array_split(np.arange(table.num_rows), n_files)):
        name = f"part-{i:05}-49b369bd-6867-49a2-ac3c-376e3ff22498-c000.snappy.parquet"
        pyarrow.parquet.write_table(table.take(rows), folder / name)
        (folder / f".{name}.crc").write_bytes(b"crc\0")
    (folder / "_SUCCESS").touch()
    (folder / "._SUCCESS.crc").write_bytes(b"crc\0")


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask uses it
@pytest.mark.parametrize("by_label", [False, True])
def test_folder_of_spark(by_label, inside, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame(rng.standard_normal((600, 2)), columns=["load", "heat"])
    label = (X["load"] * X["heat"] > 0).astype(int)
    table = pa.Table.from_pandas(X.assign(label=label), preserve_index=False)
    if by_label:  # as `write.partitionBy("label")` does
        for value in (0, 1):
            rows = table.filter(pa.compute.equal(table["label"], value)).drop_columns("label")
            write_as_spark(tmp_path / f"rows.parquet/label={value}", rows, 2)
            (tmp_path / f"rows.parquet/label={value}/_SUCCESS").unlink()
        (tmp_path / "rows.parquet/_SUCCESS").touch()
    else:
        write_as_spark(tmp_path / "rows.parquet", table, 3)
    found = {}
    exec(block("Train where data live", 1), found)
    expected = hssvm.SVC(C=10, random_state=0).fit(X, label)
    model = hssvm.load("model.hssvm")
    assert list(model.feature_names_in_) == ["load", "heat"]
    assert model.fit_report_.n_rows == 600
    np.testing.assert_allclose(
        model.fit_report_.objective, expected.fit_report_.objective, rtol=2e-3
    )
    assert (model.predict(X) == label).mean() > 0.9
