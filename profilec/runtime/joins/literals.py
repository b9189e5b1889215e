"""Residuals that are an AND of join terms, negated or not: what entries ask of the join table, as columns.

In: an image. Out: which entries ask joins alone, once their tests hold; and of each entry its literals. A literal is a
join term and whether it is to hold. Each entry that asks joins alone is filed under one of its literals, so that
where joins come first, the entries whose joins hold are found by the literals that do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import OP_JOIN, OP_JOIN_NOT, OP_JUMP_IF_FALSE, Image, Int32, gather, kept_offsets


def asks_joins_alone(image: Image) -> NDArray[np.bool_]:
    """Per entry, whether its residual is an AND of joins."""
    if not len(image.joins):
        return np.zeros(image.n_entries, np.bool_)
    is_plain: NDArray[np.bool_] = np.append(_is_plain(image.residual_code, image.residual_off), False)
    return is_plain[image.entry_residual]


class Literals:
    """The literals of all entries, and the entries that ask joins alone by one of theirs."""

    def __init__(self, alone: NDArray[np.bool_], rows: Int32, off: NDArray[Any], numbers: Int32) -> None:
        """`alone`: per entry, whether it asks joins alone. `rows`: per entry its row of a CSR array of literals, -1 for
        none. A literal is 2 * join + (whether it is to hold)."""
        self.alone = alone
        self._rows = rows
        self._off = off
        self._numbers = numbers
        self._file(np.flatnonzero(alone).astype(np.int32))

    @classmethod
    def of_image(cls, image: Image) -> Literals:
        """Those of the residuals: rows are these."""
        code = image.residual_code
        is_join = (code[:, 0] == OP_JOIN) | (code[:, 0] == OP_JOIN_NOT)
        numbers = (2 * code[is_join, 1] + (code[is_join, 0] == OP_JOIN)).astype(np.int32)
        return cls(asks_joins_alone(image), image.entry_residual, kept_offsets(image.residual_off, is_join), numbers)

    def without(self, replaced: NDArray[np.bool_]) -> Literals:
        """Those left to ask. `replaced`: of the literals of all entries that ask joins alone, which are not."""
        entries = np.flatnonzero(self.alone).astype(np.int32)
        numbers, cut = self.of(entries)
        rows = self._rows.copy()
        rows[entries] = len(self._off) - 1 + np.arange(len(entries), dtype=np.int32)
        left = kept_offsets(cut, ~replaced)
        off = np.concatenate((self._off, self._off[-1] + left[1:]))
        return Literals(self.alone, rows, off, np.concatenate((self._numbers, numbers[~replaced])))

    def of(self, entries: Int32) -> tuple[Int32, NDArray[np.int64]]:
        """The literals of entries, and what cuts them."""
        rows = self._rows[entries]
        has = np.flatnonzero(rows >= 0)
        found, cut = gather(self._off, self._numbers, rows[has])
        sizes = np.zeros(len(entries), np.int64)
        sizes[has] = np.diff(cut)
        return found, np.concatenate(([0], np.cumsum(sizes)))

    def of_one(self, entry: int) -> list[int]:
        """The literals of an entry that asks joins alone."""
        row = self._rows.item(entry)
        found: list[int] = self._numbers[self._off[row] : self._off[row + 1]].tolist()
        return found

    def _file(self, entries: Int32) -> None:
        """Under the literal that fewest entries have; one that is to hold goes before one that is not."""
        numbers, cut = self.of(entries)
        has_some = np.diff(cut) > 0
        self.unfiled = entries[~has_some]
        """The entries that ask joins alone of which none is left to ask."""
        entries, cut = entries[has_some], np.concatenate((cut[:-1][has_some], cut[-1:]))
        n_entries = np.bincount(numbers, minlength=1)
        weight = n_entries[numbers] + np.where(numbers % 2, 0, len(entries) + 1)
        owner = np.repeat(np.arange(len(entries)), np.diff(cut))
        order = np.lexsort((weight, owner))
        chosen = numbers[order[cut[:-1]]] if len(entries) else numbers[:0]
        by_literal = np.argsort(chosen, kind="stable")
        self.used, starts = np.unique(chosen[by_literal], return_index=True)
        """The literals under which entries are filed."""
        self._used_join, self._used_want = self.used >> 1, self.used % 2 == 1
        self._used_off = np.append(starts, len(entries))
        self._filed = entries[by_literal]
        self._files_one = len(self.used) == len(entries)
        self.has_one = bool((np.diff(cut) == 1).all())
        """Whether each of these entries has but one."""

    def holding(self, truths: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of `used` hold. `truths`: of all joins, on the last axis."""
        holds: NDArray[np.bool_] = truths[..., self._used_join] == self._used_want
        return holds

    def held(self, truths: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Documents, and for each the places in `used` of the literals that hold. `truths`: a row for each document."""
        if len(self.used) == 1:  # PERF: a column is read in a fifth of the time
            documents = np.flatnonzero(truths[:, self._used_join.item()] == self._used_want.item())
            return documents, np.zeros_like(documents)
        documents, places = np.nonzero(self.holding(truths))
        return documents, places

    def filed(self, places: NDArray[np.int64], owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], Int32]:
        """The entries filed under the literals at some places of `used`, each with the owner of its literal."""
        if self._files_one:  # PERF: mostly so in small sets
            return owners, self._filed[places]
        entries, cut = gather(self._used_off, self._filed, places)
        return np.repeat(owners, np.diff(cut)), entries


def _is_plain(code: Int32, off: Int32) -> NDArray[np.bool_]:
    """Per residual, whether it is joins with a jump to the end between them."""
    lengths = np.diff(off)
    rows = np.arange(len(code)) - np.repeat(off[:-1], lengths)
    is_join = (code[:, 0] == OP_JOIN) | (code[:, 0] == OP_JOIN_NOT)
    is_jump = (code[:, 0] == OP_JUMP_IF_FALSE) & (code[:, 1] == np.repeat(lengths, lengths))
    other = np.where(rows % 2 == 0, ~is_join, ~is_jump)
    has_other: NDArray[np.bool_] = np.diff(kept_offsets(off, other)) > 0
    return ~has_other
