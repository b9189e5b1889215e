"""How often documents are expected to satisfy tests.

In: an image's tests and slots, and a sample of documents in rank space, or none. Out: per test the share of documents
that satisfy it, per slot the share that has it.

    no sample     a value falls on each rank of its slot alike; documents have an attribute as often as profiles ask
                  about it (OpIndex, 4.1), and DOCUMENT_TO_PROFILE times as many attributes as a profile asks about; a
                  pattern, an ANY or ALL lets through a share that is assumed
    n documents   (c + p) / (n + 1) of a test that c of them satisfy, where p is what is expected without a sample

The sum over many tests of c / n is unbiased however rare each of them is: with a million distinct constants a sample
of thousands still tells how many of them the next document meets. The p tells one rare test from another.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.element_terms import access_of
from profilec.runtime.image import BIT_PATTERN, WANT_FALSE, WANT_NOT_TRUE, WANT_TRUE, Image
from profilec.runtime.sampled import Sampled

Floats = NDArray[np.float64]

DOCUMENT_TO_PROFILE = 2.0
"""Attributes of a document for each one of a profile, while no document has been seen."""
PATTERN_SHARE = 0.02
TERM_SHARE = 0.1
ELEMENT_SHARE = 0.01
"""Shares of the documents that a pattern, an ANY/ALL, and an ANY of one value are taken to let through while none has
been seen."""


class Expected(NamedTuple):
    """`presence`: of each slot, and where documents were seen of pseudo-slots too; `shares`: of each test, rank tests
    first; `n_sampled`: documents that say so."""

    presence: Floats
    shares: Floats
    n_sampled: int


def expect(image: Image, asked: Floats, n_profiles: int, sampled: Sampled | None) -> Expected:
    """What is expected of documents.

    Args:
        image: of which entries are not looked at.
        asked: per slot how often the profiles ask about it.
        n_profiles: how many there are.
        sampled: documents, with pseudo-slots of patterns and indexed terms; None where there are none.
    """
    presence = np.minimum(1.0, DOCUMENT_TO_PROFILE * asked / max(n_profiles, 1))
    prior = np.concatenate((_rank_shares(image, presence), _bit_shares(image, presence)))
    if sampled is None or not sampled.n:
        return Expected(presence, prior, 0)
    counted = np.concatenate((_rank_counts(image, sampled), _bit_counts(image, sampled)))
    seen = ~np.isnan(counted)
    shares = prior.copy()
    shares[seen] = (counted[seen] + prior[seen]) / (sampled.n + 1)
    return Expected(sampled.presence(len(image.n_ranks)), shares, sampled.n)


def access_costs(image: Image, expected: Expected) -> Floats:
    """Per test the share of documents it lets through; infinite where it gives no access: what holds on absence, and
    bits other than what must be TRUE."""
    on_absence = np.zeros(image.n_tests, np.bool_)
    owner = np.repeat(np.arange(image.n_tests), np.diff(image.test_off))
    on_absence[owner[image.test_low == 0]] = True
    return np.where(np.concatenate((on_absence, image.bit_want != WANT_TRUE)), math.inf, expected.shares)


def _rank_shares(image: Image, presence: Floats) -> Floats:
    covered = np.concatenate(([0], np.cumsum(image.test_high.astype(np.int64) - image.test_low + 1)))
    width = covered[image.test_off[1:]] - covered[image.test_off[:-1]]
    n_ranks = image.n_ranks[: len(image.slots)]
    share: Floats = width / np.maximum(n_ranks[image.test_slot], 1) * presence[image.test_slot]
    return share


def _bit_shares(image: Image, presence: Floats) -> Floats:
    accesses = [access_of(term) for term in image.terms]
    is_by_value = np.array([access is not None and access.operator == "=" for access in accesses] or [False])
    of_terms = np.where(is_by_value, ELEMENT_SHARE, TERM_SHARE)
    slot_of = np.array([pattern.slot for pattern in image.patterns] or [0], np.int64)
    is_pattern = image.bit_kind == BIT_PATTERN
    source = image.bit_source
    of_patterns = PATTERN_SHARE * presence[slot_of[np.where(is_pattern, source, 0)]] if len(presence) else 0.0
    shares: Floats = np.where(is_pattern, of_patterns, of_terms[np.where(is_pattern, 0, source)])
    return np.where(image.bit_want == WANT_NOT_TRUE, 1.0 - shares, shares)


def _rank_counts(image: Image, sampled: Sampled) -> Floats:
    """How many of the documents satisfy each rank test."""
    is_present = sampled.ranks > 0
    keys = sampled.slots[is_present].astype(np.int64) << 32 | sampled.ranks[is_present]
    keys.sort()
    slot = np.repeat(image.test_slot, np.diff(image.test_off)).astype(np.int64) << 32
    inside = np.searchsorted(keys, slot | image.test_high, "right") - np.searchsorted(keys, slot | image.test_low)
    running = np.concatenate(([0], np.cumsum(inside)))
    counts = (running[image.test_off[1:]] - running[image.test_off[:-1]]).astype(np.float64)
    absent = sampled.n - np.bincount(sampled.slots[is_present], minlength=len(image.slots))
    owner = np.repeat(np.arange(image.n_tests), np.diff(image.test_off))
    on_absence = owner[image.test_low == 0]
    counts[on_absence] += absent[image.test_slot[on_absence]]
    return counts


def _bit_counts(image: Image, sampled: Sampled) -> Floats:
    """As `_rank_counts`, of bit tests; not a number where the sample does not tell: of terms that are not indexed."""
    matched = np.bincount(sampled.slots[sampled.ranks > 0], minlength=len(image.n_ranks))[len(image.slots) :]
    told = np.array([True] * len(image.patterns) + [access_of(term) is not None for term in image.terms] or [False])
    source = image.bit_source + np.where(image.bit_kind == BIT_PATTERN, 0, len(image.patterns))
    counts = np.full(len(source), np.nan)
    if len(source):
        is_told = told[source] & (image.bit_want != WANT_FALSE)
        true = matched[source].astype(np.float64)
        counts[is_told] = np.where(image.bit_want == WANT_TRUE, true, sampled.n - true)[is_told]
    return counts
