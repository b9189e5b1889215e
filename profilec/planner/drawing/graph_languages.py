"""Operators in the languages of Graphviz and Mermaid: an edge from each operator to what reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from profilec.planner.drawing.spelled import rows, seen, time


def dot(operators: Sequence[dict[str, Any]]) -> str:
    """For Graphviz: `dot -Tsvg`.

    >>> print(dot([{"operator": "match", "detail": "", "rows": 2, "ns": 0, "inputs": []}]))
    digraph plan {
      rankdir=BT
      node [shape=box, fontname="sans-serif"]
      n0 [label="match\\n2 rows"]
    }
    """
    lines = ["digraph plan {", "  rankdir=BT", '  node [shape=box, fontname="sans-serif"]']
    lines += [f"  n{place} [label={_quoted(label(operator))}]" for place, operator in enumerate(operators)]
    lines += [f"  n{read} -> n{place}" for place, operator in enumerate(operators) for read in operator["inputs"]]
    return "\n".join([*lines, "}"])


def mermaid(operators: Sequence[dict[str, Any]]) -> str:
    """For Mermaid, as Markdown pages draw it.

    >>> print(mermaid([{"operator": "match", "detail": "", "rows": 2, "ns": 0, "inputs": []}]))
    flowchart BT
      n0["match<br/>2 rows"]
    """
    lines = ["flowchart BT"]
    for place, operator in enumerate(operators):
        text = "<br/>".join(_entities(line) for line in label(operator))
        lines.append(f'  n{place}["{text}"]')
    lines += [f"  n{read} --> n{place}" for place, operator in enumerate(operators) for read in operator["inputs"]]
    return "\n".join(lines)


def label(operator: dict[str, Any]) -> list[str]:
    """What stands in an operator's box, line by line."""
    cost = f", {time(operator['ns'])}" if operator["ns"] else ""
    lines = [operator["operator"], operator["detail"], f"{rows(operator['rows'])} rows{cost}"]
    n, ns, _ = seen(operator)
    told = ", ".join(part for part in (f"{n} rows" if n else "", ns) if part)
    lines.append(f"seen: {told}" if told else "")
    return [line for line in lines if line]


def _quoted(lines: Sequence[str]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def _entities(text: str) -> str:
    """Characters that Mermaid would read, by their numbers."""
    return "".join(
        character if character.isalnum() or character in " ,.:_-" else f"#{ord(character)};" for character in text
    )
