"""Groups: the documents of the store that have the same values in some columns, and the extremes of each group.

In: serials of documents, as they come and go. Out: for the values of the key columns a group; of a group how many
documents it has, its documents from the newest on, and of a column the least and the greatest value of each kind.
Documents with NULL, an array or a record in a key column are in no group: nothing equals them.

A group of no key columns holds all documents. A filter, a condition on the earlier document alone, leaves out the
documents for which it is not TRUE.

LAYOUT: the documents of a group are a chain: its last serial, and for each serial the one before. One that is deleted
stays in the chain until the store is rewritten. When an extreme is deleted, the next is looked for along the chain,
once it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32
from profilec.runtime.program import Program
from profilec.runtime.store.columns import OPAQUE_CODE, Column
from profilec.runtime.store.growing import Growing
from profilec.values.compare import order_key

NO_GROUP = -1


class Extremes:
    """Of one column, for the documents of one kind: per group how many, and the codes of least and greatest."""

    __slots__ = ("greatest", "least", "n")

    def __init__(self) -> None:
        self.n = Growing(np.int64)
        self.least = Growing(np.int32, fill=-1)
        self.greatest = Growing(np.int32, fill=-1)

    def resize(self, n_groups: int) -> None:
        for column in (self.n, self.least, self.greatest):
            column.resize(n_groups)


class Summary:
    """The extremes of one column in all groups, by kind."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.by_kind: dict[int, Extremes] = {}
        self.outdated: set[int] = set()
        """Groups of which an extreme was deleted."""

    def of_kind(self, kind: int, n_groups: int) -> Extremes:
        extremes = self.by_kind.get(kind)
        if extremes is None:
            extremes = self.by_kind[kind] = Extremes()
        extremes.resize(n_groups)
        return extremes

    def add(self, groups: Int32, codes: Int32, n_groups: int) -> None:
        """Documents, by the group and the code of each."""
        kinds = self.column.kinds.array[codes]
        for kind in np.unique(kinds).tolist():
            chosen = kinds == kind
            extremes = self.of_kind(kind, n_groups)
            own_groups, own_codes = groups[chosen], codes[chosen]
            if len(own_codes) > _FEW:
                self._add_many(extremes, own_groups, own_codes)
            else:
                for group, code in zip(own_groups.tolist(), own_codes.tolist(), strict=True):
                    self._add_one(extremes, group, code)

    def add_one(self, group: int, code: int, n_groups: int) -> None:
        """One document."""
        self._add_one(self.of_kind(self.column.kinds.item(code), n_groups), group, code)

    def _add_one(self, extremes: Extremes, group: int, code: int) -> None:
        n = extremes.n[group]
        extremes.n[group] = n + 1
        if n == 0:
            extremes.least[group] = extremes.greatest[group] = code
        elif self.column.is_less(code, int(extremes.least[group])):
            extremes.least[group] = code
        elif self.column.is_less(int(extremes.greatest[group]), code):
            extremes.greatest[group] = code

    def _add_many(self, extremes: Extremes, groups: Int32, codes: Int32) -> None:
        keys = self.column.keys.array
        if not self.column.all_exact:
            used = np.unique(groups)
            keys = self._ranks(np.concatenate((codes, extremes.least.array[used], extremes.greatest.array[used])))
        order = np.lexsort((keys[codes], groups))
        groups, codes = groups[order], codes[order]
        starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
        ends = np.append(starts[1:], len(groups)) - 1
        of = groups[starts]
        least, greatest = codes[starts], codes[ends]
        known = extremes.n.array[of] > 0
        old_least, old_greatest = extremes.least.array[of], extremes.greatest.array[of]
        extremes.least[of] = np.where(known & (keys[old_least] <= keys[least]), old_least, least)
        extremes.greatest[of] = np.where(known & (keys[old_greatest] >= keys[greatest]), old_greatest, greatest)
        extremes.n[of] += ends - starts + 1

    def _ranks(self, codes: Int32) -> NDArray[np.int64]:
        """What orders some codes of one kind, by code; -1 among them is none."""
        values = self.column.values
        used = np.unique(codes[codes >= 0])
        in_order = sorted(used.tolist(), key=lambda code: order_key(values[code]))
        ranks = np.zeros(len(values), np.int64)
        ranks[in_order] = np.arange(len(in_order))
        return ranks

    def remove(self, group: int, code: int) -> None:
        extremes = self.by_kind[int(self.column.kinds[code])]
        extremes.n[group] -= 1
        if code in (extremes.least[group], extremes.greatest[group]):
            self.outdated.add(group)


_FEW = 32
"""Documents that are added one by one."""


