"""The benchmarks' generators: distributions as the papers say, reproducible; texts that mean what the columns say."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))

import begen
import nested
import opindex
import texts
from conjunctions import Conjunctions, Op, has_list_of
from draws import CLASSES, distinct_values, distinct_weighted, zipf_weights
from images import forms_of
from loads import baseline_of

from profilec.grammar import ir
from profilec.grammar.parse import parse_condition
from profilec.planner.normalize import normalize

DEFAULTS = begen.Parameters(n_profiles=40_000)


@pytest.fixture(scope="module")
def defaults() -> Conjunctions:
    return begen.profiles(DEFAULTS)


def test_begen_profiles_have_the_sizes_and_operators_of_table_3(defaults: Conjunctions) -> None:
    sizes = np.diff(defaults.off)
    assert sizes.min() >= 1
    assert sizes.mean() == pytest.approx(7, abs=0.05)
    assert (defaults.op == Op.EQUAL).mean() == pytest.approx(0.3, abs=0.01)
    others = Counter(defaults.op[defaults.op != Op.EQUAL].tolist())
    assert set(others) == set(CLASSES["med"]) - {Op.EQUAL}
    assert max(others.values()) < 1.05 * min(others.values())


def test_begen_ranges_and_lists_have_the_widths_of_section_7_1(defaults: Conjunctions) -> None:
    between = defaults.op == Op.BETWEEN
    assert (defaults.high - defaults.low + 1)[between].mean() / 48 == pytest.approx(0.12, abs=0.003)
    lengths = Counter(np.diff(defaults.list_off).tolist())
    assert set(lengths) == {2, 3, 4, 5, 6}
    assert max(lengths.values()) < 1.1 * min(lengths.values())
    assert defaults.low.min() == 1
    assert defaults.high.max() == 48


def test_begen_profiles_do_not_repeat_attributes_and_hardly_themselves(defaults: Conjunctions) -> None:
    owner = np.repeat(np.arange(len(defaults)), np.diff(defaults.off))
    assert len(np.unique(owner * 400 + defaults.slot)) == len(owner)
    written = texts.conditions(defaults)
    assert len(written.unique()) > 0.998 * len(written)


@pytest.mark.parametrize("operators", ["min", "low", "med", "high"])
def test_begen_profiles_follow_from_their_base(operators: str) -> None:
    """Each base satisfies its share of the profiles, and in all no profile is left over."""
    parameters = begen.Parameters(4_000, operators=operators, match_probability=0.05)
    scan = baseline_of(begen.profiles(parameters))
    bases = begen.bases_of(parameters)
    matched = set()
    for slots, values in zip(bases.slots, bases.values, strict=True):
        codes = np.zeros(400, np.int32)
        codes[slots] = values
        found = scan.match(codes).tolist()
        assert len(found) >= 200
        matched.update(found)
    assert len(matched) == 4_000


@pytest.mark.parametrize(
    ("changed", "size", "equality"),
    [
        ({"profile_size": 66, "document_size": 81}, 66, 0.3),
        ({"profile_size": 5, "document_size": 13}, 5, 0.3),
        ({"cardinality": 2, "operators": "high"}, 7, 0.3),
        ({"cardinality": 150_000}, 7, 0.3),
        ({"cardinality": 10, "operators": "min", "equality": 1.0}, 7, 1.0),
        ({"equality": 0.8}, 7, 0.8),
        ({"n_attributes": 50, "zipf": 1.0}, 7, 0.3),
        ({"sizes": (5, 9)}, 7, 0.3),
    ],
)
def test_begen_takes_every_column_of_table_3(changed: dict[str, object], size: float, equality: float) -> None:
    parameters = replace(begen.Parameters(10_000), **changed)  # type: ignore[arg-type]
    profiles = begen.profiles(parameters)
    assert np.diff(profiles.off).mean() == pytest.approx(size, rel=0.02)
    assert (profiles.op == Op.EQUAL).mean() == pytest.approx(equality, abs=0.02)
    assert (profiles.accepted() >= 1).all()
    matches = [len(baseline_of(profiles).match(codes)) for codes in begen.documents(parameters, 20).dense()]
    assert min(matches) >= 100


@pytest.mark.parametrize("share", [0.06, 0.5])
def test_begen_predicate_selectivity(share: float) -> None:
    profiles = begen.profiles(replace(DEFAULTS, n_profiles=10_000, range_share=share))
    between = profiles.op == Op.BETWEEN
    assert (profiles.high - profiles.low + 1)[between].mean() / 48 == pytest.approx(share, rel=0.04)


def test_begen_zipf_prefers_the_first_attributes() -> None:
    parameters = replace(DEFAULTS, zipf=1.0, match_probability=0.001)
    counts = np.bincount(begen.bases_of(parameters).slots.ravel(), minlength=400)
    assert counts[:10].sum() > 10 * counts[-10:].sum()
    uniform = np.bincount(begen.bases_of(replace(parameters, zipf=0.0)).slots.ravel(), minlength=400)
    assert uniform[:10].sum() < 1.5 * uniform[-10:].sum()


def test_begen_profiles_are_shuffled() -> None:
    """Neighbours are of one base as often as chance has it, so that no order helps a matcher."""
    base_of = begen._shuffled_bases(DEFAULTS)
    assert (np.bincount(base_of) == 400).all()
    assert (base_of[1:] == base_of[:-1]).mean() == pytest.approx(0.01, abs=0.004)


def test_begen_documents_are_bases_with_more_and_never_equal() -> None:
    documents = begen.documents(DEFAULTS, 1_000)
    sizes = Counter(np.diff(documents.off).tolist())
    assert set(sizes) == {16, 17, 18}
    rows = documents.dicts()
    assert len({frozenset(row.items()) for row in rows}) == 1_000
    bases = begen.bases_of(DEFAULTS)
    whole = [
        {f"a{slot}": value for slot, value in zip(slots, values, strict=True)}
        for slots, values in zip(bases.slots.tolist(), bases.values.tolist(), strict=True)
    ]
    assert all(any(base.items() <= row.items() for base in whole) for row in rows[:100])
    dense = documents.dense()
    assert {f"a{slot}": int(dense[7, slot]) for slot in np.flatnonzero(dense[7])} == rows[7]


def test_more_documents_than_there_are_is_refused() -> None:
    one_value = replace(DEFAULTS, n_attributes=1, document_size=1, profile_size=1)
    with pytest.raises(ValueError, match="no 1,000 different documents"):
        begen.documents(one_value, 1_000)


def test_the_seed_decides_everything() -> None:
    parameters = replace(DEFAULTS, n_profiles=70_000)  # two chunks
    one, two, other = (begen.profiles(p) for p in (parameters, parameters, replace(parameters, seed=2)))
    for name in ("off", "op", "slot", "low", "high", "list_values", "mask"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert not np.array_equal(one.slot, other.slot)
    nests = [nested.profiles(nested.Parameters(replace(DEFAULTS, n_profiles=1_000))) for _ in range(2)]
    assert np.array_equal(nests[0].child, nests[1].child)
    assert np.array_equal(nests[0].root, nests[1].root)


def test_opindex_defaults() -> None:
    parameters = opindex.Parameters(100_000)
    profiles = opindex.profiles(parameters)
    sizes = np.bincount(np.diff(profiles.off), minlength=5) / len(profiles)
    assert sizes[1:] == pytest.approx([0.25] * 4, abs=0.01)
    shares = np.bincount(profiles.op, minlength=Op.AT_LEAST + 1) / len(profiles.op)
    assert shares[[Op.EQUAL, Op.AT_MOST, Op.AT_LEAST]] == pytest.approx([0.4, 0.3, 0.3], abs=0.01)
    owner = np.repeat(np.arange(len(profiles)), np.diff(profiles.off))
    assert len(np.unique(owner * 20_000 + profiles.slot)) == len(owner)
    documents = opindex.documents(parameters, 400)
    assert (np.diff(documents.off) == 20).all()
    assert (np.count_nonzero(documents.dense(), axis=1) == 20).all()
    # 250,000 of a million profiles have one predicate; each is met by 20 in 20,000 documents, and holds
    # for 0.4/50 + 0.6 * 51/100 of the values: 78.5 matches of a million.
    scan = baseline_of(profiles)
    assert np.mean([len(scan.match(codes)) for codes in documents.dense()]) == pytest.approx(7.85, rel=0.1)


def test_opindex_zipf_is_of_attributes_and_values_in_profiles_and_documents() -> None:
    parameters = opindex.Parameters(20_000, d=1_000, zipf=1.0, theta_1=1.0)
    profiles, documents = opindex.profiles(parameters), opindex.documents(parameters, 1_000)
    for slots, values in ((profiles.slot, profiles.low), (documents.slots, documents.values)):
        assert (slots < 10).mean() > 10 * (slots >= 990).mean()
        assert (values == 1).mean() == pytest.approx(zipf_weights(50, 1.0)[0], abs=0.01)


EXPRESSIONS = nested.Parameters(replace(DEFAULTS, n_profiles=20_000))


@pytest.fixture(scope="module")
def expressions() -> nested.Expressions:
    return nested.profiles(EXPRESSIONS)


def test_nested_profiles_are_half_conjunctions_and_half_two_to_four_deep(expressions: nested.Expressions) -> None:
    depth = np.concatenate((np.zeros(expressions.n_predicates, int), np.ones(len(expressions.kind), int)))
    for row, node in enumerate(range(expressions.n_predicates, len(depth))):
        child = expressions.child[expressions.child_off[row] : expressions.child_off[row + 1]]
        depth[node] = 1 + depth[child].max()
        kinds = expressions.kind[child[child >= expressions.n_predicates] - expressions.n_predicates]
        assert (kinds != expressions.kind[row]).all(), "AND and OR stand in one another in turn"
    counts = np.bincount(depth[expressions.root], minlength=5) / len(expressions)
    assert counts[1] == pytest.approx(0.5, abs=0.03)
    assert counts[2:] == pytest.approx([1 / 6] * 3, abs=0.03)
    written = nested.conditions(expressions).to_pylist()
    assert sum(" OR " in text for text in written) / len(written) == pytest.approx(0.5, abs=0.03)


def test_nested_parts_repeat(expressions: nested.Expressions) -> None:
    """Most operands that are connectives serve several profiles, as `repeat` has it."""
    roots = expressions.root - expressions.n_predicates
    uses: Counter[int] = Counter()
    for row in roots.tolist():
        child = expressions.child[expressions.child_off[row] : expressions.child_off[row + 1]]
        uses.update(child[child >= expressions.n_predicates].tolist())
    n_uses = sum(uses.values())
    assert sum(count for count in uses.values() if count > 1) > 0.8 * n_uses
    assert sum(count for _, count in uses.most_common(len(uses) // 10)) > 0.3 * n_uses


def test_nested_match_probability_is_that_of_the_bases(expressions: nested.Expressions) -> None:
    scan = baseline_of(expressions)
    matches = [len(scan.match(codes)) for codes in nested.documents(EXPRESSIONS, 100).dense()]
    assert min(matches) >= 200
    assert np.mean(matches) == pytest.approx(200, rel=0.05)


@pytest.mark.parametrize("cardinality", [3, 48, 1_000])
def test_texts_have_the_normal_form_that_is_built(cardinality: int) -> None:
    """What the images of benchmarks are built from is what the compiler makes of the texts."""
    own = begen.Parameters(300, cardinality=cardinality, operators="high", match_probability=0.05)
    conjunctions = begen.profiles(own)
    for text, form in zip(texts.conditions(conjunctions).to_pylist(), forms_of(conjunctions), strict=True):
        assert normalize(parse_condition(text).node) is form
    expressions = nested.profiles(nested.Parameters(own))
    for text, form in zip(nested.conditions(expressions).to_pylist(), forms_of(expressions), strict=True):
        assert normalize(parse_condition(text).node) is form


def test_every_operator_is_written_as_it_is_meant() -> None:
    own = begen.Parameters(500, n_attributes=20, cardinality=9, operators="high", match_probability=0.05)
    profiles = begen.profiles(own)
    found = dict(zip(texts.predicates(profiles).to_pylist(), range(len(profiles.op)), strict=True))
    lists = np.cumsum(has_list_of(profiles.op)) - 1
    for text, row in found.items():
        condition = parse_condition(text).node
        listed = lists[row]
        values = profiles.list_values[profiles.list_off[listed] : profiles.list_off[listed + 1]].tolist()
        accepted = {value for value in range(1, 10) if _accepts(profiles, row, values, value)}
        assert {value for value in range(1, 10) if _holds(condition, value)} == accepted
        assert {value for value in range(1, 10) if int(profiles.mask[row]) >> value & 1} == accepted
        assert profiles.accepted()[row] == len(accepted)


def _accepts(profiles: Conjunctions, row: int, listed: list[int], value: int) -> bool:
    low, high = int(profiles.low[row]), int(profiles.high[row])
    match profiles.op[row]:
        case Op.IN:
            return value in listed
        case Op.NOT_IN:
            return value not in listed
        case Op.NOT_EQUAL:
            return value != low
    return low <= value <= high


def _holds(condition: ir.Condition, value: int) -> bool:
    from profilec.planner.reference import evaluate

    (name,) = {part.parts for part in _attributes(condition)}
    return evaluate(condition, {name[0]: value}) is True


def _attributes(node: ir.Node) -> list[ir.Attribute]:
    if isinstance(node, ir.Attribute):
        return [node]
    return [found for child in ir.children(node) for found in _attributes(child)]


def test_profiles_stream_to_parquet_in_row_groups(tmp_path: Path) -> None:
    parameters = replace(DEFAULTS, n_profiles=begen.CHUNK + 500)
    n = texts.write_parquet(tmp_path / "profiles.parquet", texts.tables(begen.chunks(parameters)))
    file = pq.ParquetFile(tmp_path / "profiles.parquet")
    assert n == parameters.n_profiles == file.metadata.num_rows
    assert file.num_row_groups == 2
    table = file.read()
    assert table.column_names == ["id", "condition"]
    assert table["id"].to_pylist() == [f"p{number}" for number in range(n)]
    assert table["condition"][n - 1].as_py() == texts.conditions(begen.profiles(parameters))[n - 1].as_py()


def test_distinct_draws_are_distinct_and_fair() -> None:
    rng = np.random.default_rng(3)
    for rows in (distinct_values(rng, 20_000, 3, 5), distinct_weighted(rng, zipf_weights(5, 0.0), 20_000, 3)):
        assert all(len(set(row)) == 3 for row in rows[:500].tolist())
        assert np.bincount(rows.ravel(), minlength=5) / rows.size == pytest.approx([0.2] * 5, abs=0.01)
    # Few of many, by the other way: the first of a row has the very weights.
    weights = zipf_weights(100, 1.0)
    rows = distinct_weighted(rng, weights, 50_000, 4)
    assert all(len(set(row)) == 4 for row in rows[:500].tolist())
    assert np.bincount(rows[:, 0], minlength=100)[:5] / len(rows) == pytest.approx(weights[:5], abs=0.01)
