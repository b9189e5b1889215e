"""`profilec store list|stat|verify`: what a store holds, and whether it is whole.

In: the folder. Out: its profiles, or figures, or faults, as text or JSON.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profilec.cli import terminal
from profilec.cli.store.opening import StorePath, opened, told
from profilec.cli.terminal import CLEAN, FINDINGS, counted

if TYPE_CHECKING:
    from profilec.store.contents import StoreStat

_LIST_FORMATS = ("text", "ndjson", "prof")


def list_(
    path: StorePath,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="text|ndjson|prof", help="Default: text on a terminal, else ndjson."),
    ] = None,
) -> None:
    """Write all profiles of a store, in its order."""
    from profilec.cli.store.prof_file import ProfText, Written
    from profilec.grammar.diagnostics import escaped

    format_ = format_ or ("text" if sys.stdout.isatty() else "ndjson")
    terminal.expect_choice("--format", format_, _LIST_FORMATS)
    lost: list[str] = []
    with opened(path) as profile_set:
        if format_ == "prof":
            profiles = (
                Written(id_, own.where, own.properties, profile_set.examples(id_), own.comment)
                for id_, own in ((id_, profile_set[id_]) for id_ in profile_set.ids)
            )
            text = ProfText(profiles, profile_set.schema, profile_set.limits)
            sys.stdout.writelines(text)
            lost = text.lost
        else:
            for id_ in profile_set.ids:
                own = profile_set[id_]
                if format_ == "text":
                    print(escaped(f"{id_}  {' '.join(own.where.split())}"))
                    continue
                print(
                    json.dumps(
                        {"profile": id_, "where": own.where, **_more(own.properties, own.comment)},
                        ensure_ascii=False,
                        default=str,
                    )
                )
    for line in lost:
        terminal.warn(line)
    raise typer.Exit(FINDINGS if lost else CLEAN)


def _more(properties: Any, comment: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"properties": dict(properties)} if properties else {}
    return found if comment is None else {**found, "comment": comment}


def stat(
    path: StorePath,
    format_: Annotated[str, typer.Option("--format", metavar="text|json", help="How to write.")] = "text",
) -> None:
    """Show a store in figures."""
    from profilec.store.contents import stat_store

    terminal.expect_choice("--format", format_, ("text", "json"))
    with told():
        found = stat_store(Path(path))
    if format_ == "json":
        print(json.dumps(asdict(found), ensure_ascii=False, indent=2))
        return
    print("\n".join(_lines(found)))


def _lines(found: StoreStat) -> list[str]:
    n_bytes = found.data_bytes + sum(segment.n_bytes for segment in found.segments)
    lines = [
        f"{found.path}: {counted(found.n_profiles, 'profile')}, {counted(n_bytes, 'byte')}",
        f"  format {found.format}, after {counted(found.moment, 'change')}",
        f"  log        {counted(found.n_changes, 'change')} since the last merge",
        f"  data.mdb   {counted(found.data_bytes, 'byte')}, of which pages in use {found.bytes_used:,}",
    ]
    lines += [
        f"  segment {segment.number:<2} {counted(segment.n_profiles, 'profile')}, {segment.n_dead:,} dead, "
        f"{counted(segment.n_bytes, 'byte')}"
        for segment in found.segments
    ]
    if found.schema:
        lines.append(f"  schema     {', '.join(f'{name} {type_}' for name, type_ in found.schema.items())}")
    if found.options:
        lines.append(f"  options    {', '.join(f'{name} {value}' for name, value in found.options.items())}")
    return lines


def verify(
    path: StorePath,
    format_: Annotated[str, typer.Option("--format", metavar="text|json", help="How to write.")] = "text",
) -> None:
    """Read all of a store, and tell what is wrong with it."""
    from profilec.store.verify import verify_store

    terminal.expect_choice("--format", format_, ("text", "json"))
    with told():
        found = verify_store(path)
    for fault in found.faults:
        terminal.say(f"error: {path}: {fault}", "red")
    if format_ == "json":
        print(json.dumps({**asdict(found), "sound": not found.faults}, ensure_ascii=False, indent=2))
    elif not found.faults:
        print(
            f"{path}: sound: {counted(found.n_profiles or 0, 'profile')} in {counted(found.n_segments, 'segment')} and "
            f"{counted(found.n_changes, 'change')}, {counted(found.n_bytes, 'byte')}"
        )
    else:
        print(
            f"{path}: {counted(len(found.faults), 'fault')}; `profilec store salvage {path} -o FILE.prof` writes down "
            "the profiles that can be read"
        )
    raise typer.Exit(FINDINGS if found.faults else CLEAN)
