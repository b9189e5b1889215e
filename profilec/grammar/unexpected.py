"""Unexpected tokens: what was expected, in the user's words, or which form was meant.

In: the token that the parser refuses, the few before it, what it would have taken, and the text.
Out: a `TextError`. The forms that the language leaves out are recognised here by what stands
before the place where the parser stopped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from profilec.grammar.diagnostics import did_you_mean, suggest
from profilec.grammar.foreign import is_foreign, word_hint
from profilec.grammar.lexer import AFTER_OPERAND, RESERVED, Token
from profilec.grammar.refusals import TextError, shorten

_COMPARISONS = frozenset({"COMPARE", "IN", "NOT_IN", "LIKE", "ILIKE", "BETWEEN", "IS", "MATCHES", "CONTAINS"})
_QUANTIFIERS = ("EXISTS", "FORALL")
_ASKS_PRESENCE = "whether an attribute is there, `a IS NOT NULL` asks"
_OPERATOR_WORDS = ("AND", "OR", "NOT", "IN", "IS", "LIKE", "ILIKE", "BETWEEN", "MATCHES", "CONTAINS", "ESCAPE")
_CLAUSE_WORDS = ("WHERE", "WITH", "GIVEN", "ACCEPTS", "REJECTS")
_NAMED = {
    "AND": "AND", "OR": "OR", "NULL": "NULL", "TRUE": "TRUE", "FALSE": "FALSE", "UNKNOWN": "UNKNOWN", "NOT": "NOT",
    "IN": "IN", "LIKE": "LIKE", "ILIKE": "ILIKE", "BETWEEN": "BETWEEN", "MATCHES": "MATCHES", "CONTAINS": "CONTAINS",
    "ESCAPE": "ESCAPE", "LPAR": "`(`", "RPAR": "`)`", "COMMA": "`,`", "AS": "AS", "OF": "OF", "LESS": "`<`",
    "GREATER": "`>`", "WITH": "WITH", "WHERE": "WHERE", "WITHIN": "WITHIN", "LAST": "LAST", "INTERVAL": "an interval",
    "NAME": "a name", "STRING": "a string", "NUMBER": "a number", "JSON": "a JSON value", "PROFILE": "PROFILE",
    "SCHEMA": "SCHEMA",
}  # fmt: skip


class Stop(NamedTuple):
    """Where the parser stopped: the token (type `$END` at the end), what stood before it and what follows."""

    token: Token
    before: Sequence[Token]
    following: Token | None
    accepted: Collection[str]
    open_brackets: Sequence[Token]
    is_statement: bool


def explain(stop: Stop) -> TextError:
    """The error to report."""
    token, before = stop.token, list(stop.before)
    last = before[-1] if before else None
    return (
        _semicolon(stop)
        or _query_or_case(stop, before)
        or _reserved(stop, last)
        or _bracket(stop, last)
        or _statement(stop, before)
        or _scope_of_quantifier(stop, before)
        or _quantifier(token, before)
        or _interval(stop, before)
        or _backslash(stop, last)
        or _operator(stop, last)
        or _nothing(stop, last)
        or _expected(stop, last)
    )


def _error(code: str, token: Token, message: str, hint: str | None = None) -> TextError:
    return TextError(code, token.start, token.end, message, hint)


def _semicolon(stop: Stop) -> TextError | None:
    if stop.token.type != "SEMICOLON" or stop.is_statement:
        return None
    hint = "a `;` ends the statement in a file; the text of a condition goes without"
    return _error("PC109", stop.token, "`;` cannot stand in a condition", hint)


def _query_or_case(stop: Stop, before: list[Token]) -> TextError | None:
    token = stop.token
    for index, word in enumerate(before):
        if word.type not in ("NAME", "FUNCTION"):
            continue
        name = word.text.upper()
        if name == "CASE" and (word is before[-1] or before[index + 1].type in ("NAME", "NUMBER", "STRING")):
            hint = "write the cases with AND and OR: `(a AND b) OR (NOT a AND c)`"
            return _error("PC111", word, "CASE is not in the language", hint)
        if name == "SELECT" and (index == 0 or before[index - 1].type == "LPAR"):
            hint = "earlier records are asked with `EXISTS d (d.isbn = isbn)`, values are listed in `IN (…)`"
            return _error("PC113", word, "subqueries are not in the language", hint)
    following = stop.following
    if token.type == "LPAR" and following is not None and following.text.upper() == "SELECT":
        return _query_or_case(stop, [*before, token, following])
    return None


def _reserved(stop: Stop, last: Token | None) -> TextError | None:
    """A reserved word that stands where a name would."""
    token, following = stop.token, stop.following
    if token.type in RESERVED and token.text.isascii():
        if token.type == "CAST" and last is not None and last.type == "OF":
            hint = "SCHEMA gives it its type: `SCHEMA (at TIMESTAMP);`"
            return _error("PC101", token, "WITHIN takes the name of an attribute, and no other value", hint)
        names_something = stop.accepted == {"NAME"} or (last is not None and last.type in ("PROFILE", "OF"))
        is_operand = "NAME" in stop.accepted and following is not None and following.type in _COMPARISONS
        if names_something or is_operand:
            return _name_in_quotes(token, is_id=last is not None and last.type == "PROFILE")
    if token.type in _COMPARISONS and last is not None and last.type in RESERVED and last.text.isascii():
        # `OR = 1` stops at `OR`, but `NOT = 1` and `ANY = 1` stop at `=`.
        return _name_in_quotes(last)
    return None


def _name_in_quotes(word: Token, *, is_id: bool = False) -> TextError:
    hint = f"if an attribute has this name, write `{word.text}` with the back-quotes"
    if is_id:
        hint = f"as an id, write '{word.text}' with the quotes"
    return _error("PC108", word, f"{word.text.upper()} is a reserved word", hint)


def _bracket(stop: Stop, last: Token | None) -> TextError | None:
    token = stop.token
    at_end = token.type == "$END" or (stop.is_statement and token.text.upper() in _CLAUSE_WORDS)
    if at_end and stop.open_brackets and last is not stop.open_brackets[-1] and "RPAR" in stop.accepted:
        return _error("PC106", stop.open_brackets[-1], "this `(` is never closed")
    if token.type == "RPAR" and not stop.open_brackets:
        return _error("PC101", token, "this `)` closes nothing")
    return None


def _statement(stop: Stop, before: list[Token]) -> TextError | None:
    token = stop.token
    if not stop.is_statement:
        return None
    if not before:
        hint = "write `PROFILE name WHERE condition;`"
        if stop.following is not None and stop.following.type in ("NAME", "STRING", "LPAR"):  # `price < 3` is no slip
            hint = did_you_mean(token.text, ("PROFILE", "SCHEMA")) or hint
        return _error("PC117", token, "a statement begins with PROFILE or SCHEMA", hint)
    if before[0].type == "PROFILE" and len(before) <= 2 and token.type != "$END":
        if len(before) == 1 and token.type in ("NUMBER", "MINUS"):
            return _error("PC217", token, "an id begins with a letter, unless quoted", "write `PROFILE 'my id'`")
        if len(before) == 2 and token.start == before[1].end:
            hint = "put quotes around an id with such characters"
            return _error("PC217", token, f"an id cannot hold `{token.text}`, unless quoted", hint)
        if len(before) == 2 and token.type == "NAME" and (near := suggest(token.text, ("WHERE", "WITH"))):
            return _error("PC101", token, f"expected WHERE, found `{token.text}`", f"did you mean {near}?")
        if len(before) == 2 and token.type == "NAME":
            name = before[1].text
            hint = f"write `PROFILE {name} WHERE …`; an id of two words needs quotes"
            if name.upper() in _CLAUSE_WORDS:
                hint = "the id is missing: write `PROFILE name WHERE …`"
            return _error("PC101", token, f"expected WHERE, found `{token.text}`", hint)
    return None


def _scope_of_quantifier(stop: Stop, before: list[Token]) -> TextError | None:
    """What is written around the brackets of a quantifier: `FOR ALL d (…)`, `EXISTS d, e (…)`, `EXISTS d ()`."""
    token, types = stop.token, [token.type for token in before]
    if token.type == "ALL" and types[-1:] == ["NAME"] and before[-1].text.upper() == "FOR":
        return TextError(
            "PC101", before[-1].start, token.end, "FORALL is one word", "as in `FORALL d (d.isbn != isbn)`"
        )
    if types[-1:] == ["WHERE"] and set(stop.accepted) == {"LPAR"}:
        hint = "the condition of a quantifier's WHERE stands in brackets, too: `FORALL d WHERE (d.isbn = isbn) (…)`"
        return _error("PC101", token, f"expected `(`, found {_found(token)}", hint)
    if token.type == "COMMA" and types[-1:] == ["NAME"] and types[-2:-1] and types[-2] in _QUANTIFIERS:
        hint = "a condition is about the new document and one earlier one; two earlier ones cannot be compared"
        return _error("PC101", token, f"{types[-2]} takes the name of one earlier document", hint)
    if token.type == "RPAR" and types[-1:] == ["LPAR"] and _opens_quantifier(types[:-1]):
        hint = "without a condition, leave the WHERE out"
        if types[-2] != "WHERE":
            hint = "that there is an earlier document at all, `EXISTS d (TRUE)` asks"
        return _error("PC120", token, "a condition is missing here", hint)
    return None


def _opens_quantifier(types: list[str]) -> bool:
    """Whether a bracket after such tokens is that of a quantifier's condition, or of its WHERE."""
    before = types[-2:-1]
    match types[-1:]:
        case ["NAME"]:
            return before == ["OF"] or (bool(before) and before[0] in _QUANTIFIERS)
        case ["NUMBER"]:
            return before == ["LAST"]
        case ["WHERE"]:
            return len(types) > 1
    return False


