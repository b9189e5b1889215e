"""Which parts of a document an image reads.

In: an image. Out: paths, each the parts of an attribute; arrays are passed through, so that `i.sku` of
`ANY items AS i (i.sku = 'x')` is ("items", "sku"), as `ANY(items.sku)` is.
"""

from __future__ import annotations

from collections.abc import Iterator

from profilec.runtime.image import Image
from profilec.runtime.program import Parts, Program

NEW, EARLIER = 0, 1
"""The scopes of programs: the document that is matched, and the earlier one of a join."""


def paths_read(image: Image, scope: int = NEW) -> list[Parts]:
    """The paths that profiles read of a document, in the order of text."""
    programs = [*(slot.program for slot in image.slots), *image.terms]
    found: set[Parts] = set()
    for join in image.joins:
        programs += [join.body, join.where or ()]
        if join.within_of:
            found.add(join.within_of)
    for program in programs:
        found.update(_paths(program, scope, ()))
    return sorted(found)


def _paths(program: Program, scope: int, elements: tuple[Parts | None, ...]) -> Iterator[Parts]:
    """`elements`: of each element that is spoken of, the path of its array; None where that is of another scope."""

    def path_of(of: int, parts: Parts) -> Parts | None:
        if of < len((NEW, EARLIER)):
            return parts if of == scope else None
        array = elements[of - 2]
        return None if array is None else array + parts

    before: Parts | None = None
    for operation, *arguments in program:
        if operation == "attribute":
            before = path_of(arguments[0], arguments[1])
            if before is not None:
                yield before
        elif operation in ("some", "every"):
            yield from _paths(arguments[0], scope, (*elements, before))
        elif operation in ("exists", "forall"):
            term = arguments[0]
            yield from _paths((*term.body, *(term.where or ())), scope, elements)
            if term.within_of:
                yield term.within_of
