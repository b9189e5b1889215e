"""The lexer: text to tokens, one compiled regular expression and one look at the token before.

In: the text of a file, of one statement, or of one condition. Out: tokens with their offsets.
Comments and white space are left out unless asked for.

Invariants:
- A token's `text` is exactly `source[start:end]`; tokens come in ascending order and never overlap.
- `type` is the terminal of `profilec.lark` and says what the token means here: synonyms share one
  type (`RLIKE`, `REGEXP` and `~` are MATCHES, `≠` and `!=` are COMPARE). Only the words of RESERVED
  are keywords everywhere. Any other word is one where nothing else can stand: DATE before a string,
  LOWER before `(`, MATCHES or ESCAPE or GIVEN after a finished operand, PROFILE at the start of a
  statement. So `date = 1 AND matches MATCHES 'x'` has two attributes.

    AND OR NOT IN IS LIKE ILIKE BETWEEN NULL TRUE FALSE ANY ALL EXISTS FORALL CAST     reserved words
    MATCHES CONTAINS ESCAPE AS WHERE WITH WITHIN OF LAST GIVEN ACCEPTS REJECTS          after an operand
    DATE TIMESTAMP INTERVAL     before a string        UNKNOWN     after IS        PROFILE SCHEMA     first
    FUNCTION                    a word before `(`      NOT_IN      `∉`
    NAME                        a.b.c, with or without back-quoted parts: `name_parts` reads it
    STRING NUMBER JSON          'it''s', 5E2, {...} or [...]: `string_value` reads the first
    COMPARE                     = == != <> < <= > >= ≠ ≤ ≥
    LPAR RPAR COMMA PLUS MINUS STAR SLASH PERCENT SEMICOLON     LESS GREATER (in SCHEMA: ARRAY<...>)
    COMMENT                     `-- ...` without its line end, or `/* ... */` (on demand only)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from profilec.grammar.refusals import SAVE_AS_UTF8, SURROGATE, TextError, describe, no_token, not_utf8, subscript

RESERVED = frozenset({
    "AND", "OR", "NOT", "IN", "IS", "LIKE", "ILIKE", "BETWEEN",
    "NULL", "TRUE", "FALSE", "ANY", "ALL", "EXISTS", "FORALL", "CAST",
})  # fmt: skip
"""The words that name an attribute only between back-quotes."""

_AFTER_OPERAND = {
    "MATCHES": "MATCHES", "RLIKE": "MATCHES", "REGEXP": "MATCHES", "CONTAINS": "CONTAINS", "ESCAPE": "ESCAPE",
    "AS": "AS", "WHERE": "WHERE", "WITH": "WITH", "WITHIN": "WITHIN", "OF": "OF", "LAST": "LAST",
    "GIVEN": "GIVEN", "ACCEPTS": "ACCEPTS", "REJECTS": "REJECTS",
}  # fmt: skip
AFTER_OPERAND = frozenset(_AFTER_OPERAND)
"""The words that are keywords after a finished operand."""

_FINISHED = frozenset({"NAME", "NUMBER", "STRING", "RPAR", "NULL", "TRUE", "FALSE", "UNKNOWN", "JSON"})
_NAME_FOLLOWS = frozenset({"EXISTS", "FORALL", "AS", "OF", "PROFILE"})
_EXAMPLES = frozenset({"GIVEN", "ACCEPTS", "REJECTS"})
_TEMPORAL = frozenset({"DATE", "TIMESTAMP", "INTERVAL"})
_SYMBOLS = {
    "(": "LPAR", ")": "RPAR", ",": "COMMA", ";": "SEMICOLON",
    "+": "PLUS", "-": "MINUS", "*": "STAR", "/": "SLASH", "%": "PERCENT", "~": "MATCHES",
    "∧": "AND", "∨": "OR", "¬": "NOT", "∈": "IN", "∉": "NOT_IN", "∀": "FORALL", "∃": "EXISTS",
}  # fmt: skip

_START, _GO_ON = r"(?:[^\W\d]|[@$])", r"[\w@$]*+"
_PART = f"{_START}{_GO_ON}"
_QUOTED_PART = r"`[^`\n]*+(?:``[^`\n]*+)*+`"
_COMMENT = r"--[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
_TRIVIA = rf"(?:\s++|{_COMMENT})*+"
_FOREIGN = (
    r"\|\||&&|[=!]==|<=>|=>|=<|->>?|::|:=|!~~?\*?|=~|~~?\*|~=|<<|>>|\*\*|\^|!(?!=)|[?&|#\\]|:[A-Za-z_]\w*"
)  # fmt: skip
_MASTER = re.compile(
    rf"""\s*+(?:
      (?P<NAME>{_PART}(?:\.{_PART})*+(?!\.?`))
    | (?P<NUMBER>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.@$]))
    | (?P<STRING>'[^']*+(?:''[^']*+)*+'|"[^"]*+(?:""[^"]*+)*+")
    | (?P<COMMENT>{_COMMENT})
    | (?P<FOREIGN>{_FOREIGN})
    | (?P<COMPARE>[<>!=]=|<>|[=<>≠≤≥])
    | (?P<SYMBOL>(?!/\*)[(),;+\-*/%~∧∨¬∈∉∀∃])
    | (?P<QUOTED>(?:{_PART}|{_QUOTED_PART})(?:\.(?:{_PART}|{_QUOTED_PART}))*+)
    | (?P<OPEN>[\[{{])
    | (?P<END>\Z)
    | (?P<BAD>(?s:.))
    )""",
    re.VERBOSE,
)
_KINDS: dict[int, str] = {number: name for name, number in _MASTER.groupindex.items()}
_CALL = re.compile(rf"{_TRIVIA}\(")
_STRING_NEXT = re.compile(rf"{_TRIVIA}['\"]")
_JSON_PART = re.compile(r"""[{\[]|[}\]]|"(?:[^"\\\n]|\\[^\n])*+"|[^{}\[\]";]++""")


class Token:
    """One token: `type`, `text`, and the offsets `start` and `end` into the text it was found in."""

    __slots__ = ("end", "start", "text", "type")

    def __init__(self, type_: str, text: str, start: int, end: int) -> None:
        self.type = type_
        self.text = text
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Token({self.type!r}, {self.text!r}, {self.start}, {self.end})"


def tokens(text: str, *, comments: bool = False, condition: bool = False) -> Iterator[Token]:
    """The tokens of a text of statements, or of one condition.

    With `comments`, COMMENT tokens stand among the others, in their places; white space is
    never a token (it is what lies between `end` and the next `start`). A `;` is a SEMICOLON
    token, after which the next statement begins. With `condition`, the text is that of one
    condition: it begins with an operand, and PROFILE and SCHEMA are names.

    >>> [(t.type, t.text) for t in tokens("date ≥ DATE '2024-01-01'", condition=True)]
    [('NAME', 'date'), ('COMPARE', '≥'), ('DATE', 'DATE'), ('STRING', "'2024-01-01'")]
    >>> [t.type for t in tokens("PROFILE p -- why\\nWHERE a;", comments=True)]
    ['PROFILE', 'NAME', 'COMMENT', 'WHERE', 'NAME', 'SEMICOLON']

    Raises:
        TextError: a quote, comment or bracket is not closed, or a character means nothing.
            It is raised where iteration comes to it; the tokens before it have been given.
    """
    match = _MASTER.match
    first = not condition
    schema = examples = finished = False
    before = previous = ""
    position = 0
    while True:
        found = match(text, position)
        assert found is not None  # BAD takes any character, END the end
        group = found.lastindex
        assert group is not None
        kind, piece = _KINDS[group], found[group]
        start, position = found.span(group)
        if kind == "NAME":
            if "." in piece or not piece.isascii():
                _check_name(piece, start)
            elif (word := piece.upper()) in RESERVED:
                kind = word
            elif schema or previous in _NAME_FOLLOWS:
                pass
            elif finished:
                kind = _AFTER_OPERAND.get(word, "NAME")
                examples = examples or kind in _EXAMPLES
            elif first and word in ("PROFILE", "SCHEMA"):
                kind, schema = word, word == "SCHEMA"
            elif word in _TEMPORAL and _STRING_NEXT.match(text, position):
                kind = word
            elif word == "UNKNOWN" and (previous == "IS" or (previous == "NOT" and before == "IS")):
                kind = "UNKNOWN"
            elif _CALL.match(text, position):
                kind = "FUNCTION"
        elif kind == "SYMBOL":
            kind = _SYMBOLS[piece]
            if kind == "SEMICOLON":
                schema = examples = False
        elif kind == "COMPARE":
            if schema and piece in "<>":
                kind = "LESS" if piece == "<" else "GREATER"
        elif kind == "STRING":
            _check_text(piece, start)
        elif kind == "NUMBER":
            pass
        elif kind == "COMMENT":
            if comments:
                _check_text(piece, start)
                yield Token(kind, piece, start, position)
            continue
        elif kind == "QUOTED":
            kind = "NAME"
            _check_text(piece, start)
            if "``" in piece and "" in name_parts(piece):
                raise TextError("PC102", start, position, "a name between back-quotes is empty")
        elif kind == "OPEN":
            if piece == "[" and not examples:
                raise subscript(start, finished)
            kind = "JSON"
            position = json_end(text, start)
            piece = text[start:position]
            _check_text(piece, start)
        elif kind == "END":
            return
        elif schema and piece == ">>":
            kind, piece, position = "GREATER", ">", start + 1
        else:
            raise no_token(text, start, position, finished)
        yield Token(kind, piece, start, position)
        # `a NOT MATCHES`: after an operand, NOT leaves the operand finished.
        finished = kind in _FINISHED or (kind == "NOT" and finished)
        first = kind == "SEMICOLON" and not condition
        before, previous = previous, kind


def string_value(text: str) -> str:
    """The value of a STRING token.

    >>> string_value("'it''s'"), string_value('"a ""b"" c"')
    ("it's", 'a "b" c')
    """
    quote = text[0]
    return text[1:-1].replace(quote + quote, quote)


def name_parts(text: str) -> tuple[str, ...]:
    """The parts of a NAME token: cut at the dots, a back-quoted part whole.

    >>> name_parts("user.city"), name_parts("`a.b`.c"), name_parts("`odd``name`")
    (('user', 'city'), ('a.b', 'c'), ('odd`name',))
    """
    if "`" not in text:
        return tuple(text.split("."))
    found = re.findall(rf"{_QUOTED_PART}|{_PART}", text)
    return tuple(part[1:-1].replace("``", "`") if part[0] == "`" else part for part in found)


def is_plain_name(part: str) -> bool:
    """Whether a part of a name can be written without back-quotes.

    >>> is_plain_name("price"), is_plain_name("in"), is_plain_name("unit price"), is_plain_name("größe")
    (True, False, False, True)
    """
    return re.fullmatch(_PART, part) is not None and _starts_well(part) and not is_reserved(part)


def is_reserved(word: str) -> bool:
    """Whether a word needs back-quotes. The Kelvin sign is no `K`: only ASCII letters make a keyword."""
    return word.isascii() and word.upper() in RESERVED


def _starts_well(part: str) -> bool:
    return part[0] in "_@$" or part[0].isalpha() or unicodedata.category(part[0]) == "Nl"


def _check_name(name: str, start: int) -> None:
    """Refuse what the expression for names lets through: `²x`, `in.x`."""
    at = start
    for depth, part in enumerate(name.split(".")):
        if not _starts_well(part):
            raise TextError(
                "PC102", at, at + 1, f"a name cannot begin with {describe(part[0])}", f"write `{part}` in back-quotes"
            )
        if depth == 0 and "." in name and is_reserved(part):
            raise TextError(
                "PC108", at, at + len(part), f"{part.upper()} is a reserved word", f"write it in back-quotes: `{part}`"
            )
        at += len(part) + 1


def _check_text(piece: str, start: int) -> None:
    """Refuse half characters, which are what a byte that is not UTF-8 is read as."""
    if not piece.isascii() and (half := SURROGATE.search(piece)):
        raise TextError("PC107", start + half.start(), start + half.end(), not_utf8(half[0]), SAVE_AS_UTF8)


def json_end(text: str, start: int) -> int:
    """Where the JSON value that opens at `start` ends. JSON has no `;` and no line end inside a string.

    Raises:
        TextError: it does not end.
    """
    position, unclosed = json_extent(text, start)
    if not unclosed:
        return position
    if text[position : position + 1] == '"':
        raise TextError("PC103", position, position + 1, "this quote is never closed")
    raise TextError("PC106", start, start + 1, f"this `{text[start]}` is never closed")


def json_extent(text: str, start: int) -> tuple[int, list[int]]:
    """Where the JSON value that opens at `start` ends, or cannot go on, and the brackets that are open there.

    >>> json_extent('{"a": [1]}, 2', 0), json_extent('{"a": [1; 2', 0)
    ((10, []), (8, [0, 6]))
    """
    unclosed: list[int] = []
    position = start
    while part := _JSON_PART.match(text, position):
        character = part[0][0]
        if character in "{[":
            unclosed.append(position)
        position = part.end()
        if character in "}]":
            unclosed.pop()
            if not unclosed:
                break
    return position, unclosed
