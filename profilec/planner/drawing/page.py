"""A plan as one page of HTML that needs nothing else: the graph drawn as SVG, and tables.

In: the facts that `explain` tells. Out: the page's text. It has no script and loads nothing.

LAYOUT: an operator stands in the row of its distance from the answer, which is on top; rows are centred. What does not
fit into MOST_IN_ROW is left to the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from profilec.planner.drawing.graph_languages import label
from profilec.planner.drawing.spelled import rows, seen, size, time

MOST_IN_ROW = 6
_WIDTH, _HEIGHT, _GAP, _LINE = 190, 74, 26, 15

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
body { color: #1c2733; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } div { overflow-x: auto; }
th, td { text-align: left; padding: .3rem .6rem; vertical-align: top; }
th { border-bottom: 2px solid #c5ced8; } td { border-bottom: 1px solid #e4e9ee; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
svg rect { fill: #f3f7fb; stroke: #5b7fa6; } svg path { stroke: #8aa0b6; fill: none; }
svg text { font: 12px system-ui, sans-serif; fill: #1c2733; } svg .name { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  body { background: #12181f; color: #d7dee6; } td { border-color: #2a343f; } th { border-color: #45525f; }
  svg rect { fill: #1d2732; } svg text { fill: #d7dee6; }
}
"""


def page(facts: dict[str, Any]) -> str:
    """The page of a set's plan."""
    operators = facts["operators"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(facts['title'])}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(facts['title'])}</h1>",
        f"<p>{escape(facts['expected_from'])}</p>",
        svg(operators),
        "<h2>Operators</h2>",
        _table_of(operators),
        "<h2>Memory</h2>",
        _table(["part", "bytes"], [[part, size(n_bytes)] for part, n_bytes in facts["memory"].items()], {1}),
    ]
    if facts["not_selective"]:
        cells = [[one["profile"], one["place"] or "", one["reason"], one["hint"]] for one in facts["not_selective"]]
        parts += ["<h2>Checked for every document</h2>", _table(["profile", "place", "reason", "hint"], cells)]
    return "\n".join([*parts, "</body></html>"])


def svg(operators: Sequence[dict[str, Any]]) -> str:
    """The graph as an SVG element."""
    depth = _depths(operators)
    in_row: dict[int, list[int]] = {}
    for place in range(len(operators)):
        in_row.setdefault(depth[place], []).append(place)
    shown = {row: places[:MOST_IN_ROW] for row, places in in_row.items()}
    widest = max((len(places) for places in shown.values()), default=1)
    width = widest * (_WIDTH + _GAP)
    at: dict[int, tuple[float, float]] = {}
    for row, places in shown.items():
        start = (width - len(places) * (_WIDTH + _GAP) + _GAP) / 2
        for number, place in enumerate(places):
            at[place] = start + number * (_WIDTH + _GAP), row * (_HEIGHT + 2 * _GAP) + 2.0
    height = len(shown) * (_HEIGHT + 2 * _GAP)
    drawn = [f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="the plan">']
    for place, operator in enumerate(operators):
        drawn += [_edge(at[read], at[place]) for read in operator["inputs"] if place in at and read in at]
    drawn += [_box(operators[place], x, y) for place, (x, y) in at.items()]
    for row, places in in_row.items():
        if len(places) > MOST_IN_ROW:
            y = row * (_HEIGHT + 2 * _GAP) + _HEIGHT + _LINE
            drawn.append(f'<text x="{width / 2}" y="{y}">and {len(places) - MOST_IN_ROW:,} more, see the table</text>')
    return "\n".join([*drawn, "</svg>"])


def _depths(operators: Sequence[dict[str, Any]]) -> list[int]:
    """The longest way from each operator to the answer."""
    depth = [0] * len(operators)
    pending = [0] if operators else []
    while pending:
        place = pending.pop()
        for read in operators[place]["inputs"]:
            if depth[read] < depth[place] + 1:
                depth[read] = depth[place] + 1
                pending.append(read)
    return depth


def _edge(below: tuple[float, float], above: tuple[float, float]) -> str:
    x1, y1 = below[0] + _WIDTH / 2, below[1]
    x2, y2 = above[0] + _WIDTH / 2, above[1] + _HEIGHT
    middle = (y1 + y2) / 2
    return f'<path d="M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"/>'


def _box(operator: dict[str, Any], x: float, y: float) -> str:
    lines = label(operator)
    texts = []
    for number, line in enumerate(lines):
        bold = "" if number else ' class="name"'
        texts.append(f'<text x="{x + 10}" y="{y + 18 + number * _LINE}"{bold}>{escape(_cut(line))}</text>')
    title = f"<title>{escape(', '.join(lines))}</title>"
    return f'<g><rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>{title}{"".join(texts)}</g>'


def _cut(text: str) -> str:
    return text if len(text) <= 28 else text[:27] + "…"


def _table_of(operators: Sequence[dict[str, Any]]) -> str:
    was_run = any("ns_seen" in operator for operator in operators)
    heads = [
        "operator",
        "",
        "rows",
        "cost",
        *(["rows seen", "time seen", "estimate of rows"] if was_run else []),
        "rejected",
    ]
    cells = []
    for operator in operators:
        row = [operator["operator"], operator["detail"], rows(operator["rows"]), time(operator["ns"])]
        if was_run:
            row += seen(operator)
        row.append(", ".join(f"{other['operator']} {time(other['ns'])}" for other in operator["rejected"]))
        cells.append(row)
    return _table(heads, cells, {2, 3, 4, 5} if was_run else {2, 3})


def _table(heads: Sequence[str], cells: Sequence[Sequence[str]], numbers: set[int] = frozenset()) -> str:  # type: ignore[assignment]
    def row(tag: str, texts: Sequence[str]) -> str:
        made = (
            f"<{tag}{' class=n' if column in numbers else ''}>{escape(text)}</{tag}>"
            for column, text in enumerate(texts)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row("td", texts) for texts in cells)
    return f"<div><table><thead>{row('th', heads)}</thead><tbody>{body}</tbody></table></div>"