def _quantifier(token: Token, before: list[Token]) -> TextError | None:
    *_, first, last = (None, None, *before)
    if last is None:
        return None
    if last.type in _QUANTIFIERS:
        hint = f"as in `{last.type} d (d.isbn = isbn)`; {_ASKS_PRESENCE}"
        return _error("PC101", token, f"{last.type} needs a name for the earlier document", hint)
    if first is not None and first.type in _QUANTIFIERS and token.type not in ("WHERE", "WITHIN", "LAST"):
        hint = f"as in `{first.type} {last.text} ({last.text}.isbn = isbn)`; {_ASKS_PRESENCE}"
        message = f"{first.type} {last.text} needs a condition in brackets on the earlier documents"
        return _error("PC101", token, message, hint)
    word, array = (last, token) if last.type in ("ANY", "ALL") else (first, last)
    if word is not None and word.type in ("ANY", "ALL") and array.type in ("NAME", "FUNCTION"):
        hint = f"as in `{word.type} {array.text} AS i (i.price > 3)`, or `{word.type}({array.text}) = 3`"
        return _error("PC101", array, f"{word.type} needs a name for the element", hint)
    if last.type in ("IN", "NOT_IN") and token.type != "LPAR":
        hint = "values are listed, as in `IN (1, 2)`; an array is asked with `tags CONTAINS 'x'`"
        return _error("PC101", token, f"expected `(`, found {_found(token)}", hint)
    return None


