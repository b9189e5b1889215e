"""The image: a set of profiles in rank space, as flat arrays.

In: what `planner.lower` collected. Out: what every matcher reads. The arrays say nothing of
types, strings or NULLs: a document's value is one integer, its rank among the constants that
any profile compares the slot with (Tatbul 2001, 4.1.2: elementary intervals).

    Constants(numbers=(10, 30), strings=("Acme",)), n_ranks = 12

    NULL  NUMBER                     STRING               BOOL DATE TIMESTAMP  array, record
     0    1    2    3       4   5    6     7       8       9    10   11          12
          <10  =10  10..30  =30 >30  <Acme =Acme   >Acme   any  any  any

    tests      0 .. n_tests-1: rank tests     n_tests ..: bit tests (pattern or term, and the truth wanted)
    entries    conjunctions of tests, with a residual where more is to be checked; entry -> profiles

Invariant: an image is never changed. A profile matches a document iff one of its entries holds:
all tests of the entry hold, and its residual, if any, ends TRUE.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.matchers.betree.tree import Tree
from profilec.runtime.program import JoinTerm, Program
from profilec.values.compare import order_key
from profilec.values.kinds import Date, Kind, Timestamp, Value, kind_of
from profilec.values.patterns import LikePattern
from profilec.values.types import Type

Int32: TypeAlias = NDArray[np.int32]
UInt8: TypeAlias = NDArray[np.uint8]

BIT_PATTERN, BIT_TERM = 0, 1
"""bit_kind: the source is one of `patterns`, one of `terms`."""
WANT_TRUE, WANT_FALSE, WANT_NOT_TRUE, WANT_NOT_FALSE = 0, 1, 2, 3
"""bit_want: the test holds where the source's truth is this."""
OP_TEST, OP_JOIN, OP_JOIN_NOT, OP_JUMP_IF_FALSE, OP_JUMP_IF_TRUE, OP_SET = range(6)
"""residual_code: see `Image.residual_code`."""

KINDS = (Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)
"""Those that have a block of ranks, in the order of the blocks."""
_FEW = 256
"""Constants of an image file up to which ranking makes a tuple of them."""


class Constants:
    """The constants of one slot, each sequence sorted and distinct; dates are days, timestamps nanoseconds.

    Ranks: 0 is NULL; then for each kind, in the order of `Kind`, a block of 2n + 1 ranks
    (gap 0, constant 0, gap 1, … constant n-1, gap n); the last is that of arrays and records.

    Integers of an array, and constants that come from an image file, become tuples when they are asked for; `rank`
    does without, where there are many.

    >>> constants = Constants(numbers=(10, 30), strings=("Acme",))
    >>> [constants.rank(value) for value in (None, 9, 10, 10.5, "Acme", True, [])]
    [0, 1, 2, 3, 7, 9, 12]
    """

    __slots__ = ("_columns", "_first")

    def __init__(
        self,
        numbers: Sequence[int | Decimal] = (),
        strings: Sequence[str] = (),
        booleans: Sequence[bool] = (),
        dates: Sequence[int] = (),
        timestamps: Sequence[int] = (),
    ) -> None:
        self._columns: list[Sequence[Any]] = [numbers, strings, booleans, dates, timestamps]
        first = [0, 1]
        for constants in self._columns:
            first.append(first[-1] + 2 * len(constants) + 1)
        first.append(first[-1] + 1)
        self._first = tuple(first)

    @property
    def numbers(self) -> tuple[int | Decimal, ...]:
        return self.of(Kind.NUMBER)

    @property
    def strings(self) -> tuple[str, ...]:
        return self.of(Kind.STRING)

    @property
    def booleans(self) -> tuple[bool, ...]:
        return self.of(Kind.BOOLEAN)

    @property
    def dates(self) -> tuple[int, ...]:
        return self.of(Kind.DATE)

    @property
    def timestamps(self) -> tuple[int, ...]:
        return self.of(Kind.TIMESTAMP)

    @property
    def n_ranks(self) -> int:
        return self._first[-1]

    def of(self, kind: Kind) -> tuple[Any, ...]:
        """The constants of a kind that has a block."""
        constants = self._columns[kind - 1]
        if type(constants) is not tuple:
            constants = self._columns[kind - 1] = tuple(constants)
        return constants

    def column(self, kind: Kind) -> Sequence[Any]:
        """As `of`, but many integers are in an array (`imagefile.columns.Integers`), and constants of an image file may
        still be a sequence that decodes each when it is asked for."""
        return self._columns[kind - 1]

    def first(self, kind: Kind) -> int:
        """The kind's first rank: its gap 0 (0 for NULL, the last rank of all for OPAQUE)."""
        return self._first[kind]

    def last(self, kind: Kind) -> int:
        """The kind's last rank."""
        return self._first[kind + 1] - 1

    def rank(self, value: Value) -> int:
        """The rank of a value that `values.kinds.from_document` or a program gave; exact."""
        kind = kind_of(value)
        if kind is Kind.NULL:
            return 0
        if kind is Kind.OPAQUE:
            return self._first[Kind.OPAQUE]
        constants = self._columns[kind - 1]
        if not constants:
            return self._first[kind]
        if type(constants) is not tuple and len(constants) <= _FEW:
            constants = self.of(kind)
        match value:
            case Date():
                key: Any = value.days
            case Timestamp():
                key = value.nanos
            case _:
                key = order_key(value)
        constants = getattr(constants, "view", constants)  # PERF: of integers in an array
        below = bisect_left(constants, key)
        return self._first[kind] + below + bisect_right(constants, key, below)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constants):
            return NotImplemented
        return all(self.of(kind) == other.of(kind) for kind in KINDS)

    def __hash__(self) -> int:
        return hash(tuple(self.of(kind) for kind in KINDS))

    def __repr__(self) -> str:
        return f"Constants({', '.join(f'{kind.name.lower()}s={self.of(kind)!r}' for kind in KINDS)})"


