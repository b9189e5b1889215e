"""Whether a tree is one: nothing that a kernel reads lies outside of the arrays, and no walk is longer than its queue.

In: a tree that may come from anywhere. Out: the position of what is wrong. Kernels check no bounds, so a tree that
did not come from the builder or an image whose checksums hold is looked through before it is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import allocating_kernel, inlined, kernel
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


@allocating_kernel
def fault(data: Any, n_words: int, n_special: int, n_ranks: Any, n_profiles: int) -> int:
    """The position in `data` of the first thing found wrong; -1 if all is right.

    `n_ranks`: of each slot of a document, pseudo-slots included.
    """
    n_slots = len(n_ranks)
    if len(data) < HEADER + n_slots or data[N_SLOTS] != n_slots:
        return N_SLOTS
    if data[N_NODES] < 1 or data[N_NODES] > len(data):
        return N_NODES
    if data[WIDEST] < 1 or data[WIDEST] > MOST_WORDS:
        return WIDEST
    directory_of = np.zeros(len(data), np.int32)
    stack = np.empty(data[N_NODES] + 1, np.int32)
    return fault_in(data, n_words, np.zeros(n_special, np.bool_), n_ranks, n_profiles, directory_of, stack)


@kernel
def fault_in(data: Any, n_words: int, told: Any, n_ranks: Any, n_profiles: int, directory_of: Any, stack: Any) -> int:
    """`directory_of[node]`: through which directory it is reached; a node is reached through one only.

    `told[number]`: whether a leaf has told of this special entry; only one does.
    """
    n_slots = len(n_ranks)
    stack[0] = data[ROOT]
    n_stack, n_leaves = 1, 0
    for slot in range(n_slots):
        if data[HEADER + slot]:
            n_stack = add_targets(data, data[HEADER + slot], directory_of, stack, n_stack)
            if n_stack < 0:
                return HEADER + slot
    n_nodes = n_stack
    while n_stack:
        n_stack -= 1
        node = stack[n_stack]
        if node < HEADER + n_slots or node + 2 > len(data):
            return ROOT
        n_edges, n_own = data[node], data[node + 1]
        if min(n_edges, n_own) < 0 or node + 2 + 2 * n_edges + n_own > len(data):
            return node
        n_leaves += n_own
        for edge in range(node + 2, node + 2 + 2 * n_edges, 2):
            before = n_stack
            if data[edge] < 0 or data[edge] >= n_slots:
                return edge
            n_stack = add_targets(data, data[edge + 1], directory_of, stack, n_stack)
            if n_stack < 0:
                return edge
            n_nodes += n_stack - before
        if n_nodes > data[N_NODES]:
            return N_NODES
        first = node + 2 + 2 * n_edges
        for place in range(first, first + n_own):
            wrong = fault_of_leaf(data, data[place], n_words, told, n_ranks, n_profiles)
            if wrong >= 0:
                return wrong
    return -1 if n_leaves <= data[N_LEAVES] else N_LEAVES


@inlined
def add_targets(data: Any, directory: int, directory_of: Any, stack: Any, n_stack: int) -> int:
    """Pushes the nodes of a directory; returns the stack's new size, -1 where the directory is none."""
    if directory < HEADER or directory >= len(data):
        return -1
    n = data[directory]
    targets = directory + 2 + 2 * n
    if n < 0 or targets > len(data):
        return -1
    lists = directory + 1 + n
    if data[lists] != 0 or targets + data[lists + n] > len(data):
        return -1
    for b in range(n):
        if data[lists + b + 1] < data[lists + b] or (b > 0 and data[lists - n + b] <= data[lists - n + b - 1]):
            return -1
        for t in range(targets + data[lists + b], targets + data[lists + b + 1]):
            node = data[t]
            if node < HEADER or node >= len(data):
                return -1
            for other in range(targets + data[lists + b], t):
                if data[other] == node:
                    return -1
            if directory_of[node] == 0:
                if n_stack >= len(stack):
                    return -1
                directory_of[node] = directory
                stack[n_stack] = node
                n_stack += 1
            elif directory_of[node] != directory:
                return -1
    return n_stack


@inlined
def fault_of_leaf(data: Any, leaf: int, n_words: int, told: Any, n_ranks: Any, n_profiles: int) -> int:
    if leaf < HEADER or leaf + PARTS > len(data):
        return 0
    n, n_parts, ids = data[leaf], data[leaf + 2], data[leaf + 3]
    if n < 1 or n > 64 * data[WIDEST] or n_parts < 0 or ids < HEADER or ids + n > len(data):
        return leaf
    for i in range(ids, ids + n):
        if data[i] >= n_profiles or data[i] < -len(told) or (data[i] < 0 and told[~data[i]]):
            return i
        if data[i] < 0:
            told[~data[i]] = True
    if data[leaf + 1] == FORM_LIST and n <= LIST_ENTRIES:
        return fault_of_list(data, leaf, n, n_parts, len(n_ranks))
    if data[leaf + 1] != FORM_MATRIX or n_parts > data[MOST_ATTRIBUTES]:
        return leaf
    row = (n + 63) >> 6
    size = ATTRIBUTE + 2 * row
    if leaf + PARTS + size * n_parts > len(data):
        return leaf
    for attribute in range(leaf + PARTS, leaf + PARTS + size * n_parts, size):
        slot, n_cuts, cuts, rows = data[attribute], data[attribute + 1], data[attribute + 2], data[attribute + 3]
        if slot < 0 or slot >= len(n_ranks) or n_cuts == 0 or cuts < HEADER or rows < 0:
            return attribute
        if rows + row * abs(n_cuts) > n_words:
            return attribute
        if n_cuts < 0:
            if cuts + ((n_ranks[slot] + 3) >> 2) > len(data):
                return attribute
            for rank in range(1, n_ranks[slot]):
                if (data[cuts + (rank >> 2)] >> ((rank & 3) << 3)) & 255 >= -n_cuts:
                    return attribute
        else:
            if cuts + n_cuts > len(data) or data[cuts] != 1:
                return attribute
            for c in range(cuts + 1, cuts + n_cuts):
                if data[c] <= data[c - 1]:
                    return c
    return -1


@inlined
def fault_of_list(data: Any, leaf: int, n: int, n_groups: int, n_slots: int) -> int:
    records = leaf + PARTS + GROUP * n_groups
    if records + RECORD * n > len(data):
        return leaf
    end = 0
    for group in range(leaf + PARTS, records, GROUP):
        slot = data[group]
        if slot >= n_slots or slot < ~n_slots or data[group + 1] < end:
            return group
        end = data[group + 1]
    if end != n:
        return leaf
    for record in range(records, records + RECORD * n, RECORD):
        body = data[record + 2]
        if body < HEADER or body + 2 > len(data):
            return record
        n_single, n_several = data[body], data[body + 1]
        if min(n_single, n_several) < 0 or body + 2 + 3 * (np.int64(n_single) + n_several) > len(data):
            return body
        for predicate in range(body + 2, body + 2 + 3 * (n_single + n_several), 3):
            if data[predicate] < 0 or data[predicate] >= n_slots:
                return predicate
        for predicate in range(body + 2 + 3 * n_single, body + 2 + 3 * (n_single + n_several), 3):
            at, size = np.int64(data[predicate + 1]), np.int64(data[predicate + 2])
            room = 2 * size if size >= 0 else 1 + ((31 - size) >> 5)
            if at < HEADER or at + room > len(data):
                return predicate
    return -1
