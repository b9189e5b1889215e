"""Unit costs, written and read.

In: a file that `profilec calibrate` wrote, or a mapping. Out: units; what is not named there has its default, which is
in `unit_costs.json`, such a file too.
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from profilec.planner.costs import Units

VERSION = 1


class CalibrationError(ValueError):
    """A calibration that cannot be read."""


@cache
def default_units() -> Units:
    """The unit costs that the package comes with."""
    units: Units = json.loads(Path(__file__).with_name("unit_costs.json").read_text("utf-8"))["units"]
    return units


def read_calibration(given: Any) -> Units:
    """The unit costs of a file's Path or a mapping; the defaults for None.

    Raises:
        OSError: the file cannot be read.
        CalibrationError: it was not written by `profilec calibrate`; there is no such unit, or its cost cannot be.
        TypeError: neither a Path nor a mapping.
    """
    if given is None:
        return default_units()
    if isinstance(given, Path):
        try:
            return _units_of_text(given.read_bytes())
        except CalibrationError as error:
            raise CalibrationError(f"{given}: {error}") from None
    if not isinstance(given, Mapping):
        raise TypeError(f"calibration takes a pathlib.Path or a mapping of unit to nanoseconds, not {given!r:.60}")
    return _units_of(given)


def _units_of_text(text: bytes) -> Units:
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CalibrationError(f"no calibration: {error}") from None
    if not isinstance(facts, dict) or "profilec_calibration" not in facts:
        raise CalibrationError("no calibration, which `profilec calibrate -o FILE` writes")
    if isinstance(facts["profilec_calibration"], bool) or facts["profilec_calibration"] != VERSION:
        raise CalibrationError(f"a calibration of another version of profilec ({facts['profilec_calibration']!r:.20})")
    if not isinstance(facts.get("units"), dict):
        raise CalibrationError("damaged: it has no units")
    return _units_of(facts["units"])


def _units_of(given: Mapping[Any, Any]) -> Units:
    defaults = default_units()
    for name, ns in given.items():
        if name not in defaults:
            close = difflib.get_close_matches(str(name), defaults, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise CalibrationError(f"no unit cost {name!r:.60}{hint}")
        is_number = isinstance(ns, int | float) and not isinstance(ns, bool)
        if not is_number or not 0 <= ns <= sys.float_info.max:
            raise CalibrationError(f"the unit cost {name} is in nanoseconds, and not {ns!r:.60}")
    return {**defaults, **{name: float(ns) for name, ns in given.items()}}


def as_json(units: Units) -> dict[str, Any]:
    """What a file of unit costs holds."""
    return {"profilec_calibration": VERSION, "units": {name: float(f"{ns:.4g}") for name, ns in sorted(units.items())}}


def write_calibration(units: Units, path: str | os.PathLike[str]) -> None:
    """Writes unit costs to a file. Raises OSError."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(as_json(units), indent=1) + "\n")
