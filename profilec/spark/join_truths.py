"""The truths of join terms for rows that were joined with relations.

In: rows, and for each lookup what its relation has for them. Out: `GivenTruths`, for `Executor.match_batch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from profilec.runtime.joins.conjuncts import Comparison, Conjunction
from profilec.runtime.joins.new import NewDocuments
from profilec.runtime.joins.phase import GivenTruths
from profilec.runtime.joins.table import with_constant
from profilec.runtime.program import Document, run
from profilec.spark.join_groups import Bools, Constants, Group, each_alone
from profilec.spark.join_keys import key_of, keys_of
from profilec.spark.join_plan import Extremes, JoinPlan, Part
from profilec.spark.join_rows import holding, keys_satisfy
from profilec.spark.relations import BITS_OF_WORD, Relation
from profilec.values.dates import add_interval
from profilec.values.kinds import Date, Kind, Timestamp, Value


class Joined:
    """What a relation has for some rows: a struct of each, NULL where it has no such group."""

    def __init__(self, relation: Relation, column: pa.StructArray) -> None:
        self._relation = relation
        flat = column.flatten()
        n_words, n_extremes = relation.n_words, len(relation.extremes)
        self._words = [word.fill_null(0).to_numpy(zero_copy_only=False) for word in flat[:n_words]]
        self._extremes = flat[n_words : n_words + n_extremes]
        self._walked = flat[n_words + n_extremes :]
        self._lists: dict[int, list[bytes | None]] = {}

    def bit(self, number: int) -> Bools:
        """Which rows have a bit."""
        holds: Bools = (self._words[number // BITS_OF_WORD] >> number % BITS_OF_WORD & 1).astype(np.bool_)
        return holds

    def groups(self, asked: Extremes) -> list[Group]:
        """The values of each row's group. (One object for groups that are alike.)"""
        n = len(self._extremes[0]) if self._extremes else len(self._words[0])
        kinds = np.zeros(n, np.int64)
        for kind, bit in asked.kinds.items():
            kinds |= self.bit(bit).astype(np.int64) << int(kind)
        columns = [self._list(number) for side in (asked.least, asked.greatest) for number in side.values()]
        known: dict[Any, Group] = {}
        found = []
        for row in zip(kinds.tolist(), *columns, strict=True):
            group = known.get(row)
            if group is None:
                least = dict(zip(asked.least, row[1:], strict=False))
                greatest = dict(zip(asked.greatest, row[1 + len(asked.least) :], strict=True))
                own = frozenset(kind for kind in asked.kinds if row[0] >> kind & 1)
                group = known[row] = Group(_some(least), _some(greatest), own)
            found.append(group)
        return found

    def walked(self, number: int) -> tuple[pa.StructArray, NDArray[np.int64]]:
        """The documents of all groups, and where those of each row begin and end."""
        lists = self._walked[number]
        lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return lists.flatten(), np.concatenate(([0], np.cumsum(lengths)))

    def _list(self, number: int) -> list[bytes | None]:
        if number not in self._lists:
            self._lists[number] = self._extremes[number].to_pylist()
        return self._lists[number]


def _some(of_kinds: dict[Kind, bytes | None]) -> dict[int, bytes]:
    return {int(kind): key for kind, key in of_kinds.items() if key is not None}


