"""`compile(statistics=documents)`: a sample of documents changes the tree, and never an answer."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import profilec
from profilec.cli.app import app
from profilec.runtime.sampled import encode_sample
from profilec.values.kinds import DocumentError

PAIRS = {f"p{number}": f"a = {number % 50} AND b = {number // 60}" for number in range(3_000)}


def candidates(profiles: profilec.ProfileSet, document: dict[str, Any]) -> int:
    executor = profiles._whole().executor()
    matcher: Any = executor._matcher
    return int(matcher.count_candidates(*executor._encoder.encode_sparse(document)))


@pytest.mark.parametrize(("has", "lacks"), [("a", "b"), ("b", "a")])
def test_the_attribute_that_documents_lack_is_asked_first(has: str, lacks: str) -> None:
    sample = [{has: number} for number in range(50)]
    profiles = profilec.compile(PAIRS, statistics=sample)
    assert candidates(profiles, {has: 7}) == 0
    assert candidates(profiles, {lacks: 7}) > 0
    assert profiles.match({"a": 7, "b": 7}) == [id for id in PAIRS if PAIRS[id] == "a = 7 AND b = 7"]


def test_the_answer_is_the_same() -> None:
    rng = random.Random(5)
    attributes = [f"x{number}" for number in range(12)]

    def document() -> dict[str, Any]:
        return {name: rng.choice([rng.randrange(8), None, "b", 2.5]) for name in rng.sample(attributes, 5)}

    tests = ["= 3", "> 4", "!= 2", "IS NULL", "LIKE 'b%'"]
    conditions = {
        f"p{number}": " AND ".join(f"{name} {rng.choice(tests)}" for name in rng.sample(attributes, 3))
        for number in range(800)
    }
    sample = [document() for _ in range(200)]
    plain = profilec.compile(conditions, options={"max_cap": 20})
    informed = profilec.compile(conditions, options={"max_cap": 20}, statistics=sample)
    asked = [document() for _ in range(300)]
    assert [informed.match(each) for each in asked] == [plain.match(each) for each in asked]
    assert plain._parts.image.tree is not None
    assert informed._parts.image.tree is not None
    assert not np.array_equal(plain._parts.image.tree.data, informed._parts.image.tree.data)


def test_how_often_documents_have_an_attribute() -> None:
    image = profilec.compile("PROFILE p WHERE a = 1 AND b LIKE '%x%' AND c IS NULL;")._parts.image
    documents = [{"a": 1, "b": "axe"}, {"a": None, "b": "bed"}, {"a": 5}, {}]
    names = [slot.name for slot in image.slots]
    for sample in (documents, iter(documents), pa.Table.from_pylist(documents)):
        found = encode_sample(image, sample).presence(len(image.n_ranks))
        shares = dict(zip(names, found, strict=False))
        assert (shares["a"], shares["b"]) == (0.5, 0.5)
        assert list(found[len(names) :]) == [0.25]  # of the pattern
    assert encode_sample(image, []).n == 0


def test_a_sample_that_is_none_is_refused() -> None:
    with pytest.raises(DocumentError, match="document 1"):
        profilec.compile(PAIRS, statistics=[{"a": 1}, {"a": object()}])


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "pairs.prof").write_text("".join(f"PROFILE {id} WHERE {where};\n" for id, where in PAIRS.items()))
    (tmp_path / "docs.ndjson").write_text("".join(json.dumps({"a": number}) + "\n" for number in range(50)))
    image = str(tmp_path / "pairs.prfi")
    arguments = ["compile", str(tmp_path / "pairs.prof"), "-o", image]
    run = CliRunner().invoke(app, [*arguments, "--statistics", str(tmp_path / "docs.ndjson")])
    assert run.exit_code == 0, run.output
    assert candidates(profilec.load(image), {"a": 7}) == 0
    run = CliRunner().invoke(app, [*arguments, "--statistics", str(tmp_path / "none.ndjson")])
    assert run.exit_code == 2
    assert "none.ndjson" in run.output
