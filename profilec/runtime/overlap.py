"""Matching by overlap: documents of which some values are sets (`values.sets`).

In: an image, and a document with sets. Out: the profiles of which every merged predicate accepts some value that the
document's set for the attribute holds. A plain value is the set of itself, absence that of NULL. For conjunctions, and
there are no others here (`conjunctions`), this says: some document that the sets allow matches.

Rank space makes it exact. A set is the ranks of its values; from `low` to `high` these are all ranks between theirs,
but for gaps that hold no value at all:

    numbers 10, 13       ranks  <10  =10  10..13  =13  >13        11 to 12: [10..13]        13 to 15: [=13, >13]
    dates 1 May, 2 May   ranks  <1   =1   1..2    =2   >2         1 May to 2 May: [=1], [=2]

Source: BE-Tree, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.apart import apart
from profilec.runtime.closed_intervals import Intervals
from profilec.runtime.conjunctions import REASONS, RankSets, entries_met, merged_tests, reasons
from profilec.runtime.encode_rows import items_of
from profilec.runtime.image import Constants, Image, Int32, Slot, gather
from profilec.runtime.program import Document
from profilec.runtime.ranking import keys_of
from profilec.values.compare import order
from profilec.values.kinds import DocumentError, Kind, Value, from_document, kind_of
from profilec.values.numbers import exact
from profilec.values.paths import lookup
from profilec.values.sets import Between, OneOf
from profilec.values.types import Type, read_as

_ORDERED = (Kind.NUMBER, Kind.STRING, Kind.DATE, Kind.TIMESTAMP)
_NAMED = 3


class Overlap:
    """What matching by overlap needs of an image. Safe to share between threads."""

    def __init__(self, image: Image, *, with_tree: bool) -> None:
        """`with_tree`: find entries with the image's tree; otherwise by the plain definition."""
        self._image = image
        self._reasons = reasons(image)
        if self._reasons.any():
            return
        self._tree = image.tree if with_tree else None
        self._tests, was_merged = merged_tests(image)
        self._owner = np.repeat(np.arange(image.n_entries), np.diff(image.entry_profile_off))
        self._is_merged = np.zeros(image.n_profiles, np.bool_)
        self._is_merged[image.entry_profiles[was_merged[self._owner]]] = True
        self._slots_of: dict[str, list[tuple[int, Slot]]] = {}
        for number, slot in enumerate(image.slots):
            for key in () if slot.parts is None else keys_of(slot.parts):
                self._slots_of.setdefault(key, []).append((number, slot))

    def require(self, ids: Sequence[str]) -> None:
        """Raises ValueError where overlap is not defined for some of the profiles, whose ids these are."""
        against = np.flatnonzero(self._reasons)
        if len(against):
            named = [f"{ids[ordinal]!r} ({REASONS[self._reasons[ordinal]]})" for ordinal in against[:_NAMED].tolist()]
            more = f", and {len(against) - _NAMED:,} more" if len(against) > _NAMED else ""
            raise ValueError(
                "overlap is defined for conjunctions of conditions on single attributes, which some profiles are not: "
                + ", ".join(named)
                + more
            )

    def match(self, document: Document) -> Int32:
        """The ordinals of the profiles that the document overlaps, ascending; after `require`.

        Raises:
            DocumentError: as point matching does, or a set is none (`ranks_of`).
        """
        sets = self.rank_sets(document)
        if self._tree is None:
            return np.unique(self._profiles_of(entries_met(self._tests, np.arange(self._image.n_entries), sets)))
        from profilec.runtime.matchers.betree.overlap import overlapping

        ids = apart(overlapping, *sets, self._tree.data, self._tree.words)
        found = np.unique(np.concatenate((ids[ids >= 0], self._profiles_of(self._tree.special[~ids[ids < 0]]))))
        doubtful = found[self._is_merged[found]]
        if not len(doubtful):
            return found
        # The tree has told of the merged tests only that each may hold.
        entries = np.unique(self._owner[np.isin(self._image.entry_profiles, doubtful)])
        certain = self._profiles_of(entries_met(self._tests, entries, sets))
        return np.setdiff1d(found, np.setdiff1d(doubtful, certain))

    def _profiles_of(self, entries: NDArray[Any]) -> Int32:
        return gather(self._image.entry_profile_off, self._image.entry_profiles, entries)[0]

    def rank_sets(self, document: Document) -> RankSets:
        """The document in rank space."""
        touched: dict[int, Slot] = {}
        for key, _ in items_of(document, self._slots_of):
            touched.update(self._slots_of.get(key, ()))
        absent: Intervals = [(0, 0)]
        slots: list[int] = []
        intervals, off = absent.copy(), [1]
        for number, slot in sorted(touched.items()):
            own = _ranks_of(document, slot)
            if own != absent:
                slots.append(number)
                intervals += own
                off.append(len(intervals))
        low, high = np.array(intervals, np.int32).T.copy()
        return RankSets(np.array(slots, np.int32), np.array(off, np.int64), low, high)


