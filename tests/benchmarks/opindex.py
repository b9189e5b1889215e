"""OpIndex's synthetic workload: many attributes, small profiles (OpIndex, 7.1, Table 3; section 4 for the assumptions).

Attributes are distinct within a profile and within a document, and they, the operators and the
operands are drawn independently: nothing sets the match probability. theta_1 is the share of `=`, the
rest is `<=` and `>=` in halves; sigma is the number of values. With Zipf, attributes and values both
follow it, in profiles and in documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from conjunctions import Conjunctions, Op, concatenated, offsets_of, with_masks
from documents import Documents
from draws import distinct_weighted, weighted, zipf_weights

CHUNK = 1 << 16
_PROFILES, _DOCUMENTS = range(2)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The rows of Table 3 with their defaults; names as in Table 2 of the paper.

    Sizes of profiles are uniform from 1 to `gamma_max`; a document has `m` attributes.
    """

    n_profiles: int = 1_000_000
    d: int = 20_000
    gamma_max: int = 4
    m: int = 20
    theta_1: float = 0.4
    sigma: int = 50
    zipf: float = 0.0
    seed: int = 1


def chunks(parameters: Parameters) -> Iterator[Conjunctions]:
    """The profiles, `CHUNK` at a time."""
    attributes, values = zipf_weights(parameters.d, parameters.zipf), zipf_weights(parameters.sigma, parameters.zipf)
    for number, start in enumerate(range(0, parameters.n_profiles, CHUNK)):
        rng = np.random.default_rng((parameters.seed, _PROFILES, number))
        n = min(CHUNK, parameters.n_profiles - start)
        sizes = rng.integers(1, parameters.gamma_max + 1, n)
        slots = distinct_weighted(rng, attributes, n, parameters.gamma_max)
        slot = slots[np.arange(parameters.gamma_max) < sizes[:, None]]
        value = weighted(rng, values, len(slot)) + np.int32(1)
        op = np.where(rng.random(len(slot)) < 0.5, Op.AT_MOST, Op.AT_LEAST).astype(np.uint8)
        op[rng.random(len(slot)) < parameters.theta_1] = Op.EQUAL
        low = np.where(op == Op.AT_MOST, 1, value).astype(np.int32)
        high = np.where(op == Op.AT_LEAST, parameters.sigma, value).astype(np.int32)
        no_lists = np.zeros(1, np.int64), np.zeros(0, np.int32)
        yield with_masks(parameters.d, parameters.sigma, offsets_of(sizes), op, slot, low, high, *no_lists)


def profiles(parameters: Parameters) -> Conjunctions:
    """All profiles."""
    return concatenated(chunks(parameters))


def documents(parameters: Parameters, n: int = 1_000) -> Documents:
    """Documents of `m` attributes each."""
    rng = np.random.default_rng((parameters.seed, _DOCUMENTS))
    slots = distinct_weighted(rng, zipf_weights(parameters.d, parameters.zipf), n, parameters.m)
    slots.sort(axis=1)
    values = weighted(rng, zipf_weights(parameters.sigma, parameters.zipf), slots.size) + np.int32(1)
    return Documents(parameters.d, np.arange(n + 1, dtype=np.int64) * parameters.m, slots.ravel(), values)
