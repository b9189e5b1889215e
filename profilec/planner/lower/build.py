"""All profiles to one image.

In: normal forms, one at a time (`ImageBuilder.add`). Out: `runtime.image.Image`.

Leaves are numbered as they come, and a profile is kept as a few of these numbers: no Python object is kept per
profile. What else there is to do with them is done in `build`, when the ranks exist, and for all of them at once.

Invariant: the same normal forms in the same order give the same image, byte for byte.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.grammar import ir
from profilec.planner.lower.entries import (
    NO_ENTRIES,
    Conjunctions,
    Expressions,
    drop_impossible,
    image_fields,
    joined,
    merge_bounds,
    order_of,
    ordered,
    plain_entries,
    ranges,
    share_equal,
)
from profilec.planner.lower.expected import Expected, access_costs, expect
from profilec.planner.lower.join_load import JoinLoad, join_load
from profilec.planner.lower.leaves import LeafTable, Op, Order, Rows
from profilec.planner.lower.ranks import RankSets, lay_out, offsets, rank_sets
from profilec.planner.lower.skeleton import SkeletonTable
from profilec.runtime.image import Constants, Image, Slot
from profilec.runtime.sampled import Sampled, encode_sample
from profilec.values.types import Schema

_NOT_PLAIN = -1


class Built(NamedTuple):
    """An image without a tree, and what is expected of the documents to come; the sample in rank space."""

    image: Image
    expected: Expected
    sampled: Sampled | None
    joins: JoinLoad

    @property
    def presence(self) -> NDArray[np.float64] | None:
        """Per slot the share of documents that have it, as `betree.bulk_load` takes it; None where none were seen."""
        return self.expected.presence if self.expected.n_sampled else None


class ImageBuilder:
    """Collects the normal forms of a profile set, in its order, and lowers them together."""

    def __init__(self, schema: Schema | None = None, max_terms: int = 1_000_000) -> None:
        self._table = LeafTable(schema)
        self._skeletons = SkeletonTable(self._table, max_terms)
        self._sizes = array("i")  # of each profile that is a plain conjunction its rows; else _NOT_PLAIN
        self._rows = array("i")
        self._roots = array("i")

    def add(self, normal_form: ir.Condition) -> None:
        """Takes the next profile.

        Raises:
            TooComplexError: the normal form, written out, has too many leaves. The profile is not added.
        """
        rows = self._skeletons.conjunction(normal_form)
        if rows is None:
            self._roots.append(self._skeletons.part_of(normal_form))
            self._sizes.append(_NOT_PLAIN)
        else:
            self._rows.extend(rows)
            self._sizes.append(len(rows))

    def build(self, sample: Any = None) -> Built:
        """The image of all profiles added. `sample`: documents, by which tests are weighed.

        Raises:
            DocumentError: one of the sample is none.
        """
        table = self._table
        self._skeletons.forget()
        sizes = np.array(self._sizes, np.int32)
        plain, others = (np.flatnonzero(chosen).astype(np.int32) for chosen in (sizes >= 0, sizes < 0))
        written = table.rows()
        conjunctions, pairs = merge_bounds(Conjunctions(offsets(sizes[plain]), np.array(self._rows, np.int32)), written)
        n_rows, n_pairs = len(written.slot), len(pairs.lower)
        rows = _concatenated(written, ranges(written, pairs))
        # ~p, of pair p, becomes the row n_rows + p.
        of_plain = np.where(conjunctions.rows < 0, n_rows + ~conjunctions.rows, conjunctions.rows)
        counts = np.bincount(of_plain, minlength=n_rows + n_pairs)
        expressions = None
        if len(others):
            expressions = Expressions(
                self._skeletons.connectives(), np.array(self._roots, np.int32), written, len(table.slots)
            )
            rows = _concatenated(rows, ranges(written, expressions.pairs))
            counts[:n_rows] += expressions.row_counts
            counts = np.concatenate((counts, expressions.pair_counts))
        layout = lay_out(table)
        sets = rank_sets(rows, counts > 0, table.lists, layout)
        tests = self._tests(sets, layout.constants)
        asked = np.bincount(rows.slot[rows.slot >= 0], counts[rows.slot >= 0], minlength=len(table.slots))
        sampled = encode_sample(tests, sample) if sample is not None else None
        expected = expect(tests, asked.astype(np.float64), len(sizes), sampled)
        costs = access_costs(tests, expected)
        entries = plain_entries(conjunctions.off, sets.test_of_row[of_plain], plain)
        residual_off, residual_code = np.zeros(1, np.int32), np.zeros((0, 2), np.int32)
        if expressions is not None:
            more, residual_off, residual_code = expressions.entries(
                sets.test_of_row[:n_rows], sets.test_of_row[n_rows + n_pairs :], costs, len(table.joins), others
            )
            entries = joined(entries, more)
        impossible = np.zeros(len(costs), np.bool_)
        impossible[: sets.n_tests] = sets.off[1:] == sets.off[:-1]
        entries = share_equal(ordered(drop_impossible(entries, impossible), order_of(costs)))
        image = replace(
            tests,
            n_profiles=len(sizes),
            joins=tuple(table.joins),
            **image_fields(entries, costs),
            residual_off=residual_off,
            residual_code=residual_code,
            join_names=table.join_names,
        )
        return Built(image, expected, sampled, join_load(image, sample))

    def _tests(self, sets: RankSets, constants: list[Constants]) -> Image:
        """An image of tests, with no entries yet."""
        table = self._table
        return Image(
            n_profiles=0,
            slots=self._slots(constants),
            test_slot=sets.slot,
            test_off=sets.off,
            test_low=sets.low,
            test_high=sets.high,
            bit_kind=(sets.bits.op == Op.TERM).astype(np.uint8),
            bit_source=sets.bits.first,
            bit_want=sets.bits.kind.astype(np.uint8),
            patterns=tuple(table.patterns),
            terms=tuple(table.terms),
            joins=(),
            **image_fields(NO_ENTRIES, np.zeros(0)),
            residual_off=np.zeros(1, np.int32),
            residual_code=np.zeros((0, 2), np.int32),
            term_names=table.term_names,
        )

    def _slots(self, of_slots: list[Constants]) -> tuple[Slot, ...]:
        slots = []
        for slot, constants in zip(self._table.slots, of_slots, strict=True):
            derived = slot.derived
            attribute = derived if isinstance(derived, ir.Attribute) else None
            slots.append(
                Slot(
                    name=slot.name,
                    program=self._program(derived),
                    parts=None if attribute is None else attribute.parts,
                    type_=None if attribute is None else self._table.programs.type_of(attribute),
                    constants=constants,
                )
            )
        return tuple(slots)

    def _program(self, derived: Any) -> Any:
        programs = self._table.programs
        if isinstance(derived, Order):
            return (*programs.program(derived.left), *programs.program(derived.right), ("order",))
        return programs.program(derived)


def _concatenated(one: Rows, other: Rows) -> Rows:
    return Rows(*(np.concatenate(columns) for columns in zip(one, other, strict=True)))
