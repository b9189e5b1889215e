"""A join term decided by a scan of the earlier documents' columns, as numpy does it best: the arrays are there already.

In: a term, the columns of the earlier documents, one new document. Out: the term's truth: one boolean expression
over whole columns, and `any` or `all` of it.

NULL: what is missing is NaN, which compares FALSE, or a key that equals none. EXISTS asks for TRUE, and FORALL is
spoiled by what is not, so FALSE says what UNKNOWN would.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from joins import MISSING, Columns, Compared, Term
from numpy.typing import NDArray

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(term: Term, earlier: Columns, document: Mapping[str, Any]) -> bool:
    """The truth of a term for a new document."""
    arrays = earlier.arrays
    in_scope: NDArray[np.bool_] | None = None
    for key in term.keys:
        equal = arrays[key] == _key(document[key])
        in_scope = equal if in_scope is None else in_scope & equal
    body = None if term.compared is None else _compared(term.compared, arrays, document)
    if term.quantifier == "FORALL":
        assert body is not None
        return bool((body if in_scope is None else body | ~in_scope).all())
    parts = [part for part in (in_scope, body) if part is not None]
    exists = bool((parts[0] if len(parts) == 1 else parts[0] & parts[1]).any())
    return exists == (term.quantifier == "EXISTS")


def _key(code: Any) -> Any:
    """NULL: a missing key of the new document equals no missing one of an earlier."""
    return MISSING - 1 if code == MISSING else code


def _compared(compared: Compared, arrays: Mapping[str, Any], document: Mapping[str, Any]) -> NDArray[np.bool_]:
    new = document[compared.new] if isinstance(compared.new, str) else compared.new
    truth: NDArray[np.bool_] = _OPERATORS[compared.op](arrays[compared.old], new)
    return truth
