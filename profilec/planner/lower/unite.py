"""Images to one image of what is left of their profiles; no profile is read again.

In: images, and what each of their profiles is numbered now. Out: an image of these, without a tree, that holds for the
same documents as one that was made of the profiles' texts.

    constants   10  20            15            10  15  20
    ranks        1   3    and      1     ->      1   3   5
    x < 20      0..2                            0..4            a gap begins behind the constant before it
    x > 15                        2..2          4..6            and ends before the next one

Constants, tests, patterns, terms, joins and residuals that nothing asks for any more are left out, those of several
images that are equal become one.

Invariant: a test's intervals end at constants that are kept, so that each of its ends has a rank among those of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.build import Built
from profilec.planner.lower.entries import NO_ENTRIES, Entries, image_fields, taken
from profilec.planner.lower.ranks import offsets, packed, spans
from profilec.planner.lower.rearrange import arranged
from profilec.runtime.image import (
    BIT_PATTERN,
    BIT_TERM,
    KINDS,
    OP_JOIN,
    OP_JOIN_NOT,
    OP_TEST,
    Constants,
    Image,
    Pattern,
    Slot,
)
from profilec.runtime.imagefile.columns import Integers, fits_int64, strings_of
from profilec.runtime.imagefile.tokens import dumps
from profilec.values.kinds import Kind

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
T = TypeVar("T")
GONE = -1
"""The number of a profile that is not among those of the new image."""


def united(images: Sequence[Image], numbers: Sequence[Int32]) -> Built:
    """The image of all profiles that are not GONE; `numbers[i][p]` is the ordinal of profile p of image i."""
    parts = [_Part(image, number) for image, number in zip(images, numbers, strict=True)]
    slots = _slots(parts)
    patterns = _numbered(parts, "pattern", lambda part: part.patterns())
    terms = _numbered(parts, "term", lambda part: part.texts(part.image.terms, part.image.term_names, part.is_term))
    joins = _numbered(parts, "join", lambda part: part.texts(part.image.joins, part.image.join_names, part.is_join))
    tests = _rank_tests(parts)
    bits = _bit_tests(parts, patterns, len(tests.slot))
    residual_off, residual_code = _residuals(parts)
    image = Image(
        n_profiles=sum(int(np.count_nonzero(number != GONE)) for number in numbers),
        slots=slots,
        test_slot=tests.slot,
        test_off=tests.off.astype(np.int32),
        test_low=tests.low,
        test_high=tests.high,
        bit_kind=bits.kind,
        bit_source=bits.source,
        bit_want=bits.want,
        patterns=tuple(patterns),
        terms=tuple(term for term, _ in terms),
        joins=tuple(join for join, _ in joins),
        **image_fields(NO_ENTRIES, np.zeros(0)),
        residual_off=residual_off,
        residual_code=residual_code,
        term_names=_names(terms),
        join_names=_names(joins),
    )
    return arranged(image, _entries(parts), None, share=True)


def _names(named: Sequence[tuple[Any, str]]) -> tuple[str, ...]:
    """Images that were made by hand have none."""
    names = tuple(name for _, name in named)
    return names if all(names) else ()


class _Part:
    """One of the images: what of it is used, and what that is numbered in the new one (-1: not used)."""

    def __init__(self, image: Image, number: Int32) -> None:
        self.image = image
        counts = np.diff(image.entry_profile_off)
        profile = number[image.entry_profiles]
        kept = profile != GONE
        self.entry: Int32 = np.repeat(np.arange(image.n_entries, dtype=np.int32), counts)[kept]
        """Of each of its entries, once for each profile that is left."""
        self.profile: Int32 = profile[kept]
        self.is_residual = _mask(len(image.residual_off) - 1, image.entry_residual[self.entry])
        code = image.residual_code[np.repeat(self.is_residual, np.diff(image.residual_off))]
        of_entry = _mask(image.n_entries, self.entry)
        asked = image.entry_tests[np.repeat(of_entry, np.diff(image.entry_off))]
        self.is_test = _mask(image.n_tests + len(image.bit_kind), asked)
        self.is_test[code[code[:, 0] == OP_TEST, 1]] = True
        self.is_join = _mask(len(image.joins), code[(code[:, 0] == OP_JOIN) | (code[:, 0] == OP_JOIN_NOT), 1])
        is_bit = self.is_test[image.n_tests :]
        self.is_pattern = _mask(len(image.patterns), image.bit_source[is_bit & (image.bit_kind == BIT_PATTERN)])
        self.is_term = _mask(len(image.terms), image.bit_source[is_bit & (image.bit_kind == BIT_TERM)])
        self.is_slot = _mask(len(image.slots), image.test_slot[self.is_test[: image.n_tests]])
        for place in np.flatnonzero(self.is_pattern).tolist():
            self.is_slot[image.patterns[place].slot] = True
        self.new: dict[str, Int32] = {}
        """By what is numbered: slot, pattern, term, join, test, residual."""
        owner = np.repeat(np.arange(image.n_tests), np.diff(image.test_off))
        used = self.is_test[: image.n_tests][owner]
        self.test: Int64 = owner[used]
        """Of each interval of the rank tests that are used."""
        self.low: Int32 = image.test_low[used]
        self.high: Int32 = image.test_high[used]

    def texts(self, values: Sequence[T], names: Sequence[str], used: Bools) -> Iterator[tuple[int, str, tuple[T, str]]]:
        """Those of some terms or joins that are used: number, what two that are equal have in common, what they are."""
        texts = strings_of(values, dumps)
        for place in np.flatnonzero(used).tolist():
            yield place, texts[place], (values[place], names[place] if len(names) else "")

    def patterns(self) -> Iterator[tuple[int, Any, Pattern]]:
        """The patterns that are used, of the new image's slots."""
        for place in np.flatnonzero(self.is_pattern).tolist():
            pattern = self.image.patterns[place]
            pattern = replace(pattern, slot=int(self.new["slot"][pattern.slot]))
            yield place, pattern, pattern


