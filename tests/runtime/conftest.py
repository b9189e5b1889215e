"""Hand-made images: what the planner would lower, written down test by test."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from profilec.runtime.image import Constants, Image, Pattern, Slot
from profilec.values.compare import order_key
from profilec.values.kinds import Kind, from_document, kind_of


def attribute(name, type_=None):
    """The program of a plain attribute of the new document."""
    return (("attribute", 0, tuple(name.split(".")), type_),)


def constants_of(*values):
    """The constants of a slot, from Python values."""
    by_kind = {kind: set() for kind in Kind}
    for value in map(from_document, values):
        kind = kind_of(value)
        key = value.days if kind is Kind.DATE else value.nanos if kind is Kind.TIMESTAMP else order_key(value)
        by_kind[kind].add(key)
    kinds = (Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)
    return Constants(*(tuple(sorted(by_kind[kind])) for kind in kinds))


def plain_slot(name, *values, type_=None):
    return Slot(name, attribute(name, type_), tuple(name.split(".")), type_, constants_of(*values))


def derived_slot(name, program, *values):
    return Slot(name, program, None, None, constants_of(*values))


@dataclass
class ImageBuilder:
    """Collects tests, residuals and entries, and lays them out as flat arrays."""

    slots: list = field(default_factory=list)
    rank_tests: list = field(default_factory=list)
    bit_tests: list = field(default_factory=list)
    patterns: list = field(default_factory=list)
    terms: list = field(default_factory=list)
    joins: list = field(default_factory=list)
    residuals: list = field(default_factory=list)
    entries: list = field(default_factory=list)

    def slot(self, slot):
        self.slots.append(slot)
        return len(self.slots) - 1

    def rank_test(self, slot, intervals):
        """Intervals of ranks; returns a reference, for which `entry` and `residual` put the test's number."""
        self.rank_tests.append((slot, list(intervals)))
        return ("rank", len(self.rank_tests) - 1)

    def pattern_test(self, slot, want, *, like=None, regex=None):
        self.patterns.append(Pattern(slot, like, regex))
        self.bit_tests.append((0, len(self.patterns) - 1, want))
        return ("bit", len(self.bit_tests) - 1)

    def term_test(self, program, want, term=None):
        if term is None:
            self.terms.append(program)
            term = len(self.terms) - 1
        self.bit_tests.append((1, term, want))
        return ("bit", len(self.bit_tests) - 1)

    def join(self, term):
        self.joins.append(term)
        return len(self.joins) - 1

    def residual(self, rows):
        """Rows of (op, argument); the argument of a TEST is a test's reference."""
        self.residuals.append(list(rows))
        return len(self.residuals) - 1

    def entry(self, tests, profiles, residual=-1, access=-1):
        self.entries.append((list(tests), list(profiles), residual, access))

    def number(self, reference):
        if isinstance(reference, int):
            return reference
        sort, place = reference
        return place if sort == "rank" else len(self.rank_tests) + place

    def image(self, n_profiles):
        intervals = [interval for _, test in self.rank_tests for interval in test]
        tests = [list(map(self.number, tests)) for tests, _, _, _ in self.entries]
        rows = [(op, self.number(argument)) for residual in self.residuals for op, argument in residual]
        image = Image(
            n_profiles=n_profiles,
            slots=tuple(self.slots),
            test_slot=_int32([slot for slot, _ in self.rank_tests]),
            test_off=_offsets([test for _, test in self.rank_tests]),
            test_low=_int32([low for low, _ in intervals]),
            test_high=_int32([high for _, high in intervals]),
            bit_kind=np.array([kind for kind, _, _ in self.bit_tests], np.uint8),
            bit_source=_int32([source for _, source, _ in self.bit_tests]),
            bit_want=np.array([want for _, _, want in self.bit_tests], np.uint8),
            patterns=tuple(self.patterns),
            terms=tuple(self.terms),
            joins=tuple(self.joins),
            entry_off=_offsets(tests),
            entry_tests=_int32([test for part in tests for test in part]),
            entry_access=_int32([self.number(access) for _, _, _, access in self.entries]),
            entry_residual=_int32([residual for _, _, residual, _ in self.entries]),
            entry_profile_off=_offsets([profiles for _, profiles, _, _ in self.entries]),
            entry_profiles=_int32([profile for _, profiles, _, _ in self.entries for profile in profiles]),
            residual_off=_offsets(self.residuals),
            residual_code=_int32(rows).reshape(-1, 2),
        )
        image.check()
        return image


def _int32(values):
    return np.array(values, np.int32)


def _offsets(parts):
    return np.cumsum([0, *map(len, parts)]).astype(np.int32)


@pytest.fixture
def builder():
    """A new ImageBuilder."""
    return ImageBuilder()


@pytest.fixture(scope="session")
def new_builder():
    """The class ImageBuilder, for tests that make many images."""
    return ImageBuilder


@pytest.fixture(scope="session")
def slots():
    """The functions `plain(name, *constants, type_=None)` and `derived(name, program, *constants)`, as attributes."""

    class Slots:
        plain = staticmethod(plain_slot)
        derived = staticmethod(derived_slot)
        attribute = staticmethod(attribute)

    return Slots
