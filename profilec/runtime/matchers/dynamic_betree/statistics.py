"""What is known of attributes, and the score that ranks them (BE-Tree, 5).

Of each slot: how many of the sampled documents had it (every SAMPLED_EVERY-th document is one), and a ring of the
latest MOST_KEYS keys: those of sampled documents, and while there are none, those that entries begin with. They tell a
test's *share*: of the documents, the part that has the slot and a key within an interval.

An entry is *suited* to an attribute of which the share is small, or not much larger than the least of its tests on
attributes that its path has not used. The paper files an entry under any attribute that it has and that makes a
partition; then `id = 7 AND price < 100` is looked at by every document with a price, if that made a partition first.
Here it waits in the leaf until there is one of `id`.

The score of an attribute for the entries of a leaf is the paper's Gain less Loss. Gain: the entries that are suited to
it. Loss: how many of these a document is expected to look at, the sum of the shares of their homes; it stands for the
average bucket of the paper's histogram. So what is summed is what a document need not look at, and an attribute that
most entries constrain narrowly goes before one that more of them have, but widely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.cells import home_mask
from profilec.runtime.matchers.dynamic_betree.tree import (
    CHOSEN,
    COUNT,
    FIRST_KEY,
    FIRST_TEST,
    GAIN,
    IS_USED,
    LINK,
    MOST_KEYS,
    N_KEYS,
    N_SAMPLED,
    N_TESTS,
    NEXT_KEY,
    SEEN,
    SINCE,
    TEST,
)

SAMPLED_EVERY = 16
_SMALL, _NOT_MUCH = 0.1, 3.0
"""Shares to which an entry is suited, as they are and as multiples of the least. A ring is a small sample: of keys that
are all different it tells shares of up to a twelfth."""
_LEAST_SKIPPED, _LEAST_PART = 1.0, 0.125
"""A partition is made where documents are expected to skip so many entries, and such a part of those it gets."""
_WINDOW = 4096
"""Sampled documents from which on older ones count half."""
_ONE = 1 << 20
"""Scores are kept as integers."""
_SLOT_BITS = (1 << 32) - 1


@inlined
def slot_of(word: int) -> int:
    """The slot of a test, from its first word."""
    return word & _SLOT_BITS


@kernel
def share(tree: Any, slot: int, low: Any, high: Any) -> float:
    """The part of documents that have a key for the slot within low .. high, never 0 and never 1."""
    row = tree.slots[slot]
    n_keys, n_within = row[N_KEYS], 0
    for place in range(FIRST_KEY, FIRST_KEY + n_keys):
        n_within += (low <= row[place]) & (row[place] <= high)
    presence = (row[SEEN] + 1) / (tree.header[N_SAMPLED] - row[SINCE] + 1)
    return presence * (n_within + 0.5) / (n_keys + 1)


@inlined
def home_share(tree: Any, slot: int, low: int, high: int) -> float:
    """The share of an interval's home: of the bucket that it comes to if cells are cut as far as they may be."""
    mask = home_mask(low, high)
    if mask == 0:
        return share(tree, slot, np.int64(-(2**63)), np.int64(2**63 - 1))
    return share(tree, slot, low & mask, low | ~mask)


@inlined
def keep_key(tree: Any, slot: int, key: int) -> None:
    row = tree.slots[slot]
    place = row[NEXT_KEY]
    row[FIRST_KEY + place] = key
    row[NEXT_KEY] = (place + 1) & (MOST_KEYS - 1)
    row[N_KEYS] = max(row[N_KEYS], place + 1)


@kernel
def sample_document(tree: Any, slots: Any, keys: Any, first: int, last: int) -> None:
    """Counts a document."""
    header = tree.header
    header[N_SAMPLED] += 1
    for i in range(first, last):
        if 0 <= slots[i] < len(tree.slots):
            if tree.slots[slots[i], SEEN] == 0:  # what entries told is no more asked for
                tree.slots[slots[i], N_KEYS] = tree.slots[slots[i], NEXT_KEY] = 0
            tree.slots[slots[i], SEEN] += 1
            keep_key(tree, slots[i], keys[i])
    if header[N_SAMPLED] >= _WINDOW:
        header[N_SAMPLED] >>= 1
        for slot in range(len(tree.slots)):
            tree.slots[slot, SINCE] >>= 1
            tree.slots[slot, SEEN] = (tree.slots[slot, SEEN] + 1) >> 1


