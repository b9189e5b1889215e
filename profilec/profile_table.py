"""The profiles of a set as columns: ids, texts, places, and what only some of them have.

In: lists that a compilation collected, or the sections of an image. Out: the same columns, whichever it was; what comes
from an image is decoded when it is asked for, and an id is found by binary search in the file.

Invariant: columns never change. The ordinal of a profile is its place in all of them.
"""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from profilec.grammar.statements import Example
from profilec.runtime.imagefile.columns import Decoded, Strings
from profilec.runtime.imagefile.container import ImageFile, NewSection, refusal
from profilec.runtime.imagefile.sections import reader
from profilec.runtime.imagefile.tokens import NotKeptError, dumps, loads

T = TypeVar("T")
Place: TypeAlias = tuple[str | None, int, int]
Int32: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Places:
    """Where the conditions stand: the number of the file, line and column of each; int32."""

    files: tuple[str | None, ...]
    file: Int32
    line: Int32
    column: Int32

    def __getitem__(self, ordinal: int) -> Place:
        return self.files[self.file[ordinal]], int(self.line[ordinal]), int(self.column[ordinal])


class PlacesInMaking:
    """Places, while profiles are still added: columns, so that a million of them cost no million objects."""

    def __init__(self) -> None:
        self.files: dict[str | None, int] = {}
        self.file = array("i")
        self.line = array("i")
        self.column = array("i")

    def add(self, file: str | None, line: int, column: int) -> None:
        self.file.append(self.files.setdefault(file, len(self.files)))
        self.line.append(line)
        self.column.append(column)

    def line_of(self, ordinal: int) -> tuple[str | None, int]:
        """The file and line of a profile added before."""
        return list(self.files)[self.file[ordinal]], self.line[ordinal]

    def columns(self) -> Places:
        """All places; none can be added any more."""
        file, line, column = (np.frombuffer(column, np.int32) for column in (self.file, self.line, self.column))
        return Places(tuple(self.files), file, line, column)


@dataclass(frozen=True, slots=True, eq=False)
class ProfileTable:
    """`properties`, `comments` and `examples` are by ordinal, of the profiles that have some."""

    ids: Strings
    wheres: Strings
    places: Places
    index: dict[str, int] | SortedIds
    """Finds the ordinal of an id."""
    properties: Mapping[int, Mapping[str, Any]]
    comments: Mapping[int, str]
    examples: Mapping[int, tuple[Example, ...]]

    def ordinal(self, id: object) -> int | None:
        """The ordinal of the profile of an id; None where there is none."""
        return self.index.get(id) if isinstance(id, str) else None

    def ordinals(self, ids: list[str]) -> Int32:
        """Those of some ids; -1 where there is none."""
        if isinstance(self.index, SortedIds):
            return self.index.get_many(ids)
        return np.fromiter(map(self.index.get, ids, repeat(-1)), np.int32, len(ids))

    def objects(self) -> list[list[Any] | dict[Any, Any]]:
        """What has an object of Python's for each profile."""
        return [one for one in (self.ids.texts, self.wheres.texts, self.index) if isinstance(one, list | dict)]

    def sections(self) -> list[NewSection]:
        """The table as sections of an image.

        Raises:
            TypeError: a property is a value that no image keeps.
        """
        places = self.places
        return [
            *self.ids.sections("ids", matching=False),
            NewSection("ids.order", _order_of(self), matching=False),
            *self.wheres.sections("wheres", matching=False),
            NewSection("places.file", places.file, matching=False),
            NewSection("places.line", places.line, matching=False),
            NewSection("places.column", places.column, matching=False),
            *_sparse_sections("properties", self.properties, self._properties_text),
            *_sparse_sections("comments", self.comments, lambda ordinal, comment: comment),
            *_sparse_sections("examples", self.examples, lambda ordinal, examples: examples_text(examples)),
        ]

    def _properties_text(self, ordinal: int, properties: Mapping[str, Any]) -> str:
        try:
            return dumps(dict(properties))
        except NotKeptError as error:
            raise NotKeptError(f"the properties of profile {self.ids[ordinal]!r}: {error}") from None


def read_table(file: ImageFile, files: tuple[str | None, ...]) -> ProfileTable:
    """The table of an image; `files` are those that places number.

    Raises:
        ImageError: a section is missing, or of a type or length that it cannot have.
    """
    ids, wheres = Strings.read(file, "ids"), Strings.read(file, "wheres")
    order = file.array("ids.order", np.int32)
    places = Places(files, *[file.array(f"places.{name}", np.int32) for name in ("file", "line", "column")])
    columns = {"wheres": wheres, "ids.order": order, "places.file": places.file}
    columns |= {"places.line": places.line, "places.column": places.column}
    for name, column in columns.items():
        if len(column) != len(ids):
            raise refusal(file.name, f"its section {name} is of {len(column):,} profiles, not of {len(ids):,}")
    return ProfileTable(
        ids,
        wheres,
        places,
        SortedIds(ids, order),
        SparseColumn(file, "properties", _properties_of),
        SparseColumn(file, "comments", str),
        SparseColumn(file, "examples", examples_of),
    )


