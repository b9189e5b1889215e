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

from profilec.runtime.kernels import ONE, allocating_kernel, inlined, trailing_zeros, with_room
from profilec.runtime.matchers.betree.leaf import all_entries, last_at_most, row_of, word_if_absent, words_of
from profilec.runtime.matchers.betree.tree import (
    ATTRIBUTE,
    FORM_LIST,
    GROUP,
    HEADER,
    MOST_WORDS,
    N_LEAVES,
    N_NODES,
    N_SLOTS,
    PARTS,
    RECORD,
    ROOT,
)
from profilec.runtime.matchers.betree.walk import leaves_of


@allocating_kernel
def overlapping(slots: Any, off: Any, low: Any, high: Any, data: Any, words: Any) -> Any:
    """The ids, as leaves tell them (`tree.py`), of the entries that a document's sets overlap.

    The sets are given as in `runtime.conjunctions.RankSets`.
    """
    first, end = np.zeros(data[N_SLOTS] + 1, np.int64), np.ones(data[N_SLOTS] + 1, np.int64)
    for i in range(len(slots)):
        first[slots[i]], end[slots[i]] = off[i], off[i + 1]
    queue, leaves = np.empty(data[N_NODES], np.int32), np.empty(data[N_LEAVES], np.int32)
    found = np.zeros(MOST_WORDS, np.uint64)
    out, n_out = np.empty(256, np.int32), 0
    n_nodes = walk_sets(data, slots, first, end, low, high, queue)
    for q in range(leaves_of(data, queue, n_nodes, leaves, 0)):
        leaf = leaves[q]
        if data[leaf + 1] == FORM_LIST:
            found[0] = check_list(data, leaf, first, end, low, high)
        else:
            check_rows(data, words, leaf, first, end, low, high, found)
        out = with_room(out, n_out + data[leaf])
        for w in range(words_of(data, leaf)):
            holds = found[w]
            while holds:
                out[n_out] = data[data[leaf + 3] + 64 * w + trailing_zeros(holds)]
                n_out += 1
                holds &= holds - ONE
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
        for edge in range(node + 2, node + 2 + 2 * data[node], 2):
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
def check_list(data: Any, leaf: int, first: Any, end: Any, low: Any, high: Any) -> Any:
    """The entries of a list that the sets overlap."""
    found = np.uint64(0)
    records = leaf + PARTS + GROUP * data[leaf + 2]
    i = 0
    for group in range(leaf + PARTS, records, GROUP):
        slot = data[group] if data[group] >= 0 else ~data[group]
        while i < data[group + 1]:
            record = records + RECORD * i
            head_met = meets(low, high, first[slot], end[slot], data[record], data[record + 1])
            if head_met and body_met(data, data[record + 2], first, end, low, high):
                found |= ONE << np.uint64(i)
            i += 1
    return found


@inlined
def body_met(data: Any, body: int, first: Any, end: Any, low: Any, high: Any) -> bool:
    """Whether each predicate of the rest accepts some rank of its slot's set; as `leaf.body_holds`."""
    at = body + 2
    last = at + 3 * data[body]
    while at < last:
        slot = data[at]
        if not meets(low, high, first[slot], end[slot], data[at + 1], data[at + 2]):
            return False
        at += 3
    last += 3 * data[body + 1]
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
def check_rows(data: Any, words: Any, leaf: int, first: Any, end: Any, low: Any, high: Any, found: Any) -> None:
    """found: the entries of a matrix that the sets overlap."""
    n_words = words_of(data, leaf)
    all_entries(data, leaf, found, 0)
    size = ATTRIBUTE + 2 * n_words
    for attribute in range(leaf + PARTS, leaf + PARTS + size * data[leaf + 2], size):
        for w in range(n_words):
            found[w] &= joined_word(data, words, attribute, n_words, w, first, end, low, high)


@inlined
def joined_word(
    data: Any, words: Any, attribute: int, n_words: int, w: int, first: Any, end: Any, low: Any, high: Any
) -> Any:
    """Word w of all rows of a matrix's attribute that its slot's set meets, ORed."""
    slot, n_cuts, cuts, rows = data[attribute], data[attribute + 1], data[attribute + 2], data[attribute + 3] + w
    joined = np.uint64(0)
    for v in range(first[slot], end[slot]):
        if low[v] == 0:
            joined |= word_if_absent(data, attribute, w)
        if n_cuts < 0:
            for rank in range(max(1, low[v]), high[v] + 1):
                joined |= words[rows + n_words * row_of(data, attribute, rank)]
            continue
        cut = max(0, last_at_most(data, low[v], cuts, n_cuts))
        while cut < n_cuts and data[cuts + cut] <= high[v]:
            joined |= words[rows + n_words * cut]
            cut += 1
    return joined
