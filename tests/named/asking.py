"""One question to the public API, asked in every way that there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import profilec
import pytest
from engines import MATCHERS, WORDS, three_forms

Document = Mapping[str, Any]
OPTIONS = [{"matcher": matcher, "rules": rules} for matcher in MATCHERS for rules in ("all", "none")]


def truth(where: str, document: Document, *earlier: Document, schema: Any = None) -> bool | None:
    """The truth of a condition: by both matchers, with all rules and none, one by one, in a batch, and by `why`."""
    truths = set()
    for options in OPTIONS:
        profiles = profilec.compile(three_forms([where]), schema=schema, options=options)
        profiles.documents.extend(list(earlier))
        ids = profiles.match(document)
        assert [list(found) for found in profiles.match_batch([document, document])] == [ids, ids]
        assert len(ids) == 1, f"exactly one of TRUE, FALSE and UNKNOWN should match, not {ids}"
        explained = profiles.why(document, "0 TRUE").truth
        assert ids == [f"0 {WORDS[explained]}"], f"why says {explained}"
        truths.add(explained)
    assert len(truths) == 1, truths
    return truths.pop()


def refused(where: str, schema: Any = None) -> tuple[str, ...]:
    """The codes of the errors with which a condition is refused; it must be."""
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile({"p": where}, schema=schema)
    return tuple(found.code for found in caught.value.diagnostics if found.severity == "error")


def refusal(where: str, schema: Any = None) -> str:
    """Message and hint of the first error with which a condition is refused."""
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile({"p": where}, schema=schema)
    first = caught.value.diagnostics[0]
    return f"{first.message} | {first.hint}"


def warnings(where: str, schema: Any = None) -> tuple[str, ...]:
    """The codes of the warnings about a condition, which compiles."""
    found = profilec.compile({"p": where}, schema=schema).diagnostics
    assert all(diagnostic.severity == "warning" for diagnostic in found)
    return tuple(diagnostic.code for diagnostic in found)
