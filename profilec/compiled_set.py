"""A compiled set that stays as it is: its parts, and what matches documents; and how some become one.

In: the parts of a set. Out: executors, when documents come; the parts as they are kept; another plan, when documents
have become others; what is to be explained.

Invariant: whatever is planned again, the profiles and the answers are the same.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.compilation import (
    FEW_DOCUMENTS,
    FEW_ENTRIES,
    Compilation,
    How,
    collector_paused,
    executor_of,
    parsed_again,
    planned,
    with_tree_of,
)
from profilec.grammar.statements import ProfileStatement
from profilec.planner.costs import Units
from profilec.planner.explain import explain_set
from profilec.planner.lower import is_outranked
from profilec.planner.lower.rearrange import rearranged
from profilec.planner.lower.unite import GONE, united
from profilec.planner.lower.workload import found_by
from profilec.planner.plan import Plan, plan_of
from profilec.planner.ranking import BY_COST
from profilec.planner.statistics import Statistics
from profilec.profile_table import ProfileTable, united_table
from profilec.runtime.batch import expect_documents
from profilec.runtime.columns import rows_of
from profilec.runtime.execute import Executor
from profilec.runtime.image import Image
from profilec.runtime.imagefile.columns import Strings
from profilec.runtime.imagefile.container import ImageFile
from profilec.runtime.store.documents import DocumentStore
from profilec.saved_set import SetParts, read_set
from profilec.values.locks import new_lock

if TYPE_CHECKING:
    from profilec.runtime.analyze import Seen


class OpenFile:
    """A file that is open until this is let go, whatever becomes of its name."""

    __slots__ = ("__weakref__", "descriptor")

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self.descriptor)


class CompiledSet:
    """See the module. Safe to share between threads.

    `file`: its image; None where it is in no file. `kept`: where a store keeps it.
    """

    def __init__(
        self,
        parts: SetParts,
        units: Units,
        file: OpenFile | None = None,
        kept: Path | None = None,
    ) -> None:
        self.parts = parts
        self.units = units
        self.file = file
        self.kept = kept
        self.is_small = parts.options.leaves_matcher and parts.image.n_entries <= FEW_ENTRIES
        self._first: Executor | None = None
        """What matches the first documents of a small set."""
        self.final: Executor | None = None
        """What matches all others, once it is made."""
        self.preparing = new_lock()
        self._n_asked = 0

    @classmethod
    def read(cls, path: Path, units: Units, *, is_kept: bool) -> CompiledSet:
        """The set of an image, which stays open. `is_kept`: by a store, under this name.

        Raises:
            ImageError: it is none.
            OSError: it cannot be read.
        """
        file = OpenFile(path)
        return cls(read_set(ImageFile.open(path)), units, file, path if is_kept else None)

    @property
    def image(self) -> Image:
        """The profiles in rank space."""
        return self.parts.image

    @property
    def ids(self) -> Strings:
        """By ordinal."""
        return self.parts.table.ids

    @property
    def plan(self) -> Plan:
        """What was chosen, and why."""
        return self.parts.plan

    def executor(self, n_documents: int = 1) -> Executor:
        """What matches the next documents. Made when the first comes, so that a set is loaded without it."""
        if self.final is not None:
            return self.final
        self._n_asked += n_documents
        begins = self.is_small and self._n_asked <= FEW_DOCUMENTS
        if not begins:
            self.whole()
        with self.preparing:
            if begins:
                self._first = self._first or executor_of(self.parts, "scan")
                return self._first
            self.final = self.final or executor_of(self.parts, file=self.kept)
            return self.final

    def whole(self) -> SetParts:
        """The parts with all that the plan wants in the image."""
        with self.preparing:
            self.parts = with_tree_of(self.parts)
            return self.parts

    def to_keep(self) -> SetParts:
        """The parts as they are saved: a small set makes its tree again sooner than kernels are compiled."""
        return self.parts if self.is_small else self.whole()

    def plan_for(self, known: Statistics, limit: float = 0.0) -> bool:
        """Plans again, unless no more than `limit` times as much is looked at as would be then, and no node of a tree
        whose attributes are ranked is below its threshold. Returns whether it did."""
        parts = self.parts
        built = rearranged(parts.image, known.sample)
        now, then = (found_by(image, built.expected) + 1 for image in (parts.image, built.image))
        ranking, image, sampled = parts.options.ranking, built.image, None
        if ranking.by != BY_COST and not parts.plan.groups:  # a tree of all entries
            image, sampled = replace(image, tree=parts.image.tree, join_tree=parts.image.join_tree), built.sampled
        is_outdated = now > limit * then  # counted from 1: one entry more or less is nothing
        if not (is_outdated or (sampled is not None and is_outranked(image, ranking, sampled))):
            return False
        plan = plan_of(built, parts.options, self.units)
        parts = with_tree_of(parts._replace(image=image, plan=plan), built.presence, sampled)
        executor = executor_of(parts, file=self.kept)
        with self.preparing:
            self.parts, self.final = parts, executor
        return True

    def prepare_as(self, others: Iterable[CompiledSet]) -> None:
        """Prepares for documents like those that others matched, which will not have to wait for that."""
        for other in others:
            if other.final is not None:
                self.executor(FEW_DOCUMENTS + 1).prepare_as(other.final)

    def find(self, id: str) -> int | None:
        """The ordinal of an id; None where there is none."""
        return self.parts.table.ordinal(id)

    def statement(self, ordinal: int) -> ProfileStatement:
        """A profile as it was read, but for its condition, which is None: its text is parsed when that is needed."""
        table = self.parts.table
        id, where = table.ids[ordinal], table.wheres[ordinal]
        file, line, column = table.places[ordinal]
        properties, examples = dict(table.properties.get(ordinal, {})), table.examples.get(ordinal, ())
        return ProfileStatement(
            id,
            where,
            None,
            properties,
            examples,
            file,
            line,
            column,
            0,
            table.comments.get(ordinal),
        )

    def explain(self, documents: DocumentStore, format: str, analyzed: Any = None) -> str:
        """How the set is matched. `analyzed`: documents that it is run with, or None."""
        seen = None if analyzed is None else self._run(analyzed, documents)
        parts = self.parts
        filtered = self.executor(0).filtered(documents) if parts.plan.n_joins else None
        with documents.reading():
            places = parts.table.places.__getitem__
            return explain_set(parts.image, parts.plan, parts.table.ids, places, format, filtered, documents, seen)

    def _run(self, given: Any, documents: DocumentStore) -> Seen:
        """What the operators of the plan, and not of what begins for it, give and take for documents."""
        from profilec.runtime.analyze import analyze

        expect_documents(given)
        return analyze(self.executor(FEW_DOCUMENTS + 1), list(rows_of(given)), documents)


def compile_segment(statements: Iterable[ProfileStatement], how: How) -> CompiledSet:
    """A segment of profiles that were compiled, or prepared to be, before; conditions that are None are parsed."""
    with collector_paused():
        return CompiledSet(_taken(statements, how).finish(None, is_part=True), how.units)


def _taken(statements: Iterable[ProfileStatement], how: How) -> Compilation:
    compiled = Compilation(*how, [])
    for statement in statements:
        if statement.reading is None:
            condition = parsed_again(statement, how.schema, how.options.limits)
            statement = statement._replace(reading=condition)  # noqa: PLW2901
        compiled.take(statement, is_normal=False)
    assert not compiled.diagnostics, compiled.diagnostics[0]
    return compiled


class Part(NamedTuple):
    """A set that is united with others. `profiles`: the ordinals of those that are left."""

    table: ProfileTable
    image: Image
    profiles: NDArray[np.int64]


def part_of(statements: Iterable[ProfileStatement], how: How) -> Part:
    """Profiles as `compile_segment` takes them, as a set that is to be united with others."""
    with collector_paused():
        compiled = _taken(statements, how)
        return Part(compiled.table(), compiled.builder.build(None).image, np.arange(len(compiled.ids)))


def unite_segments(parts: Sequence[Part], order: NDArray[np.int64], how: How) -> CompiledSet:
    """What is left of some sets as one. `order`: its profiles, as places among those that are left of all parts, one
    behind the other."""
    ordinals = np.empty(len(order), np.int32)
    ordinals[order] = np.arange(len(order), dtype=np.int32)
    numbers, start = [], 0
    for part in parts:
        number = np.full(part.image.n_profiles, GONE, np.int32)
        number[part.profiles] = ordinals[start : start + len(part.profiles)]
        numbers.append(number)
        start += len(part.profiles)
    with collector_paused():
        built = united([part.image for part in parts], numbers)
        table = united_table([part.table for part in parts], numbers)
        return CompiledSet(planned(table, built, how, is_part=True), how.units)
