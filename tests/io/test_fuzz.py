"""Whatever a text file holds, reading it gives arrays that fit or a ValueError that names it."""

import numpy as np
import pytest
import scipy.sparse

from hssvm.io import load_data

LINES = {
    "libsvm": [
        b"1 1:0.5 3:-2e-3 7:1\n",
        b"-1 qid:2 2:1 # note\r\n",
        b"+2.5 1:1e22 2:12345678901234567890.5\n",
        b"\n",
        b"3\n",
    ],
    "csv": [b"y,a,b c\r\n", b"1,0.5,-2e-3\n", b'"x, y",1,2\n', b"\n", b"-1e3,  4 ,.5\n"],
}
INSERTS = [
    b"\0", b"\n", b"\r", b" ", b":", b",", b"#", b'"', b"'", b"-", b"e", b".", b"nan", b"inf",
    b"0x1p3", b"1e999999999999", b"-1e-999999999999", b"99999999999999999999999", b"1:2:3",
    b"qid:", b"\xff\xfe", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x1a", b"1_0", b"1j", b"\t",
    b"\x0b", b"\xd9\xa1",
]  # fmt: skip


def mutate(text, rng):
    at, to = sorted(rng.integers(0, len(text) + 1, 2))
    kind = rng.integers(0, 8)
    if kind == 0:
        flipped = bytearray(text)
        for i in rng.integers(0, len(text), min(len(text), 4)):
            flipped[i] ^= 1 << rng.integers(0, 8)
        return bytes(flipped)
    if kind == 1:
        return text[:at]
    if kind == 2:
        return text[:at] + text[to:]
    if kind == 3:
        return text[:to] + text[at:to] * int(rng.integers(1, 4)) + text[to:]
    if kind == 4:
        return text[:at] + rng.bytes(rng.integers(1, 9)) + text[at:]
    if kind == 5 and rng.random() < 0.05:  # a very long line
        return text[:at] + INSERTS[rng.integers(len(INSERTS))] * 50_000 + text[at:]
    return text[:at] + INSERTS[rng.integers(len(INSERTS))] + text[at:]


def overwrite(path, text):
    """Without emptying the file first, which makes some file systems wait for the disk."""
    with open(path, "r+b") as file:
        file.write(text)
        file.truncate()


@pytest.mark.parametrize("format", LINES)
def test_mutated_text_is_read_or_refused(format, tmp_path, rng):
    path = tmp_path / "rows"
    path.touch()
    n_read = 0
    for _ in range(5000):
        text = b"".join(LINES[format][i] for i in rng.integers(0, 5, rng.integers(1, 9)))
        for _ in range(rng.integers(1, 4)):
            text = mutate(text, rng) if text else text
        overwrite(path, text)
        try:
            X, y = load_data(path, format=format, dtype=rng.choice([np.float32, np.float64]))
        except ValueError as error:
            assert str(path) in str(error)
            continue
        n_read += 1
        assert X.shape[0] > 0 and (y is None or y.shape == X.shape[:1])
        if scipy.sparse.issparse(X):
            X.check_format()
            assert X.has_canonical_format
        assert np.isfinite(X.data if scipy.sparse.issparse(X) else X).all()
    assert 50 < n_read < 4950
