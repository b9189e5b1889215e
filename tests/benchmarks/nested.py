"""Arbitrary AND/OR expressions with sub-expressions that repeat, steered to a match probability as BEGen steers it.

Half of the profiles are conjunctions as `begen` derives them. The other half are of depth 2 to 4, AND
and OR in turn, derived from a base expression such that its documents satisfy them: every operand of
an AND follows from the base, and one operand of an OR, while the others are about bases that
no document is made from. Operands come from pools, one for each base, and by Zipf, so that parts
repeat between profiles as they do in real sets (what A-Tree shares).

    AND[1]  3 or 4 predicates            OR[1]  2 or 3 predicates
    AND[d]  2 or 3 predicates, 1 or 2 of OR[d - 1]
    OR[d]   2 or 3 of AND[d - 1]

So each way to satisfy a profile takes three predicates, and hardly any other document does.

Nodes are numbers: predicates first, then connectives, each after its operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import begen
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import texts
from begen import Bases, bases_of
from conjunctions import Conjunctions, concatenated, offsets_of, with_masks
from documents import Documents
from draws import CLASSES, inferred, weighted, zipf_weights
from numpy.typing import NDArray

CHUNK = 1 << 16
AND, OR = 0, 1
_POOL, _PROFILES, _ORDER = 11, 12, 13
_VARIANTS = 3
"""Predicates that a pool has for each predicate of its base."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """`begen`'s parameters, and those of the expressions.

    `arbitrary`: the share of profiles that are no conjunctions. `repeat`: the exponent of Zipf by which parts repeat.
    `pool`: the parts of each sort that a base's pool has.
    """

    begen: begen.Parameters = field(default_factory=lambda: begen.Parameters(match_probability=0.001))
    depths: tuple[int, ...] = (2, 3, 4)
    arbitrary: float = 0.5
    repeat: float = 1.0
    pool: int = 16


@dataclass(frozen=True, slots=True)
class Expressions:
    """Profiles as a graph of nodes that share their parts.

    Nodes `0 .. n_predicates - 1` are the rows of `predicates`; then come connectives: node n_predicates + i
    is `kind[i]` (AND, OR) of the nodes `child[child_off[i] .. child_off[i + 1]]`. `root`: the node of each profile.
    """

    predicates: Conjunctions
    kind: NDArray[np.uint8]
    child_off: NDArray[np.int64]
    child: NDArray[np.int32]
    root: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.root)

    @property
    def n_predicates(self) -> int:
        return len(self.predicates.op)


class _Group(NamedTuple):
    """Connectives of one sort: their operands as CSR."""

    kind: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    child: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Pools:
    """What profiles draw from: base b has the nodes `first[sort] + b * n .. + n` of each sort, n being `size[sort]`.

    Bases from `n_real` on are those that no document is made from.
    """

    bases: Bases
    n_real: int
    expressions: Expressions
    first: dict[tuple[int, int], int]
    size: dict[tuple[int, int], int]


_PREDICATE = (2, 0)
"""The sort of a predicate; the others are (AND or OR, depth)."""


def profiles(parameters: Parameters) -> Expressions:
    """All profiles."""
    pools = _pools(parameters)
    parts = list(_parts(parameters, pools))
    return _with(pools, [part for part, _ in parts], [root for _, root in parts])


def chunks(parameters: Parameters) -> Iterator[Expressions]:
    """The profiles, `CHUNK` at a time; each chunk holds the pools as well."""
    pools = _pools(parameters)
    for part, root in _parts(parameters, pools):
        yield _with(pools, [part], [root])


def documents(parameters: Parameters, n: int = 1_000) -> Documents:
    """BEGen's documents: a base expression with one to three random attributes more."""
    return begen.documents(parameters.begen, n)


def tables(parameters: Parameters) -> Iterator[pa.Table]:
    """Arrow tables of ids and WHERE texts, a chunk each."""
    return texts.profile_tables(conditions(chunk) for chunk in chunks(parameters))


def conditions(expressions: Expressions) -> pa.StringArray:
    """The WHERE text of each profile."""
    known = texts.predicates(expressions.predicates)
    sizes = np.diff(expressions.child_off)
    for start, end in _levels(expressions):
        rows = np.arange(start, end)
        off = offsets_of(sizes[rows])
        child = expressions.child[expressions.child_off[start] : expressions.child_off[end]]
        parts = known.take(pa.array(child))
        is_connective = pa.array(child >= expressions.n_predicates)
        parts = pc.if_else(is_connective, pc.binary_join_element_wise("(", parts, ")", ""), parts)
        of_and = texts.joined(parts, off, " AND ")
        of_or = texts.joined(parts, off, " OR ")
        known = pa.concat_arrays([known, pc.if_else(pa.array(expressions.kind[rows] == AND), of_and, of_or)])
    return known.take(pa.array(expressions.root))


