r"""Patterns of regular expressions between RE2 (ours), POSIX (PostgreSQL) and Java (Spark).

In: a pattern in one language. Out: the pattern of another that finds the same texts. Only what
is known to mean the same is translated; all else is refused by name.

Traps: `.` is everything in POSIX, all but `\n` in RE2, all but five line ends in Java. `$` is the
end of the text in RE2 and POSIX, but also stands before a last line end in Java. `\d` and its
like depend on the locale in POSIX; `\s` has a vertical tab in Java and none in RE2. Captures,
and greedy against lazy, make no difference to whether a pattern is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from profilec.grammar.refusals import shorten
from profilec.grammar.sql.refusal import Refusal

Language: TypeAlias = Literal["re2", "posix", "java"]

_SPECIAL = frozenset(".^$|()[]{}*+?\\")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_MOST_REPEATS = 255
# Sets of code points, as the inside of a bracket expression.
_DIGITS, _WORD = "0-9", "0-9A-Za-z_"
_SPACES = {"re2": "\\t\\n\\f\\r ", "java": "\\t\\n\\x0b\\f\\r "}
_DOT = {
    "re2": {"posix": "[^\\n]", "java": "[^\\n]"},
    "posix": {"re2": "(?s:.)"},
    "java": {"re2": "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]"},
}
_ANYTHING = {"re2": "(?s:.)", "posix": ".", "java": "(?s:.)"}
_END = {"re2": "\\z", "posix": "\\Z", "java": "\\z"}


def translate(pattern: str, source: Language, target: Language) -> str:
    r"""The pattern of `target` that finds what `pattern` finds in `source`; one of them is "re2".

    >>> translate("^a.c$", "posix", "re2"), translate(r"\d+$", "re2", "posix"), translate("a$", "re2", "java")
    ('^a(?s:.)c$', '[0-9]+$', 'a\\z')

    Raises:
        Refusal: the pattern may mean something else there.
    """
    return "".join(_Translation(pattern, source, target).pieces())


def check_re2(pattern: str) -> None:
    """Raises Refusal where RE2 does not take the pattern."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise Refusal(f"RE2 refuses the pattern '{shorten(pattern)}': {reason}") from None


