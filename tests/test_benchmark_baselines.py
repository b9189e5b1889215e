"""The baselines that benchmarks compare with give the matches of a naive evaluation; so does what measures them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))

import begen
import images
import measure
import nested
import opindex
import texts
from baselines.from_image import coding_of, scan_of_image
from baselines.programs import ProgramScan
from baselines.scan import BoundScan, MaskScan, by_selectivity, scan_of
from conjunctions import Conjunctions
from documents import Documents, documents_of
from loads import Load, baseline_of, begen_load, worst_loads
from nested import Expressions
from subjects import Batch, encoded, number_ranks

from profilec.grammar.parse import parse_condition
from profilec.planner.reference import evaluate
from profilec.runtime.image import Image

SMALL = begen.Parameters(150, n_attributes=12, cardinality=6, profile_size=2, document_size=5, operators="high")


def _small(name: str) -> tuple[Conjunctions | Expressions, Documents]:
    """Profiles and documents that meet often."""
    own = replace(SMALL, match_probability=0.1)
    match name:
        case "conjunctions":
            return begen.profiles(own), begen.documents(own, 60)
        case "large domain":
            own = replace(own, cardinality=200)
            return begen.profiles(own), begen.documents(own, 60)
        case "expressions":
            parameters = nested.Parameters(own)
            return nested.profiles(parameters), nested.documents(parameters, 60)
        case "opindex":
            parameters = opindex.Parameters(150, d=8, m=6, sigma=5)
            return opindex.profiles(parameters), opindex.documents(parameters, 60)
    load = next(load for load in worst_loads(40) if load.name == name)
    return load.profiles(), load.documents(20)


NAMES = ["conjunctions", "large domain", "expressions", "opindex", *(load.name for load in worst_loads(1))]


@pytest.fixture(params=NAMES, scope="module")
def workload(request: pytest.FixtureRequest) -> tuple[Conjunctions | Expressions, Documents, list[list[int]]]:
    """Profiles, documents, and what the interpreter of profile texts says of them."""
    profiles, documents = _small(request.param)
    written = nested.conditions(profiles) if isinstance(profiles, Expressions) else texts.conditions(profiles)
    conditions = [parse_condition(text).node for text in written.to_pylist()]
    matches = [
        [number for number, condition in enumerate(conditions) if evaluate(condition, document) is True]
        for document in documents.dicts()
    ]
    return profiles, documents, matches


Workload = tuple[Conjunctions | Expressions, Documents, list[list[int]]]


def test_scan_of_columns_is_the_naive_evaluation(workload: Workload) -> None:
    profiles, documents, expected = workload
    scan = baseline_of(profiles)
    assert [scan.match(codes).tolist() for codes in documents.dense()] == expected
    assert any(expected), "a test in which nothing matches says nothing"


def test_bounds_say_what_masks_say(workload: Workload) -> None:
    profiles, documents, expected = workload
    if isinstance(profiles, Expressions):
        pytest.skip("programs have masks only")
    scan = scan_of(replace(profiles, mask=None))
    assert isinstance(scan, BoundScan)
    assert [scan.match(codes).tolist() for codes in documents.dense()] == expected


@pytest.mark.parametrize("held_only", [False, True])
def test_scan_of_an_image_is_the_naive_evaluation(workload: Workload, held_only: bool) -> None:
    """With all ranks coded, and with those that an integer can have."""
    profiles, documents, expected = workload
    image = images.image_of(profiles).image
    cardinality = int(documents.values.max())
    coding = coding_of(image, _ranks_of(image, cardinality) if held_only else None)
    if isinstance(profiles, Expressions) and coding.n_codes > 64:
        pytest.skip("programs have masks only")
    scan = scan_of_image(image, coding)
    batch = encoded(image, documents)
    assert [scan.match(coding.codes(*batch.document(number))).tolist() for number in range(len(batch))] == expected


def test_images_of_few_values_become_masks_and_expressions_programs() -> None:
    for name, held, kind in (
        ("conjunctions", True, MaskScan),
        ("large domain", False, BoundScan),
        ("expressions", True, ProgramScan),
    ):
        profiles, documents = _small(name)
        image = images.image_of(profiles).image
        coding = coding_of(image, _ranks_of(image, int(documents.values.max())) if held else None)
        assert isinstance(scan_of_image(image, coding), kind)


def _ranks_of(image: Image, cardinality: int) -> np.ndarray:
    values = np.arange(1, cardinality + 1)
    return np.array([number_ranks(image, slot, values) for slot in range(len(image.slots))], np.int32)


def test_what_a_scan_cannot_say_is_refused() -> None:
    import profilec

    image = profilec.compile({"p": "a LIKE '%x%'"})._image
    with pytest.raises(ValueError, match="no patterns"):
        scan_of_image(image, coding_of(image))


def test_each_profile_has_its_most_selective_predicate_first() -> None:
    off = np.array([0, 3, 3, 5], np.int32)
    expected = np.array([0.5, 0.1, 0.3, 0.2, 0.2], np.float32)
    assert by_selectivity(off, expected).tolist() == [1, 2, 0, 3, 4]


def test_a_program_is_left_as_soon_as_it_is_decided() -> None:
    """(a OR b) AND c with jumps: what is not asked cannot spoil the answer."""
    profiles, _ = _small("expressions")
    assert isinstance(profiles, Expressions)
    scan = baseline_of(profiles)
    assert isinstance(scan, ProgramScan)
    sizes = np.diff(scan.off)
    to = scan.jump >> 1
    row = np.arange(len(to)) - np.repeat(scan.off[:-1], sizes)
    assert (to > row).all(), "programs go forward only"
    assert (to <= np.repeat(sizes, sizes) + 1).all()


def test_sparse_documents_hold_what_profiles_ask_for() -> None:
    profiles, _ = _small("conjunctions")
    image = images.image_of(profiles).image
    documents = documents_of([[(0, 3), (7, 6)], [], [(7, 1)]], 12)
    batch = encoded(image, documents)
    assert len(batch) == 3
    for number, document in enumerate(documents.dicts()):
        slots, ranks = batch.document(number)
        expected = {image.slots[slot].name: rank for slot, rank in zip(slots.tolist(), ranks.tolist(), strict=True)}
        assert expected == {
            slot.name: slot.constants.rank(document[slot.name]) for slot in image.slots if slot.name in document
        }
    assert isinstance(batch.first(2), Batch)
    assert len(batch.first(2)) == 2


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(images, "CACHE", tmp_path)
    return tmp_path


def test_images_are_kept_for_the_next_run(own_cache: Path) -> None:
    made: list[int] = []

    def make() -> Conjunctions:
        made.append(1)
        return begen.profiles(SMALL)

    first, again = images.cached_image(SMALL, make), images.cached_image(SMALL, make)
    assert len(made) == 1
    assert np.array_equal(first.image.entry_tests, again.image.entry_tests)
    (kept,) = own_cache.iterdir()
    kept.rename(kept.with_name(f"{kept.name.partition('-')[0]}-of_other_source.image"))
    images.cached_image(SMALL, make)
    assert len(made) == 2
    assert len(list(own_cache.iterdir())) == 1, "what other source code built is thrown away"


def test_product_and_baseline_are_compared_before_they_are_measured(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = begen_load("small", SMALL)
    figures = measure.measured(load, measure.QUICK)
    assert figures.matches > 0
    assert figures.scan > 0
    assert list(measure.rows_of(load, figures))
    # A scan of other profiles matches others.
    monkeypatch.setattr(measure, "baseline_of", lambda profiles: baseline_of(begen.profiles(replace(SMALL, seed=9))))
    with pytest.raises(AssertionError, match="the scan has"):
        measure.measured(load, measure.QUICK)


def test_runs_take_turns() -> None:
    order: list[str] = []
    runs: dict[str, Callable[[int], object]] = {name: lambda n, name=name: order.append(name) for name in "AB"}
    measure.interleaved(runs, whole={}, effort=replace(measure.QUICK, rounds=3))
    assert "".join(order[-6:]) == "ABABAB"


def test_loads_differ_in_name_and_parameters() -> None:
    loads: list[Load] = worst_loads(100)
    assert len({load.name for load in loads}) == len({repr(load.parameters) for load in loads}) == 7
