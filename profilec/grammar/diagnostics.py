"""Diagnostics: what is wrong with a text, where, and what to write instead.

In: a place in a text and a code of CODES. Out: `Diagnostic`, which prints itself as

    shop.prof:3:9: error PC214: the schema has no attribute `prise`
      WHERE prise < 10
            ^^^^^
      hint: did you mean `price`?

Invariant: lines and columns count from 1, columns count code points, and the caret stands
under the text it means whatever the width of what comes before it (tabs, wide and combining
characters). A code's family says how grave it is: PC6xx are warnings, all others errors.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]

CODES: dict[str, str] = {
    # PC1xx: text and syntax
    "PC101": "something else was expected here",
    "PC102": "a character that means nothing here",
    "PC103": "a quote that is never closed",
    "PC104": "a back-quote that is never closed",
    "PC105": "a comment that is never closed",
    "PC106": "a bracket that is never closed",
    "PC107": "the file is not UTF-8",
    "PC108": "a reserved word as a name",
    "PC109": "`;` inside the text of one condition",
    "PC110": "`||` is not in the language",
    "PC111": "CASE is not in the language",
    "PC112": "subscripts are not in the language",
    "PC113": "subqueries are not in the language",
    "PC114": "IS TRUE after a comparison without parentheses",
    "PC115": "IN with no values",
    "PC116": "an operator of another language",
    "PC117": "a statement that begins with neither PROFILE nor SCHEMA",
    "PC118": "an example that is no JSON object",
    "PC119": "an example that has a key twice",
    "PC120": "a condition is missing",
    # PC2xx: meaning
    "PC201": "a value where a condition is needed",
    "PC202": "a condition where a value is needed",
    "PC203": "a comparison of conditions",
    "PC204": "an unknown function",
    "PC205": "a wrong number of arguments",
    "PC206": "an unknown type",
    "PC207": "a date, timestamp or interval that does not exist",
    "PC208": "an interval where none can stand",
    "PC209": "a pattern that is no string literal",
    "PC210": "a regular expression that RE2 refuses",
    "PC211": "a LIKE escape that escapes nothing",
    "PC212": "two ANY or ALL in one predicate",
    "PC213": "a quantifier inside another",
    "PC214": "an attribute that the schema does not have",
    "PC215": "an attribute used against its type",
    "PC216": "an id that is taken",
    "PC217": "an id that cannot be one",
    "PC218": "an attribute that is declared twice",
    "PC219": "a property or clause that is given twice",
    "PC220": "a variable that is in use",
    "PC221": "ANY or ALL over something that is no attribute",
    "PC222": "LAST without a count",
    "PC223": "a property that is no literal",
    # PC3xx: limits
    "PC301": "nested too deep",
    "PC302": "too many terms",
    "PC303": "a profile that is too long",
    "PC304": "a number that is too long",
    # PC4xx: examples
    "PC401": "a document of ACCEPTS that the profile does not match",
    "PC402": "a document of REJECTS that the profile matches",
    "PC403": "a document of GIVEN that contradicts SCHEMA",
    # PC5xx: SQL
    "PC501": "SQL that cannot be read",
    "PC502": "SQL that the language cannot say",
    "PC503": "a condition that the dialect cannot say",
    "PC504": "SQL that may mean something else in its dialect than here",
    "PC505": "a statement that is no query of one table by a condition",
    "PC506": "an unknown dialect of SQL",
    # PC6xx: warnings
    "PC601": "a chain of equalities",
    "PC602": "a comparison of constants",
    "PC603": "kinds that never compare",
    "PC604": "a comparison with NULL",
    "PC605": "NOT IN with a NULL among the values",
    "PC606": "NOT IN with values of several kinds",
    "PC607": "a range that holds nothing",
    "PC608": "an argument of a kind that the function does not take",
    "PC609": "a date against a timestamp",
    "PC610": "a variable that is also an attribute",
    "PC611": "a comparison with a whole array",
    "PC612": "ANY … != holds as soon as one element differs",
    "PC613": "CONTAINS on a string",
    "PC614": "an attribute as a condition that is no boolean",
    "PC615": "SQL that compares one column with values of several kinds",
    "PC616": "WITHIN a span that holds nothing",
    "PC617": "a quantifier that does not use its variable",
    "PC618": "a variable outside of its quantifier",
}
"""Every code and what it means."""

_TAB = 4
_WINDOW = 100
_KEPT = 400
_WIDE = {"W": 2, "F": 2}
_ZERO_WIDTH = {"Mn", "Me"}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `end_column` is one past the last column meant (on the first line, where there are several).

    `source_column` is the column of the first character of `source_line`: a very long line is kept in part.
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    hint: str | None = None
    profile: str | None = None
    source_line: str | None = None
    source_column: int = 1

    @property
    def place(self) -> str:
        """`shop.prof:3:9`; where there is no file, `text:3:9`."""
        name = _printable(self.file or "text")
        return ":".join([name, *(str(part) for part in (self.line, self.column) if part is not None)])

    def render(self) -> str:
        """The message as a terminal shows it.

        >>> print(Diagnostic("PC101", "error", "expected a value", "a.prof", 2, 4, 5, source_line="価 =;").render())
        a.prof:2:4: error PC101: expected a value
          価 =;
              ^
        """
        code = self.code
        if self.file is None and self.profile is not None:
            code += f" in profile {_printable(self.profile)}"
        lines = [f"{self.place}: {self.severity} {code}: {escaped(self.message)}"]
        if self.source_line is not None and self.column is not None:
            lines.extend(_excerpt(self.source_line, self.column - self.source_column, self._span()))
        if self.hint is not None:
            lines.append(f"  hint: {escaped(self.hint)}")
        return "\n".join(lines)

    def _span(self) -> int:
        return max(1, (self.end_column or 0) - (self.column or 0))

    def __str__(self) -> str:
        return self.render()


class ProfileError(Exception):
    """A text that cannot be compiled; `diagnostics` says all that is wrong with it."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(diagnostic.render() for diagnostic in self.diagnostics))

    def __reduce__(self) -> tuple[type[ProfileError], tuple[tuple[Diagnostic, ...]]]:
        return ProfileError, (self.diagnostics,)