def _interval(stop: Stop, before: list[Token]) -> TextError | None:
    """The unit or the number of an interval outside its quotes: `INTERVAL '1' HOUR`, `WITHIN 1 hour`."""
    token, following = stop.token, stop.following
    *_, first, last = (None, None, *before)
    number = unit = None
    if last is None:
        return None
    if last.type == "STRING" and first is not None and first.type == "INTERVAL" and token.type == "NAME":
        number, unit = last.text[1:-1], token
    elif stop.accepted == {"INTERVAL"} and token.type == "NUMBER":
        number, unit = token.text, following
    elif stop.accepted == {"INTERVAL"} and token.text.upper() == "INTERVAL" and following is not None:
        number = following.text if following.type == "NUMBER" else "1"
    elif last.type == "NAME" and last.text.upper() == "INTERVAL" and token.type == "NUMBER":
        number, unit = token.text, following
    if number is None or not number.replace(".", "", 1).isdecimal():
        return None
    word = unit.text.lower() if unit is not None and unit.type == "NAME" else "hour" if number == "1" else "hours"
    hint = f"number and unit stand between the quotes: `INTERVAL '{number} {word}'`"
    return _error("PC101", token, f"expected {_words(stop)}, found {_found(token)}", hint)


def _backslash(stop: Stop, last: Token | None) -> TextError | None:
    """`'it\\'s'`: the quote behind the backslash has ended the string."""
    token = stop.token
    if last is None or last.type != "STRING" or last.end != token.start or last.text[-2:-1] != "\\":
        return None
    quote = last.text[0]
    hint = f"a backslash escapes nothing; a quote inside a string is written twice: `{quote * 2}`"
    return _error("PC101", token, f"expected {_words(stop)}, found {_found(token)}", hint)


