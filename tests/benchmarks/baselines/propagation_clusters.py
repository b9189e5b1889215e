"""The tables and clusters of `propagation`, as flat arrays.

In: the rank tests of an image's entries. Out: tables, by which a document's values become keys; a hash of the keys
that entries have; and by key the clusters.

    key 0     every document
    key 1 ..  table (a): 1 + rank of a            then table (a, c), and so on

Invariant: for each document an entry is under one of its keys at most, and under one if its access predicate holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from baselines.flat_hash import FlatHash, flat_hash
from baselines.propagation_keys import Schema, access_schemas
from baselines.rank_tests import RankTests
from baselines.scan import by_selectivity
from conjunctions import offsets_of
from numba import njit
from numpy.typing import NDArray

from profilec.runtime.image import Int32, gather

MAX_SPLIT = 16
"""The values of an IN up to which it is split into equalities."""


class Tables(NamedTuple):
    """Table t has the slots `slots[slot_off[t] .. slot_off[t + 1]]`, ascending, and the keys from `first_key[t]` on;
    those whose first slot is s are `tables[of_slot[s] .. of_slot[s + 1]]`. Table 0 has no slots and the key 0."""

    slot_off: NDArray[np.int64]
    slots: Int32
    first_key: NDArray[np.int64]
    of_slot: NDArray[np.int64]
    tables: Int32


class Clusters(NamedTuple):
    """Key k has the clusters off[k] .. off[k + 1]; cluster c the entries `entries[start[c] .. start[c + 1]]`, and of
    each of them `n_columns[c]` predicates, column after column from `references[columns[c]]` on."""

    off: NDArray[np.int64]
    start: NDArray[np.int64]
    n_columns: Int32
    entries: Int32
    columns: NDArray[np.int64]
    references: Int32


def access_paths(tests: RankTests) -> tuple[Tables, FlatHash, Clusters]:
    """Tables, the keys that are there, and by the place of a key its clusters."""
    schemas, schema_of = access_schemas(tests)
    entry, schema, rank = _split(tests, schemas, schema_of)
    tables = _tables(tests, schemas)
    key, n_left = np.empty(len(entry), np.int64), np.empty(len(entry), np.int64)
    of_entries = tests.entry_off, tests.tests, tests.slot, tests.off, tests.low
    find_keys(entry, schema, rank, tables, tests.n_ranks, *of_entries, key, n_left)
    order = np.lexsort((entry, n_left, key))
    entry, schema, key, n_left = entry[order], schema[order], key[order], n_left[order]
    is_first = np.ones(len(key), np.bool_)
    is_first[1:] = (key[1:] != key[:-1]) | (n_left[1:] != n_left[:-1])
    first = np.flatnonzero(is_first)
    keys, off = np.unique(key[first], return_index=True)
    start = np.append(first, len(key))
    columns = offsets_of(n_left[first] * np.diff(start))
    clusters = Clusters(
        np.append(off, len(first)).astype(np.int64),
        start.astype(np.int64),
        n_left[first].astype(np.int32),
        entry.astype(np.int32),
        columns,
        np.empty(int(columns[-1]), np.int32),
    )
    fill_columns(clusters, schema, tables, tests.entry_off, _by_chance(tests), tests.slot)
    return tables, flat_hash(keys), clusters


def _split(
    tests: RankTests, schemas: list[Schema], schema_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Entries, each with its schema and -1; one without an equality but with an IN as often as that has values, with
    each of these. Adds the schemas that this needs."""
    n_parts = np.diff(tests.off)
    can = (tests.n_accepted == n_parts) & (n_parts <= MAX_SPLIT) & (n_parts > 1) & ~tests.on_absence
    chosen = (schema_of[tests.owner] == 0) & can[tests.tests]
    entry, test = tests.owner[chosen], tests.tests[chosen]
    order = np.lexsort((n_parts[test], entry))
    entry, test = entry[order], test[order]
    is_first = np.ones(len(entry), np.bool_)
    is_first[1:] = entry[1:] != entry[:-1]
    entry, test = entry[is_first], test[is_first]
    number_of = {schema: number for number, schema in enumerate(schemas)}
    for slot in np.unique(tests.slot[test]).tolist():
        if (slot,) not in number_of:
            number_of[slot,] = len(schemas)
            schemas.append((slot,))
    of_slot = np.array([number_of.get((slot,), 0) for slot in range(len(tests.n_ranks))], np.int64)
    ranks, cut = gather(tests.off, tests.low, test)
    is_whole = np.ones(tests.n_entries, np.bool_)
    is_whole[entry] = False
    whole = np.flatnonzero(is_whole)
    return (
        np.concatenate((whole, np.repeat(entry, np.diff(cut)))),
        np.concatenate((schema_of[whole], np.repeat(of_slot[tests.slot[test]], np.diff(cut)))),
        np.concatenate((np.full(len(whole), -1), ranks)),
    )