def united_table(tables: Sequence[ProfileTable], numbers: Sequence[Int32]) -> ProfileTable:
    """What is left of some tables as one; `numbers[i][p]` is the new ordinal of profile p of table i, or negative."""
    chosen = [np.flatnonzero(number >= 0) for number in numbers]
    n = sum(map(len, chosen))
    ids, wheres = np.empty((2, n), object)
    file, line, column = np.empty((3, n), np.int32)
    files: dict[str | None, int] = {}
    sparse: tuple[dict[int, Any], ...] = ({}, {}, {})
    for table, number, own in zip(tables, numbers, chosen, strict=True):
        new, places = number[own], table.places
        ids[new], wheres[new] = table.ids.take(own), table.wheres.take(own)
        of_file = np.array([files.setdefault(one, len(files)) for one in places.files], np.int32)
        file[new], line[new], column[new] = of_file[places.file[own]], places.line[own], places.column[own]
        for united, of in zip(sparse, (table.properties, table.comments, table.examples), strict=True):
            united.update({int(number[ordinal]): of[ordinal] for ordinal in of if number[ordinal] >= 0})
    properties, comments, examples = ({ordinal: of[ordinal] for ordinal in sorted(of)} for of in sparse)
    names: list[str] = ids.tolist()
    return ProfileTable(
        Strings(names),
        Strings(wheres.tolist()),
        Places(tuple(files), file, line, column),
        dict(zip(names, range(n), strict=True)),
        properties,
        comments,
        examples,
    )


class SortedIds:
    """Ordinals in the order of their ids."""

    __slots__ = ("_columns", "_ids", "order")

    def __init__(self, ids: Strings, order: Int32) -> None:
        self._ids = ids
        self.order = order
        off, data = ids.columns()
        self._columns = off, np.frombuffer(data, np.uint8)

    def get(self, id: str, /) -> int | None:
        """The ordinal of an id; None where there is none."""
        wanted = id.encode("utf-8", "surrogatepass")
        ids, order = self._ids, self.order
        if len(order) > _FEW and wanted and "profilec.runtime.kernels" in sys.modules:  # PERF: a tenth of the time
            from profilec.runtime.text_kernels import find_text

            ordinal = find_text(order, *self._columns, np.frombuffer(wanted, np.uint8))
            return None if ordinal < 0 else ordinal
        place = bisect_left(range(len(order)), wanted, key=lambda place: ids.raw(int(order[place])))
        if place == len(order):
            return None
        ordinal = int(order[place])
        return ordinal if ids.raw(ordinal) == wanted else None

    def get_many(self, ids: list[str]) -> Int32:
        """The ordinals of ids; -1 where there is none."""
        found = np.empty(len(ids), np.int32)
        if len(self.order) > _FEW and any(ids) and "profilec.runtime.kernels" in sys.modules:  # PERF: as for one
            from profilec.runtime.text_kernels import find_texts

            off, data = Strings(ids).columns()
            find_texts(self.order, *self._columns, off, np.frombuffer(data, np.uint8), found)
        else:
            for number, id in enumerate(ids):
                ordinal = self.get(id)
                found[number] = -1 if ordinal is None else ordinal
        return found


class SparseColumn(Mapping[int, T], Generic[T]):
    """What some profiles have, read from an image: their ordinals, ascending, and a text for each."""

    __slots__ = ("ordinals", "values_")

    def __init__(self, file: ImageFile, name: str, decode: Callable[[str], T]) -> None:
        """Of the sections that `_sparse_sections` wrote."""
        self.ordinals: Int32 = file.array(f"{name}.profile", np.int32)
        self.values_ = Decoded(Strings.read(file, name), reader(file.name, name, decode))
        if len(self.ordinals) != len(self.values_):
            raise refusal(file.name, f"its sections {name} are of different lengths")

    def __len__(self) -> int:
        return len(self.ordinals)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ordinals.tolist())

    def __getitem__(self, ordinal: int) -> T:
        place = int(np.searchsorted(self.ordinals, ordinal))
        if place == len(self.ordinals) or self.ordinals[place] != ordinal:
            raise KeyError(ordinal)
        return self.values_[place]


_FEW = 256
"""Ids among which one is found soon enough without a kernel."""
_WIDE = 64


def _order_of(table: ProfileTable) -> Int32:
    """Ordinals in the order of ids. PERF: of short ids as an array of bytes, which is sorted while others run."""
    if isinstance(table.index, SortedIds):
        return table.index.order
    off, data = table.ids.columns()
    lengths, raw = np.diff(off), np.frombuffer(data, np.uint8)[off[0] : off[-1]]
    width = int(lengths.max(initial=1))
    if width > _WIDE or not raw.all():
        texts = list(table.ids)
        return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int32)
    padded = np.zeros((len(lengths), width), np.uint8)
    padded[np.arange(width) < lengths[:, np.newaxis]] = raw
    return np.argsort(padded.view(f"S{width}").ravel(), kind="stable").astype(np.int32)


def _sparse_sections(name: str, column: Mapping[int, T], encode: Callable[[int, T], str]) -> list[NewSection]:
    if isinstance(column, SparseColumn):
        ordinals, strings = column.ordinals, column.values_.strings
    else:
        ordinals = np.array(list(column), np.int32)
        strings = Strings([encode(ordinal, value) for ordinal, value in column.items()])
    return [NewSection(f"{name}.profile", ordinals, False), *strings.sections(name, matching=False)]


def _properties_of(text: str) -> Mapping[str, Any]:
    properties = loads(text)
    if type(properties) is not dict:
        raise ValueError("properties that are no mapping")
    return properties


def examples_text(examples: Sequence[Example]) -> str:
    """PERF: `given` is one list for all the examples that follow it, and is written once."""
    givens: list[Any] = []
    rows = []
    for example in examples:
        if not givens or givens[-1] != example.given:
            givens.append(example.given)
        rows.append((example.kind, example.document, len(givens) - 1, example.line, example.column))
    return json.dumps([givens, rows], ensure_ascii=False, separators=(",", ":"))


def examples_of(text: str) -> tuple[Example, ...]:
    try:
        givens, rows = json.loads(text)
        return tuple(
            Example(kind, document, givens[given], line, column) for kind, document, given, line, column in rows
        )
    except (RecursionError, IndexError) as error:
        raise ValueError(f"examples that cannot be read: {error}") from None
