"""`Image.check` finds what a faulty lowering would leave behind."""

import dataclasses

import numpy as np
import pytest

from profilec.runtime.image import OP_JOIN, OP_JUMP_IF_FALSE, OP_SET, OP_TEST, WANT_TRUE, Constants, Pattern
from profilec.runtime.program import JoinTerm


@pytest.fixture
def sound(builder, slots):
    slot = builder.slot(slots.plain("price", 10, 20))
    low = builder.rank_test(slot, [(1, 2), (4, 4)])
    term = builder.term_test((("literal", True),), WANT_TRUE)
    leaf = builder.pattern_test(slot, WANT_TRUE, regex="x")
    join = builder.join(JoinTerm("exists", (("literal", True),)))
    residual = builder.residual([(OP_TEST, low), (OP_JUMP_IF_FALSE, 3), (OP_JOIN, join)])
    builder.entry([low, term, leaf], [0, 1], residual, low)
    builder.entry([], [1])
    return builder.image(2)


def changed(array, position, value):
    copy = array.copy()
    copy[position] = value
    return copy


FAULTS = {
    "test_slot": lambda image: changed(image.test_slot, 0, 1),
    "test_off": lambda image: np.array([0, 1], np.int32),
    "test_low": lambda image: changed(image.test_low, 1, 2),
    "test_high": lambda image: changed(image.test_high, 1, 99),
    "bit_source": lambda image: changed(image.bit_source, 0, 1),
    "bit_want": lambda image: changed(image.bit_want, 0, 4),
    "bit_kind": lambda image: image.bit_kind.astype(np.int32),
    "patterns": lambda image: (Pattern(0, None, None),),
    "entry_off": lambda image: changed(image.entry_off, 1, 9),
    "entry_tests": lambda image: changed(image.entry_tests, 0, 3),
    "entry_access": lambda image: changed(image.entry_access, 1, -2),
    "entry_residual": lambda image: changed(image.entry_residual, 1, 1),
    "entry_profiles": lambda image: changed(image.entry_profiles, 0, 2),
    "residual_off": lambda image: np.array([0], np.int32),
    "residual_code": lambda image: changed(image.residual_code, (1, 1), 1),
    "joins": lambda image: (),
    "n_profiles": lambda image: 1,
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(sound, name):
    faulty = dataclasses.replace(sound, **{name: FAULTS[name](sound)})
    with pytest.raises(ValueError, match="inconsistent image"):
        faulty.check()


def test_constants_must_ascend(sound):
    slot = dataclasses.replace(sound.slots[0], constants=Constants(numbers=(20, 10)))
    with pytest.raises(ValueError, match="do not ascend"):
        dataclasses.replace(sound, slots=(slot,)).check()


def test_a_plain_slot_is_just_its_attribute(sound):
    slot = dataclasses.replace(sound.slots[0], parts=("other",))
    with pytest.raises(ValueError, match="not just its attribute"):
        dataclasses.replace(sound, slots=(slot,)).check()


def test_a_residual_sets_true_or_false(builder, slots):
    builder.entry([], [0], builder.residual([(OP_SET, 2)]))
    with pytest.raises(ValueError, match="argument 2"):
        builder.image(1)
