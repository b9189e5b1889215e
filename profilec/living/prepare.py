"""Profiles that are going to be inserted: read, checked and normalized before anything changes.

In: whatever `compile` takes. Out: `Prepared` profiles, with which nothing can be wrong any more, and warnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from profilec.compilation import id_taken, parsed_again, too_complex
from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.statements import ProfileStatement
from profilec.grammar.templates import Bound
from profilec.living.conjunctions import has_joins
from profilec.living.living_set import Prepared
from profilec.planner.normalize import normalize
from profilec.planner.options import Options
from profilec.planner.sources import Source
from profilec.values.types import Schema


def prepare(source: Any, schema: Schema | None, options: Options) -> tuple[list[Prepared], tuple[Diagnostic, ...]]:
    """The profiles of a source, in order.

    Raises:
        ProfileError: one has an error, or an id comes twice.
        ValueError: the source declares what the schema of the set does not.
        TypeError: nothing that profiles can be read from.
    """
    diagnostics: list[Diagnostic] = []
    opened = Source(source, diagnostics.append)
    declared = opened.schema(schema)
    if declared != schema:
        known = () if schema is None else schema.fields
        more = ", ".join(field.name for field in declared.fields if field not in known) if declared else ""
        raise ValueError(
            f"a set keeps the SCHEMA with which it was made, and that of these profiles declares more: {more}; give it "
            "when the set is made (`schema=`, or `profilec store init --schema FILE.prof`), or leave it out"
        )
    prepared: list[Prepared] = []
    ids: set[str] = set()
    for statement in opened.statements(schema, options.limits):
        if statement.id in ids:
            diagnostics.append(id_in_use(statement))
        ids.add(statement.id)
        reading = statement.reading
        if type(reading) is Bound and reading.template.leaves is not None:  # PERF: nearly always
            prepared.append(Prepared(statement, reading, has_joins=False))
            continue
        normal_form = normalize(statement.condition, rules=options.rules)
        n_leaves, ranges_over_documents = _counted(normal_form)
        if n_leaves > options.limits.max_terms:
            message = f"its normal form has more than {options.limits.max_terms:,} terms"
            diagnostics.append(too_complex(statement, message))
        prepared.append(Prepared(statement, normal_form, ranges_over_documents))
    if any(found.severity == "error" for found in diagnostics):
        raise ProfileError(opened.in_order(diagnostics))
    return prepared, tuple(diagnostics)


def prepared_again(
    statements: Iterable[ProfileStatement], schema: Schema | None, options: Options
) -> Iterator[Prepared]:
    """Profiles that were prepared once, and have no condition now."""
    for statement in statements:
        condition = parsed_again(statement, schema, options.limits)
        normal_form = normalize(condition, rules=options.rules)
        yield Prepared(statement._replace(reading=condition), normal_form, has_joins(normal_form))


def id_in_use(statement: ProfileStatement) -> Diagnostic:
    """That its id is taken, by another of the same change or of the set."""
    return id_taken(statement, "ids are unique in a set; `replace` replaces")


_NESTING = frozenset({ir.And, ir.Or, ir.Not, ir.Exists, ir.ForAll})


def _counted(normal_form: ir.Condition) -> tuple[int, bool]:
    """How many leaves a normal form has, and whether it ranges over the earlier documents."""
    if type(normal_form) is ir.And and _NESTING.isdisjoint(map(type, normal_form.operands)):  # PERF: nearly always
        return len(normal_form.operands), False
    return _n_leaves(normal_form), has_joins(normal_form)


def _n_leaves(normal_form: ir.Condition) -> int:
    """The leaves of a normal form, written out: what it shares counts each time."""
    if not isinstance(normal_form, ir.And | ir.Or):
        return 1
    known: dict[ir.Condition, int] = {}
    pending: list[ir.And | ir.Or] = [normal_form]
    while pending:
        node = pending[-1]
        below = [one for one in node.operands if isinstance(one, ir.And | ir.Or) and one not in known]
        if below:
            pending += below
        else:
            known[node] = sum(known.get(one, 1) for one in node.operands)
            pending.pop()
    return known[normal_form]
