"""BEGen: profiles and documents whose match probability is set (BE-Tree, 7.1, Tables 2 and 3).

Base expressions are equalities on distinct attributes; they model documents. From each, profiles
are derived: a predicate is kept with probability Pr_pred, and what is kept becomes, with
probability Pr_trans, a weaker predicate that follows from it (Table 2(b)). So a profile matches the
documents of its own base and hardly any other, and the number of bases sets the match probability:
a million profiles at 1% are 100 bases with 10,000 derived profiles each.

Profiles come shuffled, in chunks of `CHUNK`, each from a generator of its own: the same
parameters give the same profiles, however many chunks are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from conjunctions import Conjunctions, concatenated, offsets_of, with_masks
from documents import Documents, documents_of
from draws import CLASSES, distinct_weighted, inferred, zipf_weights
from numpy.typing import NDArray

CHUNK = 1 << 16
_BASES, _PROFILES, _DOCUMENTS, _ORDER = range(4)
"""What a generator is for: the second number of its seed."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The rows of Table 3, with its defaults.

    `equality`: the share of EQUAL among the profiles' predicates (Pr_trans is what is left).
    `zipf`: the exponent of the attributes' distribution; 0 is uniform.
    `sizes`: the number of predicates is uniform in this range, instead of what Pr_pred gives.
    """

    n_profiles: int = 1_000_000
    n_attributes: int = 400
    cardinality: int = 48
    profile_size: float = 7
    document_size: int = 15
    range_share: float = 0.12
    equality: float = 0.3
    operators: str = "med"
    match_probability: float = 0.01
    zipf: float = 0.0
    sizes: tuple[int, int] | None = None
    seed: int = 1

    @property
    def n_bases(self) -> int:
        return max(1, round(1 / self.match_probability))


@dataclass(frozen=True, slots=True)
class Bases:
    """Base expressions: distinct attributes and their values, both int32[n_bases, document_size]."""

    slots: NDArray[np.int32]
    values: NDArray[np.int32]


def bases_of(parameters: Parameters) -> Bases:
    """The base expressions."""
    rng = np.random.default_rng((parameters.seed, _BASES))
    n, size = parameters.n_bases, parameters.document_size
    slots = distinct_weighted(rng, _attribute_weights(parameters), n, size)
    values = rng.integers(1, parameters.cardinality + 1, (n, size), dtype=np.int32)
    return Bases(slots, values)


def chunks(parameters: Parameters) -> Iterator[Conjunctions]:
    """The profiles, `CHUNK` at a time."""
    bases = bases_of(parameters)
    base_of = _shuffled_bases(parameters)
    for number, start in enumerate(range(0, parameters.n_profiles, CHUNK)):
        rng = np.random.default_rng((parameters.seed, _PROFILES, number))
        yield derived(rng, bases, base_of[start : start + CHUNK], parameters)


def profiles(parameters: Parameters) -> Conjunctions:
    """All profiles."""
    return concatenated(chunks(parameters))


def derived(rng: np.random.Generator, bases: Bases, base_of: NDArray[np.int32], parameters: Parameters) -> Conjunctions:
    """A profile from each of the bases named, none of them empty."""
    kept = _kept(rng, len(base_of), parameters)
    row, column = np.nonzero(kept)
    base = base_of[row]
    values = bases.values[base, column]
    transformed = 1 - parameters.equality
    predicates = inferred(
        rng, values, parameters.cardinality, CLASSES[parameters.operators], transformed, parameters.range_share
    )
    return with_masks(
        parameters.n_attributes,
        parameters.cardinality,
        offsets_of(kept.sum(axis=1)),
        predicates.op,
        bases.slots[base, column],
        predicates.low,
        predicates.high,
        predicates.list_off,
        predicates.list_values,
    )


def documents(parameters: Parameters, n: int = 1_000) -> Documents:
    """Base expressions with one to three random attributes more, no two of them equal."""
    return documents_from(bases_of(parameters), parameters, n)


def documents_from(bases: Bases, parameters: Parameters, n: int) -> Documents:
    """Documents of the bases given, each base about as often as any other."""
    rng = np.random.default_rng((parameters.seed, _DOCUMENTS))
    weights = _attribute_weights(parameters)
    seen: set[frozenset[tuple[int, int]]] = set()
    rows: list[list[tuple[int, int]]] = []
    order = rng.permutation(len(bases.slots))
    n_repeated = 0
    while len(rows) < n:
        base = order[(len(rows) + n_repeated) % len(order)]
        document = dict(zip(bases.slots[base].tolist(), bases.values[base].tolist(), strict=True))
        n_more = min(int(rng.integers(1, 4)), parameters.n_attributes - len(document))
        while n_more > 0:
            slot = int(rng.choice(len(weights), p=weights))
            if slot not in document:
                document[slot] = int(rng.integers(1, parameters.cardinality + 1))
                n_more -= 1
        if frozenset(document.items()) not in seen:
            seen.add(frozenset(document.items()))
            rows.append(sorted(document.items()))
        elif (n_repeated := n_repeated + 1) > 10 * n:
            raise ValueError(f"there are no {n:,} different documents")
    return documents_of(rows, parameters.n_attributes)


def _attribute_weights(parameters: Parameters) -> NDArray[np.float64]:
    return zipf_weights(parameters.n_attributes, parameters.zipf)


def _shuffled_bases(parameters: Parameters) -> NDArray[np.int32]:
    """The base of each profile: each base as often as any other, in random order."""
    base_of = np.arange(parameters.n_profiles, dtype=np.int32) % np.int32(parameters.n_bases)
    np.random.default_rng((parameters.seed, _ORDER)).shuffle(base_of)
    return base_of


def _kept(rng: np.random.Generator, n: int, parameters: Parameters) -> NDArray[np.bool_]:
    """Which of its base's predicates each profile keeps."""
    size = parameters.document_size
    if parameters.sizes is not None:
        low, high = parameters.sizes
        place = np.argsort(rng.random((n, size)), axis=1).argsort(axis=1)
        return place < rng.integers(low, high + 1, n)[:, None]
    p_kept = parameters.profile_size / size
    kept: NDArray[np.bool_] = rng.random((n, size)) < p_kept
    while not (filled := kept.any(axis=1)).all():
        empty = np.flatnonzero(~filled)
        kept[empty] = rng.random((len(empty), size)) < p_kept
    return kept