def _mask(n: int, places: NDArray[Any]) -> Bools:
    mask = np.zeros(n, np.bool_)
    mask[places[places >= 0]] = True
    return mask


def _numbered(parts: Sequence[_Part], what: str, found: Callable[[_Part], Iterator[tuple[int, Any, T]]]) -> list[T]:
    """Distinct things of all parts, in the order in which they come; each part is told their numbers."""
    known: dict[Any, int] = {}
    distinct: list[T] = []
    for part in parts:
        of = {"pattern": part.is_pattern, "term": part.is_term, "join": part.is_join, "slot": part.is_slot}[what]
        new = np.full(len(of), -1, np.int32)
        for place, key, value in found(part):
            number = known.setdefault(key, len(distinct))
            if number == len(distinct):
                distinct.append(value)
            new[place] = number
        part.new[what] = new
    return distinct


# Slots and ranks


def _slots(parts: Sequence[_Part]) -> list[Slot]:
    """The slots, with the constants that are used of each; ends of intervals become ranks among these."""

    def used(part: _Part) -> Iterator[tuple[int, str, list[tuple[_Part, int]]]]:
        for place in np.flatnonzero(part.is_slot).tolist():
            slot = part.image.slots[place]
            yield place, dumps((slot.name, slot.parts, slot.type_, slot.program)), []

    sources = _numbered(parts, "slot", used)
    for part in parts:
        for place in np.flatnonzero(part.is_slot).tolist():
            sources[part.new["slot"][place]].append((part, place))
    intervals = {part: _by_slot(part) for part in parts}
    slots = []
    for own in sources:
        part, place = own[0]
        constants = _ranked([(part.image.slots[place].constants, part, intervals[part][place]) for part, place in own])
        slots.append(replace(part.image.slots[place], constants=constants))
    return slots


def _by_slot(part: _Part) -> list[Int64]:
    """The intervals of each slot's tests."""
    slot = part.image.test_slot[part.test]
    order = np.argsort(slot, kind="stable")
    return np.split(order, np.searchsorted(slot[order], np.arange(1, len(part.image.slots))))


