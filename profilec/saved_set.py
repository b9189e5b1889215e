"""A compiled set as an image file, and back: all that `ProfileSet` holds but its documents.

In: the parts of a set. Out: sections, in a file or in memory; and from them the parts, decoded as they are asked for.

    set             tokens: the files that places number, options, plan
    schema.off      one text, the schema's tokens, or none
    diagnostics.off a text a diagnostic
    ids, wheres, places, properties, comments, examples     see `profile_table`
    all others      see `runtime.imagefile.sections`

Invariant: the same profiles and options give the same bytes; so does an image that was loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.limits import Limits
from profilec.planner.options import Options
from profilec.planner.plan import Plan
from profilec.planner.ranking import Ranking
from profilec.profile_table import ProfileTable, SortedIds, read_table
from profilec.runtime.image import Image
from profilec.runtime.imagefile.columns import Decoded, Strings, strings_of
from profilec.runtime.imagefile.container import ImageError, ImageFile, NewSection, refusal
from profilec.runtime.imagefile.sections import Slots, image_sections, read_image, reader
from profilec.runtime.imagefile.tokens import dumps, loads
from profilec.runtime.matchers.betree.tree import Tree
from profilec.values.types import Schema


class SetParts(NamedTuple):
    """What a set is made of. `schema`: one, or none. `file`: the image that it was read from."""

    table: ProfileTable
    image: Image
    plan: Plan
    options: Options
    schema: Sequence[Schema]
    diagnostics: Sequence[Diagnostic]
    file: ImageFile | None = None


@dataclass(frozen=True, slots=True)
class SectionSize:
    """A section of an image: its name, whether matching reads it, the type and shape of its array, and its bytes."""

    name: str
    matching: bool
    dtype: str
    shape: tuple[int, ...]
    n_bytes: int


@dataclass(frozen=True, slots=True)
class ImageReport:
    """What an image is made of."""

    path: str
    n_profiles: int
    n_bytes: int
    sections: tuple[SectionSize, ...]

    def bytes_a_profile(self, *, matching: bool) -> float:
        """The bytes of the sections that matching reads, or of the others, for each profile."""
        n_bytes = sum(section.n_bytes for section in self.sections if section.matching == matching)
        return n_bytes / max(self.n_profiles, 1)


def set_sections(parts: SetParts) -> list[NewSection]:
    """All of a set, as sections of an image.

    Raises:
        TypeError: a property of a profile is a value that no image keeps.
    """
    facts = {
        "files": parts.table.places.files,
        "options": _options_facts(parts.options),
        "plan": _plan_facts(parts.plan),
    }
    text = np.frombuffer(dumps(facts).encode("utf-8", "surrogatepass"), np.uint8)
    return [
        *image_sections(parts.image),
        NewSection("set", text, matching=False),
        *strings_of(parts.schema, dumps).sections("schema", matching=False),
        *strings_of(parts.diagnostics, _diagnostic_text).sections("diagnostics", matching=False),
        *parts.table.sections(),
    ]


def read_set(file: ImageFile) -> SetParts:
    """The parts of a set, none of which is read before it is used.

    Raises:
        ImageError: the file is not that of a set.
    """
    image = read_image(file)
    facts = reader(file.name, "set", loads)(file.text("set"))
    try:
        files, plan = facts["files"], Plan(**facts["plan"])
        options = _options_of_facts(facts["options"])
    except (TypeError, KeyError) as error:
        raise refusal(file.name, f"its section set is that of another profilec ({error})") from None
    if type(files) is not tuple:
        raise refusal(file.name, "its section set names no files")
    table = read_table(file, files)
    if image.n_profiles != len(table.ids):
        raise refusal(file.name, f"it has {image.n_profiles:,} profiles and {len(table.ids):,} ids")
    schema = Decoded(Strings.read(file, "schema"), reader(file.name, "schema", schema_of))
    diagnostics = Decoded(Strings.read(file, "diagnostics"), reader(file.name, "diagnostics", _diagnostic_of))
    return SetParts(table, image, plan, options, schema, diagnostics, file)


def verify(path: str | os.PathLike[str]) -> ImageReport:
    """Reads the whole of an image, and checks that it is as it was written and does not contradict itself.

    `load` reads the header and the table of sections only: verify what came from elsewhere before it is loaded.

    Raises:
        ImageError: it is damaged; the message names what is wrong.
        OSError: it cannot be read.
    """
    return verify_file(ImageFile.open(path))


def verify_file(file: ImageFile) -> ImageReport:
    """As `verify`, of an image that is open already."""
    found = list(file.damage())
    if found:
        more = f", and {len(found) - 3:,} more" if len(found) > 3 else ""
        raise refusal(file.name, f"it is damaged: {', '.join(found[:3])}{more}")
    parts = read_set(file)
    try:
        found = list(_contradictions(parts))
    except ImageError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        found = [str(error)]
    if found:
        raise refusal(file.name, f"it contradicts itself: {', '.join(found[:3])}")
    return report(file)


def report(file: ImageFile) -> ImageReport:
    """What an image is made of, as its table of sections tells."""
    sections = tuple(
        SectionSize(section.name, section.matching, section.dtype, section.shape, section.length)
        for section in file.sections.values()
    )
    return ImageReport(file.name, len(Strings.read(file, "ids")), len(file.data), sections)


def _contradictions(parts: SetParts) -> Iterator[str]:
    """What cannot be so in a set that was read."""
    table, image = parts.table, parts.image
    texts: dict[str, Any] = {"ids": table.ids, "wheres": table.wheres, "slots": image.slots, "terms": image.terms}
    texts |= {"patterns": image.patterns, "joins": image.joins, "schema": parts.schema}
    texts |= {"term_names": image.term_names, "join_names": image.join_names, "diagnostics": parts.diagnostics}
    if isinstance(image.slots, Slots):
        texts["constants.texts"] = image.slots.texts()
    sparse: dict[str, Any] = {
        "properties": table.properties,
        "comments": table.comments,
        "examples": table.examples,
    }
    texts |= {name: column.values_ for name, column in sparse.items()}
    faults = [
        f"{name}: {fault}"
        for name, column in texts.items()
        for fault in (column if isinstance(column, Strings) else column.strings).faults()
    ]
    yield from faults
    if faults:
        return
    for column in texts.values():
        if not isinstance(column, Strings):
            for _ in column:  # each is decoded, and refused where it cannot be
                pass
    for name, column in sparse.items():
        ordinals = column.ordinals
        inside = not len(ordinals) or (ordinals[0] >= 0 and ordinals[-1] < image.n_profiles)
        if not inside or (np.diff(ordinals.astype(np.int64)) <= 0).any():
            yield f"{name} are of profiles that there are not, or not in order"
    places = table.places
    if len(places.file) and (places.file.min() < 0 or places.file.max() >= len(places.files)):
        yield "places.file numbers files that there are not"
    yield from _id_faults(table)
    image.check()
    for name, tree in (("tree", image.tree), ("join_tree", image.join_tree)):
        if tree is not None:
            yield from _tree_faults(image, tree, name)


def _tree_faults(image: Image, tree: Tree, name: str) -> Iterator[str]:
    """Kernels read a tree without looking where."""
    from profilec.runtime.matchers.betree.sound import fault

    special = tree.special
    if len(special) and (special.min() < 0 or special.max() >= image.n_entries):
        yield f"{name}.special names entries that there are not"
    position = fault(tree.data, len(tree.words), len(special), image.n_ranks, image.n_profiles)
    if position >= 0:
        yield f"{name}.data is no tree at {position}"


def _id_faults(table: ProfileTable) -> Iterator[str]:
    assert isinstance(table.index, SortedIds)
    order = table.index.order
    n_profiles = len(order)
    inside = not n_profiles or (order.min() >= 0 and order.max() < n_profiles)
    if not inside or (np.bincount(order, minlength=n_profiles) != 1).any():
        yield "ids.order is no permutation"
        return
    before = None
    for ordinal in order.tolist():
        raw = table.ids.raw(ordinal)
        if before is not None and raw <= before:
            yield f"the id {table.ids[ordinal]!r} is out of order, or there twice"
            return
        before = raw


def options_text(options: Options) -> str:
    """Options as text."""
    return dumps(_options_facts(options))


def options_of(text: str) -> Options:
    """The options that `options_text` wrote."""
    return _options_of_facts(loads(text))


def _options_facts(options: Options) -> dict[str, Any]:
    found = _shallow(options) | {"limits": asdict(options.limits), "ranking": tuple(options.ranking)}
    return _without_none(found, "memory")


def _plan_facts(plan: Plan) -> dict[str, Any]:
    found = _shallow(plan) | {"operators": tuple(map(tuple, plan.operators))}
    return _without_none(found | {"held": plan.held and tuple(plan.held)}, "held")


def _without_none(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """Facts of a set of limited memory, or as they were before there was that."""
    return {each: fact for each, fact in facts.items() if each != name or fact is not None}


def _options_of_facts(given: dict[str, Any]) -> Options:
    own = {"limits": Limits(**given["limits"]), "ranking": Ranking(*given.get("ranking", ()))}
    return Options(**{**given, **own})


def _shallow(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _diagnostic_text(diagnostic: Diagnostic) -> str:
    return dumps(_shallow(diagnostic))


def _diagnostic_of(text: str) -> Diagnostic:
    return Diagnostic(**loads(text))


def schema_of(text: str) -> Schema:
    """The schema of its tokens."""
    schema = loads(text)
    if not isinstance(schema, Schema):
        raise ValueError("no schema")
    return schema
