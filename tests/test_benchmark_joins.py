"""The benchmark of quantified joins: its terms mean what its baselines decide, and its counts keep to the formulas."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))

import bench_joins
import join_loads
import phase_rows
from baselines.columns import holds
from baselines.counted import Indexed, leaves, nested_loop
from baselines.set_based import SetBased, statements
from figures import Row, Skipped
from joins import Columns, Compared, Term, distinct_terms, earlier_documents, new_documents, shapes, terms_of_one_shape
from phases import ENDS

import profilec

N_EARLIER, N_NEW = 200, 30
TINY = replace(
    join_loads.QUICK_SIZES,
    n_earlier=60,
    n_few_earlier=20,
    n_new=4,
    n_terms=5,
    n_constants=20,
    n_appended_at_once=20,
    n_profiles=60,
    n_earlier_of_phases=40,
    counted=(10,),
)


@pytest.fixture(scope="module")
def documents() -> tuple[Columns, Columns]:
    return earlier_documents(N_EARLIER), new_documents(N_NEW, N_EARLIER)


OTHERS = (*distinct_terms(40), *terms_of_one_shape(10)[::3], Term("FORALL", ("brand",), Compared("amount", ">=", 100)))


@pytest.mark.parametrize(
    "term", [*(term for terms in shapes().values() for term in terms), *OTHERS], ids=Term.condition
)
def test_profilec_numpy_and_duckdb_say_the_same_of_a_term(documents: tuple[Columns, Columns], term: Term) -> None:
    earlier, new = documents
    expected = [number for number in range(N_NEW) if holds(term, earlier, new.document(number))]
    profiles = profilec.compile({"p": term.condition()})
    profiles.documents.extend(earlier.table())
    batch = profiles.match_batch(new.table())
    assert [number for number in range(N_NEW) if batch[number]] == expected
    if term not in OTHERS:
        assert 0 < len(expected) < N_NEW, "a term that always holds, or never, says nothing"
    tables = SetBased(earlier, new)
    for way, statement in statements(term).items():
        assert sorted(tables.run(statement).tolist()) == expected, way


def test_keys_and_values_that_are_missing_are_among_the_documents() -> None:
    earlier, new = earlier_documents(2_000), new_documents(1_000, 2_000)
    for columns in (earlier, new):
        table = columns.table()
        nulls = {name: table[name].null_count for name in table.column_names if table[name].null_count}
        assert set(nulls) == {"user", "amount"}
        for name in ("price", "quantity", "discount", "sold_at"):
            assert table[name].cast("int64", safe=False).to_pylist() == columns.arrays[name].astype("int64").tolist()


def test_distinct_terms_are_distinct() -> None:
    assert len({term.condition() for term in distinct_terms(10_000)}) == 1_403
    assert distinct_terms(50) == distinct_terms(100)[:50]


def test_of_many_constants_few_hold_and_some_do() -> None:
    earlier, new = earlier_documents(10_000), new_documents(50, 10_000)
    terms = terms_of_one_shape(200)
    held = [sum(holds(term, earlier, new.document(number)) for term in terms) for number in range(50)]
    assert 0 < max(held) <= 10


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("n_profiles", "n_earlier"), [(1, 1), (40, 25), (400, 40)])
def test_ways_that_count_find_what_profilec_finds(end: str, n_profiles: int, n_earlier: int) -> None:
    profiles = ENDS[end](n_profiles, 1.0)
    earlier = earlier_documents(n_earlier).table().to_pylist()
    ours = profilec.compile({str(number): profile.condition() for number, profile in enumerate(profiles)})
    ours.documents.extend(earlier)
    indexed = Indexed(profiles, earlier)
    log_n, log_d = n_profiles.bit_length(), n_earlier.bit_length()
    n_conjuncts = sum(len(profile.constants) + len(leaves(profile.term)) for profile in profiles)
    n_matches = 0
    for document in new_documents(8, n_earlier).table().to_pylist():
        expected = [int(id_) for id_ in ours.match(document)]
        n_matches += len(expected)
        none = nested_loop(profiles, earlier, document)
        join_first, constant_first = indexed.join_first(document), indexed.constant_first(document)
        assert none.matches == join_first.matches == constant_first.matches == expected
        assert n_profiles <= none.n_evaluations <= n_earlier * n_conjuncts
        for counted in (join_first, constant_first):
            assert counted.n_evaluations <= counted.n_joins * log_d + counted.n_attributes * log_n
        assert constant_first.n_joins <= join_first.n_joins
        assert join_first.n_attributes <= constant_first.n_attributes
    assert n_matches or n_profiles < 400, "counts of sets in which nothing matches say little"


def test_ends_are_ends() -> None:
    """Each order of phases evaluates less at its own end."""
    earlier = earlier_documents(300).table().to_pylist()
    documents = new_documents(5, 300).table().to_pylist()
    for end, is_constant_first_better in (("few constants match", True), ("few terms hold", False)):
        indexed = Indexed(ENDS[end](200, 1.0), earlier)
        constant_first = sum(indexed.constant_first(document).n_evaluations for document in documents)
        join_first = sum(indexed.join_first(document).n_evaluations for document in documents)
        assert (constant_first < join_first) == is_constant_first_better


def test_each_row_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_joins, "QUICK_SIZES", TINY)
    measured = list(bench_joins.rows(quick=True))
    rows = [row for row in measured if isinstance(row, Row)]
    assert sum("a batch of" in row.name for row in rows) == sum(map(len, shapes().values()))
    assert all(row.value > 0 for row in rows if row.unit)
    assert all(row.target is None and row.times is None for row in rows), "no targets of other sizes"
    for row in measured:
        if isinstance(row, Skipped):
            assert (row.name, "phase_order" in row.reason) == ("phase order", True)


@pytest.mark.parametrize("end", ENDS)
def test_orders_of_phases_are_compared_by_their_options(end: str) -> None:
    """With options that are there already, in place of the orders."""
    orders = {"planned": {}, "rules": {"rules": "none"}, "max_cap": {"max_cap": 4}}
    first, *others = phase_rows.phase_order(end, orders, TINY)
    assert first.baseline == min(row.value for row in others)
    assert first.against in ("rules", "max_cap")


def test_wrong_answers_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_loads, "holds", lambda *given: not holds(*given))
    with pytest.raises(AssertionError, match="the baseline says"):
        list(bench_joins.rows(quick=True))
