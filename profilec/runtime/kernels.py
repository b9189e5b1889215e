"""Compiled kernels: how the runtime's Numba functions are made, and where their machine code is kept.

A kernel takes and returns only numbers and flat arrays, holds no lock of Python's while it runs, and is compiled
once per machine. Its machine code is kept beside the sources, in `__pycache__`, or where these cannot be written to in
the user's cache directory; NUMBA_CACHE_DIR goes before both.

Invariant: machine code is found again only for the very sources it was made of, all of them: a kernel contains the
code of those that it calls, which Numba's own cache does not look at.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

ONE = np.uint64(1)
_PACKAGE = Path(__file__).parents[1]
_SOURCES = (
    "runtime/kernels.py",
    "runtime/image.py",  # constants
    "runtime/*_kernels.py",
    "runtime/matchers/betree/*.py",
    "planner/lower/*_kernels.py",
    "planner/lower/lists.py",
    "planner/lower/betree/*.py",
)
"""All files with kernels, and those whose constants are compiled into them."""
_KEPT_SECONDS = 7 * 24 * 3600
"""How long machine code of other sources stays."""
_Function = TypeVar("_Function", bound=Callable[..., Any])
_log = logging.getLogger(__name__)


def kernel(function: _Function) -> _Function:
    """Compiles a function on its first call. It may not allocate: PERF: arrays are then passed without counting."""
    return _compiled(function, _nrt=False)


def inlined(function: _Function) -> _Function:
    """A small part of kernels, compiled into each that calls it; it may not allocate."""
    return _compiled(function, _nrt=False, forceinline=True)


def allocating_kernel(function: _Function) -> _Function:
    """A kernel that makes arrays."""
    return _compiled(function)


def _compiled(function: _Function, **options: Any) -> _Function:
    directory = cache_directory()
    compiled: _Function
    if directory is None:
        compiled = numba.njit(nogil=True, **options)(function)
        return compiled
    config = cast(Any, numba.config)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(directory)  # read when the function is made, and never again
    try:
        compiled = numba.njit(nogil=True, cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    return compiled


@cache
def cache_directory() -> Path | None:
    """Where machine code is kept; None where nothing can be written. Says once if that is not beside the sources."""
    name = f"kernels-{_digest()}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given) / "profilec" / name
    beside = _PACKAGE / "__pycache__" / name
    if _can_write(beside):
        for other in beside.parent.glob("kernels-*"):
            if other.stat().st_mtime < time.time() - _KEPT_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
        return beside
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "profilec" / name
    if _can_write(users):
        _log.warning("compiled kernels are kept in %s, since %s cannot be written to", users, _PACKAGE)
        return users
    _log.warning("compiled kernels are not kept, since neither %s nor %s can be written to", beside, users)
    return None


def _can_write(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK | os.X_OK)


def _digest() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for pattern in _SOURCES:
        for file in sorted(_PACKAGE.glob(pattern)):
            digest.update(file.relative_to(_PACKAGE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    signature = types.void(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, index_type = signature.args
        view = context.make_array(array_type)(context, builder, arguments[0])
        position = context.cast(builder, arguments[1], index_type, types.intp)
        pointer = cgutils.get_item_pointer(context, builder, array_type, view, [position], wraparound=False)
        address = builder.bitcast(pointer, cgutils.voidptr_t)
        for_reading, keep, data_cache = (context.get_constant(types.int32, number) for number in (0, 3, 1))
        function_type = ir.FunctionType(ir.VoidType(), [address.type, *[for_reading.type] * 3])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(function, [address, for_reading, keep, data_cache])
        return context.get_dummy_value()

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


prefetch: Callable[[Any, Any], None] = cast(Any, intrinsic(_prefetch))
"""`prefetch(array, index)` asks for the cache line of an element that is read soon. It never faults."""
trailing_zeros: Callable[[Any], int] = cast(Any, intrinsic(_trailing_zeros))
"""The number of zero bits below the lowest bit of a uint64 that is set; 64 for 0."""
population: Callable[[Any], int] = cast(Any, intrinsic(_population))
"""The number of bits of a uint64 that are set."""
