"""The truth of a condition, seen from outside through the public API.

Three profiles are compiled, the condition, its NOT and its IS UNKNOWN, and exactly one of them must
match. Test modules make a fixture over OPTIONS, so that each test asks each matcher, with all
rewrite rules and with none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import profilec

Truths: TypeAlias = Callable[..., bool | None]
Options: TypeAlias = dict[str, str]

OPTIONS: list[Options] = [
    {"matcher": matcher, "rules": rules} for matcher in ("scan", "bitmap") for rules in ("all", "none")
]
_ANSWERS = {"TRUE": True, "FALSE": False, "UNKNOWN": None}


def named(options: Options) -> str:
    """The name of a test's options in its id.

    >>> named({"matcher": "scan", "rules": "all"})
    'scan-all'
    """
    return "-".join(options.values())


def truths_by(options: Options) -> Truths:
    """A function that gives the truth of a condition for a document and the earlier documents; None is UNKNOWN.

    >>> truths_by(OPTIONS[0])("a = b", {"a": 1}) is None
    True
    """

    def truth(
        where: str, document: Mapping[str, Any], earlier: Iterable[Mapping[str, Any]] = (), schema: str | None = None
    ) -> bool | None:
        wheres = {"TRUE": where, "FALSE": f"NOT ({where})", "UNKNOWN": f"({where}) IS UNKNOWN"}
        profiles = profilec.compile(wheres, schema=schema, options=options)
        profiles.documents.extend(list(earlier))
        matched = profiles.match(document)
        assert len(matched) == 1, f"one truth is the right one, not {matched}"
        batch = profiles.match_batch([{}, document, {}, document])
        assert [batch[1], batch[3]] == [matched, matched], "a batch answers as single documents do"
        answer = _ANSWERS[matched[0]]
        assert profiles.why(document, "TRUE").truth is answer, "why says what match says"
        assert profiles.why(document, "FALSE").truth is (None if answer is None else not answer)
        return answer

    return truth


def codes(source: str | Mapping[str, str], schema: str | None = None) -> list[str]:
    """The codes of the diagnostics that a condition, or a whole text of statements, gives.

    >>> codes("a = NULL")
    ['PC604']
    """
    if isinstance(source, str) and not source.lstrip("\ufeff \n").startswith(("PROFILE", "SCHEMA")):
        source = {"p": source}
    return [found.code for found in profilec.compile(source, schema=schema, on_error="skip").diagnostics]
