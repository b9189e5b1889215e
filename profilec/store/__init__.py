"""The store of a living set: what survives the process, and the power.

    environment.py    the LMDB environment, its databases, and errors as users read them
    documents.py      the earlier documents
    store.py          the set on disk: segments, and the changes since

    PATH/data.mdb, lock.mdb     `meta`, `segments` (number to profiles' places and the dead), `log` (moment to change)
    PATH/segments/7.image       segment 7, as `ProfileSet.save` writes it
    PATH/merge.lock             held by the process that merges

A change is written to the log, and is there once the transaction is; a merge writes a segment's file, and then swaps it
in, and the log that it contains out, in one transaction. So a store is always a number of whole segments and a log.
"""
