"""`profilec fmt`: the text of a file in one style.

In: the text of a `.prof` file. Out: the same statements and comments, set as `arrange` says, one
blank line between statements.

Invariants:
- Statements and their meaning stay the same: only white space, the case of keywords, empty
  statements and the side of some punctuation that a comment stands on change.
- `format_text(format_text(x)) == format_text(x)`.
- A statement that cannot be read stays exactly as it is, and what is wrong with it is reported.
  Where it ends, and the next one begins, is decided as `statements` decides it. A text that is not
  UTF-8 throughout stays as it is altogether.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from profilec.grammar.arrange import arrange, comment_text
from profilec.grammar.cut import Cut, Cutter
from profilec.grammar.declare import ParsedProfile
from profilec.grammar.diagnostics import Diagnostic, ProfileError, Source
from profilec.grammar.lexer import tokens
from profilec.grammar.limits import DEFAULT_LIMITS, Limits
from profilec.grammar.parse import as_diagnostics, parse_cut
from profilec.grammar.refusals import SAVE_AS_UTF8, SURROGATE, not_utf8


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment between statements, and the line ends between it and what is before it."""

    text: str
    n_line_ends: int


def format_text(
    text: str,
    file: str | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    report: Callable[[Diagnostic], None] | None = None,
) -> str:
    """The text, formatted.

    >>> print(format_text("profile p where a=1 or(b in(1,2)and c) -- why\\n;profile q where d;"), end="")
    PROFILE p WHERE a = 1 OR (b IN (1, 2) AND c); -- why
    <BLANKLINE>
    PROFILE q WHERE d;

    Raises:
        ProfileError: there is no `report`, and statements that cannot be read.
    """
    diagnostics: list[Diagnostic] = []
    formatted = _Formatter(text.removeprefix("\ufeff"), file, limits, report or diagnostics.append).run()
    if diagnostics:
        raise ProfileError(diagnostics)
    return formatted


class _Formatter:
    """Formats one text."""

    def __init__(self, text: str, file: str | None, limits: Limits, report: Callable[[Diagnostic], None]) -> None:
        self._text = text
        self._source = Source(text, file)
        self._cutter = Cutter(text)
        self._limits = limits
        self._report = report
        self._pieces: list[str] = []

    def run(self) -> str:
        half = SURROGATE.search(self._text)
        if half is not None:
            message, hint = not_utf8(half[0]), SAVE_AS_UTF8
            self._report(self._source.diagnostic("PC107", *half.span(), message, hint=hint))
            return self._text
        position = 0
        behind: list[_Comment] = []
        while (cut := self._cutter.cut(position)) is not None:
            n_line_ends = self._between(behind, position, cut.start)
            statement, behind, position = self._statement(cut)
            self._write(statement, n_line_ends)
        self._between(behind, position, len(self._text))
        if self._pieces:
            self._pieces.append("\n")
        return "".join(self._pieces)

    def _write(self, text: str, n_line_ends: int) -> None:
        """Write a statement, or a comment on a line of its own, with at most one blank line before it."""
        if self._pieces:
            self._pieces.append("\n" * min(max(n_line_ends, 1), 2))
        self._pieces.append(text)

    def _between(self, behind: list[_Comment], start: int, end: int) -> int:
        """Write the comments between two statements; returns the line ends before the second of them.

        `behind` are comments of the first statement that go behind its `;`.
        """
        comments, n_last = self._comments(start, end)
        after_statement = bool(self._pieces)
        can_follow = after_statement
        for comment in [*behind, *comments]:
            if can_follow and not comment.n_line_ends:
                self._pieces.append(f" {comment.text}")
                can_follow = not comment.text.startswith("--")
                continue
            can_follow = False
            # What stands below a statement belongs to what comes after it.
            self._write(comment.text, 2 if after_statement else comment.n_line_ends)
            after_statement = False
        return 2 if after_statement else n_last

    def _comments(self, start: int, end: int) -> tuple[list[_Comment], int]:
        """The comments in a part of the text without statements, and the line ends behind the last of them."""
        part = self._text[start:end]
        comments: list[_Comment] = []
        position = 0
        for token in tokens(part, comments=True):
            if token.type == "COMMENT":  # else the `;` of an empty statement
                comments.append(_Comment(comment_text(token.text), part.count("\n", position, token.start)))
                position = token.end
        return comments, part.count("\n", position)

    def _statement(self, cut: Cut) -> tuple[str, list[_Comment], int]:
        """A statement's text as it is to be written, the comments to go behind it, and where it ends."""
        parsed, faults, cut = parse_cut(self._cutter, cut, self._limits)
        start, position = cut.start, cut.next
        if faults:
            name = parsed.id if isinstance(parsed, ParsedProfile) else None
            for diagnostic in as_diagnostics(faults, self._source, start, name):
                self._report(diagnostic)
            return self._text[start:position].rstrip(), [], position
        source = self._text[start:position]
        statement, behind = arrange(list(tokens(source, comments=True)), source)
        return statement, [_Comment(comment.text, 0) for comment in behind], position
