"""SQL trees to the IR: a file for each group of forms, which says what it reads in the tables of `forms`."""

from profilec.grammar.sql.reading import (  # noqa: F401  (each registers its readers)
    arrays,
    casts,
    comparisons,
    connectives,
    literals,
    names,
    numbers,
    patterns,
    regexes,
    strings,
    times,
)
from profilec.grammar.sql.reading.forms import Reading, read_condition

__all__ = ["Reading", "read_condition"]
