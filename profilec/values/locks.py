"""Locks that a fork leaves usable: in the child, where the thread that held one does not run, they are free."""

from __future__ import annotations

import os
from threading import Lock, RLock
from typing import Any, cast
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


def new_lock() -> Lock:
    """A lock. What it guards must make sense wherever the thread that holds it stops."""
    lock = Lock()
    _locks.add(lock)
    return lock


def new_reentrant_lock() -> Any:
    """The same, of which the thread that holds it may take another hold."""
    lock = RLock()
    _locks.add(lock)
    return lock


def _free_all() -> None:
    for lock in _locks:
        cast(Any, lock)._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
