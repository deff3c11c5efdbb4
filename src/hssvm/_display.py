"""Results that are displayed as text."""

from __future__ import annotations

import html


class ShownAsText:
    """Mixin that displays the text of `__str__` in the interpreter and in notebooks.

    Examples
    --------
    >>> from hssvm._display import ShownAsText
    >>> class Answer(ShownAsText):
    ...     def __str__(self):
    ...         return "6 < 7"
    >>> Answer()
    6 < 7
    >>> Answer()._repr_html_()
    '<pre>6 &lt; 7</pre>'
    """

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


class Text(ShownAsText, str):
    r"""A string of several lines that is displayed as it is printed.

    Examples
    --------
    >>> from hssvm._display import Text
    >>> Text("rows   5\nranks  3")
    rows   5
    ranks  3
    """
