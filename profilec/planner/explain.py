"""`explain`: a profile, or a whole set, as it is executed.

In: an image and its plan, and for one profile its text. Out: text or JSON. What is shown of
entries is read back from the image; the normal form is made again from the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from profilec.grammar import ir
from profilec.grammar.diagnostics import escaped
from profilec.grammar.parse import parse_condition
from profilec.planner import drawing
from profilec.planner.lower.describe import ASSUMED, describe_join_rows, describe_residual, describe_test
from profilec.planner.lower.leaves import text_of
from profilec.planner.lower.unselective import reason
from profilec.planner.normal_forms import to_cnf, to_dnf
from profilec.planner.normalize import normalize
from profilec.planner.operators import counted
from profilec.planner.options import Options
from profilec.planner.plan import Plan

if TYPE_CHECKING:
    from profilec.runtime.analyze import Seen
    from profilec.runtime.image import Image
    from profilec.runtime.store.documents import DocumentStore

Place = tuple[str | None, int, int]
_MOST_UNSELECTIVE = 20
_MOST_ENTRIES = 50
_MOST_ROWS = 20
_ORDER_TEXT = {
    None: "phase order: whichever costs less for a document",
    "constant_first": "phase order: constant_first, as the options say",
    "join_first": "phase order: join_first, as the options say",
}


class Explained(Protocol):
    """A profile: its id and its condition's text."""

    @property
    def id(self) -> str: ...
    @property
    def where(self) -> str: ...


def explain_profile(
    image: Image, ordinal: int, profile: Explained, place: Place, options: Options, format_: str, form: str | None
) -> str:
    """A profile's normal form, and its entries with their access predicates, checks and residuals.

    Raises:
        ValueError: an unknown format or form.
        NormalFormTooLarge: the CNF or DNF asked for would be too large.
    """
    condition = parse_condition(profile.where, limits=options.limits, profile=profile.id).node
    assert isinstance(condition, ir.Condition)
    normal_form = normalize(condition, rules=options.rules)
    facts: dict[str, Any] = {
        "profile": profile.id,
        "place": _place(place),
        "condition": text_of(condition),
        "normal_form": text_of(normal_form),
    }
    if form is not None:
        if form not in ("cnf", "dnf"):
            raise ValueError(f"form takes 'cnf' or 'dnf', not {form!r}")
        facts[form] = text_of((to_cnf if form == "cnf" else to_dnf)(normal_form))
    facts["entries"] = [_entry_facts(image, entry) for entry in _entries_of(image, ordinal)]
    return _formatted(facts, format_, _profile_text)


def explain_set(
    image: Image,
    plan: Plan,
    ids: Sequence[str],
    place_of: Callable[[int], Place],
    format_: str,
    filtered: dict[str, Any] | None = None,
    store: DocumentStore | None = None,
    seen: Seen | None = None,
    joined_by: str | None = None,
) -> str:
    """The set's size, its attributes, its matcher, its joins, and the entries that are checked for every document.

    `filtered`: what the pre-filter says of itself; None where there is none. `store`: the earlier documents. `seen`:
    what the plan's operators gave and took for documents that it was run with. `joined_by`: who asks the joins, where
    that is not the plan, which then has nothing to say of how, nor of what that costs.
    """
    tests_of_slot = np.bincount(image.test_slot, minlength=len(image.slots))
    entries_of_slot = _entries_by_access(image)
    most = None if format_ == "json" else _MOST_UNSELECTIVE
    facts: dict[str, Any] = {
        "title": f"Plan for {counted(plan.n_profiles, 'profile')}: {counted(plan.n_attributes, 'attribute')}, "
        f"{counted(plan.n_entries, 'entry', 'entries')}, {counted(plan.n_joins, 'join term')}",
        "profiles": plan.n_profiles,
        "attributes": plan.n_attributes,
        "entries": plan.n_entries,
        "joins": plan.n_joins,
        "matcher": plan.matcher,
        "groups": dict(plan.groups),
        "matchers": plan.matchers,
        "reason": plan.reason,
        "expected_from": _expected_from(plan),
        "operators": operator_facts(plan),
        "memory": memory(image),
        "memory_expected": None if plan.held is None else plan.held.expected,
        "memory_given": None if plan.held is None else plan.held.given,
        "slots": [
            {
                "attribute": slot.name,
                "tests": int(tests_of_slot[number]),
                "elementary_intervals": slot.constants.n_ranks,
                "access_for_entries": int(entries_of_slot[number]),
            }
            for number, slot in enumerate(image.slots)
        ],
        "phase_order": plan.phase_order,
        "documents": 0 if store is None else len(store.alive),
        "join_rows": describe_join_rows(image, store or None) if joined_by is None else [],
        "prefilter": filtered and filtered | {"cannot_match": [ids[ordinal] for ordinal in filtered["cannot_match"]]},
        "n_not_selective": plan.n_unselective,
        "not_selective": [
            _unselective_facts(image, entry, share, ids, place_of) for entry, share in plan.unselective[:most]
        ],
    }
    _ask_joins(facts, joined_by)
    if seen is not None:
        facts["analyzed"] = seen.n_documents
        _add_seen(facts["operators"], seen)
    return _formatted(facts, format_, _set_text)


