"""Generated profiles as images, without a million texts to parse: columns to normal forms to `ImageBuilder`.

A normal form here is the one that the compiler makes of the profile's text (a test compares them).
"""

from __future__ import annotations

import gc
import hashlib
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from conjunctions import Conjunctions, Op, has_list_of
from nested import AND, Expressions

from profilec.grammar import ir
from profilec.planner.lower import ImageBuilder
from profilec.planner.normalize import normalize
from profilec.runtime.image import Image

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "bench-results" / "cache"
_SIGNS = {
    Op.EQUAL: ("=", 0, 0),
    Op.NOT_EQUAL: ("!=", 0, 0),
    Op.LESS: ("<", 1, 1),
    Op.AT_MOST: ("<=", 1, 0),
    Op.AT_LEAST: (">=", 0, 0),
    Op.GREATER: (">", 0, -1),
}
"""Operator to its sign, and the constant: 0 for low and 1 for high, and how far from it."""


@dataclass(frozen=True, slots=True)
class Built:
    """An image, and how long `ImageBuilder.build` took (planning and lowering, without parsing)."""

    image: Image
    seconds: float


def image_of(profiles: Conjunctions | Expressions) -> Built:
    """The image of generated profiles."""
    builder = ImageBuilder()
    was_enabled = gc.isenabled()
    gc.disable()  # as `compile` does: millions of objects, no cycles
    try:
        for form in forms_of(profiles):
            builder.add(form)
        start = time.perf_counter()
        image = builder.build().image
        return Built(image, time.perf_counter() - start)
    finally:
        if was_enabled:
            gc.enable()


def cached_image(parameters: Any, make: Callable[[], Conjunctions | Expressions]) -> Built:
    """`image_of(make())`, kept on disk for the next run with these parameters and this source code."""
    name = hashlib.sha256(repr(parameters).encode()).hexdigest()[:16]
    file = CACHE / f"{name}-{_source_digest()}.image"
    if file.exists():
        with file.open("rb") as stored:
            built = pickle.load(stored)
        assert isinstance(built, Built)
        return built
    built = image_of(make())
    CACHE.mkdir(parents=True, exist_ok=True)
    for outdated in CACHE.glob(f"{name}-*"):
        outdated.unlink()
    partial = file.with_suffix(".partial")
    with partial.open("wb") as stored:
        pickle.dump(built, stored, protocol=pickle.HIGHEST_PROTOCOL)
    partial.replace(file)
    return built


@cache
def _source_digest() -> str:
    """Of everything that decides what is built."""
    digest = hashlib.sha256()
    folders = ("profilec/planner", "profilec/grammar", "profilec/values")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    files += [ROOT / "profilec/runtime/image.py", *(ROOT / "profilec/runtime/matchers").rglob("*.py")]
    files += [
        Path(__file__).with_name(f"{name}.py")
        for name in ("begen", "conjunctions", "draws", "images", "loads", "nested", "opindex")
    ]
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def forms_of(profiles: Conjunctions | Expressions) -> Iterator[ir.Condition]:
    """The normal form of each profile."""
    if isinstance(profiles, Conjunctions):
        return _conjunctions(profiles)
    return _expressions(profiles)


def _conjunctions(profiles: Conjunctions) -> Iterator[ir.Condition]:
    parts = _parts(profiles)
    for start, end in pairwise(profiles.off.tolist()):
        operands: list[ir.Condition] = []
        for row in range(start, end):
            operands += parts[row]
        yield ir.And(tuple(operands)) if len(operands) > 1 else operands[0]


def _expressions(profiles: Expressions) -> Iterator[ir.Condition]:
    nodes: list[ir.Condition] = [part[0] if len(part) == 1 else ir.And(part) for part in _parts(profiles.predicates)]
    off, child, kinds = profiles.child_off.tolist(), profiles.child.tolist(), profiles.kind.tolist()
    for kind, start, end in zip(kinds, off[:-1], off[1:], strict=True):
        connective = ir.And if kind == AND else ir.Or
        nodes.append(connective(tuple(map(nodes.__getitem__, child[start:end]))))
    for root in profiles.root.tolist():
        yield normalize(nodes[root])


def _parts(profiles: Conjunctions) -> list[tuple[ir.Condition, ...]]:
    """Each predicate as the operands of its AND: one, or two for BETWEEN. Equal predicates share them."""
    key = (profiles.slot.astype(np.int64) << 44) | (profiles.op.astype(np.int64) << 40)
    key |= (profiles.low.astype(np.int64) << 20) | profiles.high
    listed = np.flatnonzero(has_list_of(profiles.op))
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    attributes = [ir.attribute(f"a{number}") for number in range(profiles.n_attributes)]
    columns = (profiles.op[first], profiles.slot[first], profiles.low[first], profiles.high[first])
    simple = [
        () if op in (Op.IN, Op.NOT_IN) else _operands(Op(op), attributes[slot], low, high)
        for op, slot, low, high in zip(*(column.tolist() for column in columns), strict=True)
    ]
    parts = list(map(simple.__getitem__, place.tolist()))
    known: dict[tuple[int, ...], tuple[ir.Condition, ...]] = {}
    off, values = profiles.list_off.tolist(), profiles.list_values.tolist()
    ops, slots = profiles.op[listed].tolist(), profiles.slot[listed].tolist()
    for row, op, slot, start, end in zip(listed.tolist(), ops, slots, off[:-1], off[1:], strict=True):
        options = (op, slot, *values[start:end])
        found = known.get(options)
        if found is None:
            found = known[options] = (_listed(Op(op), attributes[slot], values[start:end]),)
        parts[row] = found
    return parts


def _operands(op: Op, attribute: ir.Attribute, low: int, high: int) -> tuple[ir.Condition, ...]:
    if op is Op.IS_NULL:
        return (ir.IsNull(attribute),)
    if op is Op.BETWEEN and low < high:
        bounds = ((">=", low), ("<=", high))
        return tuple(ir.Compare(sign, attribute, ir.constant(bound)) for sign, bound in bounds)
    sign, which, shift = _SIGNS[Op.EQUAL if op is Op.BETWEEN else op]
    return (ir.Compare(sign, attribute, ir.constant((low, high)[which] + shift)),)


def _listed(op: Op, attribute: ir.Attribute, values: list[int]) -> ir.Condition:
    if len(values) == 1:
        return ir.Compare("=" if op is Op.IN else "!=", attribute, ir.constant(values[0]))
    within = ir.In(attribute, tuple(ir.constant(value) for value in values))
    return within if op is Op.IN else ir.Not(within)