@dataclass(frozen=True, slots=True)
class Slot:
    """One attribute, plain or derived, whose rank is computed once per document.

    `program` gives the value. `parts` is set where the program is just that attribute, read as `type_`.
    """

    name: str
    program: Program
    parts: tuple[str, ...] | None
    type_: Type | None
    constants: Constants


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern leaf on a slot's string: LIKE or an RE2 regex, the other is None.

    Case folding is already in the slot's program and in the pattern.
    """

    slot: int
    like: LikePattern | None
    regex: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """A compiled set of profiles. Offsets (`_off`) have one more element than what they cut.

    Arrays are contiguous and read-only. In an image that was loaded, the sequences decode what is asked for.
    A field's metadata `matching`, which is True where there is none, tells whether matching reads it.

    Rank test t holds iff the rank of slot `test_slot[t]` is in one of the closed intervals
    `test_low[i], test_high[i]`, i in `test_off[t] .. test_off[t+1]`, sorted and disjoint.
    Bit test n_tests + b holds iff the truth of its source is the one wanted; a pattern asked of
    what is no string is UNKNOWN.
    `entry_access[e]`: the test by which the entry is to be found, or -1.
    `tree` has the entries, but for those whose residual is an AND of joins: where there are such, `join_tree` has them.
    Residual r is the rows `residual_off[r] .. residual_off[r+1]` of `residual_code`, each (op, argument), over one
    truth register, whose last content is the answer:

        OP_TEST test | OP_JOIN join | OP_JOIN_NOT join     set the register
        OP_JUMP_IF_FALSE row | OP_JUMP_IF_TRUE row         to a row of this residual; one past its last row ends it
        OP_SET 0 or 1
    """

    n_profiles: int
    slots: Sequence[Slot]
    test_slot: Int32
    test_off: Int32
    test_low: Int32
    test_high: Int32
    bit_kind: UInt8
    bit_source: Int32
    bit_want: UInt8
    patterns: Sequence[Pattern]
    terms: Sequence[Program]
    joins: Sequence[JoinTerm]
    entry_off: Int32
    entry_tests: Int32
    entry_access: Int32
    entry_residual: Int32
    entry_profile_off: Int32
    entry_profiles: Int32
    residual_off: Int32
    residual_code: Int32
    term_names: Sequence[str] = ()
    join_names: Sequence[str] = ()
    tree: Tree | None = None
    join_tree: Tree | None = None

    def __post_init__(self) -> None:
        for field_ in fields(self):
            value = getattr(self, field_.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field_.name, read_only(value))

    @property
    def n_tests(self) -> int:
        """The number of rank tests; bit tests are numbered from here."""
        return len(self.test_slot)

    @property
    def n_ranks(self) -> Int32:
        """Of each slot, and of pseudo-slots: of each pattern, 1 where it matches; of each term, 1 where it is TRUE."""
        n_pseudo = len(self.patterns) + len(self.terms)
        return np.array([*(slot.constants.n_ranks for slot in self.slots), *[2] * n_pseudo], np.int32)

    @property
    def first_term_slot(self) -> int:
        """The pseudo-slot of term 0."""
        return len(self.slots) + len(self.patterns)

    @property
    def n_entries(self) -> int:
        return len(self.entry_off) - 1

    def check_lengths(self) -> None:
        """Raises ValueError where the arrays' types and lengths contradict one another; reads none of them whole."""
        for name, dtype in _DTYPES.items():
            array = getattr(self, name)
            _require(array.dtype == dtype, f"{name} is {array.dtype}, not {np.dtype(dtype)}")
        for name in ("entry_off", "residual_off"):
            _require(len(getattr(self, name)) > 0, f"{name} is empty")
        _require(self.n_profiles >= 0, f"{self.n_profiles} profiles")
        n_bits, n_entries = len(self.bit_kind), self.n_entries
        for name, n, total in (
            ("test_off", self.n_tests, len(self.test_low)),
            ("entry_off", n_entries, len(self.entry_tests)),
            ("entry_profile_off", n_entries, len(self.entry_profiles)),
            ("residual_off", len(self.residual_off) - 1, len(self.residual_code)),
        ):
            offsets = getattr(self, name)
            whole = len(offsets) == n + 1 and offsets[0] == 0 and offsets[-1] == total
            _require(bool(whole), f"{name} does not cut {total} elements into {n} parts")
        for lengths, length, name in (
            ((len(self.test_high),), len(self.test_low), "test_high"),
            ((len(self.bit_source), len(self.bit_want)), n_bits, "bit_source, bit_want"),
            ((len(self.entry_access), len(self.entry_residual)), n_entries, "entry_access, entry_residual"),
            ((len(self.term_names) or len(self.terms),), len(self.terms), "term_names"),
            ((len(self.join_names) or len(self.joins),), len(self.joins), "join_names"),
        ):
            _require(set(lengths) == {length}, f"{name} have lengths {lengths}, not {length}")
        _require(self.residual_code.ndim == 2 and self.residual_code.shape[1] == 2, "residual_code has not two columns")

    def check(self) -> None:
        """Raises ValueError where the arrays contradict one another; used by tests after lowering, and by `verify`."""
        self.check_lengths()
        n_tests, n_bits = self.n_tests, len(self.bit_kind)
        for name in ("test_off", "entry_off", "entry_profile_off", "residual_off"):
            _require(bool((np.diff(getattr(self, name)) >= 0).all()), f"{name} does not ascend")
        n_residuals = len(self.residual_off) - 1
        _check_range("test_slot", self.test_slot, 0, len(self.slots))
        _check_range("bit_kind", self.bit_kind, 0, 2)
        _check_range("bit_want", self.bit_want, 0, 4)
        _check_range("entry_tests", self.entry_tests, 0, n_tests + n_bits)
        _check_range("entry_access", self.entry_access, -1, n_tests + n_bits)
        _check_range("entry_residual", self.entry_residual, -1, n_residuals)
        _check_range("entry_profiles", self.entry_profiles, 0, self.n_profiles)
        for kind, sources, name in ((BIT_PATTERN, self.patterns, "patterns"), (BIT_TERM, self.terms, "terms")):
            _check_range(f"bit_source of {name}", self.bit_source[self.bit_kind == kind], 0, len(sources))
        for pattern in self.patterns:
            _require(0 <= pattern.slot < len(self.slots), f"{pattern} names no slot")
            _require((pattern.like is None) != (pattern.regex is None), f"{pattern} is not one of LIKE and regex")
        self._check_constants()
        self._check_intervals()
        self._check_residuals()

    def _check_constants(self) -> None:
        for slot in self.slots:
            for kind in KINDS:
                constants = slot.constants.column(kind)
                ascending = all(left < right for left, right in pairwise(constants))
                _require(ascending, f"the {kind.name} constants of slot {slot.name} do not ascend")
            if slot.parts is not None:
                _require(
                    slot.program == (("attribute", 0, slot.parts, slot.type_),),
                    f"the program of slot {slot.name} is not just its attribute",
                )

    def _check_intervals(self) -> None:
        low, high = self.test_low, self.test_high
        _require(len(low) == len(high), "test_low and test_high differ in length")
        test_ids = np.repeat(np.arange(self.n_tests), np.diff(self.test_off))
        n_ranks = np.array([slot.constants.n_ranks for slot in self.slots] or [0])
        _require(bool((low <= high).all()), "a rank interval is empty")
        _require(bool((low >= 0).all()), "a rank is negative")
        if self.n_tests:
            _require(bool((high < n_ranks[self.test_slot[test_ids]]).all()), "a rank is beyond its slot's last")
        same = test_ids[1:] == test_ids[:-1]
        _require(bool((low[1:] > high[:-1])[same].all()), "the rank intervals of a test are not sorted and disjoint")

    def _check_residuals(self) -> None:
        lengths = np.diff(self.residual_off)
        _require(bool((lengths > 0).all()), "a residual is empty")
        ops, arguments = self.residual_code[:, 0], self.residual_code[:, 1]
        _check_range("residual_code, operation", ops, OP_TEST, OP_SET + 1)
        jumps = (ops == OP_JUMP_IF_FALSE) | (ops == OP_JUMP_IF_TRUE)
        # A jump goes forward, and at most one past the residual's last row.
        rows = np.arange(len(ops)) - np.repeat(self.residual_off[:-1], lengths)
        forward = (arguments > rows) & (arguments <= np.repeat(lengths, lengths))
        _require(bool(forward[jumps].all()), "a residual jumps backward, or out of itself")
        bounds = np.full(OP_SET + 1, len(self.joins))
        bounds[[OP_TEST, OP_SET]] = self.n_tests + len(self.bit_kind), 2
        inside = (arguments >= 0) & (arguments < bounds[ops])
        for row in np.flatnonzero(~(inside | jumps))[:1].tolist():
            _require(False, f"row {row} of residual_code has the argument {arguments[row]}")


