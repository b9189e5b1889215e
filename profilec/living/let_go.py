"""Letting go of many objects.

Python frees what nobody has any more at once, and all other threads wait meanwhile: a tenth of a second for a million
strings.
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from typing import Any

_FEW = 5_000
"""Objects that are let go at once."""
_PATIENCE = 0.1
_OWN = 2
"""References to what only the caller of `sys.getrefcount` has."""


def let_go(owned: list[list[Any] | dict[Any, Any]]) -> None:
    """Empties lists and dicts a little at a time, those that nobody else has, or has in a tenth of a second: what
    somebody keeps is his. The outer list is emptied, too."""
    deadline = time.monotonic() + _PATIENCE
    while owned:
        one = owned.pop()
        while sys.getrefcount(one) > _OWN and time.monotonic() < deadline:
            time.sleep(0.001)
        while one and sys.getrefcount(one) <= _OWN:
            if isinstance(one, list):
                del one[-_FEW:]
            else:
                for key in list(islice(one, _FEW)):
                    del one[key]
