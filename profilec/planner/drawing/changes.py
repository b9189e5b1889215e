"""How one plan of a set differs from another.

    matcher betree, and not access
      betree  2,000 entries      rows 12 -> 250    cost 2.1 us -> 9 us
    - interval of price          rows 3            cost 1.2 us
    + hash of brand              rows 1            cost 0.9 us

An operator of the same name is the same one; one that both have, with the same rows and cost, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from profilec.planner.drawing.columns import aligned
from profilec.planner.drawing.spelled import rows, time


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Lines that tell the differences of two plans, as `explain` tells them."""
    one, other = _by_name(before["operators"]), _by_name(after["operators"])
    lines = []
    if before["matchers"] != after["matchers"]:
        lines.append(f"matcher {after['matchers']}, and not {before['matchers']}")
    cells: list[_Line] = [
        ("  ", one[name], other[name]) for name in one if name in other and _differ(one[name], other[name])
    ]
    cells += [("- ", one[name], None) for name in one if name not in other]
    cells += [("+ ", None, other[name]) for name in other if name not in one]
    if not cells:
        return lines or ["no difference"]
    lines += aligned([_cells(*line) for line in cells])
    lines.append(f"a document: {time(before['ns'])} -> {time(after['ns'])}")
    return lines


_Line = tuple[str, dict[str, Any] | None, dict[str, Any] | None]


def _by_name(operators: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {operator["operator"]: operator for operator in operators}


def _differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return any(one[name] != other[name] for name in ("rows", "ns"))


def _cells(mark: str, one: dict[str, Any] | None, other: dict[str, Any] | None) -> tuple[str, str, str]:
    both = [operator for operator in (one, other) if operator is not None]
    name = f"{mark}{both[0]['operator']}  {both[0]['detail']}"
    return (
        name.rstrip(),
        "rows " + " -> ".join(dict.fromkeys(rows(operator["rows"]) for operator in both)),
        "cost " + " -> ".join(dict.fromkeys(time(operator["ns"]) for operator in both)),
    )
