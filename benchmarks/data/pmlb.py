"""The tables of the Penn Machine Learning Benchmarks, from tables.tsv."""

import csv
from pathlib import Path

from benchmarks.data.entries import DataSet, File, Part

PUBLISHED = "https://github.com/EpistasisLab/pmlb/raw/master/datasets/{0}/{0}.tsv.gz"


def _entry(row):
    name, reason = row["name"], row["reason"]
    parts = () if reason else (Part((File(PUBLISHED.format(name)),)),)
    rows, features, megabytes = int(row["rows"]), int(row["features"]), float(row["megabytes"])
    return DataSet(row["task"], (rows,), features, "PMLB", megabytes, parts, reason=reason)


with Path(__file__).with_name("tables.tsv").open() as _file:
    TABLES = {row["name"]: _entry(row) for row in csv.DictReader(_file, delimiter="\t")}
"""By name."""