class TruthFinder:
    """Finds the truths of a plan's terms."""

    def __init__(self, plan: JoinPlan) -> None:
        self._plan = plan
        parts = list(enumerate(plan.parts))
        self._constants = {number: self._of_part(part) for number, part in parts if part.open_ is not None}
        self._limits = {number: self._limits_of(part) for number, part in parts}
        self._known_rows = np.ones(len(plan.rows), np.bool_)
        self._known_rows[[left.row for left in plan.left]] = False
        self._n_terms = sum(len(row.terms) for row in plan.rows)

    def truths(self, new: NewDocuments, joined: Sequence[Joined], earlier: Sequence[Any]) -> GivenTruths:
        """`joined`: of each lookup; `earlier`: what makes documents of its collected ones."""
        truths = np.zeros((new.n, self._n_terms), np.bool_)
        for number, part in enumerate(self._plan.parts):
            holds = self._holding(number, part, new, joined[part.lookup], earlier[part.lookup])
            conjunction = self._conjunction(part)
            if conjunction.guard is not None:
                holds = holds & holding(new, conjunction.guard)[:, None]
            for comparison, constants in self._limits[number]:
                assert comparison.new is not None
                holds = holds & _by_group(constants, each_alone(keys_of(new, comparison.new)))
            truths[:, self._plan.rows[part.row].terms[part.places]] |= holds
        for row in self._plan.rows:
            if row.question.negated:
                truths[:, row.terms] = ~truths[:, row.terms]
        return GivenTruths(truths & self._known_terms(), self._known_rows)

    def _known_terms(self) -> Bools:
        """NULL: terms that the store is asked for begin as FALSE."""
        known = np.zeros(self._n_terms, np.bool_)
        for row, is_known in zip(self._plan.rows, self._known_rows.tolist(), strict=True):
            known[row.terms] = is_known
        return known

    def _holding(self, number: int, part: Part, new: NewDocuments, joined: Joined, earlier: Any) -> Bools:
        """For each row and term, or where all terms are alike for one, whether the part holds without its guard."""
        if part.bit is not None:
            return joined.bit(part.bit)[:, None]
        if part.extremes is None:
            return self._walk(part, new, joined, earlier)[:, None]
        groups, comparison = joined.groups(part.extremes), part.compared
        assert comparison is not None
        if part.open_ is not None:
            return _by_group(self._constants[number], groups)
        keys = _operands(new, comparison)
        found = [group.holds(comparison, key) for group, key in zip(groups, keys, strict=True)]
        return np.array(found, np.bool_)[:, None]

    def _walk(self, part: Part, new: NewDocuments, joined: Joined, earlier: Any) -> Bools:
        assert part.walked is not None
        array, off = joined.walked(part.walked)
        documents, conjunction = earlier(array), self._conjunction(part)
        found = np.zeros(new.n, np.bool_)
        ends = off.tolist()
        operands = [_operands(new, comparison) for comparison in part.comparisons]
        for row in np.flatnonzero(np.diff(off)).tolist():
            own = [keys[row] for keys in operands]
            document = new.alone(row).document
            found[row] = any(
                _is_met(conjunction, part.comparisons, own, document, documents[place])
                for place in range(ends[row], ends[row + 1])
            )
        return found

    def _conjunction(self, part: Part) -> Conjunction:
        return self._plan.rows[part.row].question.conjunctions[part.conjunction]

    def _of_part(self, part: Part) -> Constants:
        assert part.compared is not None
        assert part.open_ is not None
        return Constants(part.compared, self._values(part, part.open_))

    def _limits_of(self, part: Part) -> list[tuple[Comparison, Constants]]:
        conjunction = self._conjunction(part)
        first = len(with_constant(conjunction)) - len(conjunction.limits)
        return [
            (one, Constants(one, self._values(part, first + number))) for number, one in enumerate(conjunction.limits)
        ]

    def _values(self, part: Part, number: int) -> list[Value]:
        constants = self._plan.rows[part.row].constants[part.conjunction]
        return [constants[place][number] for place in part.places.tolist()]


def _by_group(constants: Constants, groups: Sequence[Group]) -> Bools:
    """`Constants.holding` of each group, asked once of those that are one object."""
    known: dict[int, Bools] = {}
    for group in groups:
        if id(group) not in known:
            known[id(group)] = constants.holding(group)
    return np.array([known[id(group)] for group in groups], np.bool_).reshape(len(groups), -1)


def _operands(new: NewDocuments, comparison: Comparison) -> list[bytes | None]:
    """The keys of the values that are compared with."""
    assert comparison.new is not None
    interval = comparison.minus
    if interval is None:
        return keys_of(new, comparison.new)

    def before(value: Value) -> bytes | None:
        return key_of(add_interval(value, interval, -1)) if isinstance(value, Date | Timestamp) else None

    return keys_of(new, comparison.new, before)


def _is_met(
    conjunction: Conjunction,
    comparisons: Sequence[Comparison],
    operands: Sequence[bytes | None],
    new: Document,
    old: Document,
) -> bool:
    """Whether an earlier document satisfies what is left to ask."""
    for comparison, operand in zip(comparisons, operands, strict=True):
        assert comparison.old is not None
        if not keys_satisfy(comparison, key_of(run(comparison.old, {}, old)), operand):
            return False
    return conjunction.rest is None or run(conjunction.rest, new, old) is True
