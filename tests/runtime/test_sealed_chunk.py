"""A sealed chunk gives back what it was given, and to a column what mappings would give."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from profilec.runtime.program import Program
from profilec.runtime.store import documents as documents_module
from profilec.runtime.store.chunks import RowChunk
from profilec.runtime.store.columns import Column
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.sealed import SealedChunk
from profilec.values.kinds import Date, Timestamp
from profilec.values.types import Type

VALUES: list[Any] = [
    *[0, 1, 1.0, True, False, -0.0, 0.0, Decimal(1), Decimal("1.00"), 2**63 - 1, 2**63, -(2**63), 10**5_000],
    *[None, "", "a", "1", Date(1), Timestamp(1), [1], [1], {"x": 1}, float("inf"), 1e-300],
]


def a_document(rng: random.Random) -> dict[str, Any]:
    names = [name for name in ("words", "doubles", "a", "b.c", "b", "text") if rng.random() < 0.8]
    rng.shuffle(names)
    of = {
        "words": lambda: rng.randrange(-5, 5),
        "doubles": lambda: rng.choice([0.0, -0.0, 2.5]),
        "text": lambda: rng.choice(["2020-01-01", "x"]),
        "b": lambda: rng.choice([{"c": rng.choice(VALUES)}, 7]),
    }
    return {name: of.get(name, lambda: rng.choice(VALUES))() for name in names}


def shown(document: Any) -> Any:
    """As it is told apart: types and signs of zeros too."""
    if isinstance(document, dict):
        return [(name, shown(value)) for name, value in document.items()]
    if isinstance(document, list):
        return list(map(shown, document))
    return type(document), document if type(document) is int else repr(document)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_it_was_made_of(seed: int) -> None:
    rng = random.Random(seed)
    documents = [a_document(rng) for _ in range(rng.choice([1, 2, 60]))]
    sealed, rows = SealedChunk(documents), RowChunk(documents)
    assert [shown(row) for row in sealed.rows()] == [shown(document) for document in documents]
    places = np.array([rng.randrange(len(documents)) for _ in range(9)])
    for some in (sealed.rows_at(places, {"a", "b"}), [sealed.row(int(place)) for place in places]):
        for row, document in zip(some, rows.rows_at(places, {"a", "b"}), strict=True):
            assert shown({name: row.get(name) for name in "ab"}) == shown({name: document.get(name) for name in "ab"})
    programs: list[Program] = [
        (("attribute", 1, (name,), None),) for name in ("words", "doubles", "a", "b.c", "text", "nothing")
    ]
    programs += [
        (("attribute", 1, ("b", "c"), None),),
        (("attribute", 1, ("text",), Type("DATE")),),
        (("attribute", 1, ("words",), None), ("constant", 1), ("call", "+", 2)),
        (("attribute", 1, ("b", "c"), None), ("is_null",)),
    ]
    for program in programs:
        for start in (0, len(documents) // 2):
            of_sealed, of_rows = Column(program), Column(program)
            sealed.extend(of_sealed, start)
            rows.extend(of_rows, start)
            values = [[column.values[code] for code in column.codes.array] for column in (of_sealed, of_rows)]
            assert shown(values[0]) == shown(values[1])
        assert shown(list(sealed.values(program))) == shown(list(rows.values(program)))


def test_full_chunks_of_a_store_are_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_module, "_CHUNK", 3)
    store = DocumentStore([{"n": number} for number in range(4)])
    for number in range(4, 12):
        store.add({"n": number})
    store.delete([0, 5])
    store.extend([{"n": 12}])
    assert [document["n"] for document in store] == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]
    assert [type(chunk).__name__ for chunk in store._chunks] == ["SealedChunk"] * 3 + ["RowChunk"] * 2