def operator_facts(plan: Plan) -> list[dict[str, Any]]:
    """The plan's operators as `drawing` takes them."""
    return [
        {
            "operator": operator.name,
            "detail": operator.detail,
            "rows": float(f"{operator.rows:.4g}"),
            "ns": float(f"{operator.ns:.4g}"),
            "inputs": list(operator.inputs),
            "rejected": [{"operator": name, "ns": float(f"{ns:.4g}")} for name, ns in operator.rejected],
        }
        for operator in plan.operators
    ]


def _ask_joins(facts: dict[str, Any], joined_by: str | None) -> None:
    """What joins cost with the earlier documents, where there are some; the plan knew of none."""
    for operator in facts["operators"]:
        if operator["operator"] == "joins" and joined_by is not None:
            operator |= {"detail": f"{counted(facts['joins'], 'join term')}, {joined_by}", "ns": 0.0, "rejected": []}
        elif operator["operator"] == "joins" and facts["documents"]:
            operator["ns"] = sum(asked["ns"] for row in facts["join_rows"] for asked in row["asked_by"])
            operator["rejected"] = []
    facts["ns"] = round(sum(operator["ns"] for operator in facts["operators"]))


def _add_seen(operators: list[dict[str, Any]], seen: Seen) -> None:
    """What was seen of each operator, beside what was expected."""
    for operator in operators:
        name = operator["operator"]
        _, of, attribute = name.partition(" of ")
        found = seen.indexes.get(attribute) if of else seen.operators.get(name)
        if found is not None:
            rows, operator["ns_seen"] = found
            if rows is not None:
                operator["rows_seen"] = rows


def _expected_from(plan: Plan) -> str:
    if plan.n_sampled:
        return f"expected of a document, as {counted(plan.n_sampled, 'sampled document')} and unit costs tell"
    return "expected of a document, as the profiles alone tell: statistics of documents tell more (profilec stats)"


def memory(image: Image) -> dict[str, int]:
    """Bytes of the arrays of an image, by what they are for."""
    parts = {
        "tests": ("test_slot", "test_off", "test_low", "test_high", "bit_kind", "bit_source", "bit_want"),
        "entries": (
            "entry_off",
            "entry_tests",
            "entry_access",
            "entry_residual",
            "entry_profile_off",
            "entry_profiles",
        ),
        "residuals": ("residual_off", "residual_code"),
    }
    found = {part: sum(getattr(image, name).nbytes for name in names) for part, names in parts.items()}
    for part, tree in (("tree", image.tree), ("tree of joins", image.join_tree)):
        if tree is not None:
            found[part] = int(tree.nbytes)
    return found