def _operator(stop: Stop, last: Token | None) -> TextError | None:
    """A word after a finished operand that is no operator of ours."""
    token = stop.token
    if last is not None and last.type == "FUNCTION" and "LPAR" in stop.accepted:
        return None
    if token.type not in ("NAME", "FUNCTION") or "AND" not in stop.accepted:
        if token.type in ("NAME", "FUNCTION") and is_foreign(token.text) and _after_is(stop.before):
            return _error("PC116", token, f"IS {token.text.upper()} is not in the language", word_hint(token.text))
        return None
    if is_foreign(token.text):
        return _error("PC116", token, f"{token.text.upper()} is not in the language", word_hint(token.text))
    known = (*_OPERATOR_WORDS, *_CLAUSE_WORDS) if stop.is_statement else _OPERATOR_WORDS
    near = suggest(token.text, known)
    hint = f"did you mean {near}?" if near else None
    if hint is None and last is not None and last.type == "NAME":
        hint = f"if `{last.text} {token.text}` is one name, write it in back-quotes"
    return _error("PC101", token, f"expected {_words(stop)}, found {_found(token)}", hint)


def _after_is(before: Sequence[Token]) -> bool:
    words = [token.type for token in before][-2:]
    return words[-1:] == ["IS"] or words == ["IS", "NOT"]


def _opened_by(stop: Stop, kind: str) -> bool:
    """Whether the innermost bracket that is open stands behind such a token."""
    if not stop.open_brackets:
        return False
    at = next((at for at, token in enumerate(stop.before) if token is stop.open_brackets[-1]), 0)
    return at > 0 and stop.before[at - 1].type == kind


def _nothing(stop: Stop, last: Token | None) -> TextError | None:
    """No condition at all."""
    starts = last is None if not stop.is_statement else last is not None and last.type == "WHERE"
    if stop.open_brackets or not starts or "EXISTS" not in stop.accepted:
        return None
    if stop.token.type == "$END" or stop.token.type in AFTER_OPERAND:
        return _error("PC120", stop.token, "a condition is missing here", "a condition that always holds is TRUE")
    return None


def _expected(stop: Stop, last: Token | None) -> TextError:
    token = stop.token
    hint = None
    if last is not None and last.type == "COMPARE" and token.type == "NOT":
        hint = "put the negated condition in brackets, or write `!=`"
    elif last is not None and last.type == token.type == "NAME":
        hint = did_you_mean(token.text, _CLAUSE_WORDS)
    elif token.type == "COMMA" and last is not None and last.type == "NUMBER" and last.end == token.start:
        hint = "digits are not grouped: write 1000"
    elif token.type == "NUMBER" and stop.accepted == {"NAME"}:
        hint = "a NUMBER has no precision and a STRING no length"
    elif token.type == "NULL" and last is not None and last.type == "NOT" and "LIKE" in stop.accepted:
        hint = "write IS NOT NULL"
    elif token.type in ("NUMBER", "STRING") and last is not None and _after_is(stop.before):
        hint = f"write `{'!=' if last.type == 'NOT' else '='} {shorten(token.text)}`"
    elif token.type == "COMMA" and _opened_by(stop, "CONTAINS"):
        hint = "CONTAINS takes one value; for one of several write `ANY(tags) IN ('x', 'y')`"
    elif token.type == "STRING" and stop.accepted == {"INTERVAL"}:
        hint = f"write `INTERVAL {shorten(token.text)}`"
    return _error("PC101", token, f"expected {_words(stop)}, found {_found(token)}", hint)


def _words(stop: Stop) -> str:
    """What the parser would take, as a list in words."""
    accepted = set(stop.accepted)
    if "AS" in accepted:  # inside CAST: more of the value could come, but what is missing is the type
        return "AS and a type" if "AND" in accepted else "AS"
    if "LESS" in accepted:
        return "`,`, `)` or NOT NULL"
    words: list[str] = []
    if {"NAME", "NUMBER", "STRING", "LPAR"} <= accepted:
        words.append("a condition" if {"EXISTS", "NOT"} <= accepted and not stop.open_brackets else "a value")
        accepted &= {"RPAR"}
    elif "AND" in accepted:
        if "COMPARE" in accepted:
            words.append("a comparison")
        accepted &= {"AND", "OR", "RPAR", "COMMA", "$END"}
    end = "$END" in accepted
    words += [name for kind, name in _NAMED.items() if kind in accepted]
    if "COMPARE" in accepted:
        words.append("`=`")
    if end:
        words.append("`;`" if stop.is_statement else "the end")
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _found(token: Token) -> str:
    if token.type == "$END":
        return "the end"
    return f"`{shorten(token.text)}`"
