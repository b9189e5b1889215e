"""Terms over the elements of an array, told together: a document pays for its elements, not for each term.

In: terms, and a document. Out: the numbers of those that are TRUE.

    ANY(tags) = 'x'                          by the element: a hash table from values to terms
    ANY(sizes) > 40                          by the greatest element: terms sorted by their constants
    ANY items AS i (i.sku = 'x' AND …)       by one conjunct, as above, and only those found are run

Other terms (`ALL`, `!=`, LIKE, OR) are left to whoever asks for their truth. Invariant: a term that is indexed is TRUE
iff its number is told, whatever else it may be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import BIT_TERM, OP_JOIN, OP_JOIN_NOT, OP_TEST, WANT_NOT_TRUE, WANT_TRUE, Image
from profilec.runtime.program import Document, Instruction, Program, run
from profilec.values.compare import order_key
from profilec.values.kinds import Date, Kind, Timestamp, Value, kind_of
from profilec.values.paths import elements_of

_Key: TypeAlias = tuple[Kind, Any]


class Access(NamedTuple):
    """One conjunct of a term's body: some values that the attribute of an element compares with. `rest`: there are
    more conjuncts."""

    array: Instruction
    attribute: Instruction
    operator: str
    values: tuple[Value, ...]
    rest: bool


def access_of(term: Program) -> Access | None:
    """The conjunct by which a term is indexed, equality before the others; None where it is not.

    >>> tags, element = ("attribute", 0, ("tags",), None), ("attribute", 2, (), None)
    >>> access_of((tags, ("some", (element, ("constant", "x"), ("compare", "=")))))[2:]
    ('=', ('x',), False)
    """
    if len(term) != 2 or term[0][:2] != ("attribute", 0) or term[1][0] != "some":
        return None
    body: Program = term[1][1]
    conjuncts = [body]
    if body[-1][0] == "and":
        conjuncts = _operands(body)
    found = None
    for conjunct in conjuncts:
        access = _access(term[0], conjunct, rest=len(conjuncts) > 1)
        if access is not None and (found is None or (access.operator == "=" and found.operator != "=")):
            found = access
    return found


def _access(array: Instruction, conjunct: Program, *, rest: bool) -> Access | None:
    attribute, constants, operation = conjunct[0], conjunct[1:-1], conjunct[-1]
    if attribute[:2] != ("attribute", 2) or any(constant[0] != "constant" for constant in constants):
        return None
    values = tuple([constant[1] for constant in constants])
    if operation[0] == "in":
        return Access(array, attribute, "=", values, rest)
    if operation[0] == "compare" and operation[1] != "!=" and len(values) == 1:
        return Access(array, attribute, operation[1], values, rest)
    return None


def _operands(body: Program) -> list[Program]:
    """The operands of the AND that ends a body; only those whose attribute, constants and comparison stand alone."""
    operands: list[Program] = []
    start = 0
    for place, instruction in enumerate(body[:-1]):
        if instruction[0] in ("compare", "in"):
            operands.append(body[start : place + 1])
            start = place + 1
        elif instruction[0] not in ("attribute", "constant"):
            return []
    return operands if len(operands) == body[-1][1] and start == len(body) - 1 else []


def bits_told(image: Image) -> NDArray[np.bool_]:
    """Per bit test, whether its source's pseudo-slot alone tells if it holds: of a pattern, or of an indexed term, that
    must be TRUE or must not be."""
    is_term = image.bit_kind == BIT_TERM
    indexed = np.array([access_of(term) is not None for term in image.terms] or [False], np.bool_)
    told: NDArray[np.bool_] = ~is_term | indexed[np.where(is_term, image.bit_source, 0)]
    told &= (image.bit_want == WANT_TRUE) | (image.bit_want == WANT_NOT_TRUE)
    return told


def are_run(image: Image) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Per bit test, and per residual: whether Python has to run a term, or ask a join, to tell it."""
    bits = (image.bit_kind == BIT_TERM) & ~bits_told(image)
    operations, arguments = image.residual_code[:, 0], image.residual_code[:, 1]
    is_run = (operations == OP_JOIN) | (operations == OP_JOIN_NOT)
    of_bits = np.flatnonzero((operations == OP_TEST) & (arguments >= image.n_tests))
    is_run[of_bits] = bits[arguments[of_bits] - image.n_tests]
    before = np.concatenate(([0], np.cumsum(is_run)))
    return bits, before[image.residual_off[1:]] > before[image.residual_off[:-1]]


