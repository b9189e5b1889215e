"""What runs in workers for joins, each a function of `mapInArrow`.

In: batches of rows. Out: of earlier documents rows of a relation (`RelationTask`); new rows with their keys
(`KeysTask`); and of those that have been joined the matches (`JoinedTask`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from profilec.runtime.arrow_values import is_string
from profilec.runtime.batch import MatchBatch
from profilec.runtime.columns import frame_of
from profilec.runtime.program import Parts, Program
from profilec.runtime.reads import EARLIER, paths_read
from profilec.spark.any_values import is_variant
from profilec.spark.binding import Binding, bind, path_type
from profilec.spark.calls import MatchCall
from profilec.spark.images import ONLY, Shipped
from profilec.spark.join_plan import COMPARED, JoinPlan
from profilec.spark.join_rows import RelationRows, lookup_keys, new_documents
from profilec.spark.join_truths import Joined, TruthFinder
from profilec.spark.places import named, names_of
from profilec.spark.relations import Relation
from profilec.spark.worker import OpenSet
from profilec.values.kinds import Kind

_MOST_TRUTHS = 8_000_000


class JoinedSet(NamedTuple):
    """A set, and the schemas of both sides, from which the driver and all workers make the same plan. `json`: as of
    `register`, `earlier_json` of the earlier documents."""

    shipped: Shipped
    new: pa.Schema
    earlier: pa.Schema
    json: tuple[str, ...]
    earlier_json: tuple[str, ...]

    def plan(self, image: Any) -> JoinPlan:
        """How the joins of its image are asked."""
        return JoinPlan(
            image, partial(_kinds_of, 0, self.new, self.json), partial(_kinds_of, 1, self.earlier, self.earlier_json)
        )

    def binding(self, image: Any, relation: Relation) -> Binding:
        """How what a relation reads is found among the columns of the earlier documents."""
        return bind(earlier_paths(image, relation), self.earlier, self.earlier_json)

    def read_of(self, opened: OpenSet, relation: Relation) -> tuple[Binding, tuple[str, ...]]:
        """The same of the columns that are read alone, and their names."""
        binding = self.binding(opened.whole._image, relation)
        numbers = list(binding.columns)
        return binding.among(numbers), names_of(self.earlier.names, numbers)

    def plan_of(self, opened: OpenSet) -> JoinPlan:
        """The same, made once in a worker."""
        name = self.new, self.earlier, self.json, self.earlier_json
        plan = opened.join_plans.get(name)
        if plan is None:
            plan = opened.join_plans[name] = self.plan(opened.whole._image)
        return plan


def _kinds_of(scope: int, schema: pa.Schema, json: tuple[str, ...], program: Program) -> frozenset[Kind]:
    """The kinds that an expression's values can have, as far as the type of a column tells."""
    if len(program) != 1 or program[0][0] != "attribute" or program[0][1] != scope:
        return COMPARED
    _, _, parts, type_ = program[0]
    kind = path_type(parts, schema, json) if len(parts) == 1 else None
    if kind is None or is_variant(kind) or pa.types.is_dictionary(kind):
        return COMPARED
    types = pa.types
    if is_string(kind):
        return COMPARED if type_ is not None else frozenset([Kind.STRING])
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return frozenset([Kind.NUMBER])
    if types.is_boolean(kind):
        return frozenset([Kind.BOOLEAN])
    if types.is_date(kind):
        return frozenset([Kind.DATE])
    return frozenset([Kind.TIMESTAMP]) if types.is_timestamp(kind) else COMPARED


def earlier_paths(image: Any, relation: Relation | None = None) -> list[Parts]:
    """What is read of the earlier documents; of those of a relation."""
    paths = paths_read(image, EARLIER)
    if relation is None:
        return paths
    steps = (step for program in relation.programs for step in _steps(program))
    read = {step[2] for step in steps if step[0] == "attribute" and step[1] == EARLIER}
    return [path for path in paths if any(path[: len(own)] == own for own in read)]


def _steps(program: Program) -> Iterator[tuple[Any, ...]]:
    for step in program:
        yield step
        if step[0] in ("some", "every"):
            yield from _steps(step[1])


