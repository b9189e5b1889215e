"""What strings a regex cannot match without: the pre-filter of `patterns`.

In: a regex in RE2 syntax. Out: a few literals of which every matching text holds at least one,
or begins with, or nothing where none are found; and the length that a matching text has at least. The reading is
conservative: what is not understood makes no promise. Where the regex ignores case, the literals are
those of `values.folding.fold(text)`, and only ASCII letters count (RE2 matches `k` with the Kelvin
sign, and so does fold).

    fo+bar|bar[xy]z    {"bar"} cannot be missing from what `fo+bar` matches, {"barxz", "baryz"} from the rest
                       -> ("bar", "barxz", "baryz")

Invariant: if RE2 finds the pattern in a text, one of the literals is in the text, and the text is not shorter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from profilec.values.folding import fold

MAX_LENGTH = 48
"""Longer literals are cut; more would not be more selective."""
_MAX_STRINGS = 16
_MAX_UNION = 128
_MAX_CLASS = 4

_REPEAT = re.compile(r"\{(0|[1-9]\d{0,3})(,(?:[1-9]\d{0,3}|0)?)?\}", re.ASCII)
_GROUP = re.compile(r"\?(?:P?<\w+>|([imsU]*(?:-[imsU]+)?)([:)]))", re.ASCII)
_HEX = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})", re.ASCII)
_ANCHOR = re.compile(r"(?:\(\?[isU]+\))?(?:\^|\\A)(?![*+?{])", re.ASCII)
"""Begins a regex that matches from the text's beginning only, but for other alternatives; without the flag m."""
_PROPERTY = re.compile(r"[pP](?:\{\^?\w+\}|[A-Z])", re.ASCII)
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}


@dataclass(frozen=True, slots=True)
class Required:
    """A matching text holds one of `literals`; where `folded`, its folded form does."""

    literals: tuple[str, ...]
    folded: bool


class _Node(NamedTuple):
    """What a part of the regex matches: one of `exact`; what holds one of `needs`; `least` characters or more."""

    exact: tuple[str, ...] | None
    needs: tuple[str, ...] | None
    least: int


_EMPTY = _Node(("",), None, 0)
_ANYTHING = _Node(None, None, 0)
_ANY_CHARACTER = _Node(None, None, 1)


@dataclass(slots=True)
class _Group:
    """An open parenthesis: the alternatives that are complete, the items of the one that is not, and (?i)."""

    alternatives: list[_Node]
    items: list[_Node]
    ignore_case: bool


class _NotUnderstoodError(Exception):
    pass


@lru_cache(maxsize=1_024)
def required_literals(pattern: str) -> Required | None:
    """The literals, or None where nothing useful is known.

    >>> required_literals("err(or|no)[0-9]+")
    Required(literals=('error', 'errno'), folded=False)
    >>> required_literals("(?i)select.*FROM"), required_literals("[a-z]+")
    (Required(literals=('select',), folded=True), None)
    """
    folded = _mentions_ignore_case(pattern)
    try:
        node = _Reader(pattern, folded).read()
    except _NotUnderstoodError:
        return None
    needs = _needs(node)
    if needs is None:
        return None
    return Required(tuple(dict.fromkeys(literal[:MAX_LENGTH] for literal in needs)), folded)


def required_prefixes(pattern: str) -> Required | None:
    """As `required_literals`, of which a matching text begins with one.

    >>> required_prefixes("^(foo|bar)[0-9]+")
    Required(literals=('foo', 'bar'), folded=False)
    >>> required_prefixes("foo"), required_prefixes("^foo|bar"), required_prefixes("(?m)^foo")
    (None, None, None)
    """
    if not _ANCHOR.match(pattern):
        return None
    folded = _mentions_ignore_case(pattern)
    reader = _Reader(pattern, folded)
    try:
        reader.read()
    except _NotUnderstoodError:
        return None
    prefixes: tuple[str, ...] = ("",)
    for exact in reader.leading():
        if len(prefixes) * len(exact) > _MAX_STRINGS or len(prefixes[0]) >= MAX_LENGTH:
            break
        prefixes = tuple(dict.fromkeys(left + right for left in prefixes for right in exact))
    if not all(prefixes):
        return None
    return Required(tuple(dict.fromkeys(prefix[:MAX_LENGTH] for prefix in prefixes)), folded)