def _levels(expressions: Expressions) -> Iterator[tuple[int, int]]:
    """Runs of connectives none of which is an operand of another in the run."""
    n, first = len(expressions.kind), expressions.n_predicates
    if not n:
        return
    last_child = np.maximum.reduceat(expressions.child, expressions.child_off[:-1]) - first
    start = 0
    while start < n:
        # The first connective that has one of this run as an operand ends the run.
        later = np.flatnonzero(last_child[start:] >= start)
        end = start + int(later[0]) if len(later) else n
        yield start, end
        start = end


def _pools(parameters: Parameters) -> _Pools:
    """The bases, as many again (but 50 at least) that no document is made from, and the parts of each."""
    own = parameters.begen
    real = bases_of(own)
    n_others = min(1_000, max(50, len(real.slots)))
    others = bases_of(replace(own, seed=own.seed + 1_000_003, match_probability=1 / n_others))
    bases = Bases(np.concatenate((real.slots, others.slots)), np.concatenate((real.values, others.values)))
    rng = np.random.default_rng((own.seed, _POOL))
    n_bases, n_columns = bases.slots.shape
    column = np.tile(np.repeat(np.arange(n_columns), _VARIANTS), n_bases)
    base = np.repeat(np.arange(n_bases), n_columns * _VARIANTS)
    predicates = _predicates(rng, bases, base, column, own)
    first, size = {_PREDICATE: 0}, {_PREDICATE: n_columns * _VARIANTS}
    empty = Expressions(
        predicates, np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)
    )
    pools = _Pools(bases, len(real.slots), empty, first, size)
    groups: list[_Group] = []
    n_nodes = len(predicates.op)
    owner = np.repeat(np.arange(n_bases), parameters.pool)
    for depth in range(1, max(parameters.depths)):
        groups += [_connectives(rng, pools, owner, kind, depth, parameters) for kind in (AND, OR)]
        for kind, group in ((AND, groups[-2]), (OR, groups[-1])):
            first[kind, depth], size[kind, depth] = n_nodes, parameters.pool
            n_nodes += len(group.kind)
    return replace(pools, expressions=_joined(predicates, groups, np.zeros(0, np.int32)))


def _parts(parameters: Parameters, pools: _Pools) -> Iterator[tuple[tuple[Conjunctions, _Group], NDArray[np.int32]]]:
    """For each chunk its own predicates (of its conjunctions) and its profiles' connectives.

    The second part numbers the profiles' connectives within the chunk. Operands that are predicates of
    the chunk are negative: -1 is the first.
    """
    own = parameters.begen
    base_of = np.arange(own.n_profiles, dtype=np.int32) % np.int32(pools.n_real)
    np.random.default_rng((own.seed, _ORDER)).shuffle(base_of)
    for number, start in enumerate(range(0, own.n_profiles, CHUNK)):
        rng = np.random.default_rng((own.seed, _PROFILES, number))
        base = base_of[start : start + CHUNK]
        is_arbitrary = rng.random(len(base)) < parameters.arbitrary
        plain = begen.derived(rng, pools.bases, base[~is_arbitrary], own)
        groups = [
            _Group(
                np.full(len(plain), AND, np.uint8), np.diff(plain.off), -1 - np.arange(len(plain.op), dtype=np.int32)
            )
        ]
        order = [np.flatnonzero(~is_arbitrary)]
        arbitrary = np.flatnonzero(is_arbitrary)
        depth_of = rng.choice(parameters.depths, len(arbitrary))
        kind_of = rng.integers(0, 2, len(arbitrary))
        for depth in sorted(set(parameters.depths)):
            for kind in (AND, OR):
                mine = arbitrary[(depth_of == depth) & (kind_of == kind)]
                groups.append(_connectives(rng, pools, base[mine], kind, depth, parameters))
                order.append(mine)
        root = np.empty(len(base), np.int32)
        root[np.concatenate(order)] = np.arange(len(base))
        yield (plain, _concatenated(groups)), root


def _with(pools: _Pools, parts: list[tuple[Conjunctions, _Group]], roots: list[NDArray[np.int32]]) -> Expressions:
    """The pools and the parts as one graph: predicates of both first, so that all other numbers move."""
    pooled = pools.expressions
    n_pooled, n_own = pooled.n_predicates, sum(len(plain.op) for plain, _ in parts)
    pool_child = np.where(pooled.child < n_pooled, pooled.child, pooled.child + n_own)
    groups = [_Group(pooled.kind, np.diff(pooled.child_off), pool_child.astype(np.int32))]
    root: list[NDArray[np.int32]] = []
    n_nodes, n_before = n_pooled + n_own + len(pooled.kind), n_pooled
    for (plain, group), of_chunk in zip(parts, roots, strict=True):
        child = np.where(group.child < n_pooled, group.child, group.child + n_own)
        own = group.child < 0
        child[own] = n_before - 1 - group.child[own]
        groups.append(group._replace(child=child.astype(np.int32)))
        root.append(of_chunk + np.int32(n_nodes))
        n_nodes += len(group.kind)
        n_before += len(plain.op)
    predicates = concatenated([pooled.predicates, *(plain for plain, _ in parts)])
    return _joined(predicates, groups, np.concatenate(root))