class RelationTask:
    """Makes rows of a relation, by its number in the plan."""

    def __init__(self, joined: JoinedSet, number: int) -> None:
        self._joined, self._number = joined, number
        self._call = MatchCall("documents", {ONLY: joined.shipped}, (), "null", "ids")
        self._binding: Binding | None = None
        self._names: tuple[str, ...] = ()
        self._rows: RelationRows | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield self._call.told(batch.num_rows, partial(self._made, batch))
            self._call.passed(batch.num_rows)

    def _made(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        opened = self._call.set_of(ONLY)
        relation = self._joined.plan_of(opened).relations[self._number]
        if self._rows is None or self._binding is None:
            self._binding, self._names = self._joined.read_of(opened, relation)
            self._rows = RelationRows(relation)
        documents = self._binding.documents(batch.columns, self._names, batch.num_rows)
        given = pa.StructArray.from_arrays(batch.columns, fields=list(batch.schema)) if relation.walked else None
        return self._rows.rows(new_documents(documents), given)


class KeysTask:
    """Adds the keys of lookups. `names`: of the columns, as they were; `are_pruned`: whether rows that need no join, as
    their constants tell, are kept from being joined."""

    def __init__(self, joined: JoinedSet, names: tuple[str, ...], are_pruned: bool) -> None:
        self._joined, self._names, self._are_pruned = joined, names, are_pruned
        self._call = MatchCall("match", {ONLY: joined.shipped}, joined.json, "null", "ids")

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = self._call.asked(ONLY, named(batch, self._names), self._keys)
            self._call.passed(batch.num_rows)
            names = [*batch.schema.names, *(f"k{number}" for number in range(len(keys)))]
            yield pa.RecordBatch.from_arrays([*batch.columns, *keys], names=names)

    def _keys(self, opened: OpenSet, documents: Any) -> list[pa.Array]:
        plan, new = self._joined.plan_of(opened), new_documents(documents)
        asked = np.ones((new.n, len(plan.lookups)), np.bool_)
        if self._are_pruned:
            asked = plan.asked_of(opened.rows_asked(documents))
        return [lookup_keys(new, one.keys, asked[:, n]) for n, one in enumerate(plan.lookups) if one.keys]


class JoinedTask:
    """Matches rows that were joined: the columns `names`, and then one for each lookup."""

    def __init__(self, joined: JoinedSet, names: tuple[str, ...], answer: Callable[..., pa.RecordBatch]) -> None:
        self._joined, self._names, self._answer = joined, names, answer
        self._call = MatchCall("match", {ONLY: joined.shipped}, joined.json, "null", "ids")
        self._finder: TruthFinder | None = None
        self._read: dict[int, tuple[Binding, tuple[str, ...]]] = {}

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        n = len(self._names)
        for batch in batches:
            own = named(batch, self._names)
            found = self._call.asked(ONLY, own, partial(self._matches, batch.columns[n:]))
            self._call.passed(batch.num_rows)
            yield self._answer(own, found)

    def _matches(self, columns: list[pa.StructArray], opened: OpenSet, documents: Any) -> MatchBatch:
        plan = self._joined.plan_of(opened)
        if self._finder is None:
            self._finder = TruthFinder(plan)
        image = opened.whole._image
        n, size = len(documents), max(1, _MOST_TRUTHS // max(1, len(image.joins)))
        off, found = [np.zeros(1, np.int64)], []
        earlier = [partial(self._collected, opened, number) for number in range(len(plan.lookups))]
        for start in range(0, n, size):
            part = documents[start : start + size] if isinstance(documents, list) else documents.slice(start, size)
            joined = [
                Joined(plan.relations[one.relation], column.slice(start, size))
                for one, column in zip(plan.lookups, columns, strict=True)
            ]
            given = self._finder.truths(new_documents(part), joined, earlier)
            own_off, own = opened.match_joined(part, given)
            off.append(own_off[1:] + off[-1][-1])
            found.append(own)
        indices = np.concatenate(found) if found else np.zeros(0, np.int32)
        return MatchBatch(np.concatenate(off), indices, opened.profiles.ids)

    def _collected(self, opened: OpenSet, lookup: int, array: pa.StructArray) -> list[dict[str, Any]]:
        """The documents that were collected."""
        plan = self._joined.plan_of(opened)
        if lookup not in self._read:
            self._read[lookup] = self._joined.read_of(opened, plan.relations[plan.lookups[lookup].relation])
        binding, names = self._read[lookup]
        documents = binding.documents(array.flatten(), names, len(array))
        if isinstance(documents, list):
            return documents
        frame = frame_of(documents, 0, documents.num_rows)
        return frame.rows(frame.columns)
