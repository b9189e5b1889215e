"""`DynamicBETree`: a BE-Tree that changes entry by entry, for what comes between two compilations of a set.

tree.py         the arrays, drawn; how they grow
cells.py        aligned ranges of keys: buckets, and their halves
blocks.py       memory, from free lists
directory.py    the attributes by which a node's entries are partitioned
statistics.py   what documents and entries tell of attributes, and the score made of it
leaf.py         rows of a leaf, each with the test that is looked at first
place.py        where an entry goes
split.py        what an overflowing leaf comes to: clustering and partitioning
change.py       insertion and deletion, whole
merge.py        what an underflowing one comes to
adjust.py       partitions that documents found wanting
match.py        the walk of a document
batch.py        that of many
sound.py        the invariants, checked
index.py        the object

Where it is not the paper's tree (BE-Tree, sections 4 to 6):

    a half that has no entries has no bucket, and a bucket of one half gives way to it (`cells.py`)
    an entry is not filed under an attribute that it hardly constrains, where another of its tests says more; by what is
    known of keys and documents, which changes, so the attributes of a path depend on the order of insertions, while the
    bucket within an attribute's directory does not (`statistics.py`)
    the score is expected rows spared, rather than the number of entries that have the attribute (`statistics.py`)
    the capacity of a leaf that nothing partitions grows by half (`split.py`)
    deletion, of which the paper says that it is like matching, begins at the entry's leaf (`merge.py`)
    counters are of every sixteenth document, and are judged when the caller says so (`adjust.py`)
"""

from profilec.runtime.matchers.dynamic_betree.index import DynamicBETree as DynamicBETree
