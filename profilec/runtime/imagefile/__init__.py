"""The image file: an image, and the profiles it was made from, as one file of flat arrays.

In: arrays by name. Out: the same arrays, mapped: nothing is read before it is used, and processes
that map the same file share its pages. Whoever matches needs only this package and `image`.

    container.py   the file: header, section table, bodies; what is refused, and why
    columns.py     strings, numbers and decoded objects over flat arrays
    tokens.py      programs, types and values as text, exactly
    arrays.py      dataclasses of arrays to sections and back
    sections.py    an Image to sections and back
"""
