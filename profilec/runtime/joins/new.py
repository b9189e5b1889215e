"""New documents as the store is asked about them: what expressions over them are, each found once.

One alone, or those of a batch, of which an expression is found for all at once.

Invariant: what is said of a document of a batch is what is said of it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.arrow_values import array_values, is_string, null_mask, words
from profilec.runtime.columns import Frame, distinct, find
from profilec.runtime.image import Int32
from profilec.runtime.program import Document, Program, run
from profilec.runtime.store.columns import Asked, Column
from profilec.runtime.store.order_keys import OrderKey, order_key64, order_keys_of_words
from profilec.values.kinds import Kind, Value, from_document

_NUMBERS = ("int", "uint", "double")


class NewDocument:
    """The new document: what expressions over it are, each found once."""

    __slots__ = ("_asked", "document", "groups")

    def __init__(self, document: Document) -> None:
        self.document = document
        self._asked: dict[int, Asked] = {}
        self.groups: dict[tuple[int, ...], int] = {}
        """The groups of the store that it has been found to belong to, by who asked."""

    def asked(self, program: Program) -> Asked:
        """The value of an expression. (By the identity of the program: a table of joins keeps each once.)"""
        asked = self._asked.get(id(program))
        if asked is None:
            asked = self._asked[id(program)] = Asked(run(program, self.document))
        return asked


class AskedMany(NamedTuple):
    """The order keys of an expression's values, one for each document; see `order_keys`."""

    kinds: NDArray[np.uint8]
    keys: NDArray[np.int64]
    is_exact: NDArray[np.bool_]


class NewDocuments:
    """Some documents: rows of a table, or mappings."""

    def __init__(self, n: int, frame: Frame | None, document: Callable[[int], Document]) -> None:
        """`frame`: the table, where they are of one; `document` gives each alone, should it be needed."""
        self.n = n
        self._frame = frame
        self._document = document
        self._alone: dict[int, NewDocument] = {}
        self._asked: dict[int, AskedMany] = {}
        self._values: dict[int, tuple[list[Value], NDArray[np.int64] | None]] = {}

    def alone(self, number: int) -> NewDocument:
        """One of them."""
        new = self._alone.get(number)
        if new is None:
            new = self._alone[number] = NewDocument(self._document(number))
        return new

    def asked(self, program: Program) -> AskedMany:
        """The order keys of an expression."""
        asked = self._asked.get(id(program))
        if asked is None:
            asked = self._asked[id(program)] = self._of_words(program) or self._of_values(program)
        return asked

    def codes(self, program: Program, column: Column) -> Int32:
        """The codes that a column has for the values of an expression; -1 where it has none."""
        values, positions = self.distinct(program)
        codes = column.codes_of(values)
        return codes if positions is None else codes[positions]

    def _column(self, program: Program) -> Any:
        """The Arrow array of a plain attribute; None where the values are to be asked one by one."""
        if self._frame is None or len(program) != 1 or program[0][0] != "attribute" or program[0][3] is not None:
            return None
        found = find(self._frame, program[0][2])
        return found[0] if len(found) == 1 and not isinstance(found[0], list) else None

    def _of_words(self, program: Program) -> AskedMany | None:
        column = self._column(program)
        if column is None or not str(column.type).startswith(_NUMBERS):
            return None
        numbers = words(column)
        if numbers is None or numbers.dtype.kind not in "if":
            return None
        keys, is_exact = order_keys_of_words(numbers)
        kinds = np.full(self.n, Kind.NUMBER, np.uint8)
        if column.null_count:
            kinds[null_mask(column)] = Kind.NULL
        if numbers.dtype.kind == "f":
            kinds[np.isnan(numbers)] = Kind.NULL
        return AskedMany(kinds, keys, is_exact)

    def _of_values(self, program: Program) -> AskedMany:
        values, positions = self.distinct(program)
        keys = _order_keys(values)
        every = slice(None) if positions is None else positions
        return AskedMany(
            np.array([key.kind for key in keys], np.uint8)[every],
            np.array([key.key for key in keys], np.int64)[every],
            np.array([key.is_exact for key in keys], np.bool_)[every],
        )

    def distinct(self, program: Program) -> tuple[list[Value], NDArray[np.int64] | None]:
        """Values, and the place of each document's among them; None where there is one for each."""
        known = self._values.get(id(program))
        if known is None:
            column = self._column(program)
            if column is None:
                known = [self.alone(number).asked(program).value for number in range(self.n)], None
            elif is_string(column.type) or str(column.type) == "int64":
                known = array_values(column), None
            else:
                values, positions = distinct(column)
                known = [from_document(value) for value in values], positions
            self._values[id(program)] = known
        return known


def _order_keys(values: list[Value]) -> list[OrderKey]:
    if all(type(value) is str for value in values):  # PERF: each text once; of others, equal ones may be of two kinds
        known = {value: order_key64(value) for value in set(cast("list[str]", values))}
        return [known[cast(str, value)] for value in values]
    return [order_key64(value) for value in values]
