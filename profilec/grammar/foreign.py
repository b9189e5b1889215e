"""Foreign words: what other languages call what this one has, or has not.

In: an operator, word, function or type that is not in the language. Out: what to write instead,
in a few words, or None where there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Collection

from profilec.grammar.diagnostics import did_you_mean

_OPERATOR_HINTS = {
    "||": "strings cannot be joined here; compare the parts one by one",
    "&&": "write AND",
    "|": "write OR",
    "&": "write AND",
    "!": "write NOT, or `!=` for 'is not equal to'",
    "===": "write `=`",
    "!==": "write `!=`",
    "=>": "write `>=`",
    "=<": "write `<=`",
    "<=>": "write `a = b OR (a IS NULL AND b IS NULL)`",
    "::": "write `CAST(a AS NUMBER)`",
    "->": "write the path with dots: `user.city`",
    "->>": "write the path with dots: `user.city`",
    "!~": "write `NOT MATCHES`",
    "=~": "write `MATCHES`",
    "~*": "write `MATCHES '(?i)...'`",
    "!~*": "write `NOT MATCHES '(?i)...'`",
    "~~": "write `LIKE`",
    "!~~": "write `NOT LIKE`",
    "~~*": "write `ILIKE`",
    "!~~*": "write `NOT ILIKE`",
    "~=": "write `!=`, or `MATCHES` for a regular expression",
    ":=": "write `=`",
    "?": "parameters are not filled in; write the value itself",
    "#": "a comment begins with `--`",
    "\\": "in a string, only the quote itself is doubled; nothing is escaped",
}

_WORD_HINTS = {
    "DISTINCT": "write `a = b OR (a IS NULL AND b IS NULL)`",
    "XOR": "write `(a AND NOT b) OR (NOT a AND b)`",
    "SIMILAR": "write MATCHES '…'", "GLOB": "write LIKE, or MATCHES '…'", "REGEX": "write MATCHES '…'",
    "DIV": "write `/`", "MOD": "write `%`",
    "STARTS": "write LIKE 'x%'", "STARTSWITH": "write LIKE 'x%'", "BEGINS": "write LIKE 'x%'",
    "STARTS_WITH": "write LIKE 'x%'", "PREFIX": "write LIKE 'x%'",
    "ENDS": "write LIKE '%x'", "ENDSWITH": "write LIKE '%x'", "ENDS_WITH": "write LIKE '%x'",
    "HAS": "write CONTAINS", "INCLUDES": "write CONTAINS", "OVERLAPS": "write `ANY(tags) IN (…)`",
    "EQ": "write `=`", "NE": "write `!=`", "LT": "write `<`", "LE": "write `<=`", "GT": "write `>`", "GE": "write `>=`",
    "EQUALS": "write `=`", "ISNULL": "write IS NULL", "NOTNULL": "write IS NOT NULL", "COLLATE": "write ILIKE or LOWER",
    "AT": "timestamps without a zone are UTC",
} | dict.fromkeys(
    ("FROM", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "JOIN"), "a profile is a condition, not a query"
)  # fmt: skip


def operator_hint(piece: str) -> str | None:
    """What to write instead of another language's operator."""
    return _OPERATOR_HINTS.get("?" if piece[0] == ":" and piece[1:2].isalpha() else piece)


def is_foreign(word: str) -> bool:
    """Whether the word is an operator or clause of another language."""
    return word.upper() in _WORD_HINTS


def word_hint(word: str) -> str | None:
    """What to write instead of another language's word."""
    return _WORD_HINTS.get(word.upper())


