"""Whatever a text file holds, reading it gives arrays that fit or a ValueError that names it."""

import numpy as np
import pytest
from helpers.outcomes import data_outcome
from helpers.text_mutants import LINES, overwrite, text_changed


@pytest.mark.parametrize("format", LINES)
def test_mutated_text_is_read_or_refused(format, tmp_path, rng):
    path = tmp_path / "rows"
    path.touch()
    n_read = 0
    for _ in range(5000):
        text = b"".join(LINES[format][i] for i in rng.integers(0, 5, rng.integers(1, 9)))
        for _ in range(rng.integers(1, 4)):
            text = text_changed(text, rng) if text else text
        overwrite(path, text)
        dtype = rng.choice([np.float32, np.float64])
        n_read += data_outcome(path, format=format, dtype=dtype) == "loaded"
    assert 50 < n_read < 4950
