"""Located: a node of the IR with the place in the text that it was read from."""

from __future__ import annotations

from typing import TypeAlias

from profilec.grammar import ir
from profilec.grammar.lexer import Token

Many: TypeAlias = type[ir.Some] | type[ir.Every]


class Located:
    """A node with its place: `start` and `end` are offsets into the text given to the parser.

    `parts` are parallel to `ir.children(node)`: same order, same length. What a desugared node
    has no text of its own for points at the text it came from; the two comparisons of BETWEEN
    share the object of their first operand, the links of a chain that of the one in the middle.
    `brackets` is the span with the parentheses around it, `variable` the name that a quantifier or
    ANY … AS gives, `depth` the number of nodes on the longest way down.
    """

    __slots__ = ("array", "brackets", "depth", "end", "node", "parts", "pending", "start", "variable")

    def __init__(self, node: ir.Node, start: int, end: int, parts: list[Located]) -> None:
        self.node = node
        self.start = start
        self.end = end
        self.parts = parts
        depth: int = 0
        for part in parts:
            if part.depth > depth:  # noqa: PLR1730 PERF: half the time of max()
                depth = part.depth
        self.depth: int = depth + 1
        self.brackets: tuple[int, int] | None = None
        self.variable: Token | None = None
        # The builder's: the array of an ANY(…) in this predicate, and the kind of node that
        # `parts` become when the last of them has been read.
        self.array: tuple[Many, Located] | None = None
        self.pending: type[ir.And] | type[ir.Or] | type[ir.Compare] | None = None

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands, its parentheses included."""
        return self.brackets or (self.start, self.end)

    @property
    def is_condition(self) -> bool:
        return self.pending is not None or isinstance(self.node, ir.Condition)

    def __repr__(self) -> str:
        return f"Located({self.node!r}, {self.start}, {self.end})"


def gather(kind: type[ir.And] | type[ir.Or] | type[ir.Compare], first: Located, second: Located) -> Located:
    """The beginning of an AND, an OR, or a chain of comparisons: see `extend` and `complete`."""
    gathered = Located(ir.TRUE, first.span[0], second.span[1], [first, second])
    gathered.pending = kind
    return gathered


def extend(gathered: Located, part: Located) -> None:
    gathered.parts.append(part)
    gathered.end = part.span[1]
    gathered.depth = max(gathered.depth, part.depth + 1)


def complete(gathered: Located) -> None:
    """Make the node of what was gathered; a chain of comparisons is the AND of its links."""
    kind = ir.Or if gathered.pending is ir.Or else ir.And
    gathered.node = kind(tuple([part.node for part in gathered.parts]))
    gathered.pending = None
