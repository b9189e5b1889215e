"""The cutter: where the statements of a file begin and end.

In: the text of a file. Out: the span of each statement, found by a scanner that knows strings,
back-quotes, comments and JSON, but no grammar; and, where a statement cannot be read, the next
line at which reading can begin again.

Invariant: linear in the text, however many quotes, comments or brackets are never closed: an
unclosed one is looked for to the end of the text at most once (comments) or to the next unclosed
one of its kind (quotes).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from profilec.grammar.lexer import json_end
from profilec.grammar.refusals import TextError

_PROFILE, _SCHEMA = "[Pp][Rr][Oo][Ff][Ii][Ll][Ee]", "[Ss][Cc][Hh][Ee][Mm][Aa]"
_OPERATORS = "(?i:IN|IS|NOT|LIKE|ILIKE|BETWEEN|AND|OR|MATCHES|RLIKE|REGEXP|CONTAINS)"
RESTART = re.compile(
    rf"""^[ \t]*(?:/\*[^*\n]*\*/[ \t]*)*
    (?:{_PROFILE}[ \t]+(?!{_OPERATORS}\b)(?=[\w@$'"`])|{_SCHEMA}[ \t]*(?=\())""",
    re.MULTILINE | re.VERBOSE,
)
"""A line that begins with PROFILE and what may be an id, or with SCHEMA and a bracket; comments may come first."""

_SPACE = re.compile(r"(?:\s++|--[^\n]*+)++")
_UNTIL = re.compile(r"""(?:[^;'"`{\[/\-]++|'[^']*+'|"[^"]*+"|`[^`\n]*+`|--[^\n]*+|-|/(?!\*))*+""")


class Cut(NamedTuple):
    """A statement: `text[start:end]`, without its `;`. `before` is where the space and comments before it begin."""

    before: int
    start: int
    end: int
    is_terminated: bool

    @property
    def next(self) -> int:
        """Where the text after it begins."""
        return self.end + self.is_terminated


class Cutter:
    """Cuts one text.

    >>> text = "PROFILE a WHERE x = ';'; -- a;b\\nPROFILE b WHERE y;"
    >>> cutter = Cutter(text)
    >>> first = cutter.cut(0)
    >>> second = cutter.cut(first.next)
    >>> text[first.start : first.end], text[second.start : second.end], cutter.cut(second.next)
    ("PROFILE a WHERE x = ';'", 'PROFILE b WHERE y', None)
    """

    __slots__ = ("_last_close", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._last_close: int | None = None

    def cut(self, position: int) -> Cut | None:
        """The first statement from a place on; None where only space and comments are left."""
        start = self.after_comments(position)
        while self.text.startswith(";", start):  # an empty statement
            position = start + 1
            start = self.after_comments(position)
        if start == len(self.text):
            return None
        end = self._end(start)
        return Cut(position, start, end, self.text.startswith(";", end))

    def restart(self, start: int, end: int) -> int | None:
        """The first line inside a statement at which another may begin."""
        line_end = self.text.find("\n", start, end)
        found = RESTART.search(self.text, line_end + 1, end) if line_end >= 0 else None
        return None if found is None else found.start()

    def after_comments(self, position: int) -> int:
        """The end of the space and comments at a place; an unclosed comment is none."""
        while True:
            found = _SPACE.match(self.text, position)
            if found is not None:
                position = found.end()
            if not self.text.startswith("/*", position):
                return position
            end = self._comment_end(position)
            if end is None:
                return position
            position = end

    def _end(self, position: int) -> int:
        """The place of the `;` that ends a statement, or the end of the text."""
        text = self.text
        while True:
            found = _UNTIL.match(text, position)
            assert found is not None  # it may be empty
            position = found.end()
            character = text[position : position + 1]
            if character == "/":
                end = self._comment_end(position)
            elif character in ("{", "["):
                end = self._json_end(position)
            else:  # `;`, the end, or a quote that is never closed
                return position if character in ("", ";") else len(text)
            if end is None:
                return len(text)
            position = end

    def _comment_end(self, position: int) -> int | None:
        if self._last_close is None:
            self._last_close = self.text.rfind("*/")
        if self._last_close < position + 2:
            return None
        return self.text.find("*/", position + 2) + 2

    def _json_end(self, position: int) -> int:
        try:
            return json_end(self.text, position)
        except TextError as error:
            # What is wrong is told by the parser; go on behind the place.
            return max(error.end, position + 1)
