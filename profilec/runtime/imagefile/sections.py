"""An Image as sections, and back.

Each array field of `Image` is a section of its name, those of a nested dataclass of arrays too (`tree.edge_slot`).
What is no array:

    scalars                      tokens: name to value, of the integers and the like, nested ones too
    slots.off, .data             per slot a JSON list: name, parts, type, program (null where it just reads the parts)
    patterns, terms, joins       per element its tokens
    term_names, join_names       strings
    constants.count    int32[n_slots, 5]   how many constants a slot has of each kind that has a block
    constants.form     uint8[n_slots, 5]   where they are: 0 in `integers`, 1 in `texts`
    constants.first    int64[n_slots, 5]   from which place on
    constants.integers int64[]             numbers that fit, booleans, days, nanoseconds
    constants.texts.off, .data             strings; numbers of which one does not fit

Invariant: `read_image(file of image_sections(image))` is the image, and gives the same sections again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import KINDS, Constants, Image, Pattern, Slot
from profilec.runtime.imagefile.arrays import fields_of, read_dataclass
from profilec.runtime.imagefile.columns import (
    Decoded,
    Integers,
    Strings,
    fits_int64,
    number_of,
    number_text,
    strings_of,
)
from profilec.runtime.imagefile.container import ImageFile, NewSection, refusal
from profilec.runtime.imagefile.tokens import dumps, loads
from profilec.runtime.program import JoinTerm, Program
from profilec.values.kinds import Kind

T = TypeVar("T")
_INTEGERS, _TEXTS = 0, 1
_CHUNK = 4_096
_SCALARS = (int, float, str, bool, type(None))


def image_sections(image: Image) -> list[NewSection]:
    """All of an image, in the order of its fields."""
    scalars: dict[str, Any] = {}
    found: list[NewSection] = []
    for name, value, matching in fields_of(image, ""):
        match name:
            case "slots":
                found += _slot_sections(value)
            case "patterns":
                found += strings_of(value, _pattern_text).sections(name, matching=True)
            case "terms" | "joins":
                found += strings_of(value, dumps).sections(name, matching=True)
            case "term_names" | "join_names":
                found += _as_strings(value).sections(name, matching=False)
            case _ if isinstance(value, np.ndarray):
                found.append(NewSection(name, value, matching))
            case _ if isinstance(value, _SCALARS):
                scalars[name] = value
            case _:
                raise TypeError(f"an image file keeps no {type(value).__name__}, as {name} is")
    text = dumps(scalars).encode("utf-8", "surrogatepass")
    return [NewSection("scalars", np.frombuffer(text, np.uint8)), *found]


def read_image(file: ImageFile) -> Image:
    """The image of a file; its arrays are the file's own, its objects are made when they are asked for.

    Raises:
        ImageError: a section is missing, or of a type or length that it cannot have. Bodies are not looked at.
    """
    try:
        scalars = loads(file.text("scalars"))
    except ValueError as error:
        raise refusal(file.name, f"its section scalars: {error}") from None
    if not isinstance(scalars, dict):
        raise refusal(file.name, "its section scalars is no mapping")
    given: dict[str, Any] = {
        "slots": Slots(file),
        "patterns": Decoded(Strings.read(file, "patterns"), reader(file.name, "patterns", _pattern_of)),
        "terms": Decoded(Strings.read(file, "terms"), reader(file.name, "terms", _program_of)),
        "joins": Decoded(Strings.read(file, "joins"), reader(file.name, "joins", _join_of)),
        "term_names": Strings.read(file, "term_names"),
        "join_names": Strings.read(file, "join_names"),
    }
    image = cast(Image, read_dataclass(Image, file, scalars, "", given))
    try:
        image.check_lengths()
    except ValueError as error:
        raise refusal(file.name, str(error)) from None
    return image


class Slots(Sequence[Slot]):
    """The slots of a file, each decoded when it is first asked for."""

    __slots__ = ("strings", "constants", "_columns", "_integers", "_texts", "_known", "_name")

    def __init__(self, file: ImageFile) -> None:
        self.strings = Strings.read(file, "slots")
        self.constants = {
            name: file.array(f"constants.{name}", dtype, 2)
            for name, dtype in (("count", np.int32), ("form", np.uint8), ("first", np.int64))
        }
        for name, column in self.constants.items():
            if column.shape != (len(self.strings), len(KINDS)):
                raise refusal(file.name, f"its section constants.{name} is not for {len(self.strings):,} slots")
        self._integers: NDArray[np.int64] = file.array("constants.integers", np.int64)
        self._texts = Strings.read(file, "constants.texts")
        self._known: dict[int, Slot] = {}
        self._name = file.name

    def sections(self) -> list[NewSection]:
        """The sections that the slots were read from."""
        return [
            *self.strings.sections("slots", matching=True),
            *[NewSection(f"constants.{name}", column) for name, column in self.constants.items()],
            NewSection("constants.integers", self._integers),
            *self._texts.sections("constants.texts", matching=True),
        ]

    def __len__(self) -> int:
        return len(self.strings)

    @overload
    def __getitem__(self, index: int) -> Slot: ...
    @overload
    def __getitem__(self, index: slice) -> list[Slot]: ...
    def __getitem__(self, index: int | slice) -> Slot | list[Slot]:
        places = range(len(self.strings))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        known = self._known.get(places)
        if known is None:
            known = self._known[places] = self._read(places)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)

    def texts(self) -> Strings:
        """The texts that constants are read from."""
        return self._texts

    def _read(self, number: int) -> Slot:
        columns = [self._column(number, kind) for kind in range(len(KINDS))]
        return reader(self._name, "slots", lambda text: _slot_of(text, Constants(*columns)))(self.strings[number])

    def _column(self, number: int, kind: int) -> Sequence[Any]:
        count, form, first = (int(self.constants[name][number, kind]) for name in ("count", "form", "first"))
        if not count:
            return ()
        whole = self._integers if form == _INTEGERS else self._texts
        if count < 0 or first < 0 or first + count > len(whole) or form not in (_INTEGERS, _TEXTS):
            raise refusal(self._name, f"the constants of slot {number} lie where they cannot")
        if form == _INTEGERS:
            integers = self._integers[first : first + count]
            return tuple(map(bool, integers)) if KINDS[kind] is Kind.BOOLEAN else Integers(integers)
        texts = self._texts.part(first, first + count)
        return texts if KINDS[kind] is Kind.STRING else Decoded(texts, reader(self._name, "constants.texts", number_of))


def reader(name: str, section: str, decode: Callable[[str], T]) -> Callable[[str], T]:
    """`decode` that refuses the image of this name where the text cannot be what was written."""

    def read(text: str) -> T:
        try:
            return decode(text)
        except (ValueError, TypeError, OverflowError) as error:
            raise refusal(name, f"a text of its section {section} cannot be read ({error})") from None

    return read


def _slot_sections(slots: Sequence[Slot]) -> list[NewSection]:
    if isinstance(slots, Slots):
        return slots.sections()
    shape = (len(slots), len(KINDS))
    counts, forms, firsts = np.zeros(shape, np.int32), np.zeros(shape, np.uint8), np.zeros(shape, np.int64)
    integers: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    n_integers = 0
    texts: list[str] = []
    for number, slot in enumerate(slots):
        for place, kind in enumerate(KINDS):
            constants = slot.constants.column(kind)
            is_text = kind is Kind.STRING or not (kind is Kind.BOOLEAN or fits_int64(constants))
            counts[number, place] = len(constants)
            forms[number, place] = _TEXTS if is_text else _INTEGERS
            firsts[number, place] = len(texts) if is_text else n_integers
            if not is_text:
                integers += _arrays_of(constants)
                n_integers += len(constants)
            else:
                texts.extend(constants if kind is Kind.STRING else map(number_text, constants))
    return [
        *Strings(list(map(_slot_text, slots))).sections("slots", matching=True),
        NewSection("constants.count", counts),
        NewSection("constants.form", forms),
        NewSection("constants.first", firsts),
        NewSection("constants.integers", np.concatenate(integers)),
        *Strings(texts).sections("constants.texts", matching=True),
    ]


def _arrays_of(integers: Sequence[int]) -> list[NDArray[np.int64]]:
    """PERF: in parts, between which another thread may run."""
    if isinstance(integers, Integers):
        return [integers.array]
    return [np.array(integers[start : start + _CHUNK], np.int64) for start in range(0, len(integers), _CHUNK)]


def _slot_text(slot: Slot) -> str:
    return dumps((slot.name, slot.parts, slot.type_, None if slot.parts is not None else slot.program))


def _slot_of(text: str, constants: Constants) -> Slot:
    name, parts, type_, program = loads(text)
    if parts is not None:
        program = (("attribute", 0, parts, type_),)
    elif type(program) is not tuple:
        raise ValueError(f"the slot {name} has neither parts nor a program")
    return Slot(name, program, parts, type_, constants)


def _pattern_text(pattern: Pattern) -> str:
    return dumps((pattern.slot, pattern.like, pattern.regex))


def _pattern_of(text: str) -> Pattern:
    slot, like, regex = loads(text)
    return Pattern(slot, like, regex)


def _program_of(text: str) -> Program:
    program = loads(text)
    if type(program) is not tuple:
        raise ValueError("a term that is no program")
    return program


def _join_of(text: str) -> JoinTerm:
    term = loads(text)
    if not isinstance(term, JoinTerm):
        raise ValueError("no join term")
    return term


def _as_strings(values: Sequence[str]) -> Strings:
    return values if isinstance(values, Strings) else Strings(list(values))