class _Translation:
    """One pass over a pattern, piece by piece; `atom` says whether a repetition may follow."""

    def __init__(self, pattern: str, source: Language, target: Language) -> None:
        self.pattern = pattern
        self.source = source
        self.target = target
        self.at = 0

    def pieces(self) -> Iterator[str]:
        depth, atom = 0, False
        while self.at < len(self.pattern):
            character = self.pattern[self.at]
            if self.source != "posix" and self.pattern.startswith("(?s:.)", self.at):
                self.at += len("(?s:.)")
                yield _ANYTHING[self.target]
                atom = True
            elif character == "(":
                yield self._open()
                depth, atom = depth + 1, False
            elif character == ")":
                depth -= 1
                if depth < 0:
                    raise self._refusal("a `)` that closes nothing")
                yield self._take()
                atom = True
            elif character in "*+?{":
                if not atom:
                    raise self._refusal(f"`{character}` after nothing that it could repeat")
                yield self._repetition()
                atom = False
            elif character in "|^":
                yield self._take()
                atom = False
            elif character == "$":
                yield self._end()
                atom = False
            else:
                piece, atom = self._atom(character)
                yield piece
        if depth:
            raise self._refusal("a `(` that is never closed")

    def _atom(self, character: str) -> tuple[str, bool]:
        """One code point or a set of them, or a position (which cannot be repeated)."""
        if character == ".":
            self.at += 1
            return _DOT[self.source][self.target], True
        if character == "[":
            return self._set(), True
        if character == "\\":
            return self._escape()
        self.at += 1
        return _literal(character), True

    def _open(self) -> str:
        if self.pattern.startswith("(?:", self.at):
            self.at += 3
            return "(?:"
        if self.pattern.startswith(("(?", "(*"), self.at):
            raise self._refusal(f"`{self.pattern[self.at : self.at + 4]}`")
        return self._take()

    def _repetition(self) -> str:
        start = self.at
        if self.pattern[start] == "{":
            end = self.pattern.find("}", start)
            low, comma, high = self.pattern[start + 1 : max(end, start)].partition(",")
            bounds = [bound for bound in (low, high) if bound]
            if not low or not all(bound.isascii() and bound.isdigit() for bound in bounds) or (high and not comma):
                raise self._refusal("`{` that begins no repetition")
            if any(int(bound) > _MOST_REPEATS for bound in bounds):
                raise self._refusal(f"a repetition of more than {_MOST_REPEATS}")
            self.at = end + 1
        else:
            self.at += 1
        if self.pattern.startswith("?", self.at):
            self.at += 1
        elif self.pattern.startswith("+", self.at):
            raise self._refusal("a possessive repetition")
        return self.pattern[start : self.at]

    def _end(self) -> str:
        if self.source == "java":
            raise self._refusal("`$`, which also stands before a line end at the end of the text", "write `\\z`")
        self.at += 1
        return "\\z" if self.target == "java" else "$"

    def _escape(self) -> tuple[str, bool]:
        character = self.pattern[self.at + 1 : self.at + 2]
        if character == "A":
            self.at += 2
            return "\\A", False
        if character == _END[self.source][1]:
            self.at += 2
            return _END[self.target], False
        inside = self._class_of_escape(character)
        if inside is not None:
            self.at += 2
            return f"[{'^' if character.isupper() else ''}{inside}]", True
        return _literal(self._escaped_character()), True

    def _class_of_escape(self, character: str) -> str | None:
        r"""The set that `\d`, `\w`, `\s` stand for, as the inside of brackets; None for any other escape."""
        if not character or character not in "dwsDWS":
            return None
        if self.source == "posix":
            raise self._refusal(f"`\\{character}`, which depends on the locale", "write the set, as in [0-9]")
        return {"d": _DIGITS, "w": _WORD, "s": _SPACES[self.source]}[character.lower()]

    def _escaped_character(self) -> str:
        character = self.pattern[self.at + 1 : self.at + 2]
        known = _CONTROLS.get(
            character, character if character in _SPECIAL or character in "-/'\"%&~#,:;<>=@!` " else ""
        )
        if not known:
            raise self._refusal(f"`\\{character}`")
        self.at += 2
        return known

    def _set(self) -> str:
        self.at += 1
        text = "["
        if self.pattern.startswith("^", self.at):
            text += self._take()
        if self.pattern.startswith("]", self.at):
            raise self._refusal("`]` as the first of a set", "write `\\]`")
        pending: str | None = None  # the code point that a range may begin with
        while not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise self._refusal("a `[` that is never closed")
            if self.pattern[self.at] == "[" or self.pattern.startswith("&&", self.at):
                raise self._refusal(f"`{self.pattern[self.at]}` inside a set", "put `\\` before it")
            if self.pattern[self.at] == "-" and pending is not None and not self.pattern.startswith("]", self.at + 1):
                self.at += 1
                last = self._set_character()
                if last is None or last < pending:
                    raise self._refusal("a range without an end")
                text += "-" + _literal(last, in_set=True)
                pending = None
                continue
            before = self.at
            pending = self._set_character()
            if pending is None:
                text += self._set_class(self.pattern[before + 1])
            else:
                text += _literal(pending, in_set=True)
        return text + self._take()

    def _set_character(self) -> str | None:
        r"""The next code point of a set; None for `\d` and its like, which is left to the caller."""
        if self.pattern[self.at] != "\\":
            return self._take()
        if self._class_of_escape(self.pattern[self.at + 1 : self.at + 2]) is not None:
            self.at += 2
            return None
        return self._escaped_character()

    def _set_class(self, character: str) -> str:
        if character.isupper():
            raise self._refusal(f"`\\{character}` inside a set")
        return self._class_of_escape(character) or ""

    def _take(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _refusal(self, what: str, hint: str | None = None) -> Refusal:
        return Refusal(f"the pattern '{shorten(self.pattern)}' has {what}: it may mean something else", hint)


def _literal(character: str, in_set: bool = False) -> str:
    for letter, control in _CONTROLS.items():
        if character == control:
            return "\\" + letter
    if character in _SPECIAL or (in_set and character in "-&~"):
        return "\\" + character
    return character
