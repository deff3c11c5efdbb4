"""A Python file that predicts with NumPy alone."""

from __future__ import annotations

import base64
import io
import os
import zlib
from pathlib import Path

import numpy as np

from hssvm.export import standalone
from hssvm.export.contents import Contents
from hssvm.persistence.replace import replacing

SCRIPT_HEADER = '''\
"""{title}, exported from hssvm. Needs NumPy only. If this file is named model.py::

    from model import predict, decision_function
"""

'''

FOOTER = """

model = unpack("{data}")
predict, decision_function, predict_proba = (
    model.predict, model.decision_function, model.predict_proba
)
"""


def write_numpy(contents: Contents, title: str, path: str | os.PathLike[str]) -> None:
    """Write the code of `standalone` with the arrays of a model."""
    arrays = contents.common | {"n_members": np.array(len(contents.members))}
    for i, member in enumerate(contents.members):
        arrays |= {f"member{i}_{name}": array for name, array in member.items()}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    data = base64.b85encode(zlib.compress(buffer.getvalue())).decode()
    code = Path(standalone.__file__).read_text(encoding="utf-8").partition('"""\n\n')[2]
    header = SCRIPT_HEADER.format(title=title)
    with replacing(path) as file:
        file.write((header + code + FOOTER.format(data=data)).encode())