def _tables(tests: RankTests, schemas: list[Schema]) -> Tables:
    n_keys = [1]
    for schema in schemas[1:]:
        n = 1
        for slot in schema:
            n *= int(tests.n_ranks[slot])
        n_keys.append(n)
    first = np.array([schema[0] for schema in schemas[1:]], np.int64)
    return Tables(
        offsets_of(np.array([len(schema) for schema in schemas])),
        np.array([slot for schema in schemas for slot in schema], np.int32),
        offsets_of(np.array(n_keys, np.int64))[:-1],
        offsets_of(np.bincount(first, minlength=len(tests.n_ranks))),
        (np.argsort(first, kind="stable") + 1).astype(np.int32),
    )


def _by_chance(tests: RankTests) -> Int32:
    """The tests of each entry, from what holds least often on."""
    presence = np.minimum(1.0, tests.presence())[tests.slot]
    share = tests.n_accepted / np.maximum(1, tests.n_ranks[tests.slot])
    chance = np.where(tests.on_absence, 1 - presence * (1 - share), presence * share)
    order = by_selectivity(tests.entry_off.astype(np.int32), chance[tests.tests].astype(np.float32))
    ordered: Int32 = tests.tests[order]
    return ordered


@njit(nogil=True, cache=True)
def find_keys(
    entry: Any, schema: Any, rank: Any, tables: Any, n_ranks: Any, entry_off: Any, tests: Any, slot: Any, off: Any,
    low: Any, key: Any, n_left: Any,
) -> None:  # fmt: skip
    """For each entry its key and the number of its other predicates. `rank`: of the one slot of the schema, or -1."""
    for number in range(len(entry)):
        table, row = schema[number], entry_off[entry[number]]
        value = np.int64(0)
        for place in range(tables.slot_off[table], tables.slot_off[table + 1]):
            while slot[tests[row]] != tables.slots[place]:
                row += 1
            own = rank[number] if rank[number] >= 0 else np.int64(low[off[tests[row]]])
            value = value * n_ranks[tables.slots[place]] + own
        key[number] = tables.first_key[table] + value
        n_tests = entry_off[entry[number] + 1] - entry_off[entry[number]]
        n_left[number] = n_tests - (tables.slot_off[table + 1] - tables.slot_off[table])


@njit(nogil=True, cache=True)
def fill_columns(clusters: Any, schema: Any, tables: Any, entry_off: Any, tests: Any, slot: Any) -> None:
    for cluster in range(len(clusters.n_columns)):
        start, end = clusters.start[cluster], clusters.start[cluster + 1]
        for number in range(start, end):
            place = clusters.columns[cluster] + number - start
            entry, table = clusters.entries[number], schema[number]
            for row in range(entry_off[entry], entry_off[entry + 1]):
                is_access = False
                for own in range(tables.slot_off[table], tables.slot_off[table + 1]):
                    is_access |= tables.slots[own] == slot[tests[row]]
                if not is_access:
                    clusters.references[place] = tests[row]
                    place += end - start
