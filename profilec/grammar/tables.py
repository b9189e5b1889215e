"""The parser's tables: what Lark's LALR(1) analysis makes of `profilec.lark`.

In: the grammar. Out: `Tables`, which `parse` runs. Lark takes a third of a second to load and to
analyse the grammar, so its result is kept beside the grammar in `tables.json`, with the text of
the grammar it was made from: where the two differ, the analysis is made anew, so the tables are
never stale. `python -m profilec.grammar.tables` writes the file.

LAYOUT: `states[s]` maps a terminal or rule to what is to be done in state s when it comes:
n >= 0: go to state n (a shift, or the goto after a reduction); n < 0: reduce by rule ~n.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

GRAMMAR = Path(__file__).with_name("profilec.lark")
STORED = Path(__file__).with_name("tables.json")
STARTS = ("condition", "statement")


class Rule(NamedTuple):
    """One alternative of a rule: `size` values become one of `origin`, which `method` of the builder makes.

    Where `method` is None there is one value, and it stays as it is. `gaps` are the places at
    which an optional part is missing; the builder gets None there.
    """

    method: str | None
    size: int
    origin: str
    gaps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """States and rules; a parse begins in `starts[rule]` and is over in `ends[rule]`."""

    states: list[dict[str, int]]
    rules: list[Rule]
    starts: dict[str, int]
    ends: dict[str, int]


@cache
def tables() -> Tables:
    """The tables of the grammar, read from `tables.json` where it was made from this grammar."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    try:
        stored = json.loads(STORED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = {}
    if stored.get("grammar") != grammar:
        return analyse(grammar)
    rules = [Rule(method, size, origin, tuple(gaps)) for method, size, origin, gaps in stored["rules"]]
    return Tables(stored["states"], rules, stored["starts"], stored["ends"])


def analyse(grammar: str) -> Tables:
    """The tables as Lark makes them; states are numbered in the order in which they are first reached."""
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import Lexer, TerminalDef

    class NoLexer(Lexer):
        """Keeps Lark from building a lexer: `parse` makes the tokens."""

        def __init__(self, _conf: object) -> None:
            pass

        def lex(self, _state: object, _parser: object) -> Any:
            raise NotImplementedError

    parser = Lark(grammar, parser="lalr", lexer=NoLexer, start=list(STARTS), maybe_placeholders=True, strict=False)
    data, memo = parser.memo_serialize([TerminalDef, LarkRule])
    found = data["parser"]["parser"]
    used = sorted({action["@"] for row in found["states"].values() for kind, action in row.values() if kind})
    numbers = {identity: number for number, identity in enumerate(sorted(used, key=lambda i: _order(memo[i])))}
    rows: dict[int, dict[str, int]] = {}
    reached: dict[int, int] = {}

    def reach(state: int) -> int:
        return reached.setdefault(state, len(reached))

    queue = [found["start_states"][start] for start in STARTS]
    for state in queue:
        reach(state)
    for state in queue:
        row: dict[str, int] = {}
        named = {found["tokens"][token]: action for token, action in found["states"][state].items()}
        for name in sorted(named):
            reduces, target = named[name]
            if reduces:
                row[name] = ~numbers[target["@"]]
                continue
            if target not in reached:
                queue.append(target)
            row[name] = reach(target)
        rows[reach(state)] = row
    return Tables(
        [rows[number] for number in range(len(rows))],
        [_rule(memo[identity]) for identity in sorted(used, key=lambda i: _order(memo[i]))],
        {start: reached[found["start_states"][start]] for start in STARTS},
        {start: reached[found["end_states"][start]] for start in STARTS},
    )


def _order(rule: dict[str, Any]) -> tuple[str, list[str]]:
    return rule["origin"]["name"], [symbol["name"] for symbol in rule["expansion"]]


def _rule(rule: dict[str, Any]) -> Rule:
    origin, options = rule["origin"]["name"], rule["options"]
    size = len(rule["expansion"])
    stays = options["expand1"] and rule["alias"] is None and size == 1
    gaps = tuple(place for place, missing in enumerate(options["empty_indices"]) if missing)
    return Rule(None if stays else rule["alias"] or origin, size, origin, gaps)


def write() -> None:
    """Write `tables.json`, one state a line."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    made = analyse(grammar)
    states = ",\n".join(json.dumps(state, separators=(",", ":")) for state in made.states)
    rules = ",\n".join(json.dumps(rule, separators=(",", ":")) for rule in made.rules)
    head = f'"grammar":{json.dumps(grammar)},\n"starts":{json.dumps(made.starts)},\n"ends":{json.dumps(made.ends)}'
    STORED.write_text(f'{{{head},\n"rules":[\n{rules}\n],\n"states":[\n{states}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    write()
