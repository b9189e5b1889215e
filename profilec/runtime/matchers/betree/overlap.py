"""Matching a document of sets with a tree: what is true of one rank is asked of the ranks of a set.

    walk      a bucket is entered where it meets the set
    list      a predicate holds where one of its intervals meets the set
    matrix    the rows of all cuts that the set meets, ORed; then ANDed over the attributes

Invariant: an entry with at most one predicate for each slot is found exactly when each of these meets the document's
set. A subsumed predicate, which no leaf has, is its bucket, and a leaf is reached only through buckets that the sets
meet. Of an entry with two predicates on a slot no more is said than that each of them may hold.

Source: BE-Tree, section 3: events are expressions, and match where the predicates overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import ONE, allocating_kernel, inlined, trailing_zeros
from profilec.runtime.matchers.betree.batch import with_room
from profilec.runtime.matchers.betree.leaf import ids_of, last_at_most
from profilec.runtime.matchers.betree.tree import FORM_LIST, HEADER, LARGEST_LEAF, N_NODES, N_SLOTS, ROOT


@allocating_kernel
def overlapping(slots: Any, off: Any, low: Any, high: Any, data: Any, words: Any, flips: Any) -> Any:
    """The ids, as leaves tell them (`tree.py`), of the entries that a document's sets overlap.

    The sets are given as in `runtime.conjunctions.RankSets`.
    """
    first, end = np.zeros(data[N_SLOTS] + 1, np.int64), np.ones(data[N_SLOTS] + 1, np.int64)
    for i in range(len(slots)):
        first[slots[i]], end[slots[i]] = off[i], off[i + 1]
    queue = np.empty(data[N_NODES], np.int32)
    n_words = data[LARGEST_LEAF]
    hits, joined, row = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    out, n_out = np.empty(256, np.int32), 0
    for q in range(walk_sets(data, slots, first, end, low, high, queue)):
        leaf = queue[q] + 1 + 2 * data[queue[q]]
        for w in range((data[leaf] + 63) >> 6):
            hits[w] = 0
        if data[leaf + 1] == FORM_LIST:
            check_list(data, leaf, first, end, low, high, hits)
        else:
            check_rows(data, words, flips, leaf, first, end, low, high, hits, joined, row)
        out = with_room(out, n_out + data[leaf])
        ids, stride = ids_of(data, leaf)
        for w in range((data[leaf] + 63) >> 6):
            found = hits[w]
            while found:
                id = ids + stride * ((w << 6) + trailing_zeros(found))
                out[n_out] = data[id if stride == 1 else data[id]]
                n_out += 1
                found &= found - ONE
    return out[:n_out]


@inlined
def walk_sets(data: Any, slots: Any, first: Any, end: Any, low: Any, high: Any, queue: Any) -> int:
    """Fills the queue with the nodes that the sets reach; as `walk.walk`."""
    queue[0] = data[ROOT]
    n_reached = 1
    for i in range(len(slots)):
        slot = slots[i]
        directory = data[HEADER + slot]
        if directory:
            n_reached = meeting(data, directory, first[slot], end[slot], low, high, queue, n_reached)
    done = 1
    while done < n_reached:
        node = queue[done]
        done += 1
        for edge in range(node + 1, node + 1 + 2 * data[node], 2):
            slot = data[edge]
            n_reached = meeting(data, data[edge + 1], first[slot], end[slot], low, high, queue, n_reached)
    return n_reached


@inlined
def meeting(data: Any, directory: int, first: int, end: int, low: Any, high: Any, queue: Any, n_reached: int) -> int:
    """Appends the nodes of all buckets of a cluster directory that meet the intervals first .. end, each once.

    LAYOUT: a list of targets goes from outer buckets to inner ones, and a bucket is in the lists of ranks that are
    neighbours; so what was appended before is what a list begins with in common with the last one taken.
    """
    n = data[directory]
    bounds, lists, targets = directory + 1, directory + 1 + n, directory + 2 + 2 * n
    taken = -1
    for v in range(first, end):
        place = max(last_at_most(data, low[v], bounds, n), taken + 1)
        while place < n and data[bounds + place] <= high[v]:
            target, last = targets + data[lists + place], targets + data[lists + place + 1]
            if taken >= 0:
                known, last_known = targets + data[lists + taken], targets + data[lists + taken + 1]
                while target < last and known < last_known and data[target] == data[known]:
                    target += 1
                    known += 1
            while target < last:
                queue[n_reached] = data[target]
                n_reached += 1
                target += 1
            taken = place
            place += 1
    return n_reached


@inlined
def check_list(data: Any, leaf: int, first: Any, end: Any, low: Any, high: Any, hits: Any) -> None:
    """Sets the bits of a list's entries that the sets overlap."""
    records = leaf + 3 + 2 * data[leaf + 2]
    i = 0
    for group in range(leaf + 3, records, 2):
        slot = data[group] if data[group] >= 0 else ~data[group]
        while i < data[group + 1]:
            record = records + 3 * i
            head_met = meets(low, high, first[slot], end[slot], data[record], data[record + 1])
            if head_met and body_met(data, data[record + 2], first, end, low, high):
                hits[i >> 6] |= ONE << np.uint64(i & 63)
            i += 1