def _joined(predicates: Conjunctions, groups: list[_Group], root: NDArray[np.int32]) -> Expressions:
    merged = _concatenated(groups)
    return Expressions(predicates, merged.kind, offsets_of(merged.sizes), merged.child, root)


def _concatenated(groups: list[_Group]) -> _Group:
    kinds, sizes, children = zip(*groups, strict=True)
    return _Group(np.concatenate(kinds), np.concatenate(sizes), np.concatenate(children))


def _predicates(
    rng: np.random.Generator,
    bases: Bases,
    base: NDArray[np.int64],
    column: NDArray[np.int64],
    own: begen.Parameters,
) -> Conjunctions:
    """A predicate from each base and column named, as conjunctions of one."""
    derived = inferred(
        rng, bases.values[base, column], own.cardinality, CLASSES[own.operators], 1 - own.equality, own.range_share
    )
    off = np.arange(len(base) + 1)
    slots = bases.slots[base, column]
    return with_masks(
        own.n_attributes, own.cardinality, off, derived.op, slots, derived.low, derived.high,
        derived.list_off, derived.list_values,
    )  # fmt: skip


def _connectives(
    rng: np.random.Generator, pools: _Pools, base: NDArray[np.int64], kind: int, depth: int, parameters: Parameters
) -> _Group:
    """A connective of the sort for each of the bases."""
    n = len(base)
    if kind == AND:
        sizes = rng.integers(3, 5, n) if depth == 1 else rng.integers(2, 4, n)
        own, of_row = _distinct_predicates(rng, pools, base, sizes)
        if depth == 1:
            return _Group(np.full(n, AND, np.uint8), sizes, own)
        more = rng.integers(1, 3, n)
        rows = np.repeat(np.arange(n), more)
        nested = _drawn(rng, pools, base[rows], (OR, depth - 1), parameters)
        return _grouped(AND, n, np.concatenate((of_row, rows)), np.concatenate((own, nested)))
    inner = _PREDICATE if depth == 1 else (AND, depth - 1)
    mine = _drawn(rng, pools, base, inner, parameters)
    rows = np.repeat(np.arange(n), rng.integers(1, 3, n))
    popular = zipf_weights(len(pools.bases.slots) - pools.n_real, parameters.repeat)
    elsewhere = pools.n_real + weighted(rng, popular, len(rows))
    other = _drawn(rng, pools, elsewhere, inner, parameters)
    return _grouped(OR, n, np.concatenate((np.arange(n), rows)), np.concatenate((mine, other)), rng)


def _grouped(
    kind: int, n: int, row: NDArray[np.int64], child: NDArray[np.int32], rng: np.random.Generator | None = None
) -> _Group:
    """Connectives of the children given row by row; with `rng` the children of a row in random order, each once."""
    order = np.lexsort((child if rng is None else rng.random(len(child)), row))
    row, child = row[order], child[order]
    if rng is None:
        kept = np.ones(len(row), np.bool_)
        kept[1:] = (row[1:] != row[:-1]) | (child[1:] != child[:-1])
        row, child = row[kept], child[kept]
    return _Group(np.full(n, kind, np.uint8), np.bincount(row, minlength=n), child)


def _drawn(
    rng: np.random.Generator,
    pools: _Pools,
    base: NDArray[np.integer[Any]],
    sort: tuple[int, int],
    parameters: Parameters,
) -> NDArray[np.int32]:
    """A node of the sort from the pool of each base, by Zipf."""
    place = weighted(rng, zipf_weights(pools.size[sort], parameters.repeat), len(base))
    return (pools.first[sort] + base * pools.size[sort] + place).astype(np.int32)


def _distinct_predicates(
    rng: np.random.Generator, pools: _Pools, base: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Predicates on `sizes` distinct attributes of each base, and the row of each."""
    n_columns = pools.bases.slots.shape[1]
    columns = np.argsort(rng.random((len(base), n_columns)), axis=1)
    taken = np.arange(n_columns) < sizes[:, None]
    row = np.nonzero(taken)[0]
    variant = weighted(rng, zipf_weights(_VARIANTS, 1.0), len(row))
    node = pools.first[_PREDICATE] + base[row] * pools.size[_PREDICATE] + columns[taken] * _VARIANTS + variant
    return node.astype(np.int32), row
