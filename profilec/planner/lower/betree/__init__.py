"""BE-Tree's bulk load: the entries of an image to the flat arrays of `runtime.matchers.betree`.

costs.py        unit costs, and the seed's guide to leaf capacity
predicates.py   the columns that all below share
grow.py         partitioning and clustering: which entries share a leaf
matrix.py       a leaf as bit rows over elementary intervals
emit.py         nodes, directories and leaves to flat arrays
load.py         tests to predicates, and the whole
"""

from profilec.planner.lower.betree.load import bulk_load

__all__ = ["bulk_load"]
