"""Line breaking: text with places where a line may end, to lines of at most a given width.

In: a tree of parts: strings, and the marks below. Out: text. The algorithm is that of Wadler,
"A prettier printer" (2003): a group is set on one line if it fits there; if it does not, all
the line ends that belong to it are taken, and the groups inside it try again.

Invariant: linear in the text. Whether a group fits is decided by looking ahead no further than
one line is wide, and no part is visited twice otherwise.

    Group("(", Indent(SOFT, "a,", LINE, "b"), SOFT, ")")      (a, b)       (
                                                                             a,
                                                                             b
                                                                           )
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from profilec.grammar.diagnostics import width


class Mark(Enum):
    """Where a line may end."""

    LINE = "a line end, or a space"
    SOFT = "a line end, or nothing"
    HARD = "a line end"
    SPACE = "a space, unless a line has just begun"


LINE, SOFT, HARD, SPACE = Mark


class Group:
    """Parts whose line ends are taken all together or not at all. `breaks`: they have to be taken."""

    __slots__ = ("breaks", "parts")

    def __init__(self, *parts: Part) -> None:
        self.parts = parts
        self.breaks = any(map(_breaks, parts))


class Indent:
    """Parts whose lines begin two columns further to the right."""

    __slots__ = ("breaks", "parts")

    def __init__(self, *parts: Part) -> None:
        self.parts = parts
        self.breaks = any(map(_breaks, parts))


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, a space before it; on a line of its own if `alone`. What follows a line comment begins a line."""

    text: str
    alone: bool

    @property
    def ends_line(self) -> bool:
        return self.alone or self.text.startswith("--")


Part: TypeAlias = str | Mark | Group | Indent | Comment

_STEP = 2


def _breaks(part: Part) -> bool:
    match part:
        case Group() | Indent():
            return part.breaks
        case Comment():
            return part.ends_line or "\n" in part.text
    return part is HARD


def set_lines(part: Part, columns: int) -> str:
    """The text of a part, its lines at most `columns` wide where the groups allow it.

    >>> print(set_lines(Group("x IN (", Indent(SOFT, "1,", LINE, "2"), SOFT, ")"), 8))
    x IN (
      1,
      2
    )
    """
    written = _Lines()
    waiting: list[tuple[int, bool, Part]] = [(0, False, part)]
    while waiting:
        indent, flat, part = waiting.pop()
        match part:
            case str():
                written.text(part, indent)
            case Comment():
                written.comment(part, indent)
            case Mark.SPACE:
                written.space()
            case Mark():
                if not flat or part is HARD or written.must_end:
                    written.end()
                elif part is LINE:
                    written.space()
            case Indent():
                waiting.extend((indent + _STEP, flat, inner) for inner in reversed(part.parts))
            case Group():
                flat = flat or (not part.breaks and _fits(part, waiting, columns - written.column(indent)))
                waiting.extend((indent, flat, inner) for inner in reversed(part.parts))
    return "".join(written.pieces)


class _Lines:
    """What is written so far. The indentation of a line is written together with its first text."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.used = 0
        self.must_end = False
        self._space = False

    def column(self, indent: int) -> int:
        return indent if self.must_end or not self.used else self.used + self._space

    def text(self, text: str, indent: int) -> None:
        if self.must_end:
            self.end()
        if not self.used:
            self.pieces.append(" " * indent)
            self.used = indent
        elif self._space:
            self.pieces.append(" ")
            self.used += 1
        self._space = False
        self.pieces.append(text)
        self.used = columns_of(text) if "\n" in text else self.used + columns_of(text)

    def comment(self, comment: Comment, indent: int) -> None:
        if comment.alone and self.used:
            self.end()
        self.space()
        self.text(comment.text, indent)
        self.must_end = comment.ends_line
        self.space()

    def space(self) -> None:
        self._space = self.used > 0

    def end(self) -> None:
        self.pieces.append("\n")
        self.used = 0
        self.must_end = self._space = False


def _fits(group: Group, after: list[tuple[int, bool, Part]], room: int) -> bool:
    """Whether the group, and what follows it up to the next possible line end, is no wider than `room`."""
    waiting: list[tuple[bool, Iterator[Part]]] = [(True, iter(group.parts))]
    next_after = len(after)
    while room >= 0:
        if not waiting:
            if not next_after:
                return True
            next_after -= 1
            _, flat, part = after[next_after]
            waiting.append((flat, iter((part,))))
        flat, parts = waiting[-1]
        match next(parts, None):
            case None:
                waiting.pop()
            case str() as text:
                room -= columns_of(text, first=True)
                if "\n" in text:
                    return room >= 0
            case Comment() as comment:
                if comment.ends_line:
                    return True  # a comment may stand beyond the last column
                room -= columns_of(comment.text, first=True) + 1
            case Mark() as mark:
                if not flat and mark is not SPACE:
                    return True
                room -= mark is not SOFT
            case Group() as inner:
                waiting.append((flat and not inner.breaks, iter(inner.parts)))
            case Indent() as inner:
                waiting.append((flat, iter(inner.parts)))
    return False


def columns_of(text: str, *, first: bool = False) -> int:
    """The columns that a text takes: those of its last line, or of its first one."""
    if "\n" in text:
        text = text[: text.index("\n")] if first else text[text.rindex("\n") + 1 :]
    return len(text) if text.isascii() else sum(map(width, text))
