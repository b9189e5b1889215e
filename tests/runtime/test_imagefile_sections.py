"""An image through a file: the same arrays and objects, made when they are asked for; contradictions are refused."""

import dataclasses
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from profilec.runtime.execute import Executor
from profilec.runtime.image import OP_JOIN, OP_JUMP_IF_FALSE, OP_TEST, WANT_NOT_FALSE, WANT_TRUE, Constants, Image, Slot
from profilec.runtime.imagefile.arrays import fields_of, read_dataclass
from profilec.runtime.imagefile.container import ImageError, ImageFile, NewSection, to_bytes
from profilec.runtime.imagefile.sections import image_sections, read_image
from profilec.runtime.program import JoinTerm
from profilec.values.kinds import Date, Interval, Kind, Timestamp
from profilec.values.patterns import parse_like
from profilec.values.types import Field, Type

CONSTANTS = {
    "small": (1, 5),
    "wide": (-(2**63), 2**63 - 1),
    "too_wide": (-(2**63) - 1, 2**63),
    "long": (10**999, Decimal("0." + "1" * 999)),
    "decimals": (Decimal("-0.5"), 1, Decimal("1E-900")),
    "texts": ("", "\0", "a", "β", "\ud800", "\uffff", "😀"),
    "dates": (Date(-5), Date(10**30)),
    "times": (Timestamp(0), Timestamp(2**70)),
    "mixed": (1, "x", True, False, Date(1), Timestamp(1), Decimal("0.1")),
    "none": (),
}


@pytest.fixture
def image(builder, slots) -> Image:
    """An image with one of everything."""
    for name, constants in CONSTANTS.items():
        builder.slot(slots.plain(name, *constants))
    typed = Type("RECORD", fields=(Field("at", Type("ARRAY", Type("DATE")), True),))
    builder.slot(slots.plain("a.b", 3, type_=typed))
    program = (("attribute", 0, ("x",), None), ("constant", Decimal("1.50")), ("call", "+", 2))
    derived = builder.slot(slots.derived("x + 1.50", program, 3))
    like = builder.pattern_test(derived, WANT_TRUE, like=parse_like("%a_b%"))
    regex = builder.pattern_test(0, WANT_NOT_FALSE, regex="^\\d+\ud800$")
    term = builder.term_test((("some", (("literal", None),)), ("in", 2), ("constant", -0.0)), WANT_TRUE)
    scope = JoinTerm("forall", (("literal", True),), program, Interval(1, 2, 3), ("at",), Type("TIMESTAMP"), 7)
    join = builder.join(scope)
    low = builder.rank_test(0, [(1, 2), (4, 4)])
    residual = builder.residual([(OP_TEST, low), (OP_JUMP_IF_FALSE, 3), (OP_JOIN, join)])
    builder.entry([low, like], [0, 1], residual, low)
    builder.entry([regex, term], [1])
    return dataclasses.replace(builder.image(2), term_names=("a ∧ \ud800",), join_names=("FORALL d (TRUE)",))


def through_file(image: Image) -> Image:
    return read_image(ImageFile(to_bytes(image_sections(image)), "shop.prfi"))


def test_all_of_an_image_comes_back(image):
    found = through_file(image)
    found.check()
    for field in dataclasses.fields(Image):
        ours, theirs = getattr(image, field.name), getattr(found, field.name)
        if isinstance(ours, np.ndarray):
            assert theirs.dtype == ours.dtype
            assert theirs.tolist() == ours.tolist()
            assert not ours.flags.writeable
            assert not theirs.flags.writeable
        elif isinstance(ours, tuple):
            assert tuple(theirs) == ours
            assert repr(list(theirs)) == repr(list(ours))
        else:
            assert theirs == ours


def test_what_came_from_a_file_gives_the_same_file(image):
    data = to_bytes(image_sections(image))
    lazy = read_image(ImageFile(data, "x"))
    assert to_bytes(image_sections(lazy)) == data
    made = dataclasses.replace(
        lazy, slots=tuple(lazy.slots), patterns=tuple(lazy.patterns), terms=tuple(lazy.terms), joins=tuple(lazy.joins)
    )
    assert to_bytes(image_sections(made)) == data


