"""BE-Tree's bulk load: the entries of an image to the flat arrays of `runtime.matchers.betree`.

costs.py        unit costs, and the seed's guide to leaf capacity
predicates.py   the columns that all below share; entries.py an image's entries as such
grow.py         partitioning and clustering: which entries share a leaf
ranked.py       the attributes of partitions by rank, where not by cost
placed.py       a tree's nodes and entries, read back; ranks.py what they are worth; recycle.py what of them stays
matrix.py       a leaf as bit rows over elementary intervals
emit.py         nodes, directories and leaves to flat arrays
load.py         the whole
"""

from profilec.planner.lower.betree.load import bulk_load
from profilec.planner.lower.betree.recycle import SeenTree, is_below, judged

__all__ = ["SeenTree", "bulk_load", "is_below", "judged"]