@inlined
def sample_entry(tree: Any, body: int) -> None:
    """Keeps keys that an entry begins with, of slots that no sampled document had."""
    pool = tree.pool
    for at in tests_of(pool, body):
        slot = slot_of(pool[at])
        if tree.slots[slot, SEEN] == 0 and pool[at + 1] <= pool[at + 2]:
            keep_key(tree, slot, pool[at + 1] if pool[at + 1] != np.int64(-(2**63)) else pool[at + 2])


@inlined
def tests_of(pool: Any, body: int) -> Any:
    return range(body + FIRST_TEST, body + FIRST_TEST + TEST * pool[body + N_TESTS], TEST)


@inlined
def test_on(pool: Any, body: int, slot: int) -> Any:
    """The place of the entry's test by which it is filed under a slot, the first that can be satisfied; 0: none."""
    for at in tests_of(pool, body):
        if slot_of(pool[at]) == slot and pool[at + 1] <= pool[at + 2]:
            return at
    return np.int64(0)


@kernel
def least_share(tree: Any, body: int) -> float:
    """Of an entry's tests on attributes that are not used."""
    pool, least = tree.pool, 1.0
    for at in tests_of(pool, body):
        slot = slot_of(pool[at])
        if not tree.slots[slot, IS_USED] and pool[at + 1] <= pool[at + 2]:
            least = min(least, home_share(tree, slot, pool[at + 1], pool[at + 2]))
    return least


@inlined
def is_suited(own_share: float, least: float) -> bool:
    return own_share <= max(_SMALL, _NOT_MUCH * least)


@kernel
def suited_test(tree: Any, body: int, slot: int) -> Any:
    """The place of the test by which an entry comes to a partition of a slot that is not used; 0: it does not."""
    pool = tree.pool
    at = test_on(pool, body, slot)
    if at and is_suited(home_share(tree, slot, pool[at + 1], pool[at + 2]), least_share(tree, body)):
        return at
    return np.int64(0)


@kernel
def add_scores(tree: Any, body: int, touched: Any) -> int:
    """Adds what an entry gives to the scores of slots that are not used; the list of slots, as slot + 1."""
    pool, slots = tree.pool, tree.slots
    least = least_share(tree, body)
    for at in tests_of(pool, body):
        slot = slot_of(pool[at])
        if slots[slot, IS_USED] or test_on(pool, body, slot) != at:
            continue
        own_share = home_share(tree, slot, pool[at + 1], pool[at + 2])
        if not is_suited(own_share, least):
            continue
        if slots[slot, COUNT] == 0:
            slots[slot, LINK] = touched
            touched = slot + 1
        slots[slot, COUNT] += 1
        slots[slot, GAIN] += np.int64(_ONE * (1 - own_share))
    return touched


@inlined
def is_worth(tree: Any, slot: int, min_count: int) -> bool:
    count, score = tree.slots[slot, COUNT], tree.slots[slot, GAIN]
    return count >= min_count and score > _ONE * _LEAST_SKIPPED and score >= _ONE * _LEAST_PART * count


@kernel
def own_best(tree: Any, body: int, min_count: int) -> Any:
    """Of the slots that an entry is suited to and that are worth a partition, that of the highest score; -1: none."""
    pool, least = tree.pool, least_share(tree, body)
    best: Any = np.int64(-1)
    for at in tests_of(pool, body):
        slot = slot_of(pool[at])
        if tree.slots[slot, IS_USED] or not is_worth(tree, slot, min_count) or test_on(pool, body, slot) != at:
            continue
        is_better = best < 0 or tree.slots[slot, GAIN] > tree.slots[best, GAIN]
        if is_better and is_suited(home_share(tree, slot, pool[at + 1], pool[at + 2]), least):
            best = slot
    return best


@kernel
def forget_scores(tree: Any, touched: Any) -> None:
    slots = tree.slots
    while touched:
        slot = touched - 1
        touched = slots[slot, LINK]
        slots[slot, GAIN] = slots[slot, COUNT] = slots[slot, CHOSEN] = 0


@kernel
def take_best(tree: Any, touched: Any, min_count: int) -> Any:
    """The slot of the highest score that enough entries have, of equal ones the lowest, and the score; -1: none.

    A score is the number of entries that a document is expected not to look at. Scores are forgotten.
    """
    slots = tree.slots
    best: Any = np.int64(-1)
    best_score: Any = np.int64(_ONE * _LEAST_SKIPPED)
    while touched:
        slot = touched - 1
        score = slots[slot, GAIN]
        is_better = score > best_score or (score == best_score and slot < best)
        if is_better and is_worth(tree, slot, min_count):
            best, best_score = slot, score
        touched = slots[slot, LINK]
        slots[slot, GAIN] = slots[slot, COUNT] = 0
    return best, best_score / _ONE
