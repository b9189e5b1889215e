"""Image x documents -> matches.

In: an `Image` (what `planner` lowered a set of profiles to) and documents, one at a time or as
a batch. Out: the ordinals of the profiles that each document matches. Nothing here sees profile
text or an IR node, and importing this package loads no other library: each module imports what
it needs, when it needs it.

    image.py      the compiled form: slots, ranks, tests, entries, residuals
    program.py    conditions and scalars that are no rank tests, as small stack programs
    imagefile/    the image as one file
    kernels.py    how compiled functions are made, and where their machine code is kept
    encode.py     documents -> ranks (columns.py: of Arrow and pandas columns, vectorised; sparse.py: what comes out)
    patterns.py   all patterns of a slot in one pass over the string
    indexes/      rank -> entries
    matchers/     which entries hold
    joins/        quantifiers over the document store
    store/        the earlier documents
    overlap.py    documents whose values are sets
    decide.py     bits and residuals of one document, each decided at most once
    execute.py    all of it together
"""
