"""The grown tree as flat arrays, in the order in which a document reads them.

In: nodes, edges and buckets (`grow`), predicates and their states. Out: the arrays of
`runtime.matchers.betree.Tree`. Nodes stand depth first, each followed by its directories, so that what a
document reads one after another lies together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.planner.lower.betree.costs import MOST_INTERVALS
from profilec.planner.lower.betree.matrix import cuts_of, leaf_attributes, rows_of
from profilec.planner.lower.betree.predicates import OPEN, SUBSUMED
from profilec.planner.lower.betree.similar import WINDOW, attribute_sets, is_worth, take_similar
from profilec.runtime.kernels import allocating_kernel, inlined, with_room
from profilec.runtime.matchers.betree.tree import (
    ATTRIBUTE,
    FORM_LIST,
    FORM_MATRIX,
    GROUP,
    HEADER,
    LIST_ENTRIES,
    MOST_ATTRIBUTES,
    MOST_WORDS,
    N_LEAVES,
    N_NODES,
    N_SLOTS,
    PARTS,
    RECORD,
    ROOT,
    WIDEST,
)

DIRECT = 16
"""Ranks for each cut up to which a matrix tells the row of every rank."""
WIDE_ENTRIES = 100_000
"""Entries up to which a tree's matrices have rows of several words. These spare look-ups, but bring more cuts, and so
about five times the bytes: a large tree would wait for memory instead."""
ANY_FORM, LISTS_ONLY, MATRICES_ONLY = range(3)
MOST_GREEDY = 4096
"""Entries up to which a list's heads are chosen together."""


@allocating_kernel
def emit(predicates: Any, intervals: Any, slots: Any, nodes: Any, ids: Any, forms: int) -> Any:
    """The arrays of a `Tree`: data, words. `ids`: what the leaves say of each entry."""
    n_nodes, n_edges, n_slots = nodes.sizes[0], nodes.sizes[1], len(slots.presence)
    data = np.zeros(HEADER + n_slots + 1024, np.int32)
    words = np.zeros(1024, np.uint64)
    at, n_words, n_leaves, most_attributes, widest = HEADER + n_slots, 0, 0, 0, 1
    most = 64 * MOST_WORDS if len(nodes.order) <= WIDE_ENTRIES else 64
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
        order, cut, n_matrices = shared_leaves(
            predicates, slots, nodes.order[nodes.start[node] : nodes.end[node]], number_of, forms, most
        )
        n_node = 2 + 2 * n_own + len(cut) - 1
        data = with_room(data, at + n_node)
        position[node] = at
        data[at], data[at + 1] = n_own, len(cut) - 1
        edges = at + 2
        leaves = edges + 2 * n_own
        at += n_node
        n_leaves += len(cut) - 1
        for leaf in range(len(cut) - 1):
            entries = order[cut[leaf] : cut[leaf + 1]]
            data[leaves + leaf] = at
            if leaf < n_matrices:
                asked, _ = leaf_attributes(predicates, entries, number_of)
                cut_off, cuts = cuts_of(predicates, intervals, entries, asked, number_of)
                rows, absent = rows_of(predicates, intervals, entries, asked, cut_off, cuts, number_of)
                width = rows.shape[1]
                size = PARTS + (ATTRIBUTE + 2 * width) * len(asked) + len(entries) + DIRECT * len(cuts)
                data = with_room(data, at + size)
                if width > 1:  # so that a row of as many words is a cache line
                    n_words = (n_words + MOST_WORDS - 1) // MOST_WORDS * MOST_WORDS
                words = with_room(words, n_words + rows.size)
                at = write_matrix(data, at, entries, ids, slots, asked, cut_off, cuts, absent, n_words)
                words[n_words : n_words + rows.size] = rows.ravel()
                n_words += rows.size
                most_attributes, widest = max(most_attributes, len(asked)), max(widest, width)
            else:
                data = with_room(data, at + list_size(predicates, intervals, entries))
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
    data[N_LEAVES], data[MOST_ATTRIBUTES], data[WIDEST] = n_leaves, most_attributes, widest
    return data[:at].copy(), words[:n_words].copy()