def _ranks_of(document: Document, slot: Slot) -> Intervals:
    parts = slot.parts or ()
    try:
        value = _set_of(document, parts)
        if value is None:
            rank = slot.constants.rank(read_as(lookup(document, parts), slot.type_))
            return [(rank, rank)]
        return ranks_of(value, slot.constants, slot.type_)
    except DocumentError as error:
        message = str(error)
        named = message.startswith("attribute ")  # as `lookup` does
        raise DocumentError(message if named else f"attribute {'.'.join(parts)!r}: {message}") from None


def _set_of(document: Document, parts: tuple[str, ...]) -> Between | OneOf | None:
    """The set that the document holds for an attribute, found as `values.paths.lookup` finds values; None: no set."""
    flat = document.get(".".join(parts))
    if isinstance(flat, Between | OneOf):
        return flat
    if len(parts) == 1 or (flat is not None and from_document(flat) is not None):
        return None
    value: Any = document
    for part in parts:
        if isinstance(value, Between | OneOf):
            # NULL: a number or a string has no attributes.
            if isinstance(value, OneOf) and any(isinstance(one, Mapping | list | tuple) for one in value.values):
                raise DocumentError("a set of records or arrays says nothing of their attributes one by one")
            return OneOf((None,))
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value if isinstance(value, Between | OneOf) else None


def ranks_of(values: Between | OneOf, constants: Constants, type_: Type | None = None) -> Intervals:
    """The ranks of a set's values among a slot's constants.

    >>> constants = Constants(numbers=(10, 13))
    >>> ranks_of(Between(11, 12), constants), ranks_of(Between(13, None), constants)
    ([(3, 3)], [(4, 5)])
    >>> ranks_of(OneOf([10, 99]), constants)
    [(2, 2), (5, 5)]

    Raises:
        DocumentError: the bounds are of two kinds, cross, or are no bounds; or there is no value.
    """
    if isinstance(values, Between):
        return _ranks_between(values, constants, type_)
    for value in values.values:
        if isinstance(value, Between | OneOf):
            raise DocumentError(f"{type(value).__name__} within OneOf: a set holds values, not sets")
    ranks = {constants.rank(read_as(from_document(value), type_)) for value in values.values}
    if not ranks:
        raise DocumentError("OneOf without values: a set holds at least one; None is absence")
    return [(rank, rank) for rank in sorted(ranks)]


def _ranks_between(values: Between, constants: Constants, type_: Type | None) -> Intervals:
    low, high = _bound(values.low, type_), _bound(values.high, type_)
    if low is None and high is None:
        raise DocumentError(f"{values} has no bound")
    kind = kind_of(high if low is None else low)
    if low is not None and high is not None:
        if kind is not kind_of(high):
            raise DocumentError(f"{values} has a {kind.name} and a {kind_of(high).name} as bounds")
        if order(low, high) == 1:
            raise DocumentError(f"{values} is empty: low is above high")
    if type_ is not None and type_.name == "INTEGER" and kind is Kind.NUMBER:
        low, high = _rounded(low, math.ceil), _rounded(high, math.floor)
        if low is not None and high is not None and order(low, high) == 1:
            raise DocumentError(f"{values} holds no whole number, and the attribute is an INTEGER")
    first = constants.first(kind) if low is None else constants.rank(low)
    last = constants.last(kind) if high is None else constants.rank(high)
    found: Intervals = []
    for gap in _empty_gaps(constants, kind, type_, first, last):
        if first < gap:
            found.append((first, gap - 1))
        first = gap + 1
    return [*found, (first, last)] if first <= last else found


def _bound(given: Any, type_: Type | None) -> Value:
    """A bound as one of our values; None for an open end."""
    if given is None:
        return None
    value = read_as(from_document(given), type_)
    kind = kind_of(value)
    if kind not in _ORDERED:
        what = "NaN" if kind is Kind.NULL else "an array or record" if kind is Kind.OPAQUE else "a boolean"
        raise DocumentError(f"a bound of Between is a number, string, date or timestamp, not {what}")
    return value


def _rounded(bound: Any, towards: Any) -> Any:
    number = None if bound is None else exact(bound)
    return number if number is None or not math.isfinite(number) else towards(number)


def _empty_gaps(constants: Constants, kind: Kind, type_: Type | None, first: int, last: int) -> list[int]:
    """The gaps within the ranks first .. last, ascending, that no value falls into."""
    start = constants.first(kind)
    least, past = (first - start) // 2, (last - start + 1) // 2  # constants that the ranks first .. last hold
    own = constants.of(kind)[least:past]
    gap = start + 2 * least
    gaps = [gap] if kind is Kind.STRING and first == gap and own[:1] == ("",) else []
    if kind is Kind.NUMBER and (type_ is None or type_.name != "INTEGER"):
        return gaps
    return gaps + [gap + 2 * place + 2 for place, pair in enumerate(pairwise(own)) if _are_neighbours(kind, *pair)]


def _are_neighbours(kind: Kind, one: int | Decimal | str, next_: Any) -> bool:
    """Whether no value lies between two constants."""
    if isinstance(one, str):
        return bool(next_ == one + "\0")
    if kind is Kind.NUMBER:
        return bool(math.floor(one) + 1 >= next_)
    return bool(one + 1 == next_)