def test_constants_rank_alike(image):
    for ours, theirs in zip(image.slots, through_file(image).slots, strict=True):
        values = [
            None,
            [],
            0,
            5,
            5.0,
            "a",
            "x",
            True,
            Date(1),
            Timestamp(2**70),
            10**999,
            Decimal("0.1"),
            *CONSTANTS["texts"],
        ]
        for value in values:
            assert theirs.constants.rank(value) == ours.constants.rank(value)
        assert theirs.constants == ours.constants
        assert [theirs.constants.first(kind) for kind in Kind] == [ours.constants.first(kind) for kind in Kind]


def test_sequences_of_a_file_behave_as_tuples(image):
    found = through_file(image)
    for name in ("slots", "patterns", "terms", "joins", "term_names", "join_names"):
        ours, theirs = getattr(image, name), getattr(found, name)
        assert (len(theirs), bool(theirs), theirs[-1]) == (len(ours), bool(ours), ours[-1])
        assert tuple(theirs[:2]) == ours[:2]
        assert tuple(pickle.loads(pickle.dumps(theirs))) == ours
        with pytest.raises(IndexError):
            theirs[len(ours)]
    assert found.slots[0] is found.slots[0]


def test_it_matches_as_before(builder, slots):
    slot = builder.slot(slots.plain("price", 10))
    builder.entry([builder.rank_test(slot, [(1, 2)])], [0])
    found = through_file(builder.image(1))
    for matcher in ("scan", "bitmap"):
        executor = Executor(found, matcher)
        assert [executor.match({"price": n}).tolist() for n in (9, 10, 11)] == [[0], [0], []]


def test_an_image_of_nothing(builder):
    found = through_file(builder.image(0))
    found.check()
    assert len(found.slots) == len(found.terms) == found.n_entries == 0


def without(sections, name):
    return [section for section in sections if section.name != name]


def replaced(sections, name, array):
    return [NewSection(name, array, section.matching) if section.name == name else section for section in sections]


def strings(*texts):
    return np.frombuffer("".join(texts).encode(), np.uint8)


