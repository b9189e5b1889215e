"""`profilec bench FILE... DOCS...`: times every matcher, and the plan, on one's own profiles and documents."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from profilec.cli import terminal

_FORMATS = ("text", "json")


def bench(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Profiles: .prof files, folders of them, an image. Documents: all others."),
    ],
    statistics: Annotated[
        list[str] | None,
        typer.Option(
            "--statistics", metavar="FILE", help="Documents, or what `profilec stats` wrote; may be repeated."
        ),
    ] = None,
    calibration: Annotated[
        str | None, typer.Option("--calibration", metavar="FILE", help="Unit costs that `profilec calibrate` measured.")
    ] = None,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, help="Rounds, of which the median counts.")
    ] = 9,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of compile.")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="text|json", help="Default: text on a terminal, else json.")
    ] = None,
) -> None:
    """Time every matcher, and the one that is planned, on your own documents."""
    from profilec.bench import bench as compare
    from profilec.cli.load import load, read_options, read_some, statistics_or_stop
    from profilec.cli.match import split
    from profilec.values.kinds import DocumentError

    format_ = format_ or ("text" if sys.stdout.isatty() else "json")
    terminal.expect_choice("--format", format_, _FORMATS)
    profiles, sources = split(paths)
    if not profiles:
        terminal.stop("no profiles: name a .prof file, or a folder with some, before the documents")
    known = statistics_or_stop(statistics, None) if statistics else None
    profile_set, _ = load(profiles, options=read_options(option or []), statistics=known, calibration=calibration)
    documents, n_malformed = read_some(sources, profile_set)
    if not documents:
        terminal.stop("no documents: name a file of them after the profiles")
    try:
        timed = compare(profile_set, documents, rounds=rounds, told=terminal.say)
    except DocumentError as error:
        terminal.stop(str(error))
    planned = timed[0].ns
    facts: list[dict[str, Any]] = [
        {
            "matcher": profile_set.plan.matchers if one.name == "planned" else one.name,
            "planned": one.name == "planned",
            "ns": round(one.ns),
            "least_ns": round(one.least),
            "most_ns": round(one.most),
            "expected_ns": None if one.expected_ns is None else round(one.expected_ns),
            "times_planned": round(one.ns / planned, 3),
        }
        for one in timed
    ]
    print(json.dumps(facts, indent=2) if format_ == "json" else "\n".join(_table(facts)))
    if n_malformed:
        raise typer.Exit(terminal.FINDINGS)


def _table(facts: list[dict[str, Any]]) -> list[str]:
    from profilec.planner.drawing import aligned, time

    rows = [("matcher", "a document", "least", "most", "against the plan")]
    for one in sorted(facts, key=lambda one: one["ns"]):
        name = one["matcher"] + (", as planned" if one["planned"] else "")
        against = "" if one["planned"] else f"{one['times_planned']:.2f} times"
        rows.append((name, *(time(one[column]) for column in ("ns", "least_ns", "most_ns")), against))
    return aligned(rows, right=range(1, 5))
