"""RE2: compiling a regex, searching one text, and sets of regexes that are searched for together.

In: RE2 syntax and UTF-8 bytes. Out: whether a text holds a match anywhere. RE2 works in time
linear in the text, whatever the pattern. Lone surrogates, which have no UTF-8, are read as U+FFFD.

Invariant: a set that runs out of memory says so (`RegexSet.matches` gives None); it never reads as "no match".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def utf8(text: str) -> bytes:
    """The text in UTF-8, lone surrogates read as U+FFFD.

    >>> utf8("a\\ud800")
    b'a\\xef\\xbf\\xbd'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text).encode()


def compile_regex(pattern: str, *, dot_newline: bool = False) -> Any:
    """The compiled regex, to be given to `search`.

    Raises:
        ValueError: RE2 refuses the pattern.
    """
    import re2

    try:
        return re2.compile(utf8(pattern), _options(dot_newline=dot_newline))
    except re2.error as error:
        raise ValueError(f"RE2 refuses {pattern!r}: {_message(error)}") from None


def search(regex: Any, data: bytes) -> bool:
    """Whether there is a match anywhere in the UTF-8 text."""
    return regex.search(data) is not None


def regex_holds(pattern: str, text: str) -> bool:
    """Whether the text holds a match of the pattern.

    >>> regex_holds("^a.*[0-9]$", "abc1"), regex_holds("^b", "abc1")
    (True, False)
    """
    return search(_compiled(pattern), utf8(text))


class RegexSet:
    """Several regexes, searched for in one pass."""

    __slots__ = ("_sentinel", "_set")

    def __init__(self, patterns: Sequence[str]) -> None:
        """Raises ValueError where RE2 refuses a pattern or the set is too large."""
        import re2

        self._set = re2.Set.SearchSet(_options())
        try:
            for pattern in patterns:
                self._set.Add(utf8(pattern))
            # Matches any text, so an answer without it is no answer: the set ran out of memory.
            self._sentinel = self._set.Add(b"")
            self._set.Compile()
        except re2.error as error:
            raise ValueError(f"RE2 refuses the set: {_message(error)}") from None

    def matches(self, data: bytes) -> list[int] | None:
        """The indices of the patterns that match, in any order; None where the set ran out of memory."""
        found: list[int] | None = self._set.Match(data)
        if found is None or self._sentinel not in found:
            return None
        found.remove(self._sentinel)
        return found


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    return compile_regex(pattern)


def _options(*, dot_newline: bool = False) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.dot_nl = dot_newline
    return options


def _message(error: Exception) -> str:
    text = error.args[0] if error.args else error
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)
