"""The workloads that only the papers' charts have: 3-grams of titles, and profiles in CNF and DNF."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))

import nested
import opindex
from baselines.scan import scan_of
from loads import baseline_of
from seeds.clauses import clauses
from seeds.titles import documents_of_texts, expression, products, profiles_of, titles, types

from profilec.grammar.parse import parse_condition
from profilec.planner.reference import evaluate


def _gram(text: str) -> tuple[int, int]:
    first, second, third = (ord(letter) - ord("a") for letter in text)
    return 26 * first + second, third + 1


def test_a_text_is_its_3_grams() -> None:
    """The paper's example; of two that begin alike the first counts, and what is no letter does not."""
    assert expression("string") == sorted(map(_gram, ("str", "tri", "rin", "ing")))
    assert expression("An ant!") == [_gram("ana"), _gram("nan")]
    assert expression("12 OZ") == []


def test_every_title_matches_itself() -> None:
    assert len(set(titles())) == len(products()) > 18_000
    for texts in (titles()[:400], types()[:400]):
        scan = scan_of(profiles_of(texts))
        for number, codes in enumerate(documents_of_texts(texts).dense()):
            assert number in scan.match(codes)


@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("is_cnf", [False, True])
def test_clauses(is_cnf: bool, most: int) -> None:
    """As many as asked for, connected as asked for, and with the matches that their texts have."""
    parameters = opindex.Parameters(120, d=8, m=6, sigma=5)
    profiles = clauses(parameters, most, is_cnf=is_cnf)
    texts = nested.conditions(profiles).to_pylist()
    outer = " AND " if is_cnf else " OR "
    depth_one = [text for text in texts if "(" in text]
    assert all(f"){outer}" in text or f"{outer}(" in text for text in depth_one)
    assert bool(depth_one) == (most > 1)
    conditions = [parse_condition(text).node for text in texts]
    documents = opindex.documents(parameters, 40)
    scan = baseline_of(profiles)
    n_matches = 0
    for document, codes in zip(documents.dicts(), documents.dense(), strict=True):
        expected = [number for number, condition in enumerate(conditions) if evaluate(condition, document) is True]
        assert scan.match(codes).tolist() == expected
        n_matches += len(expected)
    assert n_matches > 0