class Source:
    """A text whose offsets can be told as lines and columns.

    `file` and `profile` go into the diagnostics made here. Offsets are best asked for in
    ascending order: lines are counted from the place asked for last.
    """

    __slots__ = ("_line", "_line_start", "file", "profile", "text")

    def __init__(self, text: str, file: str | None = None, profile: str | None = None) -> None:
        self.text = text
        self.file = file
        self.profile = profile
        self._line = 1
        self._line_start = 0

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset.

        >>> Source("a\\nbc").position(3)
        (2, 2)
        """
        start = self._line_start
        if offset >= start:
            n_lines = self.text.count("\n", start, offset)
            if n_lines:
                self._line += n_lines
                self._line_start = self.text.rfind("\n", start, offset) + 1
        else:
            self._line -= self.text.count("\n", offset, start)
            self._line_start = self.text.rfind("\n", 0, offset) + 1
        return self._line, offset - self._line_start + 1

    def diagnostic(
        self, code: str, start: int, end: int, message: str, *, hint: str | None = None, profile: str | None = None
    ) -> Diagnostic:
        """The diagnostic of a code for the text from `start` to `end`."""
        line, column = self.position(start)
        first = max(self._line_start, start - _KEPT)
        last = self.text.find("\n", start, start + _KEPT)
        last = min(len(self.text), start + _KEPT) if last < 0 else last
        return Diagnostic(
            code,
            "warning" if code.startswith("PC6") else "error",
            message,
            self.file,
            line,
            column,
            column + max(1, min(end, last) - start),
            hint,
            profile if profile is not None else self.profile,
            self.text[first:last].rstrip("\r"),
            first - self._line_start + 1,
        )


def suggest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be; None where none is near.

    >>> suggest("prcie", ["name", "price"]), suggest("LOWR", ["LOWER", "UPPER"]), suggest("x", ["price"])
    ('price', 'LOWER', None)
    """
    from difflib import get_close_matches

    by_folded: dict[str, str] = {}
    for candidate in known:
        by_folded.setdefault(candidate.casefold(), candidate)
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.66)
    return by_folded[near[0]] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the nearest known name, or None."""
    near = suggest(name, known)
    return None if near is None else f"did you mean `{near}`?"


def width(character: str) -> int:
    """The number of terminal cells that a character takes.

    >>> [width(c) for c in "a価\\u0301"]
    [1, 2, 0]
    """
    if character < "\u0300":
        return 1
    if unicodedata.category(character) in _ZERO_WIDTH or "\u1160" <= character <= "\u11ff":
        return 0
    return _WIDE.get(unicodedata.east_asian_width(character), 1)


def escaped(text: str) -> str:
    """The text on one line: what a terminal would obey, reorder text by, or not show is escaped.

    >>> print(escaped("a\\nb\\x1b[31m, 価"))
    a\\nb\\x1b[31m, 価
    """
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() or unicodedata.category(c) == "Zs" else repr(c)[1:-1] for c in text])


def _excerpt(line: str, at: int, span: int) -> list[str]:
    """The part of a line around the offset `at`, and the carets under it."""
    first = max(0, at - _WINDOW // 2) if len(line) > _WINDOW else 0
    last = min(len(line), first + _WINDOW)
    before, mark = _printable(line[first:at]), _printable(line[at : min(at + span, last)])
    head, tail = ("…" if first else ""), ("…" if last < len(line) else "")
    after = _printable(line[min(at + span, last) : last])
    indent = sum(map(width, head + before))
    # A mark that is a combining character of its own goes under the character it combines with.
    cells = max(1, sum(map(width, mark)))
    if mark and indent and not width(mark[0]):
        indent -= 1
    shown = f"{head}{before}{mark}{after}{tail}".rstrip()
    return [f"  {shown}", f"  {' ' * indent}{'^' * cells}"]


def _printable(text: str) -> str:
    """Tabs as spaces; what a terminal would obey or reorder text by as a replacement character."""
    if text.isprintable():
        return text
    return "".join(map(_printable_character, text))


def _printable_character(character: str) -> str:
    if character == "\t":
        return " " * _TAB
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return "\N{REPLACEMENT CHARACTER}"
