"""`profilec calibrate`: measures what matchers and indexes cost on this machine.

In: nothing. Out: unit costs, which `--calibration` takes.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from profilec.cli import terminal


def calibrate(
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write them to a file, as machine.json.")
    ] = None,
) -> None:
    """Measure the unit costs by which plans are chosen, on this machine."""
    from profilec.calibrate import calibrate as measure
    from profilec.planner.calibration import as_json, write_calibration

    units = measure(terminal.say)
    if output is None:
        print(json.dumps(as_json(units), indent=1))
        return
    try:
        write_calibration(units, output)
    except OSError as error:
        terminal.stop(terminal.reason(error))
    terminal.say(f"{output}: {terminal.counted(len(units), 'unit cost')}")
