"""Joins first, of many documents at once."""

from __future__ import annotations

import pytest

import profilec


@pytest.mark.parametrize("phase_order", ["constant_first", "join_first"])
def test_entries_without_a_literal_are_of_every_document(phase_order: str) -> None:
    """They come before those that literals give, and what is run for documents is run for these in their order."""
    conditions = {
        "without": """
            NOT (NOT DATE '2024-03-01' <= COALESCE(since, NULL)
                AND (FORALL d (d.day + INTERVAL '-13 months 1 days' < DATE '2024-03-31') OR ALL(scores) BETWEEN 0 AND 1)
                AND CAST("1.5" AS BOOLEAN) <> FALSE
                AND EXISTS d WHERE (COALESCE(weight, 2.0) IN (-3, 1)) LAST 2 (COALESCE(d.escape, TIMESTAMP '2024-01-31')
                    BETWEEN TIMESTAMP '2024-02-29' AND TIMESTAMP '2024-01-31')
                AND DATE '1969-12-31' >= COALESCE(given, DATE '1969-12-31'))
        """,
        "with": "(EXISTS d LAST 2 (ALL(d.items.sku) <= '') OR tags CONTAINS user.name) IS FALSE",
    }
    options = {"rules": "none", "phase_order": phase_order, "matcher": "scan"}
    profiles = profilec.compile(conditions, options=options)
    profiles.documents.add({})
    documents = [{"tags": ["A"], "user": {"name": "b"}}, {}, {"tags": ["A"], "user": {"name": "c"}}]
    expected = [profiles.match(document) for document in documents]
    assert any("with" in ids for ids in expected)
    assert list(profiles.match_batch(documents)) == expected
