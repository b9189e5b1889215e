"""A figure or a table of a paper, measured again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Axis(NamedTuple):
    """What it shows, with its unit; `is_log`: drawn on a logarithmic scale."""

    label: str
    is_log: bool = False


class Chart(NamedTuple):
    """`name`: the paper's author, year and figure, which names the files. `series`: points by what the paper's legend
    calls them; a name in place of a number is a category."""

    name: str
    title: str
    x: Axis
    y: Axis
    series: Mapping[str, Sequence[tuple[float | str, float]]]
