"""Images united: what is left of their profiles holds as before, and nothing is kept that nobody asks for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import profilec
from profilec.grammar import ir
from profilec.planner.lower import ImageBuilder
from profilec.planner.lower.unite import GONE, united
from profilec.planner.normalize import normalize
from profilec.planner.reference import evaluate
from profilec.runtime.execute import Executor
from profilec.runtime.image import Image
from profilec.runtime.imagefile.container import ImageFile, to_bytes
from profilec.runtime.imagefile.sections import image_sections, read_image
from profilec.runtime.store.documents import DocumentStore
from tests.planner.random_conditions import Where, random_condition, random_document


def image_of(conditions: Sequence[ir.Condition]) -> Image:
    builder = ImageBuilder()
    for condition in conditions:
        builder.add(normalize(condition))
    return builder.build().image


def matches(image: Image, document: dict[str, Any], store: Sequence[dict[str, Any]] = ()) -> list[int]:
    return Executor(image, "scan").match(document, DocumentStore(store)).tolist()


def loaded(image: Image) -> Image:
    """The same image, out of a file."""
    return read_image(ImageFile(to_bytes(image_sections(image)), "a test's image"))


@pytest.mark.parametrize("seed", range(30))
def test_united_images_hold_as_one_of_the_profiles_that_are_left(seed: int) -> None:
    rng = random.Random(seed)
    conditions = [random_condition(rng, Where(depth=rng.randint(0, 3))) for _ in range(rng.randint(1, 60))]
    owner = [rng.randrange(3) for _ in conditions]
    left = [number for number in range(len(conditions)) if rng.random() < 0.7]
    rng.shuffle(left)  # the new order
    images, numbers = [], []
    for part in range(3):
        own = [number for number, of in enumerate(owner) if of == part]
        image = image_of([conditions[number] for number in own])
        images.append(loaded(image) if rng.random() < 0.5 else image)
        numbers.append(np.array([left.index(one) if one in left else GONE for one in own], np.int32))
    image = united(images, numbers).image
    image.check()
    fresh = image_of([conditions[number] for number in left])
    store = [random_document(rng) for _ in range(3)]
    for _ in range(30):
        document = random_document(rng)
        truths = [evaluate(conditions[number], document, store) for number in left]
        assert matches(image, document, store) == [place for place, truth in enumerate(truths) if truth is True]
    assert {slot.name: slot.constants for slot in image.slots} == {slot.name: slot.constants for slot in fresh.slots}
    assert {*image.term_names} == {*fresh.term_names}
    assert {*image.join_names} == {*fresh.join_names}
    assert len(image.patterns) == len(fresh.patterns)
    assert image.n_tests <= fresh.n_tests


def parts(*texts: str) -> list[Image]:
    return [profilec.compile(text)._image for text in texts]


def test_ends_are_ranks_among_the_constants_of_all() -> None:
    image = united(
        parts("PROFILE a WHERE x < 20; PROFILE b WHERE x = 10;", "PROFILE c WHERE x > 15;"),
        [np.array([0, 1], np.int32), np.array([2], np.int32)],
    ).image
    assert image.slots[0].constants.numbers == (10, 15, 20)
    found = {number: matches(image, {"x": number}) for number in (9, 10, 12, 15, 16, 20)}
    assert found == {9: [0], 10: [0, 1], 12: [0], 15: [0], 16: [0, 2], 20: [2]}


def test_what_is_not_asked_for_any_more_is_left_out() -> None:
    image = united(
        parts("PROFILE a WHERE x < 20 AND y LIKE '%a'; PROFILE b WHERE x = 10 AND z + z > 4;"),
        [np.array([0, GONE], np.int32)],
    ).image
    assert [slot.name for slot in image.slots] == ["x", "REVERSE(y)"]
    assert image.slots[0].constants.numbers == (20,)
    assert not image.terms
    assert united([image], [np.array([GONE], np.int32)]).image.n_entries == 0


def test_numbers_beyond_64_bits_are_united_with_others() -> None:
    image = united(
        parts(f"PROFILE a WHERE x = {2**70};", "PROFILE b WHERE x = 0.5;", "PROFILE c WHERE x >= 3;"),
        [np.array([number], np.int32) for number in (2, 1, 0)],
    ).image
    assert image.slots[0].constants.numbers == (Decimal("0.5"), 3, 2**70)
    assert [matches(image, {"x": value}) for value in (2**70, 0.5, 3)] == [[0, 2], [1], [0]]


def test_equal_entries_of_several_images_are_one() -> None:
    image = united(
        parts("PROFILE a WHERE x = 1 AND y = 2;", "PROFILE b WHERE y = 2 AND x = 1;"),
        [np.array([0], np.int32), np.array([1], np.int32)],
    ).image
    assert image.n_entries == 1
    assert image.entry_profiles.tolist() == [0, 1]
