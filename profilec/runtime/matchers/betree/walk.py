"""Walking the tree: which nodes a document reaches.

In: a document, sparse and dense. Out: the positions of the nodes, in a queue that is also the walk's own.
BE-Tree, Algorithms 1 and 2, without recursion: a cluster directory is one search, since all buckets that enclose
a rank are listed together.

PERF: what is read next is asked for before it is needed; a walk of a large tree is bound by memory, not by steps.
"""

from __future__ import annotations

from typing import Any

from profilec.runtime.kernels import inlined, prefetch
from profilec.runtime.matchers.betree.leaf import last_at_most
from profilec.runtime.matchers.betree.tree import HEADER, ROOT


@inlined
def walk(data: Any, slots: Any, document_ranks: Any, n_slots: int, ranks: Any, queue: Any) -> int:
    """Fills the queue with the nodes that the document reaches, the root first; returns how many.

    `slots`, `document_ranks`: the sparse document, of which n_slots count. `ranks`: the same, dense.
    """
    for i in range(n_slots):
        prefetch(data, HEADER + slots[i])
    for i in range(n_slots):
        prefetch(data, data[HEADER + slots[i]])
    queue[0] = data[ROOT]
    n_reached = 1
    for i in range(n_slots):
        directory = data[HEADER + slots[i]]
        if directory:
            n_reached = enclosing(data, directory, document_ranks[i], queue, n_reached)
    done = 1
    while done < n_reached:
        node = queue[done]
        done += 1
        edge = node + 2
        for _ in range(data[node]):
            rank = ranks[data[edge]]
            if rank > 0:
                n_reached = enclosing(data, data[edge + 1], rank, queue, n_reached)
            edge += 2
    return n_reached


@inlined
def enclosing(data: Any, directory: int, rank: int, queue: Any, n_reached: int) -> int:
    """Appends the nodes of all buckets of a cluster directory that enclose the rank."""
    n = data[directory]
    place = last_at_most(data, rank, directory + 1, n)
    if place >= 0:
        lists = directory + 1 + n + place
        targets = directory + 2 + 2 * n
        for t in range(targets + data[lists], targets + data[lists + 1]):
            prefetch(data, data[t])
            queue[n_reached] = data[t]
            n_reached += 1
    return n_reached


@inlined
def leaves_of(data: Any, nodes: Any, n_nodes: int, leaves: Any, n: int) -> int:
    """Appends the positions of the nodes' leaves; returns how many there are then."""
    for q in range(n_nodes):
        node = nodes[q]
        first = node + 2 + 2 * data[node]
        for place in range(first, first + data[node + 1]):
            leaf = data[place]
            prefetch(data, leaf)
            prefetch(data, leaf + 16)
            prefetch(data, leaf + 32)
            leaves[n] = leaf
            n += 1
    return n
