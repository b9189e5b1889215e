"""The command-line options that force what a plan chooses, for the verbs that make one."""

from __future__ import annotations

from typing import Annotated

import typer

Matchers = Annotated[
    list[str] | None,
    typer.Option(
        "--matcher",
        metavar="[ATTRIBUTE=]NAME",
        help="Force a matcher, for all or for what an attribute finds; may be repeated. The answer is the same.",
    ),
]
Indexes = Annotated[
    list[str] | None, typer.Option("--index", metavar="ATTRIBUTE=NAME", help="Force an index; may be repeated.")
]
PhaseOrder = Annotated[
    str | None, typer.Option("--phase-order", help="Force constant_first or join_first; the answer is the same.")
]
