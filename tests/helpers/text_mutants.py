"""Text files with something changed: data in LIBSVM's format and CSV, and LIBSVM models."""

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


def text_changed(text, rng):
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


def words_changed(content, rng):
    """A word replaced by another, or by one that is unexpected."""
    words = content.split(b" ")
    odd = [b"-1", b"0", b"3", b"1e400", b"nan", b"9" * 20, b"\xff", b"1:2", b"\n", b""]
    i, j = rng.integers(len(words), size=2)
    words[i] = words[j] if rng.random() < 0.5 else odd[rng.integers(len(odd))]
    return b" ".join(words)


def lines_changed(content, rng):
    """Lines exchanged, repeated or removed."""
    lines = content.splitlines(keepends=True)
    i, j = rng.integers(len(lines), size=2)
    match rng.integers(3):
        case 0:
            lines[i], lines[j] = lines[j], lines[i]
        case 1:
            lines.insert(i, lines[j])
        case 2:
            del lines[i]
    return b"".join(lines)


def overwrite(path, text):
    """Without emptying the file first, which makes some file systems wait for the disk."""
    with open(path, "r+b") as file:
        file.write(text)
        file.truncate()
