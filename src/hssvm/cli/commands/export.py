"""``hssvm export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hssvm.cli import options


def export(
    model: options.Model,
    output: Annotated[
        Path, typer.Argument(help="File that ends with .py (for NumPy) or .onnx; - is stdout.")
    ],
    numpy: Annotated[
        bool, typer.Option("--numpy", help="Write a Python file regardless of its extension.")
    ] = False,
) -> None:
    """Export a model to a Python file that needs only NumPy, or to ONNX.

    hssvm export a9a.hssvm a9a.py; python -c "from a9a import predict"

    hssvm export a9a.hssvm a9a.onnx
    """
    from hssvm.cli import tables
    from hssvm.cli.checks import check_inputs, check_model_output
    from hssvm.cli.context import print_result, working
    from hssvm.cli.streams import load_model, write_file

    check_inputs(model)
    check_model_output(output, model, name="OUTPUT")
    ending = ".py" if numpy else output.suffix.lower()
    if ending not in (".py", ".onnx"):
        raise typer.BadParameter(
            "the extension decides what is written: .py or .onnx; or pass --numpy.",
            param_hint="OUTPUT",
        )
    with working():
        estimator = load_model(model)
        if ending == ".py":
            n_bytes = write_file(estimator.save_numpy, output)
        else:
            n_bytes = write_file(lambda path: _write_onnx(estimator, path), output)
    kind = "Python file" if ending == ".py" else "ONNX model"
    print_result(f"{kind} {output}, {tables.size_of(n_bytes)}", output)


def _write_onnx(estimator: Any, path: Path) -> None:
    try:
        from skl2onnx import to_onnx
    except ImportError as error:
        raise ImportError("ONNX needs skl2onnx: pip install 'hssvm[onnx]'") from error
    import numpy as np

    from hssvm.persistence.replace import replacing

    row = np.zeros((1, estimator.n_features_in_), np.float32)
    with replacing(path) as file:
        file.write(to_onnx(estimator, row).SerializeToString())
