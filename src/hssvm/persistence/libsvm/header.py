"""The header of a LIBSVM model file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels import Gaussian, Linear, Polynomial
from hssvm.persistence.libsvm.contents import SVM_TYPES

KEYS = (
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label",
    "probA", "probB", "prob_density_marks", "nr_sv",
)  # fmt: skip

INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


class Header:
    """Reads the lines up to SV.

    All errors are ValueError, and their messages begin with the line.

    Parameters
    ----------
    lines : iterable of bytes
        Only the lines of the header are consumed.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.n_lines = 0
        self._entries: dict[str, tuple[int, list[str]]] = {}
        for line in lines:
            self.n_lines += 1
            key, *words = line.decode("ascii", "backslashreplace").split() or [""]
            if key == "SV":
                return
            if key not in KEYS:
                raise ValueError(
                    f"line {self.n_lines}: {shown(key)} is not an entry of a LIBSVM model; pass a "
                    "file that svm-train has written"
                )
            if key in self._entries:
                raise ValueError(f"line {self.n_lines}: a second {key}; remove one of them")
            self._entries[key] = self.n_lines, words
        raise ValueError(
            f"line {self.n_lines + 1}: the file ends before SV; it is incomplete, copy it again"
        )

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def error(self, key: str, problem: str) -> ValueError:
        """Return an error about an entry."""
        return ValueError(f"line {self._entries[key][0]}: {key} {problem}")

    def numbers(self, key: str, n: int | None = None) -> NDArray[np.float64]:
        """Return the numbers of an entry, `n` if given."""
        words = self._words(key, n)
        try:
            return np.array([finite(word) for word in words], np.float64)
        except ValueError as error:
            raise self.error(key, f"has {error}; write numbers") from None

    def integers(self, key: str, n: int | None = None) -> NDArray[np.int64]:
        """Return the integers of an entry, which have 32 bits as in LIBSVM, `n` if given."""
        words = self._words(key, n)
        for word in words:
            if not INTEGER.fullmatch(word) or not -(2**31) <= int(word) < 2**31:
                raise self.error(key, f"has {shown(word)}; write integers of at most 32 bits")
        return np.array([int(word) for word in words], np.int64)

    def svm_type(self) -> str:
        """Return one of `SVM_TYPES`."""
        (name,) = self._words("svm_type", 1)
        if name not in SVM_TYPES:
            raise self.error("svm_type", f"is {shown(name)}; it must be {', '.join(SVM_TYPES)}")
        return name

    def kernel(self) -> Gaussian | Linear | Polynomial:
        """Return the kernel, with its parameters."""
        (name,) = self._words("kernel_type", 1)
        if name == "linear":
            return Linear()
        if name not in ("rbf", "polynomial"):
            raise self.error(
                "kernel_type",
                f"is {shown(name)}; hssvm has linear, polynomial and rbf of LIBSVM's kernels, so "
                "train with one of these",
            )
        gamma = self._number("gamma")
        try:
            if name == "rbf":
                return Gaussian(gamma)
            degree = int(self.integers("degree", 1)[0])
            return Polynomial(gamma, self._number("coef0"), degree)
        except ValueError as error:
            if str(error).startswith("line "):
                raise
            raise self.error("kernel_type", f"is {name}, but {error}") from None

    def _number(self, key: str) -> float:
        return float(self.numbers(key, 1)[0])

    def _words(self, key: str, n: int | None) -> list[str]:
        if key not in self._entries:
            raise ValueError(f"line {self.n_lines}: the header ends without {key}; add it")
        words = self._entries[key][1]
        if n is not None and len(words) != n:
            raise self.error(key, f"has {len(words)} values instead of {n}")
        return words


def finite(word: Any) -> float:
    """Convert a word to a finite number; ValueError otherwise, with the word as its message."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in str(word):
        raise ValueError(shown(word))
    return value


def shown(word: Any) -> str:
    """Return a word as messages show it."""
    text = word.decode("ascii", "backslashreplace") if isinstance(word, bytes) else str(word)
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
