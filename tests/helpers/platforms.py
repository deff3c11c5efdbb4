"""Marks of tests that need what only some systems have."""

import sys

import pytest

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no such signals, terminals, permissions or nodes"
)
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="needs fork, /proc or limits as only Linux has them"
)
