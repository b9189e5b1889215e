"""SQL text to statements: tokens between semicolons, and the id that a comment gives them.

In: text and a dialect. Out: `Statement`s in order. A text whose tokens cannot be told (a quote
that is never closed) is reported, and reading goes on after the next line that ends with `;`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from profilec.grammar.diagnostics import Diagnostic, Source

if TYPE_CHECKING:
    from sqlglot import Token


@dataclass(frozen=True, slots=True)
class Statement:
    """The tokens of a statement, never none, with offsets into the whole text; `id` as its comment gives it."""

    tokens: list[Token]
    id: str | None

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end + 1


def statements(text: str, dialect: str, source: Source, report: Callable[[Diagnostic], None]) -> Iterator[Statement]:
    """The statements of a text.

    >>> found = list(statements("-- id: cheap\\nprice < 5; price > 9", "duckdb", Source(""), print))
    >>> [(statement.id, statement.tokens[0].text, statement.start) for statement in found]
    [('cheap', 'price', 13), (None, 'price', 24)]
    """
    from sqlglot.errors import TokenError

    try:
        tokens = _tokenize(text, dialect, 0, len(text))
    except TokenError:
        yield from _statements_around_faults(text, dialect, source, report)
    else:
        yield from _split(tokens)


def _statements_around_faults(
    text: str, dialect: str, source: Source, report: Callable[[Diagnostic], None]
) -> Iterator[Statement]:
    """Lines that end with `;` are taken for ends of statements, and each piece is read alone."""
    start = 0
    for end in _ends(text):
        good = _good_prefix(text, dialect, start, end)
        yield from _split(_tokenize(text, dialect, start, good))
        if good < end:
            fault = good + len(text[good:end]) - len(text[good:end].lstrip())
            report(source.diagnostic("PC501", fault, end, "a quote or a comment that is never closed"))
        start = end


def _ends(text: str) -> Iterator[int]:
    start = end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if line.rstrip().endswith(";"):
            yield end
            start = end
    if start < end:
        yield end


def _good_prefix(text: str, dialect: str, start: int, end: int) -> int:
    """How far a piece has tokens: to its end, or else to the last `;` before its fault."""
    from sqlglot.errors import TokenError

    good = start
    stops = [at + 1 for at in range(start, end) if text[at] == ";"]
    for stop in [end, *reversed(stops)]:
        try:
            _tokenize(text, dialect, start, stop)
        except TokenError:
            continue
        good = stop
        break
    return good


def _tokenize(text: str, dialect: str, start: int, end: int) -> list[Token]:
    """The tokens of a part of the text, with lines, columns and offsets of the whole."""
    from sqlglot.dialects.dialect import Dialect

    if start == end:
        return []
    tokens = list(Dialect.get_or_raise(dialect).tokenize(text[start:end]))
    if start:
        line, column = text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1)
        for token in tokens:
            token.col += column if token.line == 1 else 0
            token.line += line
            token.start += start
            token.end += start
    return tokens


def _split(tokens: list[Token]) -> Iterator[Statement]:
    from sqlglot import TokenType

    current: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            current.append(token)
        elif current:
            yield Statement(current, _id(current[0]))
            current = []
    if current:
        yield Statement(current, _id(current[0]))


def _id(first: Token) -> str | None:
    """`id: name` among the comments that stand before a statement; the last one counts."""
    for comment in reversed(first.comments):
        for line in reversed(comment.splitlines()):
            key, colon, value = line.strip(" *-\t").partition(":")
            if colon and key.strip().lower() == "id" and value.strip():
                return value.strip()
    return None
