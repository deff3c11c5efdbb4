"""What is drawn on a terminal."""

import re

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def drawn_lines(text):
    """All lines that were ever drawn, without colors and movements."""
    return re.split(r"[\r\n]+", ESCAPES.sub("", text))
