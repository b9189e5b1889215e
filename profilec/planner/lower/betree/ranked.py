"""Which attributes partition an overflowing leaf, and which entries go there: by rank (BE-Tree, 5; Algorithms 3 and 5).

In: the entries of a node, and what is known of them from an earlier tree. Out: the predicate by which each leaves the
node's leaf, if any.

    kept        an entry goes where it went in the earlier tree
    anew        one that is inserted anew goes to that attribute, of those to which others go, to whose rank it adds
                most; of equal ones, to that of highest rank
    overflow    while more are left than the leaf's capacity, the attribute of highest rank takes all that ask for it

The rank of an attribute is beta * Gain - gamma * Loss over the entries that ask for it. Gain is their number. Loss, the
predicate evaluations that they are expected to cost a document in vain, is a sum over entries too:

    with an earlier tree    what an entry cost there, or is expected to (`recycle`)
    histogram               in a histogram with a bucket for each rank, where an entry is in all buckets that its home
                            bucket encloses, the average bucket size; documents without the attribute, where some were
                            seen, have an empty bucket of their own. So an entry adds the share of buckets that it is in
    optimistic              0
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.betree.costs import MIN_SIZE
from profilec.planner.lower.betree.predicates import OPEN, bucket_share
from profilec.planner.ranking import HISTOGRAM
from profilec.runtime.kernels import inlined


class Earlier(NamedTuple):
    """What an earlier tree tells. `step[p]`: the predicate was the n-th on the path of its entry, which is to go there
    again; 0 where it was not. `loss[p]`: what the entry loses by it, in predicate evaluations a document; -1 where that
    is not known. `refused[p]`: the entry is not to go there again. `anew`: the entries that are inserted anew."""

    step: NDArray[np.int32]
    loss: NDArray[np.float64]
    refused: NDArray[np.bool_]
    anew: NDArray[np.bool_]

    @classmethod
    def none(cls, n_predicates: int, n_entries: int) -> Earlier:
        """No earlier tree."""
        step, loss = np.zeros(n_predicates, np.int32), np.full(n_predicates, -1.0)
        return cls(step, loss, np.zeros(n_predicates, np.bool_), np.ones(n_entries, np.bool_))


@inlined
def choose_by_rank(
    predicates: Any,
    slots: Any,
    order: Any,
    start: int,
    end: int,
    work: Any,
    n_touched: int,
    max_cap: int,
    ranking: Any,
    earlier: Any,
) -> None:
    """work.chosen[entry]: the predicate by which it leaves the leaf, -1 for none; work.group[slot]: how many so do."""
    for t in range(n_touched):
        work.n_with[work.touched[t]] = 0
        work.rank[work.touched[t]] = 0.0
    keep(predicates, slots, order, start, end, work, ranking, earlier)
    insert(predicates, slots, order, start, end, work, ranking, earlier)
    n_left = give_up_small(predicates, order, start, end, work, n_touched)
    for i in range(start, start + n_left):
        add_worth(predicates, slots, work, ranking, earlier, work.moved[i], 1)
    while n_left > max_cap:
        best = highest(work, n_touched)
        if best < 0:
            break
        n_still_left = 0
        for i in range(start, start + n_left):
            entry = work.moved[i]
            p = usable_on(predicates, earlier, entry, best)
            if p >= 0:
                add_worth(predicates, slots, work, ranking, earlier, entry, -1)
                work.chosen[entry] = p
                work.group[best] += 1
            else:
                work.moved[start + n_still_left] = entry
                n_still_left += 1
        n_left = n_still_left


@inlined
def keep(predicates: Any, slots: Any, order: Any, start: int, end: int, work: Any, ranking: Any, earlier: Any) -> None:
    """Chooses for the entries that stay on their path; work.rank[slot] becomes the rank of those that go there."""
    for i in range(start, end):
        entry = order[i]
        work.chosen[entry] = next_step(predicates, earlier, entry)
        if work.chosen[entry] >= 0:
            take(predicates, slots, work, ranking, earlier, entry)


@inlined
def insert(
    predicates: Any, slots: Any, order: Any, start: int, end: int, work: Any, ranking: Any, earlier: Any
) -> None:
    """Algorithm 3: those inserted anew go to partitions that are there."""
    for i in range(start, end):
        entry = order[i]
        if work.chosen[entry] >= 0 or not earlier.anew[entry]:
            continue
        most, highest_rank = -np.inf, -np.inf
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            slot = predicates.slot[p]
            if work.group[slot] > 0 and is_usable(predicates, earlier, p):
                added = worth(predicates, slots, ranking, earlier, p)
                if added > most or (added == most and work.rank[slot] > highest_rank):
                    work.chosen[entry], most, highest_rank = p, added, work.rank[slot]
        if work.chosen[entry] >= 0:
            take(predicates, slots, work, ranking, earlier, entry)


@inlined
def take(predicates: Any, slots: Any, work: Any, ranking: Any, earlier: Any, entry: int) -> None:
    """Adds an entry to the partition that was chosen for it."""
    p = work.chosen[entry]
    work.group[predicates.slot[p]] += 1
    work.rank[predicates.slot[p]] += worth(predicates, slots, ranking, earlier, p)


@inlined
def give_up_small(predicates: Any, order: Any, start: int, end: int, work: Any, n_touched: int) -> int:
    """Partitions that are too small (4.2) are given up. Returns how many entries are left in the leaf: they stand in
    work.moved from `start` on."""
    for t in range(n_touched):
        slot = work.touched[t]
        work.rank[slot] = 0.0
        if work.group[slot] < MIN_SIZE:
            work.group[slot] = 0
    n_left = 0
    for i in range(start, end):
        entry = order[i]
        if work.chosen[entry] >= 0 and work.group[predicates.slot[work.chosen[entry]]] == 0:
            work.chosen[entry] = -1
        if work.chosen[entry] < 0:
            work.moved[start + n_left] = entry
            n_left += 1
    return n_left


@inlined
def highest(work: Any, n_touched: int) -> int:
    """The attribute of highest rank that enough entries ask for (4.2), the first of equal ones; -1 if there is none."""
    best = -1
    for t in range(n_touched):
        slot = work.touched[t]
        if work.n_with[slot] >= MIN_SIZE and (best < 0 or work.rank[slot] > work.rank[best]):
            best = slot
    return best


@inlined
def add_worth(predicates: Any, slots: Any, work: Any, ranking: Any, earlier: Any, entry: int, sign: int) -> None:
    """Adds what an entry is to each of its attributes to work.rank and work.n_with."""
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        slot = predicates.slot[p]
        if usable_on(predicates, earlier, entry, slot) == p:
            work.n_with[slot] += sign
            work.rank[slot] += sign * worth(predicates, slots, ranking, earlier, p)


@inlined
def next_step(predicates: Any, earlier: Any, entry: int) -> int:
    """The predicate with which an entry's earlier path goes on; -1 where it ends here."""
    step = 1
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        step += predicates.state[p] != OPEN
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        if earlier.step[p] == step and predicates.state[p] == OPEN:
            return p
    return -1


@inlined
def usable_on(predicates: Any, earlier: Any, entry: int, slot: int) -> int:
    """The first predicate of an entry by which it can go to an attribute; -1 if it has none."""
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        if predicates.slot[p] == slot and is_usable(predicates, earlier, p):
            return p
    return -1


@inlined
def is_usable(predicates: Any, earlier: Any, p: int) -> bool:
    """Whether an entry can leave a leaf by a predicate: one off the path, that lets no absence through."""
    return predicates.state[p] == OPEN and predicates.low[p] > 0 and not earlier.refused[p]


@inlined
def worth(predicates: Any, slots: Any, ranking: Any, earlier: Any, p: int) -> float:
    """What an entry adds to the rank of the attribute of one of its predicates."""
    loss = earlier.loss[p]
    if loss < 0:
        loss = 0.0
        if ranking.by == HISTOGRAM:
            slot = predicates.slot[p]
            loss = bucket_share(predicates.low[p], predicates.high[p], slots.n_ranks[slot])
            if slots.is_sampled:
                loss *= slots.presence[slot]
    return ranking.beta - ranking.gamma * loss
