"""Documents of a batch as columns: whatever they have of their keys, and however they are mappings."""

from __future__ import annotations

import random
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

import profilec
from profilec.runtime.rows import ABSENT, Rows

VALUES = (None, 0, 1, 2.5, float("nan"), True, False, "a", "b", "zz", 2**70, Decimal("2.5"), [1, "a"], {"x": 1})
CONDITIONS = {
    "number": "n > 1", "text": "s IN ('a', 'b')", "truth": "b = TRUE", "null": "n IS NULL", "path": "r.x = 1",
    "either": "n = 1 OR s = 'a'", "none": "s IS NULL AND b IS NULL", "like": "s LIKE 'z%'", "each": "ANY(l) = 1",
    "both": "n = n2", "not": "NOT (n > 1)",
}  # fmt: skip


@pytest.mark.parametrize("share", [0.1, 0.7, 1.0])
@pytest.mark.parametrize("is_living", [False, True])
def test_a_batch_is_the_same_as_documents_one_by_one(share: float, is_living: bool) -> None:
    draw = random.Random(f"{share} {is_living}")
    profiles = profilec.compile({} if is_living else CONDITIONS, options={"matcher": "betree"})
    if is_living:
        profiles.insert_many(CONDITIONS | {f"n = {number}": f"n = {number} AND s <> 'q'" for number in range(100)})
    for values in (VALUES, (0, 1, 7), (True, False), ("a", "zz"), (2.5, float("nan")), ("a", None), (1, True)):
        documents: list[dict[str, Any]] = [
            {key: draw.choice(values) for key in ("n", "n2", "s", "b", "r", "l", "other") if draw.random() < share}
            for _ in range(60)
        ]
        expected = [profiles.match(document) for document in documents]
        assert list(profiles.match_batch(documents)) == expected
        assert list(profiles.match_batch(list(map(MappingProxyType, documents)))) == expected
        assert list(profiles.match_batch([*documents[:30], *map(MappingProxyType, documents[30:])])) == expected
        assert list(profiles.match_batch(documents, threads=3)) == expected


def test_columns() -> None:
    rows = Rows([{"a": 1, "b": 2.5}, {"a": 3}, {"a": 2**40, "b": None}])
    assert rows.values("b") == ([2.5, ABSENT, None], {float, type(ABSENT), type(None)})
    assert rows.words("b") is None
    words = rows.words("a")
    assert words is not None
    assert words.tolist() == [1, 3, 2**40]
    assert rows.part(0, 3) is rows
    assert rows.part(1, 2).values("a").values == [3]
    assert Rows([{"a": 2**70}]).words("a") is None
    assert (rows.are_dicts, rows.n_items) == (True, 5)
    assert not Rows([MappingProxyType({"a": 1})]).are_dicts
