"""A tree that is none is refused, wherever it is wrong, and whatever is let through can be matched with."""

from typing import Any

import numpy as np
import pytest

import profilec
from profilec.runtime.image import Image
from profilec.runtime.matchers.betree.sound import fault

CONDITIONS = {
    **{f"p{n}": f"a = {n % 5} AND b BETWEEN {n} AND {n + 9} AND c IN (1, {n}, {n + 40})" for n in range(120)},
    **{f"q{n}": f"(d < {n} OR e IS NULL) AND s LIKE '%{n}%'" for n in range(20)},
}
OUTSIDE = (-(2**31), -1_000_000, 1_000_000, 2**31 - 1)


def images() -> list[Image]:
    sets = [profilec.compile(CONDITIONS, options={"matcher": m}) for m in ("betree", "betree:list", "betree:matrix")]
    return [profiles._image for profiles in sets]


def fault_of(image: Image, data: Any) -> int:
    tree = image.tree
    assert tree is not None
    return fault(data, len(tree.words), len(tree.special), image.n_ranks, image.n_profiles)


@pytest.mark.parametrize("image", images(), ids=["any", "list", "matrix"])
def test_what_is_loaded_is_sound(image: Image) -> None:
    assert image.tree is not None
    assert fault_of(image, image.tree.data) == -1


@pytest.mark.parametrize("image", images(), ids=["any", "list", "matrix"])
def test_no_number_far_outside_is_let_through_where_it_says_where_to_read(image: Image) -> None:
    """A rank may be any; so a number that is let through is one that a rank is compared with, or a row of bits."""
    assert image.tree is not None
    data = image.tree.data.copy()
    let_through = 0
    for position in range(len(data)):
        own = data[position]
        for wrong in OUTSIDE:
            data[position] = wrong
            let_through += fault_of(image, data) == -1
        data[position] = own
    assert let_through < 4 * len(data) * 0.6
    assert fault_of(image, data) == -1


@pytest.mark.parametrize("image", images(), ids=["any", "list", "matrix"])
def test_what_is_let_through_can_be_matched_with(image: Image) -> None:
    """Near numbers more often make another tree; its answers are wrong, but nothing is read outside."""
    from dataclasses import replace

    from profilec.runtime.matchers.betree.matcher import BETreeMatcher

    assert image.tree is not None
    rng = np.random.default_rng(5)
    n_ranks = image.n_ranks
    slots = np.arange(len(n_ranks), dtype=np.int32)
    for _ in range(300):
        data = image.tree.data.copy()
        position = rng.integers(len(data))
        data[position] += rng.choice([-64, -3, -1, 1, 2, 64])
        if fault_of(image, data) == -1:
            data.flags.writeable = False
            matcher = BETreeMatcher(image, replace(image.tree, data=data))
            found, _ = matcher.match(slots, rng.integers(1, n_ranks).astype(np.int32), len(slots))
            assert len(found) <= image.n_profiles


def test_a_cut_tree_is_refused() -> None:
    image = images()[0]
    assert image.tree is not None
    for n in range(0, len(image.tree.data), 7):
        assert fault_of(image, image.tree.data[:n]) >= 0
