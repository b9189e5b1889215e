"""The grown tree as flat arrays, in the order in which a document reads them.

In: nodes, edges and buckets (`grow`), predicates and their states. Out: the arrays of
`runtime.matchers.betree.Tree`. Nodes stand depth first, each followed by its directories, so that what a
document reads one after another lies together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.planner.lower.betree.costs import MATRIX_BYTES, MATRIX_ENTRIES, MAX_MATRIX
from profilec.planner.lower.betree.matrix import cuts_of, leaf_attributes, packed_rows, rows_of
from profilec.planner.lower.betree.predicates import OPEN, SUBSUMED
from profilec.runtime.kernels import allocating_kernel, inlined
from profilec.runtime.matchers.betree.tree import (
    FORM_LIST,
    FORM_MATRIX,
    HEADER,
    LARGEST_LEAF,
    N_NODES,
    N_SLOTS,
    N_WORDS,
    ROOT,
)

ANY_FORM, LISTS_ONLY, MATRICES_ONLY = range(3)
MOST_GREEDY = 4096
"""Entries up to which a list's heads are chosen together."""


@allocating_kernel
def emit(predicates: Any, intervals: Any, slots: Any, nodes: Any, ids: Any, forms: int) -> Any:
    """The arrays of a `Tree`: data, words, flips. `ids`: what the leaves say of each entry."""
    n_nodes, n_edges, n_slots = nodes.sizes[0], nodes.sizes[1], len(slots.presence)
    data = np.zeros(HEADER + n_slots + 1024, np.int32)
    words = np.zeros(1024, np.uint64)
    flips = np.zeros(1024, np.uint16)
    at, n_words, n_flips, n_hits, largest = HEADER + n_slots, 0, 0, 0, 0
    number_of = np.full(n_slots + 1, -1, np.int32)
    position = np.zeros(n_nodes, np.int32)
    directory = np.zeros(n_edges + 1, np.int32)
    stack = np.empty(n_nodes + 1, np.int32)
    stack[0] = 0
    n_stack = 1
    while n_stack:
        n_stack -= 1
        node = stack[n_stack]
        first_edge, last_edge = nodes.edge[node], nodes.edge[node] + nodes.n_edges[node]
        n_own = last_edge - first_edge if node else 0  # the root's edges stand in the header
        entries = nodes.order[nodes.start[node] : nodes.end[node]]
        n_list = list_size(predicates, intervals, entries)
        data = with_room(data, at + 1 + 2 * n_own + n_list)
        position[node] = at
        data[at] = n_own
        edges = at + 1
        at += 1 + 2 * n_own
        n_hits += (len(entries) + 63) >> 6
        largest = max(largest, (len(entries) + 63) >> 6)
        packed = False
        if forms != LISTS_ONLY and 0 < len(entries) <= MAX_MATRIX:
            asked = leaf_attributes(predicates, entries, number_of)
            if len(asked) and (forms == MATRICES_ONLY or len(entries) >= MATRIX_ENTRIES * len(asked)):
                cut_off, cuts = cuts_of(predicates, intervals, entries, asked, number_of)
                if len(cuts) * ((len(entries) + 63) >> 6) <= 4 * MATRIX_BYTES * len(entries) or forms == MATRICES_ONLY:
                    rows = rows_of(predicates, intervals, entries, asked, cut_off, cuts, number_of)
                    whole, builds_on, flip_at, flipped = packed_rows(rows, cut_off)
                    n_matrix = 4 + len(entries) + tables_size(slots, asked, cut_off)
                    n_bytes = 4 * n_matrix + 8 * len(whole) * rows.shape[1] + 2 * len(flipped)
                    if n_bytes <= MATRIX_BYTES * len(entries) or forms == MATRICES_ONLY:
                        packed = True
                        data = with_room(data, at + n_matrix)
                        words = with_room(words, n_words + len(whole) * rows.shape[1])
                        flips = with_room(flips, n_flips + len(flipped))
                        data[at + 3] = n_words
                        for r in range(len(whole)):
                            words[n_words : n_words + rows.shape[1]] = rows[whole[r]]
                            n_words += rows.shape[1]
                        at = write_matrix(
                            data, at, entries, ids, slots, asked, cut_off, cuts, builds_on, flip_at, n_flips
                        )
                        flips[n_flips : n_flips + len(flipped)] = flipped
                        n_flips += len(flipped)
        if not packed:
            at = write_list(predicates, intervals, slots, data, at, entries, ids, number_of)
        for edge in range(first_edge, last_edge):
            directory[edge] = at
            if node:
                data[edges + 2 * (edge - first_edge)] = nodes.edge_slot[edge]
                data[edges + 2 * (edge - first_edge) + 1] = at
            else:
                data[HEADER + nodes.edge_slot[edge]] = at
            bounds, lists, targets = segments(nodes, nodes.edge_bucket[edge], nodes.edge_bucket[edge + 1])
            data = with_room(data, at + 2 + 2 * len(bounds) + len(targets))
            data[at] = len(bounds)
            data[at + 1 : at + 1 + len(bounds)] = bounds
            at += 1 + len(bounds)
            data[at : at + len(lists)] = lists
            at += len(lists)
            data[at : at + len(targets)] = targets
            at += len(targets)
        for edge in range(last_edge - 1, first_edge - 1, -1):
            for bucket in range(nodes.edge_bucket[edge + 1] - 1, nodes.edge_bucket[edge] - 1, -1):
                stack[n_stack] = bucket + 1
                n_stack += 1
    for edge in range(n_edges):  # from nodes to their positions
        n = data[directory[edge]]
        targets_at = directory[edge] + 2 + 2 * n
        for t in range(targets_at, targets_at + data[targets_at - 1]):
            data[t] = position[data[t]]
    data[N_SLOTS], data[ROOT], data[N_NODES] = n_slots, position[0], n_nodes
    data[N_WORDS], data[LARGEST_LEAF] = n_hits, largest
    return data[:at].copy(), words[:n_words].copy(), flips[:n_flips].copy()