class GroupIndex:
    """See the module."""

    def __init__(self, keys: Sequence[Column], filter_: Program | None) -> None:
        self.keys = tuple(keys)
        self.filter = filter_
        self.group = Growing(np.int32, fill=NO_GROUP)
        """Per serial."""
        self._before = Growing(np.int32, fill=-1)
        self._last = Growing(np.int32, fill=-1)
        self.n_documents = Growing(np.int64)
        """Per group, deleted ones not counted."""
        self.summaries: dict[int, Summary] = {}
        """By the id of the column."""
        self._of_code = Growing(np.int32, fill=NO_GROUP)
        self._of_codes: dict[tuple[int, ...], int] = {}
        if not self.keys:
            self._resize(1)

    @property
    def n_groups(self) -> int:
        return self.n_documents.n

    def group_of(self, codes: Sequence[int]) -> int:
        """The group of documents with these codes; NO_GROUP where there is none."""
        if len(codes) == 1:
            (code,) = codes
            return self._of_code.item(code) if 0 <= code < self._of_code.n else NO_GROUP
        return self._of_codes.get(tuple(codes), NO_GROUP) if codes else 0

    def groups_of(self, codes: Sequence[Int32]) -> Int32:
        """The same for many, whose codes are given column by column."""
        if len(codes) == 1:
            (own,) = codes
            known = (own >= 0) & (own < self._of_code.n)
            return np.where(known, self._of_code.array[np.where(known, own, 0)], NO_GROUP).astype(np.int32)
        group_of = self._of_codes.get
        found = [group_of(key, NO_GROUP) for key in zip(*(own.tolist() for own in codes), strict=True)]
        return np.array(found, np.int32)

    def add(self, start: int, passes: NDArray[np.bool_]) -> None:
        """The documents from serial `start` on, whose codes the columns have. `passes`: which of them the filter lets
        through."""
        if len(passes) == 1:
            self._add_one(start, bool(passes[0]))
            return
        codes = [column.codes_from(start) for column in self.keys]
        n = len(passes)
        chosen = passes.copy()
        for of_column in codes:
            chosen &= of_column > OPAQUE_CODE
        groups = np.full(n, NO_GROUP, np.int32)
        groups[chosen] = self._groups([of_column[chosen] for of_column in codes], int(chosen.sum()))
        self.group.extend(groups)
        self._chain(start, groups)
        for summary in self.summaries.values():
            summary.add(groups[chosen], summary.column.codes_from(start)[chosen], self.n_groups)

    def _add_one(self, serial: int, passes: bool) -> None:
        """PERF: one document takes a tenth of the time without array operations."""
        codes = tuple(column.codes.item(serial) for column in self.keys)
        if not passes or any(code <= OPAQUE_CODE for code in codes):
            self.group.append(NO_GROUP)
            self._before.append(-1)
            return
        group = self.group_of(codes)
        if group == NO_GROUP:
            group = self.n_groups
            self._resize(group + 1)
            if len(codes) == 1:
                self._of_code.resize(len(self.keys[0].values))
                self._of_code[codes[0]] = group
            else:
                self._of_codes[codes] = group
        self.group.append(group)
        self._before.append(self._last.item(group))
        self._last[group] = serial
        self.n_documents[group] += 1
        for summary in self.summaries.values():
            summary.add_one(group, summary.column.codes.item(serial), self.n_groups)

    def summary(self, column: Column, is_alive: Growing) -> Summary:
        """The extremes of a column, from now on kept."""
        summary = self.summaries.get(id(column))
        if summary is None:
            summary = Summary(column)
            chosen = (self.group.array != NO_GROUP) & is_alive.array[: self.group.n]
            summary.add(self.group.array[chosen], column.codes.array[: self.group.n][chosen], self.n_groups)
            self.summaries[id(column)] = summary
        return summary

    def remove(self, serial: int) -> None:
        """A document that is deleted."""
        group = int(self.group[serial])
        if group != NO_GROUP:
            self.n_documents[group] -= 1
            for summary in self.summaries.values():
                summary.remove(group, int(summary.column.codes[serial]))

    def newest_first(self, group: int, is_alive: Growing, first: int = 0) -> Iterator[int]:
        """The serials of a group's documents, down to `first`."""
        before = self._before
        serial = self._last.item(group)
        while serial >= first:
            if is_alive.item(serial):
                yield serial
            serial = before.item(serial)

    def renew(self, summary: Summary, group: int, is_alive: Growing) -> None:
        """Looks for the extremes of a group anew."""
        for extremes in summary.by_kind.values():
            extremes.resize(self.n_groups)
            extremes.n[group] = 0
        if self.keys:
            serials = np.fromiter(self.newest_first(group, is_alive), np.int64)
        else:
            serials = np.flatnonzero((self.group.array == group) & is_alive.array[: self.group.n])
        codes = summary.column.codes.array[serials]
        summary.add(np.full(len(codes), group, np.int32), codes, self.n_groups)
        summary.outdated.discard(group)

    def _resize(self, n_groups: int) -> None:
        self._last.resize(n_groups)
        self.n_documents.resize(n_groups)
        for summary in self.summaries.values():
            for extremes in summary.by_kind.values():
                extremes.resize(n_groups)

    def _groups(self, codes: list[Int32], n: int) -> Int32:
        """The groups of documents by their codes, new ones where they are the first."""
        if not codes:
            return np.zeros(n, np.int32)
        if len(codes) == 1:
            (own,) = codes
            self._of_code.resize(len(self.keys[0].values))
            fresh = np.unique(own[self._of_code.array[own] == NO_GROUP])
            self._of_code[fresh] = np.arange(self.n_groups, self.n_groups + len(fresh))
            self._resize(self.n_groups + len(fresh))
            groups: Int32 = self._of_code.array[own]
            return groups
        known = self._of_codes
        groups = np.empty(n, np.int32)
        for place, key in enumerate(zip(*(own.tolist() for own in codes), strict=True)):
            groups[place] = known.setdefault(key, len(known))
        self._resize(len(known))
        return groups

    def _chain(self, start: int, groups: Int32) -> None:
        n = len(groups)
        before = np.full(n, -1, np.int32)
        order = np.argsort(groups, kind="stable")
        order = order[np.searchsorted(groups[order], 0) :]
        sorted_groups = groups[order]
        if len(order):
            begins = np.flatnonzero(np.diff(sorted_groups, prepend=-1))
            serials = order.astype(np.int32) + np.int32(start)
            before[order[1:]] = serials[:-1]
            before[order[begins]] = self._last.array[sorted_groups[begins]]
            ends = np.append(begins[1:], len(order)) - 1
            of = sorted_groups[ends]
            self._last[of] = serials[ends]
            self.n_documents[of] += np.diff(np.append(begins, len(order)))
        self._before.extend(before)
