"""The cutter: where the statements of a file begin and end.

In: the text of a file. Out: the span of each statement, found by a scanner that knows strings,
back-quotes, comments and JSON, but no grammar; and, where a statement cannot be read, the next
line at which reading can begin again.

Invariant: linear in the text, however many quotes, comments, brackets or statements are never
closed: the end of an unclosed one is looked for once, and remembered for those inside of it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from profilec.grammar.lexer import json_extent

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
_MOST_STOPPED = 64


class Cut(NamedTuple):
    """A statement: `text[start:end]`, without its `;`. `before` is where the space and comments before it begin.

    `last_fault` is the place of the last quote, comment or bracket in it that is never closed, -1 where there is none.
    """

    before: int
    start: int
    end: int
    is_terminated: bool
    last_fault: int = -1

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

    __slots__ = ("_known", "_last_close", "_n_stopped", "_stop", "_unclosed", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._last_close: int | None = None
        # Brackets that are never closed, and how many of them were tried up to the same place.
        self._unclosed: set[int] = set()
        self._stop = self._n_stopped = 0
        # The last restart that is outside of strings, comments and JSON: it has the end of the statement it is in.
        self._known: Cut | None = None

    def cut(self, position: int) -> Cut | None:
        """The first statement from a place on; None where only space and comments are left."""
        before = position
        start = self.after_comments(position)
        while self.text.startswith(";", start):  # an empty statement
            before = start + 1
            start = self.after_comments(before)
        if start == len(self.text):
            return None
        if self.is_inside(position):
            assert self._known is not None
            return self._known._replace(before=before, start=start)
        end, fault = self._end(start, len(self.text))
        return Cut(before, start, end, self.text.startswith(";", end), fault)

    def is_inside(self, position: int) -> bool:
        """Whether the place is the `restart` of the statement cut last, so that where it ends is known."""
        return self._known is not None and self._known.before == position

    def restart(self, cut: Cut) -> int | None:
        """The first line inside a statement at which another may begin."""
        line_end = self.text.find("\n", cut.start, cut.end)
        found = RESTART.search(self.text, line_end + 1, cut.end) if line_end >= 0 else None
        if found is None:
            return None
        place = found.start()
        if not self.is_inside(place) and self._end(cut.start, place)[0] == place:
            self._known = cut._replace(before=place)
        return place

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

    def _end(self, position: int, limit: int) -> tuple[int, int]:
        """The place of the `;` that ends a statement, or the end of the text; and the last fault before it.

        Where there is no `;` before `limit`, that is what it gives, unless a string, a comment or JSON lies across it.
        """
        text = self.text
        fault = -1
        while True:
            found = _UNTIL.match(text, position, limit)
            assert found is not None  # it may be empty
            position = found.end()
            character = text[position : position + 1] if position < limit else ""
            end: int | None = None
            if character in ("", ";"):
                return position, fault
            if character == "/":
                end = self._comment_end(position)
            elif character in ("{", "["):
                end, is_closed = self._json_end(position)
                fault = fault if is_closed else position
            if end is None:  # a comment or a quote that is never closed
                return len(text), position
            if end > limit:
                return end, fault
            position = end

    def _comment_end(self, position: int) -> int | None:
        if self._last_close is None:
            self._last_close = self.text.rfind("*/")
        if self._last_close < position + 2:
            return None
        return self.text.find("*/", position + 2) + 2

    def _json_end(self, position: int) -> tuple[int, bool]:
        """The end of JSON, or where to go on if it has none: what is wrong is told by the parser."""
        if position in self._unclosed or (position < self._stop and self._n_stopped > _MOST_STOPPED):
            return position + 1, False
        end, unclosed = json_extent(self.text, position)
        if not unclosed:
            return end, True
        if self.text.startswith('"', end):
            return end + 1, False
        self._unclosed.update(unclosed)
        self._n_stopped = self._n_stopped + 1 if self._stop == end else 1
        self._stop = end
        return position + 1, False
