"""What the generator draws from: the attributes, their types, and values with a reason to be there.

Attributes are named so that the parser has a hard time as well: words of the language (`last`,
`date`, `matches`, `given`, `escape`), letters outside ASCII, dotted names.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

NUMBERS, STRINGS, BOOLEANS = ("price", "last", "weight", "größe", "cost"), ("brand", "date"), ("flag", "matches")
DATES, TIMESTAMPS = ("day", "given"), ("sold_at", "escape")
MIXED = ("mixed", "any_")
"""Attributes that no schema knows: values of all kinds, in one column."""

TYPES: dict[str, Any] = {
    "price": "INTEGER",
    "last": "INTEGER",
    "weight": "NUMBER",
    "größe": "NUMBER",
    "cost": "NUMBER",
    "brand": "STRING",
    "date": "STRING",
    "flag": "BOOLEAN",
    "matches": "BOOLEAN",
    "day": "DATE",
    "given": "DATE",
    "sold_at": "TIMESTAMP",
    "escape": "TIMESTAMP",
    "tags": ["STRING"],
    "scores": ["NUMBER"],
    "days": ["DATE"],
    "items": [{"sku": "STRING", "qty": "NUMBER", "parts": [{"name": "STRING", "w": "NUMBER"}]}],
    "user": {"name": "STRING", "address": {"city": "STRING", "since": "DATE"}},
}
"""The schema: a list is an ARRAY of its one member, a dict a RECORD."""

BIG = 2**53
INTEGERS = [0, 1, 2, -1, 5, 7, 10, 1000, BIG, BIG + 1, -BIG - 1]
HUGE_INTEGERS = [2**63 - 1, -(2**63), 2**63, 10**30, -(10**30) + 1]
DOUBLES = [0.0, 1.5, 0.1, 2.0, -0.5, 0.30000000000000004, -0.0, 1e22, 1e300, 5e-324, float(BIG), 10.0, 2.675]
STRANGE_DOUBLES = [math.nan, math.inf, -math.inf, 1e23]
DECIMALS = [Decimal(text) for text in ("0.1", "1.5", "2.50", "-0.3", "7", "100.0001", "2.675", "9007199254740992.5")]
STRANGE_DECIMALS = [Decimal(text) for text in ("1E+2", "0.1000000000000000000001", "1E-9", "-0", "NaN")]
SMALL: list[Any] = [0, 1, 2, 3, -1, -2, -3, 5, 7, *map(Decimal, ("0.5", "2.5", "-2.5", "1.25", "2.675", "10.5"))]
"""Operands and results of arithmetic, with halves to round."""
ALL_NUMBERS = [*INTEGERS, *SMALL, *DOUBLES, *DECIMALS, *HUGE_INTEGERS, *STRANGE_DOUBLES, *STRANGE_DECIMALS]
TEXTS = ["", "a", "b", "ab", "abc", "A", "aB", " a ", "é", "ß", "ẞ", "İ", "ı", "ς", "Σ", "日本", "🥕", "e\u0301", "ａ"]
TEXTS += ["%", "_", "a%b", "a_b", "a\nb", "ab\n", "10", "9", "1.5", "true", "K", "'", '"', "it's", "\\", "2024-01-31"]
TEXTS += ["a;b--c"]
PATTERNS = ["%", "", "a%", "%b", "%a%", "_", "a_c", "__", "_%", "%_b", "a%c", "%a%b%", "%%", "A%", "é%", "%本", "%k%"]
PATTERNS += ["%\n", "a%a%a%", "%ab%ab", "日_", "a\\_b", "\\%"]
CASED = ["a", "AB%", "%é", "É", "ß", "ẞ%", "%ß", "%ss%", "σ", "%Σ", "ς", "k", "i", "%I%", "İ", "ı", "ａ", "🥕", "b\n"]
"""Texts, and patterns of ILIKE: what changes when its case does, what UTF-16 sorts otherwise, a last newline."""
ODD_KINDS = ["10", "1.5", "9", "true", "2024-01-31", True, False, 1, 0, datetime.date(2024, 1, 31)]
ODD_KINDS += [datetime.datetime(2024, 1, 31), None]
"""Values that some languages would convert before they compare."""
ESCAPED = [("a!%b", "!"), ("!_%", "!"), ("%!!", "!"), ("a\\_b", "\\"), ("%%%_", "%"), ("__a", "_"), ("a'%b", "'")]
REGEXES = ["a", "^a", "b$", "^ab?c*$", "a.", "[a-c]+$", "(ab|ba)", "^$", "", "é", "^.$", r"\.", r"\d", "a{2}"]
REGEXES += ["^(a|b)*$", "%", "日", "(?i)AB", "[^a]", "^\\s*a", "b?$", "本|🥕"]
DAYS = [datetime.date(2024, month, day) for month, day in ((1, 31), (2, 29), (3, 31), (1, 30), (3, 1), (3, 2))]
DAYS += [datetime.date(1970, 1, 1), datetime.date(1969, 12, 31)]
MOMENTS = [
    datetime.datetime(2024, 1, 31),
    datetime.datetime(2024, 1, 31, 23, 59, 59, 999999),
    datetime.datetime(2024, 2, 29, 12),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(1969, 12, 31, 23, 59, 59),
]
ISO_TEXTS = ["2024-01-31", "2024-02-30", "soon", "2024-01-31T23:59:59.999999", "1970-01-01 00:00:00Z"]
ISO_TEXTS += ["2024-02-29 14:00:00+02:00", "2024-02-29"]


def near(value: Any) -> Iterator[Any]:
    """A constant, and what lies just below it, just above it, and beside it."""
    yield value
    yield value
    match value:
        case bool():
            yield not value
        case int():
            yield from (value - 1, value + 1, float(value))
        case Decimal() if value.is_finite():
            double = float(value)
            tiny = Decimal(1).scaleb(min(value.as_tuple().exponent, 0) - 3)  # type: ignore[operator, type-var]
            yield from (double, math.nextafter(double, -math.inf), math.nextafter(double, math.inf))
            yield from (value - tiny, value + tiny)
        case str():
            yield from (value[:-1], value + "a", value + " ", value[::-1], "x" + value)
            yield from (value.lower(), value.upper(), value.casefold(), value.casefold())
            yield from (value.replace("σ", "ς").replace("k", "\u212a").replace("s", "ſ"),)
            # Texts that a LIKE pattern holds for, or nearly.
            yield from (value.replace("%", "").replace("_", "x"), value.replace("%", "ab").replace("_", "é"))
        case datetime.datetime():
            yield from (value - datetime.timedelta(microseconds=1), value + datetime.timedelta(microseconds=1))
            yield value.date()
        case datetime.date():
            yield from (value - datetime.timedelta(days=1), value + datetime.timedelta(days=1))
            yield datetime.datetime.combine(value, datetime.time())