def _ranked(sources: list[tuple[Constants, _Part, Int64]]) -> Constants:
    """The constants of one slot that intervals end at; the ends become ranks among them."""
    ends = [(part.low[own], part.high[own]) for _, part, own in sources]
    columns: list[Sequence[Any]] = []
    places: list[list[Int32]] = []
    for kind in KINDS:
        needed = [_needed(constants, kind, *end) for (constants, *_), end in zip(sources, ends, strict=True)]
        column, place = _sorted([constants.column(kind) for constants, *_ in sources], needed)
        columns.append(column)
        places.append(place)
    ranked = Constants(*columns)
    for number, ((constants, part, own), (low, high)) in enumerate(zip(sources, ends, strict=True)):
        lows, highs = np.zeros((2, constants.n_ranks), np.int32)
        lows[-1] = highs[-1] = ranked.n_ranks - 1
        for kind, place in zip(KINDS, places, strict=True):
            first, last = constants.first(kind), constants.last(kind)
            rank = ranked.first(kind) + 2 * place[number] + 1
            lows[first + 1 : last + 1 : 2] = highs[first + 1 : last + 1 : 2] = rank
            lows[first], lows[first + 2 : last + 1 : 2] = ranked.first(kind), rank + 1
            highs[last], highs[first:last:2] = ranked.last(kind), rank - 1
        part.low[own], part.high[own] = lows[low], highs[high]
    return ranked


def _needed(constants: Constants, kind: Kind, low: Int32, high: Int32) -> Int64:
    """The places of a kind's constants that intervals end at: a gap begins behind one, and ends before one."""
    first, last = constants.first(kind), constants.last(kind)
    needed = np.zeros(last - first + 2, np.bool_)  # by rank within the block, and one behind it
    low, high = (end[(end >= first) & (end <= last)] - first for end in (low, high))
    needed[low - (low % 2 == 0)] = True  # the first gap: -1, the one behind
    needed[high + (high % 2 == 0)] = True
    return np.flatnonzero(needed[1 : last - first : 2])


def _sorted(columns: Sequence[Sequence[Any]], needed: Sequence[Int64]) -> tuple[Sequence[Any], list[Int32]]:
    """The distinct constants of some columns, those needed, in order, and for each column the places of its own."""
    chosen = [_taken(column, own) for column, own in zip(columns, needed, strict=True)]
    places = [np.zeros(len(column), np.int32) for column in columns]
    values: Sequence[Any]
    if not any(map(len, chosen)):
        return (), places
    if all(isinstance(own, np.ndarray) for own in chosen):
        distinct = np.unique(np.concatenate(chosen))
        values = Integers(distinct)
        found: list[Any] = [np.searchsorted(distinct, own) for own in chosen]
    else:
        values = tuple(sorted({value for own in chosen for value in _listed(own)}))
        place_of = {value: place for place, value in enumerate(values)}
        found = [[place_of[value] for value in _listed(own)] for own in chosen]
    for place, own, numbers in zip(places, needed, found, strict=True):
        place[own] = numbers
    return values, places


def _taken(column: Sequence[Any], places: Int64) -> NDArray[np.int64] | list[Any]:
    """PERF: integers as an array."""
    if isinstance(column, Integers):
        return column.array[places]
    values = [column[place] for place in places.tolist()]
    return np.array(values, np.int64) if fits_int64(values) else values


def _listed(values: NDArray[np.int64] | list[Any]) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


# Tests


class _RankTests(NamedTuple):
    """CSR of intervals."""

    slot: Int32
    off: Int64
    low: Int32
    high: Int32


class _BitTests(NamedTuple):
    kind: NDArray[np.uint8]
    source: Int32
    want: NDArray[np.uint8]


def _rank_tests(parts: Sequence[_Part]) -> _RankTests:
    """The distinct rank tests, in the order of slots; each part is told their numbers."""
    used = [np.flatnonzero(part.is_test[: part.image.n_tests]) for part in parts]
    each = list(zip(parts, used, strict=True))
    sizes = np.concatenate([np.bincount(part.test, minlength=part.image.n_tests)[own] for part, own in each])
    slot = np.concatenate([part.new["slot"][part.image.test_slot[own]] for part, own in each])
    low, high = (np.concatenate([getattr(part, name) for part in parts]) for name in ("low", "high"))
    off = offsets(sizes)
    # A test of one interval is that; any other one has a number, which equal ones share.
    single = sizes == 1
    one, other = np.zeros((2, len(sizes)), np.int32)
    one[single], other[single] = low[off[:-1][single]], high[off[:-1][single]]
    ends = np.stack((low, high), axis=1)
    known: dict[bytes, int] = {}
    for place in np.flatnonzero(~single).tolist():
        one[place] = known.setdefault(ends[off[place] : off[place + 1]].tobytes(), len(known))
    first, number = _distinct(slot, ~single, one, other)
    _tell(parts, "test", used, number)
    return _RankTests(
        slot[first], offsets(sizes[first]), *(end[spans(off[first], sizes[first])] for end in (low, high))
    )