def least_length(pattern: str) -> int:
    """The number of characters (code points) that a matching text has at least, as far as it is known.

    >>> least_length("a.{1000,}"), least_length("(ab|c)d?"), least_length("[")
    (1001, 1, 0)
    """
    try:
        return _Reader(pattern, _mentions_ignore_case(pattern)).read().least
    except _NotUnderstoodError:
        return 0


def _mentions_ignore_case(pattern: str) -> bool:
    return any("i" in (match[1] or "") for match in _GROUP.finditer(pattern))


class _Reader:
    """Reads a regex once, from left to right, with its open groups on a stack of its own."""

    def __init__(self, pattern: str, folded: bool) -> None:
        self._pattern = pattern
        self._folded = folded
        self._position = 0
        self._stack = [_Group([], [], False)]

    def read(self) -> _Node:
        while self._position < len(self._pattern):
            character = self._pattern[self._position]
            self._position += 1
            group = self._stack[-1]
            match character:
                case "(":
                    self._open_group()
                case ")":
                    if len(self._stack) == 1:
                        raise _NotUnderstoodError
                    self._stack.pop()
                    self._stack[-1].items.append(_close(group))
                case "|":
                    group.alternatives.append(_concatenate(group.items))
                    group.items = []
                case "*" | "+" | "?" | "{":
                    self._repeat(character, group)
                case "[":
                    group.items.append(self._class())
                case ".":
                    group.items.append(_ANY_CHARACTER)
                case "^" | "$":
                    group.items.append(_EMPTY)
                case "\\":
                    group.items.append(self._escape())
                case _:
                    group.items.append(self._literals([character]))
        if len(self._stack) != 1:
            raise _NotUnderstoodError
        return _close(self._stack[0])

    def leading(self) -> list[tuple[str, ...]]:
        """Of the regex that was read, what each of its first parts matches exactly; none where it has alternatives."""
        (whole,) = self._stack
        items = [] if whole.alternatives else whole.items
        return [item.exact or () for item in takewhile(lambda item: item.exact, items)]

    def _open_group(self) -> None:
        ignore_case = self._stack[-1].ignore_case
        if self._pattern.startswith("?", self._position):
            match = _GROUP.match(self._pattern, self._position)
            if match is None:
                raise _NotUnderstoodError
            self._position = match.end()
            if match[1] is not None:
                on, _, off = match[1].partition("-")
                ignore_case = ("i" in on or ignore_case) and "i" not in off
                if match[2] == ")":  # (?i) holds to the end of the group it stands in
                    self._stack[-1].ignore_case = ignore_case
                    # RE2 repeats what stands before the flags, be it a repetition itself: `a+(?i)*` is `(a+)*`.
                    if self._pattern[self._position : self._position + 1] in ("*", "+", "?", "{"):
                        raise _NotUnderstoodError
                    return
        self._stack.append(_Group([], [], ignore_case))

    def _repeat(self, character: str, group: _Group) -> None:
        least = 1 if character == "+" else 0
        if character == "{":
            match = _REPEAT.match(self._pattern, self._position - 1)
            if match is None:
                # RE2 reads a brace that opens no repetition as itself; "{01}" is best left alone.
                if self._pattern[self._position : self._position + 1].isdigit():
                    raise _NotUnderstoodError
                group.items.append(self._literals(["{"]))
                return
            self._position = match.end()
            least = int(match[1])
        if not group.items:
            raise _NotUnderstoodError
        node = group.items.pop()
        if least:
            group.items += [node, _Node(None, None, node.least * (least - 1))]
        elif character == "?" and node.exact is not None:
            group.items.append(_Node((*node.exact, ""), None, 0))
        else:
            group.items.append(_ANYTHING)
        if self._pattern.startswith("?", self._position):
            self._position += 1

    def _class(self) -> _Node:
        """A bracket: the few characters it names, or anything."""
        characters: list[str] = []
        plain = not self._pattern.startswith("^", self._position)
        first = self._position if plain else self._position + 1
        position = first
        while True:
            character = self._pattern[position : position + 1]
            if character in ("", "["):
                raise _NotUnderstoodError
            if character == "]" and position > first:
                break
            if character == "\\":
                if self._pattern[position + 1 : position + 2] in ("", "Q"):
                    raise _NotUnderstoodError
                position += 1
                plain = False
            elif character == "-":
                plain = False
            characters.append(character)
            position += 1
        self._position = position + 1
        return self._literals(characters) if plain and len(characters) <= _MAX_CLASS else _ANY_CHARACTER

    def _escape(self) -> _Node:
        character = self._pattern[self._position : self._position + 1]
        for form, node in ((_HEX, None), (_PROPERTY, _ANY_CHARACTER)):
            match = form.match(self._pattern, self._position)
            if match is not None:
                self._position = match.end()
                return node or self._code_point(int(match[1] or match[2], 16))
        self._position += 1
        if character in _CONTROLS:
            return self._literals([_CONTROLS[character]])
        if character and character in "dDsSwW":
            return _ANY_CHARACTER
        if character and character in "bBAz":
            return _EMPTY
        if not character or not character.isascii() or character.isalnum() or character == "_":
            raise _NotUnderstoodError
        return self._literals([character])

    def _code_point(self, number: int) -> _Node:
        if number > 0x10FFFF:
            raise _NotUnderstoodError
        return self._literals([chr(number)])

    def _literals(self, characters: list[str]) -> _Node:
        """One of these characters, as the pre-filter will see it."""
        if any("\ud800" <= character <= "\udfff" for character in characters):
            return _ANY_CHARACTER
        if self._stack[-1].ignore_case and not all(character.isascii() for character in characters):
            return _ANY_CHARACTER
        return _Node(tuple(dict.fromkeys(map(fold, characters) if self._folded else characters)), None, 1)


