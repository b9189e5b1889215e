"""Workloads by name: what `bench_match`, `bench_scaling` and `bench_worst` measure.

A load makes its profiles and documents from parameters; the same parameters make the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import begen
import nested
import numpy as np
import opindex
from baselines.programs import ProgramScan, programs_of
from baselines.scan import BoundScan, MaskScan, scan_of
from conjunctions import Conjunctions, Op, concatenated, offsets_of, with_masks
from documents import Documents, documents_of
from draws import distinct_values
from nested import Expressions

Scan = MaskScan | BoundScan | ProgramScan


@dataclass(frozen=True, slots=True)
class Load:
    """`parameters` name it (and its image on disk); `profiles` and `documents` make it."""

    name: str
    parameters: Any
    n_profiles: int
    profiles: Callable[[], Conjunctions | Expressions]
    documents: Callable[[int], Documents]


def begen_load(name: str, parameters: begen.Parameters) -> Load:
    return Load(
        name,
        parameters,
        parameters.n_profiles,
        lambda: begen.profiles(parameters),
        lambda n: begen.documents(parameters, n),
    )


def opindex_load(name: str, parameters: opindex.Parameters) -> Load:
    return Load(
        name,
        parameters,
        parameters.n_profiles,
        lambda: opindex.profiles(parameters),
        lambda n: opindex.documents(parameters, n),
    )


def nested_load(name: str, parameters: nested.Parameters) -> Load:
    return Load(
        name,
        parameters,
        parameters.begen.n_profiles,
        lambda: nested.profiles(parameters),
        lambda n: nested.documents(parameters, n),
    )


def baseline_of(profiles: Conjunctions | Expressions) -> Scan:
    """The plain scan of generated profiles."""
    return scan_of(profiles) if isinstance(profiles, Conjunctions) else programs_of(profiles)


def worst_loads(n: int) -> list[Load]:
    """Those on which an index has least to gain."""
    own = begen.Parameters(n_profiles=n)
    unequal = replace(own, operators="unequal", equality=0.0, sizes=(1, 3))
    one = begen.Parameters(n, n_attributes=1, cardinality=10_000, profile_size=1, document_size=1, sizes=(1, 1))
    one = replace(one, match_probability=0.001)
    return [
        begen_load("every profile !=", unequal),
        Load("IS NULL only", ("null", n), n, lambda: _all_null(n), lambda m: begen.documents(own, m)),
        Load("all profiles equal", ("equal", n), n, lambda: _all_equal(own), lambda m: begen.documents(own, m)),
        Load("one attribute only", one, n, lambda: begen.profiles(one), lambda m: _one_attribute(m, one)),
        begen_load("half of the profiles match", replace(own, match_probability=0.5)),
        begen_load("10 profiles", replace(own, n_profiles=10, match_probability=0.5)),
        Load("documents of 400 attributes", own, n, lambda: begen.profiles(own), lambda m: _full(m, own)),
    ]


def _all_null(n: int) -> Conjunctions:
    """ANDs of two to five IS NULL: they hold for what is absent, so that no index finds them."""
    rng = np.random.default_rng((1, 21))
    sizes = rng.integers(2, 6, n)
    slots = distinct_values(rng, n, 5, 400)[np.arange(5) < sizes[:, None]]
    zeros = np.zeros(len(slots), np.int32)
    op = np.full(len(slots), Op.IS_NULL, np.uint8)
    no_lists = np.zeros(1, np.int64), np.zeros(0, np.int32)
    return with_masks(400, 48, offsets_of(sizes), op, slots, zeros, zeros, *no_lists)


def _all_equal(parameters: begen.Parameters) -> Conjunctions:
    """One profile, over and over."""
    one = begen.profiles(replace(parameters, n_profiles=1))
    return concatenated([one] * parameters.n_profiles)


def _one_attribute(n: int, parameters: begen.Parameters) -> Documents:
    values = np.random.default_rng((1, 22)).permutation(parameters.cardinality)[:n] + 1
    return documents_of([[(0, int(value))] for value in values], 1)


def _full(n: int, parameters: begen.Parameters) -> Documents:
    """Documents of bases that have a value in every other attribute as well."""
    dense = begen.documents(parameters, n).dense()
    more = np.random.default_rng((1, 23)).integers(1, parameters.cardinality + 1, dense.shape)
    filled = np.where(dense > 0, dense, more)
    return documents_of([list(enumerate(row.tolist())) for row in filled], parameters.n_attributes)