def _bit_tests(parts: Sequence[_Part], patterns: Sequence[Pattern], n_rank_tests: int) -> _BitTests:
    """The distinct bit tests, those of terms first, then patterns in the order of slots."""
    used = [np.flatnonzero(part.is_test[part.image.n_tests :]) for part in parts]
    columns = []
    for part, own in zip(parts, used, strict=True):
        kind, source = part.image.bit_kind[own], part.image.bit_source[own]
        is_pattern = kind == BIT_PATTERN
        new = np.zeros(len(own), np.int32)
        new[is_pattern] = part.new["pattern"][source[is_pattern]]
        new[~is_pattern] = part.new["term"][source[~is_pattern]]
        columns.append((kind, new, part.image.bit_want[own]))
    kind, source, want = (np.concatenate(column) for column in zip(*columns, strict=True))
    slot = np.zeros(len(source), np.int32)
    slot[kind == BIT_PATTERN] = (
        1 + np.array([pattern.slot for pattern in patterns], np.int32)[source[kind == BIT_PATTERN]]
    )
    first, number = _distinct(slot, source, want)
    places = [own + part.image.n_tests for part, own in zip(parts, used, strict=True)]
    _tell(parts, "test", places, number + n_rank_tests)
    return _BitTests(kind[first], source[first], want[first])


def _distinct(*columns: NDArray[Any]) -> tuple[Int64, Int32]:
    """Places of the distinct rows, in their order, and the number of each row among them."""
    keys = packed(*columns)
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    begins = np.zeros(len(order), np.bool_)
    begins[:1] = True
    for key in keys:
        begins[1:] |= key[order[1:]] != key[order[:-1]]
    number = np.empty(len(order), np.int32)
    number[order] = np.cumsum(begins) - 1
    return order[begins], number


def _tell(parts: Sequence[_Part], what: str, used: Sequence[Int64], number: Int32) -> None:
    """Each part the numbers of what it uses, which are those of all parts, one behind the other."""
    cuts = offsets(np.array([len(own) for own in used]))
    for part, own, start, end in zip(parts, used, cuts, cuts[1:], strict=False):
        new = part.new.setdefault(what, np.full(len(part.is_test), -1, np.int32))
        new[own] = number[start:end]


# Residuals and entries


def _residuals(parts: Sequence[_Part]) -> tuple[Int32, Int32]:
    """The distinct residuals, of the new image's tests and joins; each part is told their numbers."""
    known: dict[bytes, int] = {}
    codes: list[Int32] = [np.zeros((0, 2), np.int32)]
    for part in parts:
        image = part.image
        new = np.full(len(part.is_residual), -1, np.int32)
        code = image.residual_code.copy()
        for ops, of in (((OP_TEST,), part.new["test"]), ((OP_JOIN, OP_JOIN_NOT), part.new["join"])):
            asks = np.isin(code[:, 0], ops)
            code[asks, 1] = of[code[asks, 1]]
        for place in np.flatnonzero(part.is_residual).tolist():
            own = code[image.residual_off[place] : image.residual_off[place + 1]]
            new[place] = known.setdefault(own.tobytes(), len(known))
            if len(codes) <= len(known):
                codes.append(own)
        part.new["residual"] = new
    return offsets(np.array([len(code) for code in codes[1:]], np.int64)).astype(np.int32), np.concatenate(codes)


def _entries(parts: Sequence[_Part]) -> Entries:
    """An entry for each profile and entry of it, in the order of profiles."""
    sizes, tests, residuals = [], [], []
    for part in parts:
        image, entry = part.image, part.entry
        own = np.diff(image.entry_off)[entry]
        sizes.append(own)
        tests.append(part.new["test"][image.entry_tests[spans(image.entry_off[entry], own)]])
        residual = image.entry_residual[entry]
        residuals.append(np.where(residual < 0, -1, np.append(part.new["residual"], -1)[residual]).astype(np.int32))
    profiles = np.concatenate([part.profile for part in parts])
    entries = Entries(
        offsets(np.concatenate(sizes)),
        np.concatenate(tests),
        np.concatenate(residuals),
        np.arange(len(profiles) + 1),
        profiles,
    )
    return taken(entries, np.argsort(profiles, kind="stable"))