_DTYPES: dict[str, type] = {
    "test_slot": np.int32,
    "test_off": np.int32,
    "test_low": np.int32,
    "test_high": np.int32,
    "bit_kind": np.uint8,
    "bit_source": np.int32,
    "bit_want": np.uint8,
    "entry_off": np.int32,
    "entry_tests": np.int32,
    "entry_access": np.int32,
    "entry_residual": np.int32,
    "entry_profile_off": np.int32,
    "entry_profiles": np.int32,
    "residual_off": np.int32,
    "residual_code": np.int32,
}


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array as all arrays of an image are: contiguous, and not to be written to. Shares memory where it can."""
    if array.flags.c_contiguous and not array.flags.writeable:
        return array
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def gather(offsets: NDArray[Any], flat: Int32, rows: NDArray[Any]) -> tuple[Int32, NDArray[np.int64]]:
    """The elements of the given rows of a CSR array, row after row, and where each row's begin (n + 1 offsets).

    >>> [part.tolist() for part in gather(np.array([0, 2, 2, 3]), np.array([7, 8, 9]), np.array([2, 0]))]
    [[9, 7, 8], [0, 1, 3]]
    """
    starts = offsets[rows].astype(np.int64)
    lengths = offsets[np.asarray(rows) + 1] - starts
    cut = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(lengths, out=cut[1:])
    positions = np.arange(cut[-1]) + np.repeat(starts - cut[:-1], lengths)
    return flat[positions], cut


def kept_offsets(offsets: NDArray[Any], kept: NDArray[np.bool_]) -> Int32:
    """The offsets of a CSR array after only the elements `kept` remain.

    >>> kept_offsets(np.array([0, 2, 3], np.int32), np.array([True, False, True])).tolist()
    [0, 1, 2]
    """
    before = np.zeros(len(kept) + 1, np.int32)
    np.cumsum(kept, out=before[1:])
    kept_before: Int32 = before[offsets]
    return kept_before


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(f"inconsistent image: {message}")


def _check_range(name: str, array: NDArray[Any], low: int, high: int) -> None:
    inside = len(array) == 0 or bool(array.min() >= low and array.max() < high)
    _require(inside, f"{name} is not within {low}..{high - 1}")