@allocating_kernel
def with_room(array: Any, n: int) -> Any:
    """The array, or a longer one with its content."""
    if n <= len(array):
        return array
    longer = np.zeros(max(n, len(array) + (len(array) >> 1)), array.dtype)
    longer[: len(array)] = array
    return longer


@inlined
def list_size(predicates: Any, intervals: Any, entries: Any) -> int:
    """An upper bound of the integers that a leaf takes as a predicate list."""
    n = 4 + 8 * len(entries)
    for entry in entries:
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            n += 3 + 2 * (predicates.last[p] - predicates.first[p])
    return n


@inlined
def is_direct(n_ranks: int, n_cuts: int) -> bool:
    """Whether a table with an element for each rank takes no more room than cuts that are searched."""
    return 2 * n_ranks <= 3 * n_cuts


@inlined
def tables_size(slots: Any, asked: Any, cut_off: Any) -> int:
    n = 0
    for a in range(len(asked)):
        n_cuts, n_ranks = cut_off[a + 1] - cut_off[a], slots.n_ranks[asked[a]]
        n += 3 + (2 * n_ranks if is_direct(n_ranks, n_cuts) else 3 * n_cuts)
    return n


@inlined
def write_matrix(
    data: Any,
    at: int,
    entries: Any,
    ids: Any,
    slots: Any,
    asked: Any,
    cut_off: Any,
    cuts: Any,
    builds_on: Any,
    flip_at: Any,
    n_flips: int,
) -> int:
    data[at], data[at + 1], data[at + 2] = len(entries), FORM_MATRIX, len(asked)
    attribute = at + 4
    table = attribute + 3 * len(asked)
    for entry in entries:
        data[table] = ids[entry]
        table += 1
    for a in range(len(asked)):
        first, n_cuts, n_ranks = cut_off[a], cut_off[a + 1] - cut_off[a], slots.n_ranks[asked[a]]
        data[attribute], data[attribute + 2] = asked[a], table
        if is_direct(n_ranks, n_cuts):
            data[attribute + 1] = -n_ranks
            c = first
            for rank in range(n_ranks):
                while c + 1 < first + n_cuts and cuts[c + 1] <= rank:
                    c += 1
                table = write_row(data, table, builds_on[c], flip_at[c], n_flips)
        else:
            data[attribute + 1] = n_cuts
            for c in range(first, first + n_cuts):
                data[table] = cuts[c]
                table += 1
            for c in range(first, first + n_cuts):
                table = write_row(data, table, builds_on[c], flip_at[c], n_flips)
        attribute += 3
    return table


