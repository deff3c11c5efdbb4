"""Conversion of version 1 of the format, in which parameters and report fields had other names."""

from __future__ import annotations

from typing import Any

PREDICTION = {"leafwise": "compressed"}
OBJECTS = {"NeighbourInterpolation": "HSSANN"}
FIELDS = {"surplus": "oversampling", "n_neighbours": "n_neighbors"}
REPORT = {"on_true_kernel": "exact_kernel"}
STATUS = {"CACHE_SIZE": "MEMORY_LIMIT"}

RTOL, SURPLUS = 1e-3, 0.125
"""Old defaults of parameters that are now fields of the compressor."""


def from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Convert a document from version 1 to version 2.

    Predictions do not depend on the removed parameters cache_size, column_memory and beta, which
    affected only the fit.
    """
    report = {REPORT.get(name, name): value for name, value in document["fit_report"].items()}
    if "status" in report:
        report["status"] = [STATUS.get(status, status) for status in report["status"]]
    return {**document, "parameters": _parameters(document["parameters"]), "fit_report": report}


def _parameters(old: dict[str, Any]) -> dict[str, Any]:
    new = dict(old)
    for name in ("cache_size", "column_memory", "beta"):
        new.pop(name, None)
    if "tol" in new and new["tol"] is None:
        del new["tol"]
        new["solver"] = "paper"
    if "prediction" in new:
        new["prediction"] = PREDICTION.get(new["prediction"], new["prediction"])
    rtol, surplus = new.pop("rtol", RTOL), new.pop("surplus", SURPLUS)
    compressor = new.pop("compression", None)
    if compressor is not None:
        new["compressor"] = _compressor(compressor)
        new["max_rank"] = None
    elif (rtol, surplus) != (RTOL, SURPLUS):
        fields = {"rtol": rtol, "oversampling": surplus}
        if new.get("max_rank") is not None:
            fields["max_rank"] = new["max_rank"]
        new["compressor"] = {"object": "NestedNystroem", "fields": fields}
        new["max_rank"] = None
    return new


def _compressor(old: dict[str, Any]) -> dict[str, Any]:
    fields = {FIELDS.get(name, name): value for name, value in old["fields"].items()}
    return {"object": OBJECTS.get(old["object"], old["object"]), "fields": fields}
