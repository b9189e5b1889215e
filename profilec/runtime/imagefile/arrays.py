"""Dataclasses of arrays, taken apart into fields and put together from sections.

In: a frozen dataclass whose fields are arrays, scalars, or dataclasses of the same sort; or a file and the class. Out:
names such as `tree.edge_slot` with their values; or an instance whose arrays are the file's.

Invariant: the class says by its hints what each field is, and the file is refused where it holds something else.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from profilec.runtime.imagefile.container import ImageFile, refusal


def fields_of(value: Any, prefix: str) -> Iterator[tuple[str, Any, bool]]:
    """Name, value and whether matching reads it, of each field of a dataclass and those nested in it."""
    for field in fields(value):
        inner = getattr(value, field.name)
        name = f"{prefix}{field.name}"
        if is_dataclass(inner) and not isinstance(inner, type):
            yield from fields_of(inner, f"{name}.")
        else:
            yield name, inner, field.metadata.get("matching", True)


def read_dataclass(class_: Any, file: ImageFile, scalars: dict[str, Any], prefix: str, given: dict[str, Any]) -> Any:
    """What `fields_of` took apart.

    Args:
        scalars: the fields that are no arrays, by their full names, and those that are None.
        given: fields of the class itself that are known already.

    Raises:
        ImageError: the file has no section for an array, or one of another dtype.
    """
    values = dict(given)
    for name, kinds in _kinds_of(class_).items():
        full = f"{prefix}{name}"
        if name in values:
            continue
        if full in scalars:
            if type(scalars[full]) not in kinds:
                raise refusal(file.name, f"its {full} is a {type(scalars[full]).__name__}")
            values[name] = scalars[full]
            continue
        kind = next(kind for kind in kinds if kind is not type(None))
        if is_dataclass(kind):
            values[name] = read_dataclass(kind, file, scalars, f"{full}.", {})
        else:
            values[name] = file.array(full, kind if isinstance(kind, np.dtype) else object, None)
    return class_(**values)


@cache
def _kinds_of(class_: Any) -> dict[str, tuple[Any, ...]]:
    """What each field of a dataclass may be: arrays of a dtype, a dataclass, or values of a class."""
    hints = get_type_hints(class_)
    return {field.name: tuple(_kinds_in(hints[field.name])) for field in fields(class_)}


def _kinds_in(hint: Any) -> Iterator[Any]:
    if get_origin(hint) in (Union, types.UnionType):
        for part in get_args(hint):
            yield from _kinds_in(part)
    elif get_origin(hint) is np.ndarray:
        yield np.dtype(get_args(get_args(hint)[1])[0])
    else:
        yield hint
