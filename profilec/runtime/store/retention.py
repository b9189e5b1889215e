"""Retention: which documents the store keeps, by their number and by their age, and which it refuses.

In: bounds, and the times of documents in the order in which they come. Out: the documents that are too old by now.
A document's time is a DATE or TIMESTAMP of its own, in nanoseconds; a date is its first instant, as CAST has it. The
limit is the greatest time seen minus the age. Times may come in any order, as long as they are not beyond the limit.

LAYOUT: a heap of (time, serial). A document that is deleted otherwise stays in it until the limit passes it or the
store is rewritten, so that a document costs the logarithm of their number, and no deletion looks at the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from operator import index

from profilec.runtime.program import Program
from profilec.values.dates import add_interval, parse_interval, print_interval, print_timestamp
from profilec.values.kinds import NANOS_PER_DAY, Date, DocumentError, Interval, Kind, Timestamp, Value, kind_of
from profilec.values.types import Schema, Type

_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Retention:
    """Bounds: at most so many documents, none older than so long by the attribute that tells the time; None for no
    bound."""

    max_documents: int | None = None
    max_age: Interval | None = None
    age_of: str | None = None
    type_: Type | None = None
    """What SCHEMA declares the attribute to be."""

    @property
    def time(self) -> Program:
        """The program that gives a document's time."""
        return (("attribute", 1, tuple((self.age_of or "").split(".")), self.type_),)


def read_retention(max_documents: object, max_age: object, age_of: object, schema: Schema | None) -> Retention:
    """The bounds as `DocumentStore.retain` takes them.

    >>> read_retention(1000, "1 month", "sold_at", None).max_age
    Interval(months=1, days=0, nanos=0)

    Raises:
        ValueError, TypeError: they make no sense; the message says what may be given.
    """
    n = _count(max_documents)
    if max_age is None and age_of is None:
        return Retention(n)
    if max_age is None:
        raise ValueError("age_of tells a document's age, and max_age is missing: as in max_age='7 days'")
    if age_of is None:
        raise ValueError("max_age needs age_of, the attribute that tells a document's time: as in age_of='sold_at'")
    if not isinstance(age_of, str):
        raise TypeError(f"age_of takes the name of an attribute, as 'sold_at', not {type(age_of).__name__}")
    if not all(age_of.split(".")):
        raise ValueError(f"age_of takes the name of an attribute, as 'sold_at' or 'sale.at', not {age_of!r}")
    return Retention(n, _age(max_age), age_of, _declared(age_of, schema))


def _count(max_documents: object) -> int | None:
    if max_documents is None:
        return None
    try:
        n = None if isinstance(max_documents, bool) else index(max_documents)  # type: ignore[arg-type]
    except TypeError:
        n = None
    if n is None:
        raise TypeError(f"max_documents takes a number of documents, not {type(max_documents).__name__}")
    if n < 1:
        raise ValueError(f"max_documents takes 1 or more, not {n}")
    return n


def _age(max_age: object) -> Interval:
    if not isinstance(max_age, str):
        raise TypeError(f"max_age takes the text of an interval, as '7 days', not {type(max_age).__name__}")
    try:
        age = parse_interval(max_age)
    except ValueError as error:
        raise ValueError(f"max_age: {error}") from None
    if min(age.months, age.days, age.nanos) < 0:
        raise ValueError(f"max_age: {max_age!r} goes back; no part of an age is negative")
    return age


def _declared(age_of: str, schema: Schema | None) -> Type | None:
    if schema is None:
        return None
    type_ = schema.type_of(tuple(age_of.split(".")))
    if type_ is None:
        raise ValueError(f"age_of: SCHEMA has no attribute {age_of}")
    if type_.kind not in _MOMENTS:
        raise ValueError(f"age_of asks a date or timestamp; SCHEMA says that {age_of} is {type_}")
    return type_


class Ages:
    """The times of a store's documents. `is_whole`: every document that is not deleted is in it.

    Invariant: `admit` changes nothing, so that what it refuses leaves all as it was.
    """

    __slots__ = ("_age", "_heap", "_retention", "generation", "greatest", "is_whole")

    def __init__(self, retention: Retention, greatest: int | None = None) -> None:
        assert retention.max_age is not None
        self._retention = retention
        self._age = retention.max_age
        self._heap: list[tuple[int, int]] = []
        self.greatest = greatest
        """The greatest time seen, of documents that are deleted, too."""
        self.generation = 0
        """That of the store whose serials these are."""
        self.is_whole = False

    def fill(self, times: Sequence[int], serials: Iterable[int], generation: int) -> None:
        """The documents that there are, anew."""
        self._heap = list(zip(times, serials, strict=True))
        heapify(self._heap)
        self._see(times)
        self.generation = generation
        self.is_whole = True

    def add(self, times: Sequence[int], first: int) -> None:
        """Documents that `admit` let in, from serial `first` on."""
        for serial, time in enumerate(times, first):
            heappush(self._heap, (time, serial))
        self._see(times)

    def expired(self) -> list[int]:
        """Takes out the documents that are beyond the limit; of these some may be deleted already."""
        serials: list[int] = []
        limit = self._limit(self.greatest)
        while limit is not None and self._heap and self._heap[0][0] < limit:
            serials.append(heappop(self._heap)[1])
        return serials

    def time_of(self, value: Value) -> int:
        """The time that a value tells. Raises DocumentError where it is no date and no timestamp."""
        match value:
            case Timestamp(nanos):
                return nanos
            case Date(days):
                return days * NANOS_PER_DAY
        name = self._retention.age_of
        if value is None:
            raise DocumentError(f"attribute {name!r} is missing, which tells the age of a document")
        kind = "n array or record" if kind_of(value) is Kind.OPAQUE else f" {kind_of(value).name.lower()}"
        hint = ""
        if isinstance(value, str):
            hint = "; SCHEMA can declare it" if self._retention.type_ is None else ", and no ISO text of one"
        raise DocumentError(f"attribute {name!r} is a{kind}, not a date or timestamp{hint}")

    def admit(self, value: Value) -> int:
        """The time of a document that is to be added next.

        Raises:
            DocumentError: its time is none, or beyond the limit.
        """
        return self._admit(value, self.greatest)

    def admit_all(self, values: Iterable[Value]) -> list[int]:
        """The times of documents that are to be added one after another; as `admit`, which document is said."""
        times: list[int] = []
        greatest = self.greatest
        for number, value in enumerate(values):
            try:
                time = self._admit(value, greatest)
            except DocumentError as error:
                raise DocumentError(f"document {number}: {error}") from None
            times.append(time)
            greatest = time if greatest is None else max(greatest, time)
        return times

    def _admit(self, value: Value, greatest: int | None) -> int:
        time = self.time_of(value)
        if greatest is None or time >= greatest:
            return time
        limit = self._limit(greatest)
        if limit is not None and time < limit:
            raise DocumentError(
                f"attribute {self._retention.age_of!r}: {_text(time)} is more than {print_interval(self._age)} "
                f"before {_text(greatest)}, the latest seen, and too old to be kept"
            )
        return time

    def _limit(self, greatest: int | None) -> int | None:
        """The least time that is kept; None where there is none, or it lies before the calendar."""
        moved = None if greatest is None else add_interval(Timestamp(greatest), self._age, -1)
        return moved.nanos if isinstance(moved, Timestamp) else None

    def _see(self, times: Sequence[int]) -> None:
        latest = max(times, default=self.greatest)
        if latest is not None and (self.greatest is None or latest > self.greatest):
            self.greatest = latest


def _text(time: int) -> str:
    return print_timestamp(Timestamp(time)) or f"{time} ns since 1970"
