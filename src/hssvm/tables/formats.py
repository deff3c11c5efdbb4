"""Numbers that are written with a currency, a percent sign or thousands separators."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

CURRENCIES = "$€£¥₹"
UNITS = {"", "%", *CURRENCIES}
SEPARATORS = {"", ",", " "}

SPACE = "[ \u00a0\u202f]"
"""A space between groups of digits, which may forbid a line break."""

NUMBER = re.compile(
    rf"([-+]?)([{CURRENCIES}]?){SPACE}?([-+]?)"
    rf"(\d+|[1-9]\d{{0,2}}(?:(?:,\d{{3}})+|(?:{SPACE}\d{{3}})+))(\.\d+)?(e[-+]\d+)?"
    rf"{SPACE}?([{CURRENCIES}%]?)",
    re.ASCII,
)


@dataclass(frozen=True)
class Written:
    """A number as it is written: its unit, the separator of its thousands, and its value."""

    unit: str
    separator: str
    value: float


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Attributes
    ----------
    unit : str
        The sign of a currency, before or after each number, or "%" after it; empty if there is
        none.
    separator : {"", ",", " "}
        Of thousands, which numbers may lack.
    """

    unit: str
    separator: str

    def parse(self, text: pd.Series) -> pd.Series:
        """Convert text to float64; values that are written otherwise, or missing, are NaN."""
        import pandas as pd

        values = [np.nan if value is None else self._value_of(value) for value in text]
        return pd.Series(values, text.index, np.float64, text.name)

    def describe(self) -> list[str]:
        """Describe the unit and the separator."""
        unit = [f"in {self.unit}"] if self.unit else []
        return [*unit, "thousands separators"] if self.separator else unit

    def _value_of(self, text: str) -> float:
        written = _read(text)
        if written is None or written.unit != self.unit:
            return np.nan
        return written.value if written.separator in ("", self.separator) else np.nan


def format_of(text: Collection[str], min_share: float) -> NumberFormat | None:
    """Return the format that all numbers have in common, None if they have none or need none.

    Commas that may as well be decimal commas, as in 1,200, are no format.

    Parameters
    ----------
    text : collection of str
    min_share : float
        Minimum share of numbers.
    """
    numbers = {value: _read(value) for value in set(text)}
    known = [number for number in numbers.values() if number is not None]
    n_known = sum(numbers[value] is not None for value in text)
    units, separators = ({getattr(n, key) for n in known} for key in ("unit", "separator"))
    grouped = separators - {""}
    if n_known < min_share * len(text) or len(units) != 1 or len(grouped) > 1:
        return None
    found = NumberFormat(*units, *(grouped or {""}))
    written = [value for value, number in numbers.items() if number is not None]
    if found.separator == "," and not _separates_thousands(written, separators):
        return None
    return found if found.unit or found.separator else None


def _read(text: str) -> Written | None:
    match = NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, before, inner_sign, whole, fraction, exponent, after = match.groups(default="")
    if (sign and inner_sign) or (before and after):
        return None
    separator = "," if "," in whole else "" if whole.isdigit() else " "
    digits = sign + inner_sign + re.sub(r"\D", "", whole)
    return Written(before or after, separator, float(digits + fraction + exponent))


def _separates_thousands(numbers: list[str], separators: set[str]) -> bool:
    """Whether commas cannot be decimal: a number has several, or a point after one, or dollars.

    Decimals are either of equal length, or have no zeros at the end.
    """
    if any(re.search(r"[$£]|,\d+[,.]", number) for number in numbers):
        return True
    return "" in separators and any(re.search(r",\d*0\b", number) for number in numbers)
