"""Living sets: profiles come and go while documents are matched.

    axes.py        values to int64 keys, which do not change when constants are added
    conjunctions.py  a normal form as conjunctions of intervals of keys
    delta.py       the profiles inserted since the last merge, in a dynamic BE-Tree
    segment.py     a compiled set as one of several, with the profiles deleted from it
    living_set.py  segments and deltas as one set, in versions
    merging.py     which segments are merged, and when
    aside.py       a large segment, compiled in a process of its own
    prepare.py     profiles that are going to be inserted
    records.py     changes as bytes

Data flows up: nothing here knows how a segment is compiled, which `profilec.profileset` tells.
"""