@inlined
def body_met(data: Any, body: int, first: Any, end: Any, low: Any, high: Any) -> bool:
    """Whether each predicate of the rest accepts some rank of its slot's set; as `leaf.body_holds`."""
    at = body + 3
    last = at + 3 * data[body + 1]
    while at < last:
        slot = data[at]
        if not meets(low, high, first[slot], end[slot], data[at + 1], data[at + 2]):
            return False
        at += 3
    last += 3 * data[body + 2]
    while at < last:
        slot = data[at]
        if not meets_listed(data, data[at + 1], data[at + 2], first[slot], end[slot], low, high):
            return False
        at += 3
    return True


@inlined
def meets_listed(data: Any, at: int, n: int, first: int, end: int, low: Any, high: Any) -> bool:
    """Whether some rank of the intervals first .. end is in the set at a position; as `leaf.is_listed`."""
    for v in range(first, end):
        if n < 0:
            for bit in range(max(0, low[v] - data[at]), min(-n, high[v] - data[at] + 1)):
                if (data[at + 1 + (bit >> 5)] >> (bit & 31)) & 1 == 1:
                    return True
        else:
            place = last_at_most(data, high[v], at, n)
            if place >= 0 and data[at + n + place] >= low[v]:
                return True
    return False


@inlined
def meets(low: Any, high: Any, first: int, end: int, least: int, greatest: int) -> bool:
    """Whether some interval of first .. end has a rank in least .. greatest."""
    place = last_at_most(low, greatest, first, end - first)
    return place >= 0 and high[first + place] >= least


@inlined
def check_rows(
    data: Any,
    words: Any,
    flips: Any,
    leaf: int,
    first: Any,
    end: Any,
    low: Any,
    high: Any,
    hits: Any,
    joined: Any,
    row: Any,
) -> None:
    """Sets the bits of a matrix's entries that the sets overlap. `joined` and `row` are scratch."""
    n_words = (data[leaf] + 63) >> 6
    base = np.int64(data[leaf + 3])
    for w in range(n_words):
        hits[w] = ~np.uint64(0)
    for attribute in range(leaf + 4, leaf + 4 + 3 * data[leaf + 2], 3):
        slot, n_cuts, table = data[attribute], data[attribute + 1], data[attribute + 2]
        for w in range(n_words):
            joined[w] = 0
        taken = -1
        for v in range(first[slot], end[slot]):
            if n_cuts < 0:
                for rank in range(low[v], high[v] + 1):
                    join_row(data, words, flips, table + 2 * rank, base, n_words, joined, row)
            else:
                cut = max(last_at_most(data, low[v], table, n_cuts), taken + 1)
                while cut < n_cuts and data[table + cut] <= high[v]:
                    join_row(data, words, flips, table + n_cuts + 2 * cut, base, n_words, joined, row)
                    taken = cut
                    cut += 1
        for w in range(n_words):
            hits[w] &= joined[w]


@inlined
def join_row(data: Any, words: Any, flips: Any, place: int, base: Any, n_words: int, joined: Any, row: Any) -> None:
    """joined |= the row that is told at `place`."""
    first_word, flip = base + np.int64(data[place]) * n_words, data[place + 1]
    for w in range(n_words):
        row[w] = words[first_word + w]
    if flip >= 0:
        for f in range(flip + 1, flip + 1 + flips[flip]):
            row[flips[f] >> 6] ^= ONE << np.uint64(flips[f] & 63)
    for w in range(n_words):
        joined[w] |= row[w]
