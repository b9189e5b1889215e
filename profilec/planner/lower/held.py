"""What matching is expected to hold in memory.

In: an image, and what each matcher has to find. Out: bytes.

These are the sections of the image that matching reads, and what its matchers are built of: the tree, which is in the
image, or arrays that each process makes anew. The latter are lines through what was measured, over the tests of entries
and the intervals of these. Not in it are Python itself, kernels, what documents need, and the earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from profilec.planner.lower.workload import KEPT, Workload, n_to_keep
from profilec.runtime.image import KINDS, Image
from profilec.values.kinds import Kind

_PER_TEST = {
    "access": (18.2, 15.2),
    "betree": (17.8, 7.8),
    "bitmap": (6.6, 12.2),
    "counting": (25.4, 20.5),
    "opindex": (15.1, 10.2),
    "scan": (9.6, 9.6),
}
"""By matcher, bytes for each test of an entry, and for each interval of a test."""
_BYTES_KEPT = 4
_BYTES_OF_A_CONSTANT = 8


def expected_to_hold(image: Image, loads: Mapping[str, Workload]) -> int:
    """Bytes. `loads`: by matcher what it has to find of what the image, which has no tree yet, holds."""
    return round(_of_image(image) + sum(_of_matcher(name, load) for name, load in loads.items()))


def _of_image(image: Image) -> int:
    """The sections that matching reads, without a tree."""
    columns = [getattr(image, field.name) for field in fields(image) if field.metadata.get("matching", True)]
    n_bytes = sum(column.nbytes for column in columns if isinstance(column, np.ndarray))
    for slot in image.slots:
        for kind in KINDS:
            n_bytes += _of_constants(slot.constants.column(kind), kind is Kind.STRING)
    return n_bytes


def _of_constants(constants: Iterable[Any], are_texts: bool) -> int:
    return sum(_BYTES_OF_A_CONSTANT + (len(constant) if are_texts else 0) for constant in constants)


def _of_matcher(name: str, load: Workload) -> float:
    name = name.partition(":")[0]
    of_test, of_interval = _PER_TEST[name]
    n_kept = min(n_to_keep(load.slots), KEPT) if name == "access" else 0
    return of_test * load.n_tests + of_interval * load.n_intervals + _BYTES_KEPT * n_kept
