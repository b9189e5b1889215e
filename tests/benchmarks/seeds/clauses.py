"""Profiles in CNF and DNF over OpIndex's workload (OpIndex, 6.1 and 7.6).

Left open by the paper and decided here: a profile has 1 to `most` clauses, each number as likely as any other, and a
clause is a conjunction of `opindex.profiles` (of the DNF), or the same predicates with OR between them (of the CNF).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import opindex
from conjunctions import offsets_of
from nested import AND, OR, Expressions
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def clauses(parameters: opindex.Parameters, most: int, *, is_cnf: bool) -> Expressions:
    """`parameters.n_profiles` profiles; a clause of one predicate is that predicate."""
    rng = np.random.default_rng((parameters.seed, 41))
    sizes = rng.integers(1, most + 1, parameters.n_profiles)
    predicates = opindex.profiles(replace(parameters, n_profiles=int(sizes.sum())))
    inner, outer = (OR, AND) if is_cnf else (AND, OR)
    node = np.arange(len(predicates.op))
    nodes, inner_sizes, inner_child = _connected(node, predicates.off, len(predicates.op))
    first = len(predicates.op) + len(inner_sizes)
    root, outer_sizes, outer_child = _connected(nodes, offsets_of(sizes), first)
    kind = np.concatenate((np.full(len(inner_sizes), inner, np.uint8), np.full(len(outer_sizes), outer, np.uint8)))
    child = np.concatenate((inner_child, outer_child)).astype(np.int32)
    child_off = offsets_of(np.concatenate((inner_sizes, outer_sizes)))
    return Expressions(predicates, kind, child_off, child, root.astype(np.int32))


def _connected(node: Ints, off: Ints, first: int) -> tuple[Ints, Ints, Ints]:
    """Nodes put together as `off` says: the node of each run (numbered from `first` on, or the only one of the run),
    and of the new nodes the numbers of operands, and these."""
    sizes = np.diff(off)
    several = sizes > 1
    of_run = np.where(several, first + np.cumsum(several) - 1, node[off[:-1]])
    return of_run, sizes[several], node[np.repeat(several, sizes)]
