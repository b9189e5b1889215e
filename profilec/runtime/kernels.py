"""Compiled kernels: how the runtime's Numba functions are made, and where their machine code is kept.

A kernel takes and returns only numbers and flat arrays, holds no lock of Python's while it runs, and is compiled
once per machine. Its machine code is kept beside the sources, in `__pycache__`, or where these cannot be written to in
the user's cache directory; NUMBA_CACHE_DIR goes before both. How, `machine_code` says.

Invariant: machine code is found again only for the very sources it was made of, all of them: a kernel contains the
code of those that it calls, which Numba's own cache does not look at.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from profilec.runtime.machine_code import KernelCache, directory_of

ONE = np.uint64(1)
_PACKAGE = Path(__file__).parents[1]
_SOURCES = (
    "runtime/kernels.py",
    "runtime/machine_code.py",
    "runtime/image.py",  # constants
    "planner/ranking.py",  # constants
    "runtime/*_kernels.py",
    "runtime/matchers/*.py",
    "runtime/matchers/betree/*.py",
    "runtime/matchers/dynamic_betree/*.py",
    "runtime/matchers/opindex/*.py",
    "planner/lower/*_kernels.py",
    "planner/lower/lists.py",
    "planner/lower/betree/*.py",
)
"""All files with kernels, and those whose constants are compiled into them."""
_DAY = 24 * 3600
_KEPT_SECONDS = 30 * _DAY
"""How long machine code stays that nobody has asked for."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compiles a function on its first call. It may not allocate: PERF: arrays are then passed without counting."""
    return _kept(_compiled(function, _nrt=False), function)


def inlined(function: _Function) -> _Function:
    """A small part of kernels, compiled into each that calls it, and kept only there; it may not allocate."""
    return _compiled(function, _nrt=False, forceinline=True)


def allocating_kernel(function: _Function) -> _Function:
    """A kernel that makes arrays."""
    return _kept(_compiled(function), function)


def _compiled(function: _Function, **options: Any) -> _Function:
    compiled: _Function = numba.njit(nogil=True, **options)(function)
    return compiled


def _kept(compiled: _Function, function: Callable[..., Any]) -> _Function:
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT
        cast(Any, compiled)._cache = KernelCache(function, cache_directories())
    return compiled


def cache_directory() -> Path | None:
    """Where machine code is kept; None where nothing can be written."""
    return directory_of(cache_directories())


@cache
def cache_directories() -> tuple[Path, ...]:
    """Where machine code may be, in the order in which it is looked for. What is out of use there is removed."""
    name = f"kernels-{_digest()}"
    parents = [_PACKAGE / "__pycache__"]
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        parents.insert(0, Path(given).absolute() / "profilec")
    users = _users_cache()
    if users is not None:
        parents.append(users / "profilec")
    for parent in parents:
        _remove_unused(parent, name)
    return tuple(parent / name for parent in parents)


def _users_cache() -> Path | None:
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():  # others are to be ignored, the XDG specification says
        return given
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # no HOME, and a user of whom the system knows nothing
        return None


def _remove_unused(parent: Path, name: str) -> None:
    """Marks the code of these sources as used, and removes what was not for long."""
    now = time.time()
    try:
        for directory in parent.glob("kernels-*"):
            unused = now - directory.stat().st_mtime
            if directory.name == name and unused > _DAY:
                os.utime(directory)
            elif directory.name != name and unused > _KEPT_SECONDS:
                shutil.rmtree(directory, ignore_errors=True)
    except OSError:
        return  # it may not be written to, or another process removes the same


def _digest() -> str:
    made_by = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    digest = hashlib.blake2b(repr(made_by).encode(), digest_size=8)
    for pattern in _SOURCES:
        for file in sorted(_PACKAGE.glob(pattern)):
            digest.update(file.relative_to(_PACKAGE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """To the element of an array, at a place that is not negative."""
    array_type, index_type = signature.args
    view = context.make_array(array_type)(context, builder, arguments[0])
    position = context.cast(builder, arguments[1], index_type, types.intp)
    return cgutils.get_item_pointer(context, builder, array_type, view, [position], wraparound=False)


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    signature = types.void(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = builder.bitcast(_pointer(context, builder, signature, arguments), cgutils.voidptr_t)
        for_reading, keep, data_cache = (context.get_constant(types.int32, number) for number in (0, 3, 1))
        function_type = ir.FunctionType(ir.VoidType(), [address.type, *[for_reading.type] * 3])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(function, [address, for_reading, keep, data_cache])
        return context.get_dummy_value()

    return signature, generate


def _load(typing_context: Any, array: Any, index: Any) -> Any:
    signature = array.dtype(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.unpack_value(builder, array.dtype, _pointer(context, builder, signature, arguments))

    return signature, generate


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    signature = types.int64(types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return signature, generate


def _population(typing_context: Any, word: Any) -> Any:
    signature = types.int64(types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return signature, generate


def _intrinsic(define: Callable[..., Any], in_python: Callable[..., Any]) -> Any:
    return in_python if cast(Any, numba.config).DISABLE_JIT else cast(Any, intrinsic(define))


prefetch: Callable[[Any, Any], None] = _intrinsic(_prefetch, lambda array, index: None)
"""`prefetch(array, index)` asks for the cache line of an element that is read soon. It never faults."""
load: Callable[[Any, Any], Any] = _intrinsic(_load, lambda array, index: array[index])
"""`load(array, index)` is an element at a place that is not negative. PERF: nothing is done for places from the end."""
trailing_zeros: Callable[[Any], int] = _intrinsic(
    _trailing_zeros, lambda word: (int(word) & -int(word)).bit_length() - 1 if word else 64
)
"""The number of zero bits below the lowest bit of a uint64 that is set; 64 for 0."""
population: Callable[[Any], int] = _intrinsic(_population, lambda word: int(word).bit_count())
"""The number of bits of a uint64 that are set."""


@allocating_kernel
def with_room(array: Any, n: int) -> Any:
    """The array, or a longer one that begins with it and goes on with zeros."""
    if n <= len(array):
        return array
    longer = np.zeros(max(n, len(array) + (len(array) >> 1)), array.dtype)
    longer[: len(array)] = array
    return longer
