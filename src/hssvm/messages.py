"""Messages whose words of the Python API are marked, so that a command line can use its own."""

from __future__ import annotations

from collections.abc import Callable

MARK = "\0"
"""Encloses marked words; paths, and the results of `repr`, do not contain this character."""


class Message(str):
    """Text of an error, a warning or advice, from an f-string in which `api` marks words.

    Examples
    --------
    >>> from hssvm.messages import Message, api
    >>> message = Message(f"raise {api:max_time}, or set {api:refine=False}")
    >>> message
    'raise max_time, or set refine=False'
    >>> message.reworded({"max_time": "--max-time", "refine=False": "--refine no"}.get)
    'raise --max-time, or set --refine no'
    """

    _parts: list[str]

    def __new__(cls, text: str) -> Message:
        """Remove the marks, but remember them."""
        message = super().__new__(cls, text.replace(MARK, ""))
        message._parts = text.split(MARK)  # every second part is marked
        return message

    def reworded(self, word: Callable[[str], str]) -> str:
        """Return the text with the results of `word` instead of the marked words."""
        return "".join(word(part) if i % 2 else part for i, part in enumerate(self._parts))


class _API:
    """Marks its format specification."""

    def __format__(self, words: str) -> str:
        return f"{MARK}{words}{MARK}"


api = _API()


def value_error(text: str) -> ValueError:
    """Return an error whose text has marked words."""
    return ValueError(Message(text))
