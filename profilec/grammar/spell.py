"""Spelling: literals and names as text.

In: a value, or the parts of a name. Out: the literal or name that the lexer reads back as it.
What no text writes raises ValueError, or, with `exact=False`, gets the nearest readable text.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache

from profilec.grammar.lexer import is_plain_name, is_reserved
from profilec.values.dates import print_date, print_interval, print_timestamp
from profilec.values.kinds import NANOS_PER_SECOND, Date, Interval, Timestamp
from profilec.values.numbers import MAX_LITERAL_DIGITS, MAX_LITERAL_EXPONENT

_TRUTHS = {True: "TRUE", False: "FALSE", None: "NULL"}
_WIDEST_ZONE = (18 * 3_600 + 59 * 60) * NANOS_PER_SECOND


def spell_literal(value: object, *, exact: bool = True) -> str:
    """The literal of a value.

    >>> spell_literal("it's"), spell_literal(Decimal("-1.5")), spell_literal(Date(0)), spell_literal(None)
    ("'it''s'", '-1.5', "DATE '1970-01-01'", 'NULL')

    Raises:
        ValueError: with `exact`, where no literal writes the value.
    """
    match value:
        case None | bool():
            return _TRUTHS[value]
        case str():
            return quote(value)
        case int() | Decimal():
            return _number(Decimal(value), exact)
        case Date():
            return f"DATE {quote(_found(print_date(value), str(value.days), exact))}"
        case Timestamp():
            return f"TIMESTAMP {quote(_found(_timestamp(value), str(value.nanos), exact))}"
        case Interval():
            return f"INTERVAL {quote(print_interval(value))}"
    raise TypeError(f"no literal: {value!r}")


@lru_cache(maxsize=4_096)
def spell_name(parts: tuple[str, ...], *, quoted: bool = False) -> str:
    """A dotted name, its parts in back-quotes where they need them, the first one also where `quoted` says so.

    >>> spell_name(("in", "in", "unit price")), spell_name(("d", "x"), quoted=True)
    ('`in`.in.`unit price`', '`d`.x')

    Raises:
        ValueError: there are no parts, or one is empty or has a line end.
    """
    if not parts or any(not part or "\n" in part for part in parts):
        raise ValueError(f"no text names the attribute {parts!r}")
    # After a dot no word is reserved.
    texts = [part if is_plain_name(part) or is_reserved(part) else _back_quote(part) for part in parts]
    if (quoted or is_reserved(parts[0])) and texts[0] == parts[0]:
        texts[0] = _back_quote(parts[0])
    return ".".join(texts)


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _back_quote(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"


def _found(text: str | None, otherwise: str, exact: bool) -> str:
    if text is None and exact:
        raise ValueError(f"no literal of the calendar's years 0001 to 9999 writes {otherwise}")
    return otherwise if text is None else text


def _number(number: Decimal, exact: bool) -> str:
    """As digits where they are few enough, else with an exponent."""
    text = str(number)
    if number.is_finite() and len(text) <= MAX_LITERAL_DIGITS and number.adjusted() > -MAX_LITERAL_EXPONENT:
        return text
    literal = _with_exponent(number) if number.is_finite() else None
    if literal is None and exact:
        raise ValueError(f"no literal of {MAX_LITERAL_DIGITS:,} digits writes this number: {text[:40]}")
    return text if literal is None else literal


def _with_exponent(number: Decimal) -> str | None:
    """Digits times a power of ten; what the exponent has too much goes into the digits as zeros."""
    sign, digits, exponent = number.normalize(Context(prec=len(number.as_tuple().digits))).as_tuple()
    assert isinstance(exponent, int)  # it is finite
    mantissa = "".join(map(str, digits))
    written = max(-MAX_LITERAL_EXPONENT, min(exponent, MAX_LITERAL_EXPONENT))
    if len(digits) + abs(exponent - written) > MAX_LITERAL_DIGITS + 1:
        return None
    if exponent > written:
        mantissa += "0" * (exponent - written)
    elif exponent < written:
        mantissa = mantissa.rjust(written - exponent, "0")
        mantissa = f"{mantissa[: exponent - written]}.{mantissa[exponent - written :]}"
    if len(mantissa.replace(".", "")) > MAX_LITERAL_DIGITS:
        return None
    return f"{'-' if sign else ''}{mantissa}E{written}"


def _timestamp(value: Timestamp) -> str | None:
    """In UTC; in another zone where only that keeps the year within the calendar."""
    for zone, nanos in (("", 0), ("+18:59", _WIDEST_ZONE), ("-18:59", -_WIDEST_ZONE)):
        text = print_timestamp(Timestamp(value.nanos + nanos))
        if text is not None:
            return text + zone
    return None
