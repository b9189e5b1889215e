"""Truths of joins that were found elsewhere, and which of them matching asks for."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import profilec
from profilec.runtime import execute
from profilec.runtime.execute import Executor
from profilec.runtime.joins.nested_loop import decide
from profilec.runtime.joins.phase import GivenTruths
from profilec.runtime.joins.table import JoinTable

TERMS = (
    "EXISTS d (d.a = a)",
    "NOT EXISTS d (d.b < b)",
    "FORALL d (d.a != b)",
    "EXISTS d (d.a > 3)",
    "EXISTS d (d.a > 5)",
)


def condition(rng: random.Random) -> str:
    constant = rng.choice(["a < 3", "b = 1", "s LIKE '%x%'", "a + b > 9"])
    joins = rng.choice([" AND ", " OR "]).join(rng.sample(TERMS, rng.randint(1, 3)))
    return f"{constant} AND ({joins})"


def a_document(rng: random.Random) -> dict[str, Any]:
    values = {"a": rng.randrange(7), "b": rng.randrange(7), "s": rng.choice(["x", "axb", "y"])}
    return {name: None if rng.random() < 0.1 else value for name, value in values.items()}


@pytest.mark.parametrize("matcher", ["scan", "betree", "access"])
@pytest.mark.parametrize("phase_order", ["constant_first", "join_first"])
def test_given_truths_take_the_place_of_the_store(
    matcher: str, phase_order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And terms that `rows_asked` does not name may be anything."""
    monkeypatch.setattr(execute, "_MAX_TRUTHS", 20)
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    rng = random.Random(seed)
    conditions = {f"p{number}": condition(rng) for number in range(20)} | {"q": "b = 3 AND EXISTS d (d.s = s)"}
    profiles = profilec.compile(conditions, options={"matcher": matcher})
    image, rows = profiles._image, [a_document(rng) for _ in range(6)]
    new = [a_document(rng) for _ in range(50)]
    table = pa.Table.from_pylist(new)
    executor = Executor(image, matcher, phase_order, prefilter=False)
    truths = np.array([[decide(term, document, rows) for term in image.joins] for document in new])
    wanted = [part.tolist() for part in executor.match_batch(new, rows)]
    join_table = JoinTable(image.joins)
    own = next(number for number, row in enumerate(join_table.rows) if "('s',)" in str(row.question))
    all_rows = np.ones(len(join_table.rows), np.bool_)
    for documents in (new, table):
        given = GivenTruths(truths, all_rows)
        assert [part.tolist() for part in executor.match_batch(documents, given=given)] == wanted
        asked = executor.rows_asked(documents)
        assert asked[:, own].tolist() == [document["b"] == 3 for document in new]
        noise = np.array([rng.random() < 0.5 for _ in range(truths.size)]).reshape(truths.shape)
        given = GivenTruths(np.where(asked[:, join_table.row_of_term], truths, noise), all_rows)
        assert [part.tolist() for part in executor.match_batch(documents, given=given)] == wanted
        some = all_rows.copy()
        some[::2] = False
        given = GivenTruths(truths & some[join_table.row_of_term], some)
        assert [part.tolist() for part in executor.match_batch(documents, rows, given=given)] == wanted
