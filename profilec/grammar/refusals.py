"""Refusals: what to say about a place where the text stops making sense, by name and with a hint.

In: the place, and what stood before it. Out: a `TextError`, which the parser turns into a
Diagnostic. Forms of SQL that the language leaves out are named, not called unexpected.
"""

from __future__ import annotations

import re
import unicodedata

from profilec.grammar.foreign import operator_hint

SURROGATE = re.compile("[\ud800-\udfff]")
"""A lone surrogate: no character, and what a byte that is not UTF-8 is read as."""

SAVE_AS_UTF8 = "save the file as UTF-8"
_BAD_NUMBER = re.compile(r"[0-9.][\w.@$]*")


class TextError(Exception):
    """A place that no token can be made of, or that the parser refuses; becomes a Diagnostic."""

    def __init__(self, code: str, start: int, end: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.start = start
        self.end = end
        self.message = message
        self.hint = hint


def subscript(start: int, finished: bool) -> TextError:
    if finished:
        return TextError(
            "PC112",
            start,
            start + 1,
            "subscripts like `items[0]` are not in the language",
            "ask about any element: `ANY(tags) = 'x'` or `ANY items AS i (i.sku = 'x')`",
        )
    return TextError("PC102", start, start + 1, "`[` means nothing here", "lists of values are written `IN (1, 2)`")


def no_token(text: str, start: int, end: int, finished: bool) -> TextError:
    """What to say about a place where no token begins."""
    piece = text[start:end]
    if piece in "'\"":
        return TextError("PC103", start, end, "this quote is never closed", "a quote inside a string is written twice")
    if piece == "`":
        return TextError("PC104", start, end, "this back-quote is never closed")
    if piece == "/" and text.startswith("/*", start):
        return TextError("PC105", start, start + 2, "this comment is never closed", "close it with `*/`")
    if piece in "}]":
        return TextError("PC101", start, end, f"this `{piece}` closes nothing")
    if len(piece) > 1 or piece in "!|&^?#\\":
        code = "PC110" if piece == "||" else "PC116"
        return TextError(code, start, end, f"`{piece}` is not in the language", operator_hint(piece))
    if (piece.isascii() and piece.isdigit()) or piece == ".":
        return _bad_number(text, start, finished)
    if SURROGATE.match(piece):
        return TextError("PC107", start, end, not_utf8(piece), SAVE_AS_UTF8)
    hint = None
    if piece in "‘’“”«»„":
        hint = "strings stand between plain quotes: 'x' or \"x\""
    elif finished and start and text[start - 1].isalnum():
        hint = "a name with such characters is written in back-quotes"
    return TextError("PC102", start, end, f"{describe(piece)} means nothing here", hint)


def _bad_number(text: str, start: int, finished: bool) -> TextError:
    run = _BAD_NUMBER.match(text, start)
    end = run.end() if run else start + 1
    if finished and text[start] == "." and start and not text[start - 1].isspace():
        return TextError(
            "PC102", start, end, "a name must follow the dot", "a name that begins otherwise is written in back-quotes"
        )
    if text[start:end] == ".":
        return TextError("PC102", start, end, "`.` means nothing here", "no space may stand around the dots of a name")
    return TextError(
        "PC102",
        start,
        end,
        f"`{text[start:end][:40]}` is neither a number nor a name",
        "write numbers as 5, 0.5 or 5E2; a name that begins with a digit needs back-quotes",
    )


def not_utf8(piece: str) -> str:
    """What to say about a lone surrogate."""
    code = ord(piece)
    if 0xDC80 <= code <= 0xDCFF:
        return f"the byte 0x{code - 0xDC00:02X} is not UTF-8"
    return f"U+{code:04X} is half a character"


def describe(character: str) -> str:
    name = unicodedata.name(character, "")
    code = f"U+{ord(character):04X}"
    if not character.isprintable() or unicodedata.combining(character):
        return f"the character {code}{f' ({name})' if name else ''}"
    return f"`{character}`" if character.isascii() else f"`{character}` ({code}{f' {name}' if name else ''})"


def shorten(text: str, most: int = 40) -> str:
    """A piece of the user's text, on one line and not too long to be quoted in a message.

    >>> shorten("a  =\\n 1"), shorten("x" * 50, 8)
    ('a = 1', 'xxxxxxx…')
    """
    text = " ".join(text[: most * 4].split()) if not text.isprintable() or "  " in text else text
    return text if len(text) <= most else text[: most - 1] + "…"
