"""Operators as a tree of text, in columns.

    match                                        rows    cost
    ├─ betree  14,022 entries                      25  2.1 us   access 3.0 us, opindex 9.4 us
    │  └─ encode  31 attributes                    12  1.4 us
    └─ joins  3 join terms                               40 us

An operator that several read is drawn where it is read first, and named after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from profilec.planner.drawing.spelled import rows, seen, time

MOST_INPUTS = 12
"""Inputs of one operator that are drawn."""
_MOST_REJECTED = 4


def tree(operators: Sequence[dict[str, Any]]) -> list[str]:
    """The lines. Operators as `explain` tells them: "operator", "detail", "rows", "ns", "inputs", "rejected", and where
    the plan was run "rows_seen" and "ns_seen"."""
    was_run = any("ns_seen" in operator for operator in operators)
    heads = ["rows", "cost"] + (["rows seen", "time seen", "estimate of rows"] if was_run else [])
    lines: list[tuple[str, list[str], str]] = [("", heads, "rejected")]
    drawn: set[int] = set()

    def draw(place: int, first: str, others: str) -> None:
        operator = operators[place]
        lines.append(
            (
                f"{first}{operator['operator']}  {operator['detail']}".rstrip(),
                _cells(operator, was_run),
                _rejected(operator),
            )
        )
        if place in drawn:
            return
        drawn.add(place)
        inputs = [read for read in operator["inputs"] if read not in drawn or len(operator["inputs"]) == 1]
        shown = inputs[:MOST_INPUTS]
        for number, read in enumerate(shown):
            is_last = number == len(shown) - 1 and len(inputs) == len(shown)
            draw(read, others + ("└─ " if is_last else "├─ "), others + ("   " if is_last else "│  "))
        if len(inputs) > len(shown):
            lines.append((f"{others}└─ … {len(inputs) - len(shown):,} more (--format json shows all)", [], ""))

    if operators:
        draw(0, "", "")
    if not any(text for _, _, text in lines[1:]):
        lines[0] = ("", heads, "")
    width = max(len(name) for name, _, _ in lines)
    widths = [max((len(cells[column]) for _, cells, _ in lines if cells), default=0) for column in range(len(heads))]
    found = []
    for name, cells, rejected in lines:
        columns = "  ".join(cell.rjust(widths[column]) for column, cell in enumerate(cells))
        found.append(f"{name:<{width}}  {columns}   {rejected}".rstrip())
    return found


def _cells(operator: dict[str, Any], was_run: bool) -> list[str]:
    cells = [rows(operator["rows"]), time(operator["ns"]) if operator["ns"] else ""]
    return [*cells, *seen(operator)] if was_run else cells


def _rejected(operator: dict[str, Any]) -> str:
    others = operator["rejected"]
    text = ", ".join(f"{other['operator']} {time(other['ns'])}" for other in others[:_MOST_REJECTED])
    return text + (", …" if len(others) > _MOST_REJECTED else "")
