"""Distinct lists of integers, for kernels: a list that comes again is stored once, and has the number that it had.

In: lists, one at a time. Out: `Lists`. Arrays grow as they must; so whoever adds to one takes the one returned.

    off      0     2        5     6      list 1 is 8 1 8
    items    3 4   8 1 8    7
    buckets  . 1 . . 0 . 2 .             by a hash of the list; a collision goes to the next that is free
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Whole: TypeAlias = "int | np.integer[Any]"


_Function = TypeVar("_Function", bound=Callable[..., Any])
_waiting: list[Callable[..., Any]] = []


def kernel_of_many(function: _Function) -> _Function:
    """Plain Python until `compile_kernels`: a set of a few profiles is lowered before Numba would have been loaded."""
    _waiting.append(function)
    return function


def compile_kernels() -> None:
    """Compiles the kernels, everywhere that their names stand."""
    from profilec.runtime.kernels import allocating_kernel

    compiled = {function.__name__: allocating_kernel(function) for function in _waiting}
    for module in {function.__module__ for function in _waiting}:
        names = vars(sys.modules[module])
        names.update({name: compiled[name] for name in compiled.keys() & names.keys()})
    _waiting.clear()


class Lists(NamedTuple):
    """Distinct lists: `off` cuts `items`, `n[0]` counts them. `buckets`: a hash table of their numbers, -1 for none."""

    off: Int64
    items: Int32
    buckets: Int32
    n: Int64


@kernel_of_many
def roomy(array: NDArray[Any], length: Whole) -> Any:
    """The array, or a longer one that begins with it. PERF: loops, since slices take four times as long to compile."""
    if length <= len(array):
        return array
    longer = np.empty(max(length, 2 * len(array)), array.dtype)
    for i in range(len(array)):
        longer[i] = array[i]
    return longer


@kernel_of_many
def copied(target: Int32, at: Whole, source: Int32, start: Whole, end: Whole) -> Int32:
    """The target with `source[start:end]` written at `at`; a longer one, where it has no room for it."""
    target = roomy(target, at + end - start)
    for i in range(start, end):
        target[at + i - start] = source[i]
    return target


@kernel_of_many
def no_lists() -> Lists:
    """Lists to begin with."""
    return Lists(np.zeros(17, np.int64), np.empty(64, np.int32), np.full(64, -1, np.int32), np.zeros(1, np.int64))


@kernel_of_many
def bucket_of(lists: Lists, items: Int32, start: Whole, end: Whole) -> Whole:
    """The bucket of the list `items[start:end]`, or the free one where it belongs."""
    mixed = np.uint64(end - start)
    for p in range(start, end):
        mixed = (mixed ^ np.uint64(np.uint32(items[p]))) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    last = len(lists.buckets) - 1
    bucket = np.int64(mixed) & last
    while True:
        found = lists.buckets[bucket]
        if found < 0:
            return bucket
        at = lists.off[found]
        if lists.off[found + 1] - at == end - start:
            same = True
            for p in range(end - start):
                if lists.items[at + p] != items[start + p]:
                    same = False
                    break
            if same:
                return bucket
        bucket = (bucket + 1) & last


@kernel_of_many
def with_list(lists: Lists, items: Int32, length: Whole) -> tuple[Lists, Whole]:
    """The lists with `items[:length]` among them, and its number."""
    bucket = bucket_of(lists, items, 0, length)
    number = lists.buckets[bucket]
    if number >= 0:
        return lists, number
    number = np.int32(lists.n[0])
    at = lists.off[number]
    lists = Lists(roomy(lists.off, number + 2), copied(lists.items, at, items, 0, length), lists.buckets, lists.n)
    lists.off[number + 1] = at + length
    lists.buckets[bucket] = number
    lists.n[0] += 1
    if 2 * lists.n[0] > len(lists.buckets):
        lists = Lists(lists.off, lists.items, np.full(4 * len(lists.buckets), -1, np.int32), lists.n)
        for one in range(lists.n[0]):
            bucket = bucket_of(lists, lists.items, lists.off[one], lists.off[one + 1])
            lists.buckets[bucket] = one
    return lists, number
