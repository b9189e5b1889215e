"""One slot, prepared so that a value of a document finds its rank, and the patterns that match it, at once.

In: a slot of the image and the patterns asked of it. Out: `rank_of`, from any value that a document
may hold to its rank, and a place for the thresholds that rank whole columns (`columns`).

    str            a dictionary of the constants and of a few others; between them, by bisection
    int            a table where the constants are near one another, else as float
    float          by bisection in thresholds of its own type (`thresholds`), so that no two types are compared
    all others     `Constants.rank`

Invariant: `rank_of(value)` is `constants.rank(read_as(from_document(value), type_))`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Constants, Pattern, Slot
from profilec.runtime.imagefile.columns import Integers
from profilec.runtime.indexes.patterns_by_name import DEFAULT, MakePatternIndex, PatternIndex
from profilec.runtime.program import Document, Parts, attributes_read, run
from profilec.runtime.thresholds import MANY, float_thresholds, whole_thresholds
from profilec.values.functions import FUNCTIONS
from profilec.values.kinds import Kind, Value, from_document
from profilec.values.paths import lookup
from profilec.values.types import Type, read_as, reads_strings

Told: TypeAlias = tuple[int, Sequence[int]]
"""A rank, and the pseudo-slots of the patterns that match."""


class MatchingEach(NamedTuple):
    """Of many values the pseudo-slots of the patterns that match: those of value i are `slots[off[i]:off[i + 1]]`."""

    off: NDArray[np.int64]
    slots: NDArray[np.int32]


def joined_matching(parts: Sequence[MatchingEach]) -> MatchingEach:
    """The values of the parts, one after another."""
    starts = np.cumsum([0, *(len(part.slots) for part in parts)])
    ends = [part.off[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return MatchingEach(
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int32), *(part.slots for part in parts)]),
    )


Thresholds: TypeAlias = "dict[str, tuple[Kind, NDArray[Any]]]"
"""By the Arrow type of the column; filled as columns are met."""
_CONSTANTS_PER_VALUE = 20
"""PERF: to prepare so many constants costs what the slow way costs one value."""
_INTEGERS_PER_CONSTANT = 50
"""PERF: so many of an array take as long to prepare as one decimal."""
_MAX_TABLE = 8
_N_REMEMBERED = 256
_MAX_REMEMBERED = 100
"""PERF: of so many strings that are no constants, of so many characters, a slot remembers the rank. Most attributes
have few different ones, and to find a rank takes ten times as long as to look it up."""
_NO_TABLE: tuple[int, int, list[int]] = 0, 0, []


class Ranking:
    """Ranks the values of one slot. Safe to share between threads: what two prepare at once is the same.

    >>> ranking = Ranking(Constants(numbers=(10, 30), strings=("Acme",)), None)
    >>> [ranking.rank_of(value) for value in (None, 9, 10.0, 10.5, "Acme", "Zeta", True, [])]
    [0, 1, 2, 3, 7, 8, 9, 12]

    PERF: `of_string` and `table` are for who ranks one value after another without a call of Python for each.
    """

    __slots__ = ("_patience", "_ready", "constants", "of_string", "rank_of", "table", "thresholds", "type_")

    rank_of: Callable[[Any], int]
    """Raises DocumentError where the value has no kind."""
    of_string: Mapping[str, int]
    """The rank of any string that is one by its very type; never 0."""
    table: tuple[int, int, list[int]]
    """`(least, n, ranks)`: the integer `least + i` has rank `ranks[i]`, for i from 0 on below n."""

    def __init__(self, constants: Constants, type_: Type | None) -> None:
        self.constants = constants
        self.type_ = type_ if type_ is not None and reads_strings(type_) else None
        self.thresholds: Thresholds = {}
        numbers = constants.column(Kind.NUMBER)
        n_integers = len(numbers) if isinstance(numbers, Integers) else 0
        n_constants = constants.n_ranks // 2 - n_integers + n_integers // _INTEGERS_PER_CONSTANT
        self._patience = n_constants // _CONSTANTS_PER_VALUE
        self._ready: Callable[[Any], int] | None = None
        self.rank_of = self._rank_slowly
        self.of_string = StringRanks({}, self._rank_slowly, 0)
        self.table = _NO_TABLE

    @property
    def is_ready(self) -> bool:
        """Whether the constants are prepared, so that nothing here is going to change."""
        return self._ready is not None

    def _rank_slowly(self, value: Any) -> int:
        """The way until as many values came as the preparation is worth: a million constants may be asked once."""
        if self._patience > 0:
            self._patience -= 1
            return self.constants.rank(read_as(from_document(value), self.type_))
        return self.prepared()(value)

    def prepared(self) -> Callable[[Any], int]:
        """`rank_of`, which from now on takes the quick way."""
        if self._ready is None:  # who goes through many values has kept this method
            ready, self.of_string, self.table = _prepared(self.constants, self.type_)
            self._ready = self.rank_of = ready
        return self._ready


class StringRanks(dict[str, int]):
    """The ranks of some strings, and a way to find those of all others, of which it remembers a few.

    >>> ranks = StringRanks({"a": 3}, len, 1)
    >>> ranks["a"], ranks["bcde"], ranks["fg"], len(ranks)
    (3, 4, 2, 2)
    """

    __slots__ = ("_find", "_most")

    def __init__(self, known: Mapping[str, int], find: Callable[[str], int], n_remembered: int) -> None:
        super().__init__(known)
        self._find = find
        self._most = len(known) + n_remembered

    def __missing__(self, text: str) -> int:
        rank = self._find(text)
        if len(self) < self._most and len(text) <= _MAX_REMEMBERED:
            self[text] = rank
        return rank


def _prepared(
    constants: Constants, type_: Type | None
) -> tuple[Callable[[Any], int], StringRanks, tuple[int, int, list[int]]]:
    """`rank_of`, `of_string` and `table` of a Ranking."""
    first_number = constants.first(Kind.NUMBER)
    of_string = _ranks_of_strings(constants, type_)
    numbers = constants.column(Kind.NUMBER)
    whole = whole_thresholds(numbers)
    of_floats = float_thresholds(numbers, np.dtype(np.float64))
    floats: Sequence[float] = of_floats.tolist() if len(numbers) <= MANY else of_floats.data
    least, n_table, table = _table(whole, first_number)
    of_false, of_true = constants.rank(False), constants.rank(True)

    def rank_of(value: Any) -> int:
        kind = type(value)
        if kind is float:
            return first_number + bisect_right(floats, value) if value == value else 0  # noqa: PLR0124  (NULL: NaN)
        if kind is str:
            return of_string[value]
        if kind is int:
            if n_table:
                place = value - least
                return table[place if 0 <= place < n_table else -1 if place > 0 else 0]
            return first_number + bisect_right(whole, value)
        if kind is bool:
            return of_true if value else of_false
        if value is None:
            return 0
        return constants.rank(read_as(from_document(value), type_))

    return rank_of, of_string, (least, n_table, table)


def _ranks_of_strings(constants: Constants, type_: Type | None) -> StringRanks:
    if type_ is not None:
        return StringRanks({}, lambda text: constants.rank(read_as(text, type_)), _N_REMEMBERED)
    first, strings = constants.first(Kind.STRING), constants.strings
    known = {text: first + 2 * place + 1 for place, text in enumerate(strings)}
    return StringRanks(known, lambda text: first + 2 * bisect_left(strings, text), _N_REMEMBERED)


def _table(whole: Sequence[float], first: int) -> tuple[int, int, list[int]]:
    """The ranks of the integers from the one returned on, below and above the thresholds one each; none where many."""
    if not whole or not isinstance(whole, list) or not isinstance(whole[0], int):
        return _NO_TABLE
    least, greatest = whole[0] - 1, int(whole[-1])
    if greatest - least > _MAX_TABLE * len(whole):
        return _NO_TABLE
    ranks = [first + bisect_right(whole, number) for number in range(least, greatest + 1)]
    return least, len(ranks), ranks


def keys_of(parts: Parts) -> tuple[str, ...]:
    """The keys of a document that decide an attribute: its name, and the first part of its path."""
    return tuple(dict.fromkeys((parts[0], ".".join(parts))))


class PreparedSlot:
    """A slot's ranking, its patterns, and what its program reads. Safe to share between threads."""

    __slots__ = (
        "_absent",
        "_apply",
        "_index",
        "_is_text",
        "_make_index",
        "_numbers",
        "_patterns",
        "absent",
        "compares",
        "has_patterns",
        "keys",
        "number",
        "ranking",
        "reads",
        "slot",
    )

    def __init__(
        self,
        number: int,
        slot: Slot,
        patterns: Sequence[tuple[int, Pattern]],
        make_index: MakePatternIndex = DEFAULT,
    ) -> None:
        """`patterns`: those asked of the slot, each with its pseudo-slot. `make_index`: what makes their index."""
        self.number = number
        self.slot = slot
        self.ranking = Ranking(slot.constants, slot.type_)
        self.reads = tuple(attributes_read(slot.program))
        self.keys = tuple(dict.fromkeys(key for parts in self.reads for key in keys_of(parts)))
        self._apply: Callable[[str], Value] | None = None
        self.compares: tuple[str, str] | None = None
        """The keys of the two strings whose order the slot is, where it is that of two attributes."""
        match slot.program:
            case (("attribute", 0, _, None), ("call", str() as name, 1)):
                self._apply = FUNCTIONS[name].apply
            case (("attribute", 0, (str() as left,), None), ("attribute", 0, (str() as right,), None), ("order",)):
                self.compares = left, right
        self._is_text = slot.parts is not None and self.ranking.type_ is None
        self.absent = 0 if slot.parts is not None else slot.constants.rank(run(slot.program, {}))
        self._numbers = [pseudo_slot for pseudo_slot, _ in patterns]
        self._patterns = [pattern for _, pattern in patterns]
        self.has_patterns = bool(patterns)
        self._make_index = make_index
        self._index: PatternIndex | None = None
        self._absent: Told | None = None

    def value(self, document: Document) -> Value:
        """The slot's value in a document."""
        parts = self.slot.parts
        if parts is None:
            value: Value = run(self.slot.program, document)
            return value
        return read_as(lookup(document, parts), self.slot.type_)

    def tell(self, raw: Any) -> Told:
        """What the slot is where the one attribute that it reads, a key, holds `raw` in the document."""
        return self._told(raw if self._is_text and type(raw) is str else self._value_of(raw))

    def tell_each(self, raws: Collection[Any], *, only_text: bool) -> tuple[list[int], MatchingEach]:
        """As `tell` of each: the ranks, and the pseudo-slots. `only_text`: they are strings and None."""
        apply = self._apply
        if only_text and self._is_text:
            values: list[Value] = list(raws)
        elif only_text and apply is not None:
            values = [self._value_of(raw) if raw is None else apply(raw) for raw in raws]
        else:
            values = list(map(self._value_of, raws))
        return list(map(self.ranking.rank_of, values)), self.matching_each(values)

    def tell_absent(self) -> Told:
        """What the slot is where nothing that it reads is in the document."""
        if self._absent is None:
            self._absent = self.tell_of({})
        return self._absent

    def tell_of(self, document: Document) -> Told:
        """What the slot is in a document."""
        if self.compares is not None:
            left, right = map(document.get, self.compares)
            if type(left) is str and type(right) is str:
                return self.ranking.rank_of((left > right) - (left < right)), ()
            if (left is None or type(left) is str) and (right is None or type(right) is str):
                return 0, ()  # NULL: nothing compares with it
        return self._told(self.value(document))

    def _told(self, value: Value) -> Told:
        rank = self.ranking.rank_of(value)
        # NULL: no pattern matches what is no string.
        if not self.has_patterns or type(value) is not str:
            return rank, ()
        numbers = self._numbers
        return rank, [numbers[position] for position in self._pattern_index().matches(value)]

    def _value_of(self, raw: Any) -> Value:
        if type(raw) is str:
            if self._is_text:
                return raw
            if self._apply is not None:
                return self._apply(raw)
        return self.value({self.reads[0][0]: raw})

    def matching_each(self, values: Sequence[Value]) -> MatchingEach:
        """The pseudo-slots of the patterns that match. NULL: none matches what is no string."""
        n = len(values)
        places = [place for place, value in enumerate(values) if type(value) is str] if self.has_patterns else []
        if not places:
            return MatchingEach(np.zeros(n + 1, np.int64), np.empty(0, np.int32))
        texts = [value for value in values if type(value) is str]
        of_texts, positions = self._pattern_index().matches_each(texts)
        of_values = np.array(places, np.int32)[np.array(of_texts, np.int32)]
        slots = np.array(self._numbers, np.int32)[np.array(positions, np.int32)]
        off = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(of_values, minlength=n), out=off[1:])
        return MatchingEach(off, slots[np.argsort(of_values, kind="stable")])

    def _pattern_index(self) -> PatternIndex:
        if self._index is None:
            self._index = self._make_index(self._patterns)
        return self._index