def _formatted(facts: dict[str, Any], format_: str, as_text: Callable[[dict[str, Any]], str]) -> str:
    if format_ == "json":
        return json.dumps(facts, ensure_ascii=False, indent=2)
    if format_ == "text":
        return as_text(_escaped(facts))
    if "operators" not in facts:
        raise ValueError(f"format takes 'text' or 'json' for a profile, not {format_!r}")
    draw: dict[str, Callable[[], str]] = {
        "dot": lambda: drawing.dot(_escaped(facts["operators"])),
        "mermaid": lambda: drawing.mermaid(_escaped(facts["operators"])),
        "html": lambda: drawing.page(_escaped(facts)),
    }
    if format_ not in draw:
        raise ValueError(f"format takes 'text', 'json', {', '.join(map(repr, draw))}, not {format_!r}")
    return draw[format_]()


def _escaped(fact: Any) -> Any:
    """What is to be printed, without what a terminal would obey."""
    match fact:
        case str():
            return escaped(fact)
        case list():
            return [_escaped(inner) for inner in fact]
        case dict():
            return {name: _escaped(inner) for name, inner in fact.items()}
    return fact


def _entries_of(image: Image, ordinal: int) -> list[int]:
    rows = np.flatnonzero(image.entry_profiles == ordinal)
    return (np.searchsorted(image.entry_profile_off, rows, side="right") - 1).tolist()  # type: ignore[no-any-return]


def _entry_facts(image: Image, entry: int) -> dict[str, Any]:
    access = int(image.entry_access[entry])
    tests = image.entry_tests[image.entry_off[entry] : image.entry_off[entry + 1]].tolist()
    residual = int(image.entry_residual[entry])
    shared = int(image.entry_profile_off[entry + 1] - image.entry_profile_off[entry])
    return {
        "access": None if access < 0 else describe_test(image, access),
        "checks": [describe_test(image, test) for test in tests if test != access],
        "residual": None if residual < 0 else describe_residual(image, residual),
        "profiles": shared,
    }


def _entries_by_access(image: Image) -> Any:
    """How many entries each slot gives access to."""
    n_tests = len(image.test_slot)
    access = image.entry_access[image.entry_access >= 0]
    slots = image.test_slot[access[access < n_tests]]
    of_patterns = [
        image.patterns[image.bit_source[test - n_tests]].slot
        for test in access[access >= n_tests].tolist()
        if image.bit_kind[test - n_tests] == 0
    ]
    return np.bincount(np.concatenate((slots, np.array(of_patterns, slots.dtype))), minlength=len(image.slots))


def _unselective_facts(
    image: Image, entry: int, share: float, ids: Sequence[str], place_of: Callable[[int], Place]
) -> dict[str, Any]:
    ordinal = int(image.entry_profiles[image.entry_profile_off[entry]])
    facts = _entry_facts(image, entry)
    checked = [*([facts["access"]] if facts["access"] else []), *facts["checks"]]
    checked += [facts["residual"]] if facts["residual"] else []
    why, hint = reason(image, entry, share)
    return {
        "profile": ids[ordinal],
        "place": _place(place_of(ordinal)),
        "checks": checked or ["TRUE"],
        "share": share,
        "reason": why,
        "hint": hint,
    }


def _place(place: Place) -> str | None:
    file, line, column = place
    return None if file is None else f"{file}:{line}:{column}"


def _profile_text(facts: dict[str, Any]) -> str:
    lines = [f"{facts['profile']}" + (f"   {facts['place']}" if facts["place"] else "")]
    titles = [title for title in ("condition", "normal_form", "cnf", "dnf") if title in facts]
    lines.extend(f"  {title.replace('_', ' '):<12} {facts[title]}" for title in titles)
    entries = facts["entries"]
    lines.append(
        f"  {len(entries):,} {'entry' if len(entries) == 1 else 'entries'}"
        + ("" if entries else ": no document can match")
    )
    for number, entry in enumerate(entries[:_MOST_ENTRIES], start=1):
        access = entry["access"] or "none: checked for every document"
        shared = f"   (shared by {entry['profiles']:,} profiles)" if entry["profiles"] > 1 else ""
        lines.append(f"  {number:>3}  access    {access}{shared}")
        lines.extend(f"       check     {check}" for check in entry["checks"])
        if entry["residual"]:
            lines.append(f"       residual  {entry['residual']}")
    if len(entries) > _MOST_ENTRIES:
        lines.append(f"       … {len(entries) - _MOST_ENTRIES:,} more (--format json shows all)")
    return "\n".join(lines)


