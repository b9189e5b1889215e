"""Which columns are which attributes.

In: the paths that profiles read (`runtime.reads`), and an Arrow schema. Out: what no column provides, and batches whose
columns have the names that profiles use.

A name is bound exactly, else to the only field that has it without case: that field gets a second name beside its own,
at any depth, through arrays too. The keys of maps, of VARIANT and of JSON are data, and are not bound.

    paths                 price, user.city
    fields                PRICE: bigint, User: struct<City: string>
    given to the matcher  PRICE, price: bigint, User, user: struct<City, city: string>

Columns of VARIANT or of JSON text have values of any kind: rows that have some become documents of Python's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import pyarrow as pa

from profilec.runtime.arrow_values import array_values, is_array, is_string, is_supported
from profilec.runtime.program import Parts
from profilec.spark.any_values import has_variant, is_variant, json_documents, values_of
from profilec.spark.errors import SparkMatchError
from profilec.spark.type_names import type_name, type_of

Missing: TypeAlias = str | tuple[Parts, ...]
"""What to do where no column provides an attribute: as of `register`; or the paths of which that is known."""


@dataclass(slots=True)
class Names:
    """The second names that a field gets, and those of fields within it."""

    own: dict[str, None] = field(default_factory=dict)
    fields: dict[str, Names] = field(default_factory=dict)

    def at(self, names: Iterable[str]) -> Names:
        """Those of a field within this one, by the names that lead there."""
        found = self
        for name in names:
            found = found.fields.setdefault(name, Names())
        return found


@dataclass(frozen=True, slots=True)
class Binding:
    """How batches of one schema are read. `columns`: those that are, by number, ascending, with their second names;
    `is_json`, `variants`: those of them that hold JSON text, or VARIANT somewhere.

    `missing`: paths that no column provides; `ambiguous`: of these, those that several would without case.
    """

    columns: dict[int, Names]
    missing: tuple[Parts, ...]
    ambiguous: dict[Parts, tuple[str, ...]]
    is_json: frozenset[int]
    variants: frozenset[int]

    def documents(self, columns: Sequence[pa.Array], names: Sequence[str], n_rows: int) -> Any:
        """The rows as documents, in a form that `match_batch` takes. `columns`, `names`: all of the schema; those that
        are not read are not looked at.

        Raises:
            RowError: a text is no JSON object.
        """
        if not self.columns:
            return [{}] * n_rows
        labels = [(names[number], *second.own) for number, second in self.columns.items()]
        if not self.is_json and not self.variants:
            arrays = [_renamed(columns[number], second) for number, second in self.columns.items()]
            repeated = [array for array, own in zip(arrays, labels, strict=True) for _ in own]
            return pa.RecordBatch.from_arrays(repeated, names=[label for own in labels for label in own])
        lists = [self._values(_renamed(columns[number], second), number) for number, second in self.columns.items()]
        return [
            {label: value for own, value in zip(labels, row, strict=True) for label in own}
            for row in zip(*lists, strict=True)
        ]

    def among(self, numbers: Sequence[int]) -> Binding:
        """The same where columns stand at their places in `numbers`, and no others are there."""
        place = {number: place for place, number in enumerate(numbers)}
        return replace(
            self,
            columns={place[number]: second for number, second in self.columns.items()},
            is_json=frozenset(place[number] for number in self.is_json),
            variants=frozenset(place[number] for number in self.variants),
        )

    def _values(self, array: pa.Array, number: int) -> list[Any]:
        if number in self.is_json:
            return json_documents(array)
        return values_of(array) if number in self.variants else array_values(array)


def bind(paths: Iterable[Parts], schema: pa.Schema, json: Collection[str] = ()) -> Binding:
    """`json`: the names of columns that hold JSON objects as text.

    Raises:
        SparkMatchError: two columns have the name of an attribute, or a column that is to hold JSON is no text.
    """
    names: list[str] = schema.names
    is_json = frozenset(number for number, name in enumerate(names) if name in json)
    _expect_text(schema, json)
    columns: dict[int, Names] = {}
    missing: list[Parts] = []
    ambiguous: dict[Parts, tuple[str, ...]] = {}
    for parts in paths:
        found = False
        for name, rest in {".".join(parts): (), parts[0]: parts[1:]}.items():
            numbers = _those_named(names, name)
            if len(numbers) > 1:
                if names[numbers[0]] == name:
                    raise SparkMatchError(f"two columns are named {name!r}; rename one, or select one of them")
                ambiguous[parts] = tuple(names[number] for number in numbers)
                continue
            for number in numbers:
                led = [] if number in is_json else _led(schema.field(number).type, rest)
                if led is None:
                    continue
                found = True
                second = columns.setdefault(number, Names())
                _name(second, names[number], name)
                for depth, (own, wanted) in enumerate(led):
                    if own != wanted:
                        _name(second.at(step for step, _ in led[: depth + 1]), own, wanted)
        if found:
            ambiguous.pop(parts, None)
        else:
            missing.append(parts)
    variants = frozenset(number for number in columns if has_variant(schema.field(number).type))
    ordered = dict(sorted(columns.items()))
    return Binding(ordered, tuple(missing), ambiguous, is_json & columns.keys(), variants)


def _expect_text(schema: pa.Schema, json: Collection[str]) -> None:
    for name in json:
        if name not in schema.names:
            raise SparkMatchError(f"json= names {name!r}; there is no such column, but {_listed(schema.names)}")
        kind = schema.field(schema.names.index(name)).type
        if not is_string(kind):
            raise SparkMatchError(f"json= names {name!r}, which is no STRING but {type_name(kind)}; leave it out")


def _name(second: Names, own: str, wanted: str) -> None:
    if own != wanted:
        second.own[wanted] = None


def expect_supported(binding: Binding, schema: pa.Schema) -> None:
    """Raises SparkMatchError where a column that is read has a type that no document's value can have."""
    for number in binding.columns:
        found = schema.field(number)
        if not is_supported(found.type):
            raise SparkMatchError(
                f"the column {schema.names[number]!r} is of the type {type_of(found)}, and an attribute is a number, "
                f"string, boolean, date, timestamp, array or record; CAST it, or leave it out"
            )


