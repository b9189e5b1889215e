"""Short questions to the public API, for tests that ask many: by every matcher, with all rules and with none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from truths import OPTIONS, truths_by

import profilec

Document = Mapping[str, Any]


def truth(where: str, document: Document, *earlier: Document, schema: Any = None) -> bool | None:
    """The truth of a condition; None is UNKNOWN. All ways of asking must agree."""
    truths = {truths_by(options)(where, document, earlier, schema) for options in OPTIONS}
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