def _set_text(facts: dict[str, Any]) -> str:
    n_bytes = sum(facts["memory"].values())
    lines = [
        f"{facts['title']}   {drawing.time(facts['ns'])} a document, {drawing.size(n_bytes)}",
        *drawing.tree(facts["operators"]),
        f"{facts['expected_from']}; matcher {facts['matchers']}: {facts['reason']}",
    ]
    if "analyzed" in facts:
        lines.append(f"seen with {counted(facts['analyzed'], 'document')}")
    slots = [slot for slot in facts["slots"] if slot["tests"] or slot["access_for_entries"]]
    width = max([len(slot["attribute"]) for slot in slots], default=0)
    lines += [
        f"  {slot['attribute']:<{width}}  access to {slot['access_for_entries']:>7,} "
        f"{'entry  ' if slot['access_for_entries'] == 1 else 'entries'}   "
        f"{slot['tests']:>7,} {'test ' if slot['tests'] == 1 else 'tests'}   "
        f"{slot['elementary_intervals']:>7,} elementary intervals"
        for slot in sorted(slots, key=lambda slot: (-slot["access_for_entries"], slot["attribute"]))
    ]
    if facts["join_rows"]:
        n = facts["documents"]
        stored = f"with {counted(n, 'earlier document')}" if n else f"as with {ASSUMED[0]:,} earlier documents"
        lines.append(
            f"{counted(len(facts['join_rows']), 'row')} of the join table, {_ORDER_TEXT[facts['phase_order']]}"
        )
        lines.append(f"  what it costs to ask each for one document, {stored}:")
    for row in facts["join_rows"][:_MOST_ROWS]:
        more = f" and {row['terms'] - 1:,} more of other constants" if row["terms"] > 1 else ""
        lines.append(f"  {row['term']}{more}")
        lines += [f"    {_asked_text(asked)}" for asked in row["asked_by"]] or ["    never holds"]
    if len(facts["join_rows"]) > _MOST_ROWS:
        lines.append(f"  … {len(facts['join_rows']) - _MOST_ROWS:,} more (--format json shows all)")
    if facts["prefilter"]:
        found = facts["prefilter"]
        left, replaced = found["cannot_match"], found["joins_replaced"]
        told = f"{counted(len(left), 'profile')} cannot match yet" if left else "every profile can match"
        instead = f", asked instead of {counted(replaced, 'join')}" if replaced else ""
        lines.append(
            f"pre-filter of {counted(found['constraints'], 'constraint')} on the earlier documents{instead}: {told}"
        )
        if left:
            lines.append(f"  {', '.join(left[:_MOST_ROWS])}" + (", …" if len(left) > _MOST_ROWS else ""))
    for found in facts["not_selective"]:
        place = f" at {found['place']}" if found["place"] else ""
        checks = " AND ".join(found["checks"])
        often = "every document" if found["share"] == 1 else f"{found['share']:.0%} of the documents"
        lines.append(f"not selective: {found['profile']}{place}, {checks}, is checked for {often}: {found['reason']}")
        lines.append(f"  hint: {found['hint']}")
    more = facts["n_not_selective"] - len(facts["not_selective"])
    if more:
        lines.append(f"not selective: {more:,} more (--format json shows all)")
    return "\n".join(lines)


def _asked_text(asked: dict[str, Any]) -> str:
    others = [f"{other['way']} {drawing.time(other['ns'])}" for other in asked["rejected"]]
    return f"{asked['way']}, {drawing.time(asked['ns'])}" + (f"   (rejected: {', '.join(others)})" if others else "")
