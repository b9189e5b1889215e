"""A compiled set that stays as it is: its parts, and what matches documents.

In: the parts of a set. Out: executors, when documents come; the parts as they are kept; another plan, when documents
have become others; what is to be explained.

Invariant: whatever is planned again, the profiles and the answers are the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from profilec.compilation import FEW_DOCUMENTS, FEW_ENTRIES, executor_of, with_tree_of
from profilec.planner.costs import Units
from profilec.planner.explain import explain_set
from profilec.planner.lower import is_outranked
from profilec.planner.lower.rearrange import rearranged
from profilec.planner.lower.workload import found_by
from profilec.planner.plan import Plan, plan_of
from profilec.planner.ranking import BY_COST
from profilec.planner.statistics import Statistics
from profilec.runtime.batch import expect_documents
from profilec.runtime.columns import rows_of
from profilec.runtime.execute import Executor
from profilec.runtime.image import Image
from profilec.runtime.store.documents import DocumentStore
from profilec.saved_set import SetParts
from profilec.values.locks import new_lock

if TYPE_CHECKING:
    from profilec.runtime.analyze import Seen


class CompiledSet:
    """See the module. Safe to share between threads."""

    def __init__(self, parts: SetParts, units: Units, executor: Executor | None = None) -> None:
        self.parts = parts
        self.units = units
        self.is_small = parts.options.leaves_matcher and parts.image.n_entries <= FEW_ENTRIES
        self._first: Executor | None = None
        """What matches the first documents of a small set."""
        self.final = executor
        """What matches all others, once it is made."""
        self.preparing = new_lock()
        self._n_asked = 0

    @property
    def image(self) -> Image:
        """The profiles in rank space."""
        return self.parts.image

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
            self.final = self.final or executor_of(self.parts)
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
        executor = executor_of(parts)
        with self.preparing:
            self.parts, self.final = parts, executor
        return True

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