@inlined
def write_row(data: Any, at: int, row: int, flip_at: int, n_flips: int) -> int:
    data[at], data[at + 1] = row, flip_at + n_flips if flip_at >= 0 else -1
    return at + 2


@allocating_kernel
def write_list(
    predicates: Any, intervals: Any, slots: Any, data: Any, at: int, entries: Any, ids: Any, number_of: Any
) -> int:
    n = len(entries)
    head, group, n_groups = heads(predicates, slots, entries, number_of)
    order = np.argsort(group, kind="mergesort")
    data[at], data[at + 1], data[at + 2] = n, FORM_LIST, n_groups
    place = at + 3
    records = place + 2 * n_groups
    for i in range(n):
        p = head[order[i]]
        slot, low = len(slots.presence), 0
        if p >= 0:
            slot, low = predicates.slot[p], predicates.low[p]
        data[records + 3 * i], data[records + 3 * i + 1] = low, predicates.high[p] if p >= 0 else 0
        if i + 1 == n or group[order[i + 1]] != group[order[i]]:
            data[place], data[place + 1] = slot if low > 0 else ~slot, i + 1
            place += 2
    place = records + 3 * n
    for i in range(n):
        entry, p_head = entries[order[i]], head[order[i]]
        data[records + 3 * i + 2] = place
        data[place] = ids[entry]
        n_single, n_several = rest_length(predicates, entry, p_head)
        data[place + 1], data[place + 2] = n_single, n_several
        single = place + 3
        several = single + 3 * n_single
        place = several + 3 * n_several
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            first, last = predicates.first[p], predicates.last[p]
            if predicates.state[p] == SUBSUMED or (p == p_head and last - first == 1):
                continue
            if last - first == 1:
                data[single], data[single + 1], data[single + 2] = (
                    predicates.slot[p],
                    predicates.low[p],
                    predicates.high[p],
                )
                single += 3
            else:
                data[several], data[several + 1] = predicates.slot[p], place
                data[several + 2], place = write_set(intervals, first, last, data, place)
                several += 3
    return place


@inlined
def write_set(intervals: Any, first: int, last: int, data: Any, at: int) -> Any:
    """A set of ranks as bits where these take no more room than bounds. Returns its size, and where it ends."""
    low, n = intervals.low[first], last - first
    width = intervals.high[last - 1] - low + 1
    n_words = (width + 31) >> 5
    if n_words >= 2 * n:
        for v in range(n):
            data[at + v], data[at + n + v] = intervals.low[first + v], intervals.high[first + v]
        return n, at + 2 * n
    data[at] = low
    for w in range(n_words):
        data[at + 1 + w] = 0
    for v in range(first, last):
        for bit in range(intervals.low[v] - low, intervals.high[v] - low + 1):
            data[at + 1 + (bit >> 5)] |= np.int32(1) << np.int32(bit & 31)
    return -width, at + 1 + n_words


@inlined
def rest_length(predicates: Any, entry: int, head: int) -> Any:
    """How many predicates of an entry stand behind its head: those of one interval, and the others."""
    n_single, n_several = 0, 0
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        if predicates.state[p] != SUBSUMED:
            if predicates.last[p] - predicates.first[p] != 1:
                n_several += 1
            elif p != head:
                n_single += 1
    return n_single, n_several