_FUNCTION_HINTS = {
    "LEN": "write LENGTH", "CHAR_LENGTH": "write LENGTH", "SIZE": "write LENGTH, for a string",
    "SUBSTRING": "write SUBSTR", "LCASE": "write LOWER", "UCASE": "write UPPER", "CASEFOLD": "write LOWER, or ILIKE",
    "IFNULL": "write COALESCE", "NVL": "write COALESCE", "ISNULL": "write IS NULL", "NULLIF": None,
    "MOD": "write `a % b`", "POW": None, "POWER": None, "CONCAT": "strings cannot be joined; compare the parts",
    "STARTS_WITH": "write LIKE 'x%'", "STARTSWITH": "write LIKE 'x%'", "PREFIX": "write LIKE 'x%'",
    "ENDS_WITH": "write LIKE '%x'", "ENDSWITH": "write LIKE '%x'", "SUFFIX": "write LIKE '%x'",
    "CONTAINS": "write LIKE '%x%' for a string, `tags CONTAINS 'x'` for an array",
    "INSTR": "write LIKE '%x%'", "STRPOS": "write LIKE '%x%'",
    "REGEXP_LIKE": "write MATCHES '…'", "REGEXP_MATCHES": "write MATCHES '…'", "REGEX": "write MATCHES '…'",
    "REGEXP": "write `a REGEXP '…'`", "MATCHES": "write `a MATCHES '…'`", "RLIKE": "write `a RLIKE '…'`",
    "ARRAY_CONTAINS": "write `tags CONTAINS 'x'`", "LIST_CONTAINS": "write `tags CONTAINS 'x'`",
    "IF": "write `(a AND b) OR (NOT a AND c)`", "IIF": "write `(a AND b) OR (NOT a AND c)`",
    "DATE": "write DATE '2024-12-31' or CAST(a AS DATE)",
    "TIMESTAMP": "write TIMESTAMP '2024-12-31 23:59:59' or CAST(a AS TIMESTAMP)",
    "TO_DATE": "write CAST(a AS DATE)", "TO_TIMESTAMP": "write CAST(a AS TIMESTAMP)",
    "INT": "write CAST(a AS INTEGER)", "STR": "write CAST(a AS STRING)",
    "COUNT": "a profile looks at one record; earlier ones are asked with EXISTS and FORALL",
    "LAST": "LAST n stands between a quantifier's variable and its body",
} | dict.fromkeys(
    ("NOW", "CURRENT_DATE", "CURRENT_TIMESTAMP", "GETDATE", "SYSDATE", "TODAY", "RANDOM", "RAND", "UUID"),
    "a profile's answer depends on its record only; compare with an attribute",
) | dict.fromkeys(
    ("SUM", "AVG", "MIN", "MAX"), "a profile looks at one record; earlier ones are asked with EXISTS and FORALL"
)  # fmt: skip


def function_hint(name: str) -> str | None:
    """What to write instead of another language's function."""
    return _FUNCTION_HINTS.get(name.upper())


_TYPE_WORDS = {
    "NUMBER": "INT8 INT16 INT32 INT64 FLOAT DOUBLE REAL DECIMAL NUMERIC MONEY",
    "INTEGER": "INT BIGINT SMALLINT TINYINT LONG UINT",
    "STRING": "TEXT VARCHAR CHAR NVARCHAR CHARACTER UUID",
    "BOOLEAN": "BOOL BIT LOGICAL",
    "TIMESTAMP": "DATETIME TIME TIMESTAMPTZ INSTANT",
    "ARRAY<…>": "LIST SET SEQUENCE",
    "RECORD(…)": "STRUCT OBJECT MAP JSON ROW",
}
_TYPE_HINTS = {word: name for name, words in _TYPE_WORDS.items() for word in words.split()}


def type_hint(name: str, known: Collection[str]) -> str:
    """What to write instead of another language's type.

    >>> type_hint("varchar", ["NUMBER", "STRING"]), type_hint("NUMBR", ["NUMBER"])
    ('write STRING', 'did you mean `NUMBER`?')
    """
    instead = _TYPE_HINTS.get(name.upper())
    if instead is not None and instead.partition("<")[0].partition("(")[0] in known:
        return f"write {instead}"
    return did_you_mean(name, known) or f"there are {', '.join(known)}"
