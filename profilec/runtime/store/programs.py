"""Expressions over earlier documents: what they read."""

from __future__ import annotations

from typing import Any

from profilec.runtime.program import Program, attributes_read
from profilec.runtime.ranking import keys_of


def names_read(program: Program) -> frozenset[str]:
    """The keys of earlier documents that a program may ask for."""
    return frozenset(key for parts in attributes_read(program, 1) for key in keys_of(parts))


def attribute_of(program: Program) -> tuple[tuple[str, ...], Any] | None:
    """The parts and the type, where a program gives just an attribute of the earlier document."""
    if len(program) == 1 and program[0][:2] == ("attribute", 1):
        return program[0][2], program[0][3]
    return None