def expect_provided(binding: Binding, columns: Sequence[str], missing: Missing, of: str = "") -> None:
    """Says, or with `missing` "error" refuses, that no column provides some attributes. `of`: how the text begins."""
    if not isinstance(missing, str):
        _expect_known(binding, missing)
        return
    text = told_missing(binding, columns) if missing != "null" else ""
    text = text and of + text
    if text and missing == "error":
        raise SparkMatchError(text + "; select a column of that name, or pass missing='null'")
    if text:
        warnings.warn(text + "; it is NULL in all rows", stacklevel=2)


def _expect_known(binding: Binding, missing: Collection[Parts]) -> None:
    """The columns were chosen for a set that misses these paths; another image may have come to its path."""
    others = [".".join(parts) for parts in binding.missing if parts not in missing]
    if others:
        raise SparkMatchError(
            f"the image was replaced by one that asks for {', '.join(others[:5])}, of which no column is read: call "
            f"match again, which chooses the columns"
        )


def told_missing(binding: Binding, columns: Sequence[str]) -> str:
    """Which attributes no column provides; "" where each is provided."""
    if not binding.missing:
        return ""
    names = [".".join(parts) for parts in binding.missing]
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    several = "; ".join(
        f"{'.'.join(parts)} could be {' or '.join(found)}" for parts, found in binding.ambiguous.items()
    )
    return (
        f"no column provides {', '.join(names[:5])}{more}; the columns are {', '.join(columns[:20])}"
        + (" …" if len(columns) > 20 else "")
        + (f" ({several})" if several else "")
    )


def path_type(parts: Parts, schema: pa.Schema, json: Collection[str] = ()) -> pa.DataType | None:
    """The Arrow type of what a path leads to; None where that is not known, or differs from row to row."""
    names: list[str] = schema.names
    for name, rest in {".".join(parts): (), parts[0]: parts[1:]}.items():
        numbers = _those_named(names, name)
        if len(numbers) == 1 and name not in json:
            kind, crosses = schema.field(numbers[0]).type, False
            for own, _ in (led := _led(kind, rest)) or ():
                while is_array(kind):
                    kind, crosses = kind.value_type, True
                kind = kind.field(own).type
            if led is None or len(led) < len(rest):
                return None
            return pa.list_(kind) if crosses else kind
    return None


def _those_named(names: Sequence[str], wanted: str) -> list[int]:
    """The fields of that name; those that have it without case where none has."""
    exact = [number for number, name in enumerate(names) if name == wanted]
    folded = wanted.casefold()
    return exact or [number for number, name in enumerate(names) if name.casefold() == folded]


def _led(kind: pa.DataType, parts: Parts) -> list[tuple[str, str]] | None:
    """The fields that a path leads through, each with the name that the path has for it; None where it ends."""
    led: list[tuple[str, str]] = []
    for part in parts:
        while is_array(kind):
            kind = kind.value_type
        if pa.types.is_map(kind) or is_variant(kind):
            return led
        if not pa.types.is_struct(kind):
            return None
        names = [kind.field(number).name for number in range(kind.num_fields)]
        numbers = _those_named(names, part)
        if len(numbers) != 1:
            return None
        led.append((names[numbers[0]], part))
        kind = kind.field(numbers[0]).type
    return led


def _renamed(array: pa.Array, second: Names) -> pa.Array:
    """The array, its fields with their second names."""
    if not second.fields:
        return array
    kind = array.type
    mask = array.is_null() if array.null_count else None
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(_renamed(array.flatten(), second), kind.list_size, mask=mask)
    if is_array(kind):
        inner = _renamed(array.values, second)
        new = pa.large_list(inner.type) if pa.types.is_large_list(kind) else pa.list_(inner.type)
        own = array.buffers()[:2]
        return pa.Array.from_buffers(new, len(array), own, array.null_count, array.offset, children=[inner])
    children, fields = [], []
    for number in range(kind.num_fields):
        name, of_field = kind.field(number).name, second.fields.get(kind.field(number).name, Names())
        child = _renamed(array.field(number), of_field)
        for label in (name, *of_field.own):
            children.append(child)
            fields.append(pa.field(label, child.type, metadata=kind.field(number).metadata))
    return pa.StructArray.from_arrays(children, fields=fields, mask=mask)


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
