"""Statements: the text of a file to its profiles, one by one.

In: bytes or text of `.prof` files, or the text of single conditions. Out: `ProfileStatement`s, each
as soon as it has been read; what is wrong goes to `report`. Nothing but the statement at hand is
held in memory.

Invariants:
- All that is wrong is reported in one run, and a statement that cannot be read costs no other:
  where one fails, reading begins again at its end, or at the first line inside it that begins
  another (a quote, bracket or comment may never have been closed).
- What a shape is known for (`shapes`) means the same as what the parser would have read.

PERF: the plain form `PROFILE id WHERE condition;` is recognised by one expression, and its condition
by its shape: a file of a million of them is read at a few microseconds each. In any other
statement the condition may be known by its shape, and what is around it goes through the parser.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from profilec.grammar import ir
from profilec.grammar.check import findings
from profilec.grammar.cut import Cut, Cutter
from profilec.grammar.declare import ParsedExample, ParsedProfile, ParsedSchema, id_fault
from profilec.grammar.diagnostics import Diagnostic, Source
from profilec.grammar.examples import Example
from profilec.grammar.lexer import RESERVED
from profilec.grammar.limits import DEFAULT_LIMITS, Limits
from profilec.grammar.located import Located
from profilec.grammar.parse import as_diagnostics, parse_cut, parse_statement, run
from profilec.grammar.refusals import SAVE_AS_UTF8, SURROGATE, TextError, not_utf8
from profilec.grammar.shapes import ShapeCache
from profilec.grammar.templates import Bound
from profilec.values.types import Field, Schema

__all__ = [
    "Example",
    "ProfileStatement",
    "Reading",
    "decode",
    "iter_profiles",
    "parse_where",
    "read_schema",
    "read_where",
]

Report: TypeAlias = Callable[[Diagnostic], None]
ParseMany: TypeAlias = Callable[[Sequence[tuple[str, str]]], Sequence[ir.Condition | None]]
Reading: TypeAlias = ir.Condition | Bound


class ProfileStatement(NamedTuple):
    """One profile. `line` and `column` are those of the condition, `start` its offset in the file's text.

    `where` is the condition's text as written, `comment` what the comments right above the
    statement say. `reading` is what was read of the condition, None where that is yet to be done. A
    NamedTuple, since a million are made at a time.
    """

    id: str
    where: str
    reading: Reading | None
    properties: dict[str, Any]
    examples: tuple[Example, ...]
    file: str | None
    line: int
    column: int
    start: int
    comment: str | None

    @property
    def condition(self) -> ir.Condition:
        """What was read, made each time."""
        reading = self.reading
        assert reading is not None
        return reading.condition() if isinstance(reading, Bound) else reading


class _Deferred(NamedTuple):
    """A plain statement whose condition is parsed together with many others. Reading it would begin at `position`."""

    position: int
    id: str
    where: str
    start: int


_MOST_DEFERRED = 4_096
# A statement up to the end of its condition, where that is text without comments, back-quotes and JSON.
_STRING = r"'[^']*+'|\"[^\"]*+\""
_FRAME = re.compile(
    rf"""\s*+[Pp][Rr][Oo][Ff][Ii][Ll][Ee]\s++
    (?:(?P<name>[A-Za-z_][A-Za-z0-9_]*+)|(?P<quoted>'[^'\n]++'|"[^"\n]++"))\s++
    (?P<properties>[Ww][Ii][Tt][Hh]\s*+\((?:[^;()'"`{{}}\[\]/\-]++|{_STRING}|-(?!-)|/(?!\*))*+\)\s*+)?
    [Ww][Hh][Ee][Rr][Ee]\b\s*+
    (?P<where>(?:[^;'"`{{}}\[\]/\-]++|{_STRING}|-(?!-)|/(?!\*))++)(?=[;{{\[])""",
    re.VERBOSE,
)
_CLAUSE = re.compile(r"\b(?:ACCEPTS|REJECTS|GIVEN)\s*\Z", re.IGNORECASE | re.ASCII)
_NEVER = re.compile(r"(?!)")
_HEADER = re.compile(r"""\s*+[Pp][Rr][Oo][Ff][Ii][Ll][Ee]\s++(?:([\w@$.]++)|'([^'\n]++)'|"([^"\n]++)")""")
_IS_SCHEMA = re.compile(r"[Ss][Cc][Hh][Ee][Mm][Aa]\b")
_SCHEMA_WORD = re.compile(r"\b[Ss][Cc][Hh][Ee][Mm][Aa]\s*+(?=\(|--|/\*)")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_COMMENT = re.compile(r"--([^\n]*+)|/\*(.*?)\*/", re.DOTALL)


def iter_profiles(
    text: str,
    *,
    file: str | None = None,
    schema: Schema | None = None,
    limits: Limits = DEFAULT_LIMITS,
    report: Report,
    parse_many: ParseMany | None = None,
) -> Iterator[ProfileStatement]:
    """The profiles of a text that can be read, in order; whatever is wrong goes to `report`.

    SCHEMA statements are passed over: `read_schema` reads them, and reports what is wrong with them.
    `parse_many`, where given, is asked for the conditions of plain statements of unknown shape, many
    at a time; one that it gives None for is read here, so that its diagnostics have their places.

    >>> [p.id for p in iter_profiles("PROFILE a WHERE x; PROFILE b WHERE; PROFILE 'c d' WHERE y;", report=print)]
    text:1:35: error PC120 in profile b: a condition is missing here
      PROFILE a WHERE x; PROFILE b WHERE; PROFILE 'c d' WHERE y;
                                        ^
      hint: a condition that always holds is TRUE
    ['a', 'c d']
    """
    text = text.removeprefix("\ufeff")
    reader = _Reader(text, file, schema, limits, report)
    place, cutter, shapes = reader.source.position, reader.cutter, reader.shapes
    frame = _NEVER.match if reader.has_halves else _FRAME.match
    position = 0
    waiting: list[ProfileStatement | _Deferred] = []  # what comes from the first deferred statement on
    n_deferred = 0
    while True:
        found = None if cutter.is_inside(position) else frame(text, position)
        if found is not None and text[found.end()] == ";":
            name, quoted, properties, where = found.groups()
            if properties is None and (id_ := _plain_id(name, quoted)) is not None:
                where = where.rstrip()
                reading = shapes(where)
                start = found.start("where")
                if reading is not None:
                    line, column = place(start)
                    position = found.end() + 1
                    statement = ProfileStatement(id_, where, reading, {}, (), file, line, column, start, None)
                    if waiting:
                        waiting.append(statement)
                    else:
                        yield statement
                    continue
                if parse_many is not None and cutter.restart(Cut(position, start, found.end(), True)) is None:
                    waiting.append(_Deferred(position, id_, where, start))
                    position = found.end() + 1
                    n_deferred += 1
                    if n_deferred == _MOST_DEFERRED:
                        yield from reader.deferred(waiting, parse_many)
                        waiting, n_deferred = [], 0
                    continue
        cut = cutter.cut(position)
        if cut is None:
            if parse_many is not None:
                yield from reader.deferred(waiting, parse_many)
            reader.check_halves(position, len(text))
            return
        read = reader.framed(cut)
        position = cut.next
        if read is None:
            read, position = reader.read(cut)
        if read is not None and waiting:
            waiting.append(read)
        elif read is not None:
            yield read


def parse_where(
    id_: str,
    where: str,
    *,
    schema: Schema | None = None,
    limits: Limits = DEFAULT_LIMITS,
    report: Report,
    file: str | None = None,
) -> ir.Condition | None:
    """The condition of a profile that is not in a file; None where it has an error. Positions are those of `where`.

    >>> parse_where("p", "price <", report=print)
    text:1:8: error PC101 in profile p: expected a value, found the end
      price <
             ^
    """
    reading = read_where(id_, where, schema=schema, limits=limits, report=report, file=file)
    return reading.condition() if isinstance(reading, Bound) else reading


def read_where(
    id_: str,
    where: str,
    *,
    schema: Schema | None = None,
    limits: Limits = DEFAULT_LIMITS,
    report: Report,
    file: str | None = None,
) -> Reading | None:
    """As `parse_where`, but what has a known shape is not made yet."""
    fault = id_fault(id_)
    if fault is not None:
        report(Diagnostic("PC217", "error", fault, file, profile=id_))
        return None
    if where.isascii() or not SURROGATE.search(where):
        reading = _shapes(schema, limits)(where)
        if reading is not None:
            return reading
    located, faults = run(where, "condition", limits)
    if located is not None:
        faults += _findings(located, where, schema, faults)
    for diagnostic in as_diagnostics(faults, Source(where, file, id_)):
        report(diagnostic)
    return None if _has_error(faults) else located.node


def read_schema(text: str, file: str | None, report: Report) -> list[tuple[Field, int, int]]:
    """The attributes that the SCHEMA statements of a text declare, each with its line and column.

    Only SCHEMA statements are read, and nothing behind the last of them.

    >>> [(str(field), line) for field, line, _ in read_schema("PROFILE a WHERE x;\\nSCHEMA (x BOOLEAN);", None, print)]
    [('x BOOLEAN', 2)]
    """
    text = text.removeprefix("\ufeff")
    words = [found.start() for found in _SCHEMA_WORD.finditer(text)]
    cutter, source = Cutter(text), Source(text, file)
    declared: list[tuple[Field, int, int]] = []
    position = 0
    while words and position <= words[-1] and (cut := cutter.cut(position)) is not None:
        start = cut.start
        position = cut.next
        restart = cutter.restart(cut)
        is_schema = _IS_SCHEMA.match(text, start) is not None
        if not is_schema and (restart is None or bisect_left(words, restart) == bisect_left(words, cut.end)):
            continue
        parsed, faults, cut = parse_cut(cutter, cut)
        position = cut.next
        if not is_schema:
            continue
        for diagnostic in as_diagnostics(faults, source, start):
            report(diagnostic)
        if isinstance(parsed, ParsedSchema) and not faults:
            declared += [(field, *source.position(start + at)) for field, at, _ in parsed.fields]
    return declared


_IMAGE = b"\x93PROFI"
"""How a file begins that a profile set was saved in."""


def decode(data: bytes, file: str | None, report: Report) -> str | None:
    """The text of a file; None where it is no UTF-8 at all.

    A byte that is not UTF-8 becomes a half character (a lone surrogate); `iter_profiles` reports it
    where it comes to it, so that the rest of the file can be read.

    >>> decode(b"\\xef\\xbb\\xbfPROFILE a WHERE b;", None, print)
    'PROFILE a WHERE b;'
    """
    if data.startswith(_IMAGE):
        message = "this is an image, compiled already, and this takes the text of profiles"
        report(Diagnostic("PC107", "error", message, file, 1, 1))
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or data[:1_000].count(0) > len(data[:1_000]) // 4:
        message = "this file is not UTF-8; it seems to be UTF-16, or no text"
        report(Diagnostic("PC107", "error", message, file, 1, 1, hint="save it as UTF-8"))
        return None
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


class _Reader:
    """Reads the statements of one text that are not plain."""

    def __init__(self, text: str, file: str | None, schema: Schema | None, limits: Limits, report: Report) -> None:
        self.text = text
        self.file = file
        self.source = Source(text, file)
        self.cutter = Cutter(text)
        self.has_halves = not text.isascii() and SURROGATE.search(text) is not None
        self.shapes = _shapes(schema, limits)
        self._schema = schema
        self._limits = limits
        self._report = report

    def deferred(
        self, waiting: Sequence[ProfileStatement | _Deferred], parse_many: ParseMany
    ) -> Iterator[ProfileStatement]:
        """The statements in order, with the conditions of those that were deferred."""
        deferred = [statement for statement in waiting if isinstance(statement, _Deferred)]
        conditions = iter(parse_many([(statement.id, statement.where) for statement in deferred]))
        for statement in waiting:
            if isinstance(statement, ProfileStatement):
                yield statement
                continue
            position, id_, where, start = statement
            condition = next(conditions)
            if condition is not None:
                line, column = self.source.position(start)
                yield ProfileStatement(id_, where, condition, {}, (), self.file, line, column, start, None)
                continue
            cut = self.cutter.cut(position)
            read = None if cut is None else self.read(cut)[0]
            if read is not None:
                yield read

    def framed(self, cut: Cut) -> ProfileStatement | None:
        """A statement whose condition has a known shape: the parser reads what is around it.

        None where there is anything to report, and where there is no such condition.
        """
        if self.has_halves or not cut.is_terminated or self.cutter.restart(cut) is not None:
            return None
        found = _FRAME.match(self.text, cut.start)
        if found is None or found.end() > cut.end:
            return None
        where = found["where"].rstrip()
        if found.end() < cut.end:  # an example follows
            clause = _CLAUSE.search(where)
            if clause is None:
                return None
            where = where[: clause.start()].rstrip()
        reading = self.shapes(where)
        if reading is None:
            return None
        start = found.start("where")
        id_ = _plain_id(found["name"], found["quoted"])
        if id_ is not None and found["properties"] is None and found.end() == cut.end:
            return self._statement(cut, id_, {}, [], reading, where, start)
        around = f"{self.text[cut.start : start]}TRUE{self.text[start + len(where) : cut.end]}"
        profile, faults = parse_statement(around, self._limits)
        if faults or not isinstance(profile, ParsedProfile):
            return None
        moved = [example._replace(start=example.start + len(where) - len("TRUE")) for example in profile.examples]
        return self._statement(cut, profile.id, profile.properties, moved, reading, where, start)

    def read(self, cut: Cut) -> tuple[ProfileStatement | None, int]:
        """The profile of a statement (None where it is a SCHEMA, or wrong), and where to read on."""
        text, start = self.text, cut.start
        self.check_halves(cut.before, start)
        parsed, faults, cut = parse_cut(self.cutter, cut, self._limits)
        end, position = cut.end, cut.next
        statement = text[start:end]
        if _IS_SCHEMA.match(statement):
            return None, position
        profile = parsed if isinstance(parsed, ParsedProfile) else None
        if profile is not None:
            faults += _findings(profile.condition, statement, self._schema, faults)
        name = profile.id if profile is not None else _id_of(statement)
        for diagnostic in as_diagnostics(faults, self.source, start, name):
            self._report(diagnostic)
        if not any(fault.code == "PC107" for fault in faults):
            self.check_halves(start, end)
        if profile is None or _has_error(faults):
            return None, position
        node = profile.condition.node
        assert isinstance(node, ir.Condition)
        first, last = profile.where
        where = statement[first:last]
        made = self._statement(cut, profile.id, profile.properties, profile.examples, node, where, start + first)
        return made, position

    def _statement(
        self,
        cut: Cut,
        id_: str,
        properties: dict[str, Any],
        parsed: list[ParsedExample],
        reading: Reading,
        where: str,
        start: int,
    ) -> ProfileStatement:
        line, column = self.source.position(start)
        examples = tuple(
            Example(kind, document, given, *self.source.position(cut.start + at))
            for kind, at, document, given in parsed
        )
        comment = _comment(self.text[cut.before : cut.start], is_first=cut.before == 0)
        return ProfileStatement(id_, where, reading, properties, examples, self.file, line, column, start, comment)

    def check_halves(self, start: int, end: int) -> None:
        """Report the bytes that are not UTF-8 in comments: the first of each line."""
        if not self.has_halves:
            return
        reported = 0
        for half in SURROGATE.finditer(self.text, start, end):
            line, _ = self.source.position(half.start())
            if line != reported:
                reported = line
                message = not_utf8(half[0])
                self._report(self.source.diagnostic("PC107", half.start(), half.end(), message, hint=SAVE_AS_UTF8))


def _findings(condition: Located, text: str, schema: Schema | None, faults: list[TextError]) -> list[TextError]:
    """What the checks find; where the text has errors already, what stands in for them deserves no warnings.

    The checks recurse, so that what is nested too deep is not looked into.
    """
    if any(fault.code == "PC301" for fault in faults):
        return []
    found = findings(condition, text, schema)
    return [finding for finding in found if not finding.code.startswith("PC6")] if _has_error(faults) else found


def _has_error(faults: list[TextError]) -> bool:
    return any(not fault.code.startswith("PC6") for fault in faults)


def _plain_id(name: str | None, quoted: str | None) -> str | None:
    """The id that one of the groups of _FRAME holds; None where only the parser can tell."""
    if name is not None:
        return name if name.upper() not in RESERVED else None
    return quoted[1:-1] if quoted is not None and quoted.isprintable() else None


def _id_of(statement: str) -> str | None:
    """The id of a statement that cannot be read, where that much of it can be."""
    found = _HEADER.match(statement)
    return None if found is None else found[1] or found[2] or found[3]


def _comment(before: str, *, is_first: bool) -> str | None:
    """What the comments right above a statement say.

    A comment on the line where the statement before ends is that one's; so is none that a blank
    line parts from the statement.
    """
    if not is_first:
        _, line_end, before = before.partition("\n")
        if not line_end:
            return None
    before = _BLANK_LINE.split(before)[-1]
    lines = [line.strip() for found in _COMMENT.finditer(before) for line in (found[1] or found[2] or "").split("\n")]
    return "\n".join(lines).strip() or None


_SHAPES = threading.local()


def _shapes(schema: Schema | None, limits: Limits) -> Callable[[str], Reading | None]:
    """The shape cache of this thread; that of another schema or other limits is forgotten."""
    known = getattr(_SHAPES, "known", None)
    if known is None or known[0] is not schema or (known[1] is not limits and known[1] != limits):
        _SHAPES.known = known = (schema, limits, ShapeCache(schema, limits))
    found: Callable[[str], Reading | None] = known[2].read
    return found
