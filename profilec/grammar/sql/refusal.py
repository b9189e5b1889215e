"""A refusal: the one exception inside import and export, and what becomes of it.

In: the part of sqlglot's tree, or the span of the text, that cannot be carried, and why. Out: a
Diagnostic at that place in the SQL text. Export has no text, and gives no place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from profilec.grammar.diagnostics import Diagnostic, Source
from profilec.values.kinds import Kind

if TYPE_CHECKING:
    from sqlglot import Token, exp


class Refusal(Exception):  # noqa: N818  (it is an answer, not a fault)
    """Something that cannot be carried over with its meaning; `node` or `token` is where it stands."""

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        node: exp.Expr | None = None,
        code: str = "PC502",
        *,
        token: Token | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.node = node
        self.code = code
        self.token = token


def a_kind(kind: Kind) -> str:
    """The kind with its article.

    >>> a_kind(Kind.NUMBER), a_kind(Kind.OPAQUE)
    ('a number', 'an array or record')
    """
    return "an array or record" if kind is Kind.OPAQUE else f"a {kind.name.lower()}"


def diagnostic_of(refusal: Refusal, source: Source, start: int, end: int, profile: str | None) -> Diagnostic:
    """The diagnostic of a refusal; `start` to `end` is the statement, for a part that has no place of its own."""
    spans = list(_spans(refusal.node)) if refusal.node is not None else []
    if refusal.token is not None:
        spans.append((refusal.token.start, refusal.token.end))
    if spans:
        start, end = min(first for first, _ in spans), max(last for _, last in spans) + 1
    return source.diagnostic(refusal.code, start, end, refusal.message, hint=refusal.hint, profile=profile)


def _spans(node: exp.Expr) -> Iterator[tuple[int, int]]:
    """Offsets (last one included) of the names and literals below; sqlglot keeps no others."""
    for below in node.walk():
        start, end = below.meta.get("start"), below.meta.get("end")
        if isinstance(start, int) and isinstance(end, int):
            yield start, end
