"""The command-line options of several verbs: what forces what a plan chooses, and the engine."""

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
Engine = Annotated[
    str, typer.Option("--engine", metavar="local|spark", help="Who matches: this process, or Spark, whose plan it is.")
]
Master = Annotated[
    str | None, typer.Option("--master", metavar="URL", help="Spark's master; local[*] where none is given.")
]
