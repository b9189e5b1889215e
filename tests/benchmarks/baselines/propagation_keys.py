"""The access predicates of `propagation`, and the tables that they are hashed in (Fabret, Jacobsen, Llirbat, Pereira,
Ross, Shasha, SIGMOD 2001).

In: the rank tests of an image's entries. Out: for each entry the attributes of its access predicate, a conjunction of
equalities, and for each set of attributes that is used a table.

    table 0   ()           every document: entries without an equality
    table 1   (a)          documents with a
    table 2   (a, c)       documents with a and c         key: 1 + ranks of a + rank of a * ranks of c + rank of c

What a document costs is, for each table, to see whether it has the attributes, to hash its values where it has, and to
check the entries found. Each entry begins with its most selective equality (BE-Tree 7.2). Then, as the paper's greedy
algorithm does, the table that spares most is added, as long as one spares something; in each round a table has one
attribute more than the access predicates that it takes the place of.

Left open by the seeds and decided here: of a document nothing is known; it is guessed to have attributes as often as
entries ask for them, and each value that an equality asks for as often as any other. Sets that extend an entry's
access predicate by one of its attributes are all that are tried, up to MAX_ATTRIBUTES. Benefits are computed once
in a round, and again before a table is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from baselines.rank_tests import RankTests
from conjunctions import offsets_of
from numba import njit
from numpy.typing import NDArray

MAX_ATTRIBUTES = 4
MAX_KEYS = 1 << 40
"""Of one table, the values that its attributes could have together."""
_LOOK, _HASH, _CHECK = 1.0, 4.0, 4.0
"""Costs, in those of looking whether a document has an attribute: of hashing, of checking an entry."""

Schema = tuple[int, ...]
"""The slots of a table, ascending."""


@dataclass(frozen=True, slots=True)
class Equalities:
    """The tests that accept one rank, not absence: of entry `entry[i]` on slot `slot[i]`, entry by entry.

    `chance[i]`: that a document satisfies it.
    """

    entry: NDArray[np.int64]
    slot: NDArray[np.int64]
    chance: NDArray[np.float64]


def equalities(tests: RankTests) -> Equalities:
    """All of them."""
    is_equality = (tests.n_accepted == 1) & ~tests.on_absence
    entry, own = tests.owner, tests.tests
    chosen = is_equality[own]
    slot = tests.slot[own[chosen]].astype(np.int64)
    used = np.zeros(tests.n_tests, np.bool_)
    used[own[chosen]] = True
    n_values = np.maximum(1, np.bincount(tests.slot[used], minlength=len(tests.n_ranks)))
    presence = np.minimum(1.0, tests.presence())
    return Equalities(entry[chosen], slot, (presence / n_values)[slot])


def access_schemas(tests: RankTests) -> tuple[list[Schema], NDArray[np.int64]]:
    """The schemas of tables, () first, and for each entry the number of its own."""
    own = equalities(tests)
    presence = np.minimum(1.0, tests.presence())
    schemas: list[Schema] = [()]
    schema_of, chance_of = np.zeros(tests.n_entries, np.int64), np.ones(tests.n_entries)
    by_chance = np.lexsort((own.chance, own.entry))
    is_first = np.ones(len(by_chance), np.bool_)
    is_first[1:] = own.entry[by_chance][1:] != own.entry[by_chance][:-1]
    best = by_chance[is_first]
    slots, number = np.unique(own.slot[best], return_inverse=True)
    schemas += [(slot,) for slot in slots.tolist()]
    schema_of[own.entry[best]], chance_of[own.entry[best]] = number + 1, own.chance[best]
    for _ in range(MAX_ATTRIBUTES - 1):
        if not _extend(own, presence, tests.n_ranks, schemas, schema_of, chance_of):
            break
    used, schema_of = np.unique(np.append(schema_of, 0), return_inverse=True)
    return [schemas[number] for number in used.tolist()], schema_of[:-1]


def _extend(
    own: Equalities,
    presence: NDArray[np.float64],
    n_ranks: NDArray[np.int64],
    schemas: list[Schema],
    schema_of: NDArray[np.int64],
    chance_of: NDArray[np.float64],
) -> bool:
    """Adds the tables of one attribute more that spare something, and gives them their entries; whether there are."""
    n_slots = len(presence)
    extended, which = np.unique(schema_of[own.entry] * n_slots + own.slot, return_inverse=True)
    number_of: dict[Schema, int] = {}
    number = np.full(len(extended), -1, np.int64)
    for place, (base, slot) in enumerate(zip(*(part.tolist() for part in np.divmod(extended, n_slots)), strict=True)):
        schema = tuple(sorted((*schemas[base], slot)))
        n_keys = 1
        for each in schema:
            n_keys *= int(n_ranks[each])
        if slot not in schemas[base] and n_keys <= MAX_KEYS:
            number[place] = number_of.setdefault(schema, len(number_of))
    rows = np.flatnonzero(number[which] >= 0)
    rows = rows[np.argsort(number[which[rows]], kind="stable")]
    entry, candidate = own.entry[rows], number[which[rows]]
    chance = chance_of[entry] * own.chance[rows]
    looked = np.array([presence[schema[0]] for schema in number_of])
    hashed = np.array([np.prod(presence[list(schema)]) for schema in number_of])
    cost = _LOOK * looked + _HASH * hashed
    spared = np.bincount(candidate, _CHECK * (chance_of[entry] - chance), minlength=len(number_of))
    order = np.argsort(cost - spared, kind="stable")
    off = offsets_of(np.bincount(candidate, minlength=len(number_of)))
    chosen = np.full(len(number_of), -1, np.int64)
    n_chosen = add_tables(order, off, entry, chance, cost, len(schemas), chosen, schema_of, chance_of)
    names = list(number_of)
    schemas += [names[each] for each in np.argsort(np.where(chosen < 0, len(chosen), chosen))[:n_chosen].tolist()]
    return n_chosen > 0


@njit(nogil=True, cache=True)
def add_tables(
    order: Any, off: Any, entry: Any, chance: Any, cost: Any, n_before: Any, chosen: Any, schema_of: Any, chance_of: Any
) -> Any:
    """`chosen[c]`: how many candidates were chosen before c. Gives their entries the numbers from `n_before` on."""
    n = 0
    for candidate in order:
        spared = 0.0
        for row in range(off[candidate], off[candidate + 1]):
            spared += _CHECK * max(0.0, chance_of[entry[row]] - chance[row])
        if spared <= cost[candidate]:
            continue
        for row in range(off[candidate], off[candidate + 1]):
            if chance[row] < chance_of[entry[row]]:
                chance_of[entry[row]] = chance[row]
                schema_of[entry[row]] = n_before + n
        chosen[candidate] = n
        n += 1
    return n
