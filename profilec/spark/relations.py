"""Relations: the earlier documents of a join, by key, and what is aggregated of those that have it.

    key BINARY    w0 BIGINT            v0 BINARY                      d0 struct
                  bits: which filters  a value of an operand, of one  the document, where it is
                  a document passes    kind, where it passes          to be asked itself
                  bit_or               min, max                       collect_list

One row, without a key, where rows are joined by none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple, TypeVar

from profilec.runtime.joins.conjuncts import Comparison
from profilec.runtime.program import Program, identity
from profilec.spark.join_keys import Key
from profilec.values.kinds import Kind, Value

BITS_OF_WORD = 63

T = TypeVar("T")


class Filter(NamedTuple):
    """Which earlier documents are asked: those that satisfy a condition, and comparisons with constants."""

    condition: Program | None
    constants: tuple[tuple[Comparison, Value], ...]


class Bit(NamedTuple):
    """Whether some document passes a filter; with an operand, one whose value is of a kind."""

    filter: int
    operand: Program | None = None
    kind: Kind = Kind.NULL


class Values(NamedTuple):
    """The values, of a kind, that the operand has in the documents that pass a filter."""

    filter: int
    operand: Program
    kind: Kind


class Extreme(NamedTuple):
    """The least of some values, or the greatest: `function` is Spark's."""

    function: str
    values: int


class Relation:
    """`walked`: the filters whose documents are collected; `walk_programs`: what is then asked of these."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self.keys = keys
        self.filters: list[Filter] = []
        self.bits: list[Bit] = []
        self.values: list[Values] = []
        self.extremes: list[Extreme] = []
        self.walked: list[int] = []
        self.walk_programs: list[Program] = []
        self._places: dict[Hashable, int] = {}

    def place(self, kept: list[T], one: T) -> int:
        """The place of one of these among those `kept`, to which it is added where it is new."""
        name = id(kept), told_apart(one)
        if name not in self._places:
            self._places[name] = len(kept)
            kept.append(one)
        return self._places[name]

    @property
    def n_words(self) -> int:
        return -(-len(self.bits) // BITS_OF_WORD)

    @property
    def programs(self) -> Iterator[Program]:
        """All that are run over its documents."""
        yield from (key.program for key in self.keys)
        for one in self.filters:
            yield from (comparison.old for comparison, _ in one.constants if comparison.old)
            if one.condition is not None:
                yield one.condition
        yield from (bit.operand for bit in self.bits if bit.operand is not None)
        yield from (values.operand for values in self.values)
        yield from self.walk_programs


def told_apart(part: Any) -> Hashable:
    """What tells such parts apart: Python takes 1, 1.0 and True for equal."""
    if type(part) is tuple and part and type(part[0]) is tuple and part[0] and isinstance(part[0][0], str):
        return identity(part)
    if isinstance(part, tuple):
        return type(part), tuple(told_apart(one) for one in part)
    return type(part), part