@allocating_kernel
def shared_leaves(predicates: Any, slots: Any, entries: Any, number_of: Any, forms: int, most: int) -> Any:
    """The entries of a node in the order of its leaves, where each leaf begins (and the last ends), and how many are
    matrices: these come first. `most`: entries of a matrix."""
    n = len(entries)
    order, cut = np.empty(n, np.int32), np.empty(n + 1, np.int64)
    n_ordered, n_leaves, n_rest = 0, 0, 0
    rest, taken = np.empty(n, np.int32), np.empty(most, np.int64)
    cut[0] = 0
    for start in range(0, n, WINDOW):
        window = entries[start : start + WINDOW]
        free, n_free = np.empty(len(window), np.int64), 0
        most_intervals = MOST_INTERVALS if forms == ANY_FORM else 1 << 30
        sets, can, common = attribute_sets(predicates, window, number_of, most_intervals)
        if forms != LISTS_ONLY:
            for i in range(len(window)):
                if can[i]:
                    free[n_free] = i
                    n_free += 1
        votes = np.zeros(64 * sets.shape[1], np.int64)
        is_left = np.ones(len(window), np.bool_)
        while n_free:
            n_taken, n_attributes, n_free = take_similar(sets, common, free, n_free, taken, votes)
            if forms == ANY_FORM and not is_worth(predicates, slots, window[taken[:n_taken]], n_attributes):
                break
            for t in range(n_taken):
                order[n_ordered] = window[taken[t]]
                is_left[taken[t]] = False
                n_ordered += 1
            n_leaves += 1
            cut[n_leaves] = n_ordered
        for i in range(len(window)):
            if is_left[i]:
                rest[n_rest] = window[i]
                n_rest += 1
    n_matrices = n_leaves
    if n_rest:
        _, group, _ = heads(predicates, slots, rest[:n_rest], number_of)
        for i in np.argsort(group, kind="mergesort"):
            order[n_ordered] = rest[i]
            n_ordered += 1
    while cut[n_leaves] < n:
        n_leaves += 1
        cut[n_leaves] = min(n, cut[n_leaves - 1] + LIST_ENTRIES)
    return order, cut[: n_leaves + 1], n_matrices


@inlined
def list_size(predicates: Any, intervals: Any, entries: Any) -> int:
    """An upper bound of the integers that a leaf takes as a predicate list."""
    n = PARTS + 8 * len(entries)
    for entry in entries:
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            n += 3 + 2 * (predicates.last[p] - predicates.first[p])
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
    absent: Any,
    n_words: int,
) -> int:
    """`n_words`: where the rows are going to stand. Returns where the leaf ends."""
    n_attributes, width = absent.shape
    size = ATTRIBUTE + 2 * width
    ids_at = at + PARTS + size * n_attributes
    place = ids_at + len(entries)
    data[at], data[at + 1], data[at + 2], data[at + 3] = len(entries), FORM_MATRIX, n_attributes, ids_at
    for i in range(len(entries)):
        data[ids_at + i] = ids[entries[i]]
    for a in range(n_attributes):
        attribute = at + PARTS + size * a
        first, n_cuts, n_ranks = cut_off[a], cut_off[a + 1] - cut_off[a], slots.n_ranks[asked[a]]
        data[attribute], data[attribute + 2], data[attribute + 3] = asked[a], place, n_words + width * first
        for w in range(width):
            half = attribute + ATTRIBUTE + 2 * w
            data[half] = signed(absent[a, w] & np.uint64(0xFFFFFFFF))
            data[half + 1] = signed(absent[a, w] >> np.uint64(32))
        if is_direct(n_ranks, n_cuts):
            data[attribute + 1] = -n_cuts
            for quarter in range((n_ranks + 3) >> 2):
                data[place + quarter] = 0
            row = 0
            for rank in range(1, n_ranks):
                while row + 1 < n_cuts and cuts[first + row + 1] <= rank:
                    row += 1
                data[place + (rank >> 2)] |= signed(row << ((rank & 3) << 3))
            place += (n_ranks + 3) >> 2
        else:
            data[attribute + 1] = n_cuts
            for c in range(n_cuts):
                data[place + c] = cuts[first + c]
            place += n_cuts
    return place


@inlined
def signed(half: Any) -> Any:
    """The int32 with the bits of a number below 2**32."""
    bits = np.int64(half)
    return np.int32(bits - ((bits >> 31) << 32))


@inlined
def is_direct(n_ranks: int, n_cuts: int) -> bool:
    """Whether a byte can tell the row of each rank, and all these bytes are at most DIRECT a cut."""
    return n_cuts <= 256 and n_ranks <= DIRECT * n_cuts


@allocating_kernel
def write_list(
    predicates: Any, intervals: Any, slots: Any, data: Any, at: int, entries: Any, ids: Any, number_of: Any
) -> int:
    n = len(entries)
    head, group, n_groups = heads(predicates, slots, entries, number_of)
    order = np.argsort(group, kind="mergesort")
    place = at + PARTS
    records = place + GROUP * n_groups
    ids_at = records + RECORD * n
    data[at], data[at + 1], data[at + 2], data[at + 3] = n, FORM_LIST, n_groups, ids_at
    for i in range(n):
        p = head[order[i]]
        slot, low = len(slots.presence), 0
        if p >= 0:
            slot, low = predicates.slot[p], predicates.low[p]
        data[records + RECORD * i], data[records + RECORD * i + 1] = low, predicates.high[p] if p >= 0 else 0
        if i + 1 == n or group[order[i + 1]] != group[order[i]]:
            data[place], data[place + 1] = slot if low > 0 else ~slot, i + 1
            place += GROUP
    place = ids_at + n
    for i in range(n):
        entry, p_head = entries[order[i]], head[order[i]]
        data[records + RECORD * i + 2] = place
        data[ids_at + i] = ids[entry]
        n_single, n_several = rest_length(predicates, entry, p_head)
        data[place], data[place + 1] = n_single, n_several
        single = place + 2
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
        asked, _ = leaf_attributes(predicates, entries, number_of)
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
