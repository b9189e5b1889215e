"""Document values that are sets: a document with some of them is itself an expression.

In: what a user says. Out: the same, to be read by whoever matches by overlap (`runtime.overlap`), who also checks it:
only an attribute's schema tells whether "2024-05-01" is a date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Between:
    """All values from `low` to `high`, both included; None for an end that is open.

    The bounds are two numbers, two strings, two dates or two timestamps.

    >>> Between(10, 20)
    Between(low=10, high=20)
    """

    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """The values listed, of any kinds; None among them: the attribute may be absent.

    >>> OneOf(["red", "blue"])
    OneOf(values=('red', 'blue'))

    Raises:
        TypeError: `values` is no iterable of values, or is a string, whose letters are hardly meant.
    """

    values: Collection[Any]

    def __post_init__(self) -> None:
        if isinstance(self.values, str | bytes | Mapping) or not isinstance(self.values, Iterable):
            raise TypeError(f"OneOf takes a list of values, not {self.values!r}")
        object.__setattr__(self, "values", tuple(self.values))