@allocating_kernel
def heads(predicates: Any, slots: Any, entries: Any, number_of: Any) -> Any:
    """The head of each entry (-1: it has no open predicate), the number of its group, and how many groups there are.

    Greedy: again and again the attribute by which most of what is left is expected to be passed over.
    """
    n = len(entries)
    head = np.full(n, -1, np.int64)
    group = np.full(n, -1, np.int64)
    asked = np.empty(0, np.int64)
    n_groups = 0
    if n <= MOST_GREEDY:
        asked = leaf_attributes(predicates, entries, number_of)
        for a in range(len(asked)):
            number_of[asked[a]] = a
        score = np.zeros(len(asked))
        for i in range(n):
            add_scores(predicates, slots, entries[i], number_of, score, 1.0)
        while len(score):
            best = np.argmax(score)
            if score[best] <= 1e-9:
                break
            for i in range(n):
                if group[i] < 0:
                    p = first_on(predicates, entries[i], asked[best])
                    if p >= 0:
                        head[i], group[i] = p, n_groups
                        add_scores(predicates, slots, entries[i], number_of, score, -1.0)
            score[best] = 0.0
            n_groups += 1
        for a in range(len(asked)):
            number_of[asked[a]] = -1
    # What holds on absence too, or has no open predicate; and everything in a leaf too large to be greedy.
    for i in range(n):
        if group[i] < 0:
            entry = entries[i]
            for p in range(predicates.off[entry], predicates.off[entry + 1]):
                if predicates.state[p] != SUBSUMED and (head[i] < 0 or better_head(predicates, p, head[i])):
                    head[i] = p
    group = group_rest(predicates, slots, head, group, n_groups)
    return head, group, n_groups_of(group)


@inlined
def better_head(predicates: Any, p: int, than: int) -> bool:
    """Whether p, the less selective one, still is passed by fewer documents: not on the path, or not by absence."""
    if predicates.state[p] != predicates.state[than]:
        return predicates.state[p] == OPEN
    return (predicates.low[p] > 0) > (predicates.low[than] > 0)


@inlined
def n_groups_of(group: Any) -> int:
    n = 0
    for g in group:
        n = max(n, g + 1)
    return n


@allocating_kernel
def group_rest(predicates: Any, slots: Any, head: Any, group: Any, n_groups: int) -> Any:
    """Groups what has none yet by slot, and by whether its head holds on absence."""
    n = len(group)
    key = np.full(n, -1, np.int64)
    for i in range(n):
        if group[i] < 0:
            p = head[i]
            key[i] = 2 * predicates.slot[p] + (predicates.low[p] == 0) if p >= 0 else 2 * len(slots.presence)
    last = np.int64(-1)
    for i in np.argsort(key, kind="mergesort"):
        if group[i] < 0:
            if key[i] != last:
                n_groups += 1
                last = key[i]
            group[i] = n_groups - 1
    return group


@inlined
def add_scores(predicates: Any, slots: Any, entry: int, number_of: Any, score: Any, sign: float) -> None:
    """Per attribute, the share of documents that would not look at an entry with its head there.

    A document at the leaf has the attributes of its path.
    """
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        if predicates.state[p] == OPEN and predicates.low[p] > 0:
            slot = predicates.slot[p]
            share = (predicates.high[p] - predicates.low[p] + 1) / max(1, slots.n_ranks[slot] - 1)
            score[number_of[slot]] += sign * (1.0 - slots.presence[slot] * share)


@inlined
def first_on(predicates: Any, entry: int, slot: int) -> int:
    """The entry's first open predicate on a slot that absence does not satisfy; -1 if it has none."""
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        if predicates.slot[p] == slot and predicates.state[p] == OPEN and predicates.low[p] > 0:
            return p
    return -1


@allocating_kernel
def segments(nodes: Any, first: int, last: int) -> Any:
    """A cluster directory: the first ranks between which the enclosing buckets are the same, and their nodes."""
    bounds = np.empty(2 * (last - first), np.int32)
    bounds[: last - first] = nodes.bucket_low[first:last]
    bounds[last - first :] = nodes.bucket_high[first:last] + 1
    bounds = np.unique(bounds)
    lists = np.zeros(len(bounds) + 1, np.int32)
    targets = np.empty(64 * len(bounds), np.int32)
    around = np.empty(66, np.int64)
    n_around, n_targets, bucket = 0, 0, first
    for b in range(len(bounds)):
        while n_around and nodes.bucket_high[around[n_around - 1]] < bounds[b]:
            n_around -= 1
        while bucket < last and nodes.bucket_low[bucket] <= bounds[b]:
            around[n_around] = bucket
            n_around += 1
            bucket += 1
        for i in range(n_around):
            targets[n_targets] = around[i] + 1
            n_targets += 1
        lists[b + 1] = n_targets
    return bounds, lists, targets[:n_targets]
