"""From statements to the parts of a set.

In: `ProfileStatement`s, one by one. Out: `SetParts`: the table of profiles, the image, the plan.

Invariant: the same statements, options and statistics give the same parts.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.limits import Limits
from profilec.grammar.statements import Example, ProfileStatement, parse_where
from profilec.planner.costs import Units
from profilec.planner.lower import ImageBuilder, TooComplexError, with_tree
from profilec.planner.lower.build import Built
from profilec.planner.normalize import normalize
from profilec.planner.options import Options
from profilec.planner.plan import attributes_of, plan_of
from profilec.planner.statistics import Statistics
from profilec.profile_table import PlacesInMaking, ProfileTable
from profilec.runtime.execute import Executor
from profilec.runtime.imagefile.columns import Strings
from profilec.runtime.matchers.groups import entries_of
from profilec.runtime.sampled import Sampled
from profilec.runtime.store.node_file import Disk
from profilec.saved_set import SetParts
from profilec.values.types import Schema


@contextmanager
def collector_paused() -> Iterator[None]:
    """PERF: the compiler makes no cycles but millions of objects, which the collector would walk again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class How(NamedTuple):
    """What profiles are compiled with."""

    schema: Schema | None
    options: Options
    units: Units


class Compilation:
    """A set in the making."""

    def __init__(self, schema: Schema | None, options: Options, units: Units, diagnostics: list[Diagnostic]) -> None:
        self.schema = schema
        self.options = options
        self.units = units
        self.diagnostics = diagnostics
        self.ids: dict[str, int] = {}
        self.wheres: list[str] = []
        self.places = PlacesInMaking()
        self.properties: dict[int, Mapping[str, Any]] = {}
        self.comments: dict[int, str] = {}
        self.examples: dict[int, tuple[Example, ...]] = {}
        self.builder = ImageBuilder(schema, options.limits.max_terms)

    def take(self, statement: ProfileStatement, *, is_normal: bool) -> None:
        """Adds a profile, unless its id is taken or it is too complex; both are reported."""
        ordinal = len(self.ids)
        first = self.ids.setdefault(statement.id, ordinal)
        if first != ordinal:
            self.diagnostics.append(id_taken(statement, self._taken_by(first)))
            return
        try:
            form = statement.condition
            self.builder.add(form if is_normal else normalize(form, rules=self.options.rules))
        except TooComplexError as error:
            del self.ids[statement.id]
            self.diagnostics.append(too_complex(statement, str(error)))
            return
        self.wheres.append(statement.where)
        self.places.add(statement.file, statement.line, statement.column)
        if statement.properties:
            self.properties[ordinal] = statement.properties
        if statement.comment is not None:
            self.comments[ordinal] = statement.comment
        if statement.examples:
            self.examples[ordinal] = statement.examples

    def finish(self, statistics: Statistics | None, *, is_part: bool = False) -> SetParts:
        """What the set is made of. `is_part`: of a larger set, see `planned`."""
        built = self.builder.build(None if statistics is None else statistics.sample)
        how = How(self.schema, self.options, self.units)
        return planned(self.table(), built, how, self.diagnostics, is_part=is_part)

    def table(self) -> ProfileTable:
        """The profiles as columns."""
        return ProfileTable(
            Strings(list(self.ids)),
            Strings(self.wheres),
            self.places.columns(),
            self.ids,
            self.properties,
            self.comments,
            self.examples,
        )

    def _taken_by(self, ordinal: int) -> str:
        file, line = self.places.line_of(ordinal)
        where = f"at {file}:{line}" if file is not None else f"number {ordinal + 1} of the set, in line {line}"
        return f"the first profile of that id is {where}; ids are unique in a set"


def planned(
    table: ProfileTable, built: Built, how: How, diagnostics: Sequence[Diagnostic] = (), *, is_part: bool
) -> SetParts:
    """A set of an image, with the tree that the plan wants of it. `is_part`: of a larger set, some of whose attributes
    it may not have; options that force something on these are left out."""
    options = how.options.used(attributes_of(built.image)) if is_part else how.options
    plan = plan_of(built, options, how.units)
    schemas = () if how.schema is None else (how.schema,)
    parts = SetParts(table, built.image, plan, options, schemas, tuple(diagnostics))
    is_small = options.leaves_matcher and built.image.n_entries <= FEW_ENTRIES
    return parts if is_small and built.presence is None else with_tree_of(parts, built.presence)


def error_of(statement: ProfileStatement, code: str, message: str, hint: str) -> Diagnostic:
    """An error that a profile has as a whole."""
    return Diagnostic(
        code, "error", message, statement.file, statement.line, statement.column, hint=hint, profile=statement.id,
        source_line=statement.where.partition("\n")[0], source_column=statement.column,
    )  # fmt: skip


def id_taken(statement: ProfileStatement, hint: str) -> Diagnostic:
    """That another profile has its id."""
    return error_of(statement, "PC216", f"the id {statement.id!r} is taken", hint)


def too_complex(statement: ProfileStatement, message: str) -> Diagnostic:
    """That its normal form has too many terms."""
    return error_of(statement, "PC302", message, "raise the option max_terms, or say it without IS UNKNOWN")


FEW_ENTRIES = 200
FEW_DOCUMENTS = 1_000
"""A set of no more entries, whose matcher nobody named, matches its first documents by a plain scan: compiled code
takes longer to load than that. After so many documents it is loaded, and a tree that is not there is made."""


def with_tree_of(
    parts: SetParts, presence: NDArray[np.float64] | None = None, sampled: Sampled | None = None
) -> SetParts:
    """The parts with a tree in the image, where the plan wants one that is not there, or, with `sampled`, that is there
    already. `presence`: see `bulk_load`; `sampled`: see `with_tree`."""
    plan, image, options = parts.plan, parts.image, parts.options
    matcher, _, leaves = plan.matcher.partition(":")
    own = entries_of(image, plan.matcher, dict(plan.groups)).get("betree") if plan.groups else None
    if (image.tree is not None and sampled is None) or (matcher != "betree" and own is None):
        return parts
    image = with_tree(image, options.max_cap, leaves or "any", presence, options.ranking, sampled, own)
    return parts._replace(image=image)


def executor_of(parts: SetParts, matcher: str | None = None, file: Path | None = None) -> Executor:
    """What runs the plan; by one matcher for all entries where one is named. `file`: that of the image, beside which
    indexes on secondary storage may be kept."""
    plan = parts.plan
    return Executor(
        parts.image,
        matcher or plan.matcher,
        plan.phase_order,
        prefilter=plan.prefilter,
        groups=None if matcher else dict(plan.groups),
        index_of=plan.rank_index,
        frequency=plan.frequency or None,
        pattern_index=plan.pattern_index,
        disk=Disk(file, parts.options.memory),
    )


def parsed_again(statement: ProfileStatement, schema: Schema | None, limits: Limits) -> ir.Condition:
    """The condition of a profile that was read before."""
    condition = parse_where(statement.id, statement.where, schema=schema, limits=limits, report=_nothing_new)
    assert condition is not None, f"profile {statement.id!r} was read once"
    return condition


def _nothing_new(diagnostic: Diagnostic) -> None:
    """What is to be said of a profile was said when it was first compiled."""
