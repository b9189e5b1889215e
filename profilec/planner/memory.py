"""The memory that a set is given: as users say it, and beside what matching is expected to hold (`lower/held`)."""

from __future__ import annotations

import operator
import re
from typing import Any, NamedTuple

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_TEXT = re.compile(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([A-Za-z]*)\s*")
_MOST = 2**63 - 1


class Held(NamedTuple):
    """Bytes: what matching is expected to hold in memory, and what it is given."""

    expected: int
    given: int

    @property
    def is_too_much(self) -> bool:
        return self.expected > self.given


def read_memory(given: Any) -> int:
    """Bytes, from a whole number of them or a text.

    >>> read_memory(1_000), read_memory("256 MB"), read_memory("1.5GiB")
    (1000, 256000000, 1610612736)

    Raises:
        ValueError: it says no number of bytes, or none that there can be.
    """
    n_bytes = 0
    if isinstance(given, str):
        found = _TEXT.fullmatch(given)
        unit = _UNITS.get(found[2].upper() or "B") if found else None
        if found is not None and unit is not None:
            n_bytes = round(float(found[1]) * unit)
    elif not isinstance(given, bool):
        try:
            n_bytes = operator.index(given)
        except TypeError:
            n_bytes = 0
    if not 1 <= n_bytes <= _MOST:
        raise ValueError("no number of bytes")
    return n_bytes