def _close(group: _Group) -> _Node:
    nodes = [*group.alternatives, _concatenate(group.items)]
    if len(nodes) == 1:
        return nodes[0]
    exact = _union([node.exact for node in nodes])
    needs = None if exact is not None else _union([_needs(node) for node in nodes])
    return _Node(exact, needs, min(node.least for node in nodes))


def _concatenate(items: list[_Node]) -> _Node:
    """Runs of exact parts are joined; the best of the runs and of the parts' own needs is kept."""
    run: tuple[str, ...] = ("",)
    best: tuple[str, ...] | None = None
    whole = True
    least = sum(item.least for item in items)
    for item in items:
        exact = item.exact
        if exact is not None and len(run) * len(exact) <= _MAX_STRINGS and len(run[0]) < MAX_LENGTH:
            run = tuple(dict.fromkeys(left + right for left in run for right in exact))
            continue
        whole = False
        best = _better(_better(best, run), item.needs)
        run = exact or ("",)
    if whole:
        return _Node(run, None, least)
    return _Node(None, _better(best, run), least)


def _needs(node: _Node) -> tuple[str, ...] | None:
    return _better(node.needs, node.exact)


def _better(left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The set whose shortest literal is longer, then the smaller set; one that holds "" is none."""
    usable = [strings for strings in (left, right) if strings and all(strings)]
    return max(usable, key=lambda strings: (min(map(len, strings)), -len(strings)), default=None)


def _union(parts: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    strings: dict[str, None] = {}
    for part in parts:
        if part is None:
            return None
        strings.update(dict.fromkeys(part))
        if len(strings) > _MAX_UNION:
            return None
    return tuple(strings)
