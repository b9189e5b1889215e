"""Literals whose text can be wrong: dates, LIKE patterns, regular expressions.

In: the literal's value as a string. Out: the value it stands for, or what is wrong with it and
where. RE2 is loaded when the first MATCHES is read.
"""

from __future__ import annotations

from functools import lru_cache

from profilec.values.dates import parse_date, parse_interval, parse_timestamp
from profilec.values.kinds import Date, Interval, Timestamp


def temporal_value(word: str, text: str) -> Date | Timestamp | Interval:
    """The value of DATE '…', TIMESTAMP '…' or INTERVAL '…'.

    >>> temporal_value("DATE", "1970-01-02")
    Date(days=1)

    Raises:
        ValueError: there is no such value; the message says why.
    """
    if word == "DATE":
        return parse_date(text)
    if word == "TIMESTAMP":
        return parse_timestamp(text)
    return parse_interval(text)


@lru_cache(maxsize=10_000)
def regex_fault(pattern: str) -> tuple[str, int, int] | None:
    r"""What RE2 says against a pattern, and the part of the pattern it means; None where it takes it.

    >>> regex_fault(r"ab\1"), regex_fault("^a+$")
    (('invalid escape sequence', 2, 4), None)
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        message = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        reason, _, fragment = message.partition(": ")
        at = pattern.find(fragment) if fragment else -1
        return (reason, at, at + len(fragment)) if at >= 0 else (reason, 0, len(pattern))
    return None