CONTRADICTIONS = {
    "a section is missing": (lambda s: without(s, "entry_tests"), "it has no section entry_tests"),
    "no slots": (lambda s: without(s, "slots.off"), "it has no section slots.off"),
    "another dtype": (lambda s: replaced(s, "entry_off", np.zeros(3, np.int64)), "section entry_off is <i8"),
    "another length": (lambda s: replaced(s, "entry_access", np.zeros(9, np.int32)), "entry_access"),
    "no offsets": (lambda s: replaced(s, "entry_off", np.zeros(0, np.int32)), "entry_off is empty"),
    "offsets too far": (lambda s: replaced(s, "entry_off", np.array([0, 2, 99], np.int32)), "does not cut"),
    "one dimension": (lambda s: replaced(s, "residual_code", np.zeros(3, np.int32)), "two columns"),
    "slots too few": (lambda s: replaced(s, "constants.count", np.zeros((1, 5), np.int32)), "is not for 12 slots"),
    "text too short": (lambda s: replaced(s, "terms.data", strings("[")), "terms.off does not cut"),
    "no scalars": (lambda s: replaced(s, "scalars", strings("[1]")), "section scalars is no mapping"),
    "scalars that are none": (lambda s: replaced(s, "scalars", strings("x")), "section scalars: "),
    "scalars not UTF-8": (lambda s: replaced(s, "scalars", np.array([255], np.uint8)), "scalars is not UTF-8"),
    "no n_profiles": (lambda s: replaced(s, "scalars", strings('[["dict",0]]')), "no section n_profiles"),
    "n_profiles a string": (
        lambda s: replaced(s, "scalars", strings('["n_profiles","x",["dict",1]]')),
        "its n_profiles is a str",
    ),
    "n_profiles negative": (
        lambda s: replaced(s, "scalars", strings('["n_profiles",-1,"tree",null,"join_tree",null,["dict",3]]')),
        "-1 profiles",
    ),
    "an array as a scalar": (
        lambda s: replaced(s, "scalars", strings('["n_profiles",2,"test_slot",0,["dict",2]]')),
        "its test_slot is a int",
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_sections_that_contradict_each_other_are_refused_at_once(image, name):
    change, reason = CONTRADICTIONS[name]
    with pytest.raises(ImageError, match=reason):
        read_image(ImageFile(to_bytes(change(image_sections(image))), "shop.prfi"))


LATER = {
    "constants.first": (np.full((12, 5), 2**40), "slots", "lie where they cannot"),
    "constants.count": (np.full((12, 5), -1, np.int32), "slots", "lie where they cannot"),
    "constants.form": (np.full((12, 5), 7, np.uint8), "slots", "lie where they cannot"),
}


@pytest.mark.parametrize("name", LATER)
def test_constants_that_lie_elsewhere_are_refused_when_they_are_read(image, name):
    array, field, reason = LATER[name]
    found = read_image(ImageFile(to_bytes(replaced(image_sections(image), name, array)), "shop.prfi"))
    with pytest.raises(ImageError, match=reason):
        list(getattr(found, field))


@pytest.mark.parametrize("field", ["slots", "patterns", "terms", "joins"])
def test_texts_of_another_meaning_are_refused_when_they_are_read(image, field):
    sections = image_sections(image)
    length = next(len(section.array) for section in sections if section.name == f"{field}.data")
    found = read_image(ImageFile(to_bytes(replaced(sections, f"{field}.data", np.full(length, 32, np.uint8))), "x"))
    with pytest.raises(ImageError, match=f"a text of its section {field} cannot be read"):
        list(getattr(found, field))


@dataclasses.dataclass(frozen=True)
class _Inner:
    words: NDArray[np.uint64]
    deepest: int


@dataclasses.dataclass(frozen=True)
class _Outer:
    tree: _Inner | None
    other: _Inner | None
    extra: NDArray[np.int32] | None
    codes: NDArray[np.uint8] = dataclasses.field(metadata={"matching": False})


def test_nested_dataclasses_of_arrays_become_sections_by_name():
    outer = _Outer(_Inner(np.array([[1, 2]], np.uint64), 3), None, None, np.array([9], np.uint8))
    taken: dict[str, tuple[Any, bool]] = {name: (value, matching) for name, value, matching in fields_of(outer, "")}
    assert list(taken) == ["tree.words", "tree.deepest", "other", "extra", "codes"]
    assert [matching for _, matching in taken.values()] == [True, True, True, True, False]
    arrays = [NewSection(name, value) for name, (value, _) in taken.items() if isinstance(value, np.ndarray)]
    scalars = {name: value for name, (value, _) in taken.items() if not isinstance(value, np.ndarray)}
    found = read_dataclass(_Outer, ImageFile(to_bytes(arrays), "x"), scalars, "", {})
    assert (found.tree.words.tolist(), found.tree.deepest) == ([[1, 2]], 3)
    assert (found.other, found.extra, found.codes.tolist()) == (None, None, [9])
    with pytest.raises(ImageError, match="no section codes"):
        read_dataclass(_Outer, ImageFile(to_bytes(arrays[:1]), "x"), scalars, "", {})
    with pytest.raises(ImageError, match=r"its tree\.deepest is a NoneType"):
        read_dataclass(_Outer, ImageFile(to_bytes(arrays), "x"), {**scalars, "tree.deepest": None}, "", {})


def test_a_field_of_another_sort_is_refused_when_it_is_written(image):
    with pytest.raises(TypeError, match="an image file keeps no object, as n_profiles is"):
        image_sections(dataclasses.replace(image, n_profiles=object()))


def test_a_slot_of_a_program_needs_one(image):
    slot = Slot("x", None, None, None, Constants())
    found = through_file(dataclasses.replace(image, slots=(slot,)))
    with pytest.raises(ImageError, match="neither parts nor a program"):
        found.slots[0]