class ElementTerms:
    """The indexed ones of some terms. Safe to share between threads."""

    def __init__(self, terms: Sequence[Program]) -> None:
        self.is_indexed = [False] * len(terms)
        groups: dict[tuple[Instruction, Instruction], _Group] = {}
        for number, term in enumerate(terms):
            access = access_of(term)
            if access is not None:
                self.is_indexed[number] = True
                group = groups.setdefault(access[:2], _Group())
                group.add(number, access, term if access.rest else None)
        self._of_array: dict[Instruction, list[tuple[Instruction, _Group]]] = defaultdict(list)
        for (array, attribute), group in groups.items():
            group.sort()
            self._of_array[array].append((attribute, group))

    def __bool__(self) -> bool:
        return bool(self._of_array)

    def true_terms(self, document: Document) -> list[int]:
        """The numbers of the indexed terms that are TRUE, ascending.

        Raises:
            DocumentError: an element is of no kind.
        """
        found: set[int] = set()
        for array, groups in self._of_array.items():
            elements = elements_of(run((array,), document))
            if elements:
                for attribute, group in groups:
                    keys = {_key(run((attribute,), document, elements=(element,))) for element in elements}
                    found.update(group.true_terms(keys, document))
        return sorted(found)


class _Group:
    """The terms that ask the same of elements: of values alone, or with more to be run."""

    def __init__(self) -> None:
        self._equal: dict[_Key, list[tuple[int, Program | None]]] = defaultdict(list)
        self._sorted: dict[tuple[Kind, str], list[tuple[Any, int, Program | None]]] = defaultdict(list)
        self._bounds: dict[tuple[Kind, str], list[Any]] = {}

    def add(self, number: int, access: Access, rest: Program | None) -> None:
        for value in access.values:
            key = _key(value)
            if key[0] is Kind.NULL:  # compares with nothing
                continue
            if access.operator == "=":
                self._equal[key].append((number, rest))
            else:
                self._sorted[key[0], access.operator].append((key[1], number, rest))

    def sort(self) -> None:
        for place, terms in self._sorted.items():
            terms.sort(key=lambda term: term[:2])
            self._bounds[place] = [term[0] for term in terms]

    def true_terms(self, keys: set[_Key], document: Document) -> Iterator[int]:
        for key in keys:
            for number, rest in self._equal.get(key, ()):
                if rest is None or run(rest, document) is True:
                    yield number
        for (kind, operator), terms in self._sorted.items():
            values = [value for own, value in keys if own is kind]
            if values:
                for _, number, rest in _satisfied(terms, self._bounds[kind, operator], operator, values):
                    if rest is None or run(rest, document) is True:
                        yield number


def _satisfied(terms: list[Any], bounds: list[Any], operator: str, values: list[Any]) -> list[Any]:
    """The terms whose bound some value satisfies: up to that of the greatest value, or from that of the least on."""
    match operator:
        case ">":
            return terms[: bisect_left(bounds, max(values))]
        case ">=":
            return terms[: bisect_right(bounds, max(values))]
        case "<":
            return terms[bisect_right(bounds, min(values)) :]
    return terms[bisect_left(bounds, min(values)) :]


def _key(value: Value) -> _Key:
    """A value as hashing and sorting know it; those of different kinds compare with none of the other."""
    kind = kind_of(value)
    match value:
        case Date():
            return kind, value.days
        case Timestamp():
            return kind, value.nanos
        case _ if kind is Kind.NULL or kind is Kind.OPAQUE:
            return Kind.NULL, None
    return kind, order_key(value)
