"""`profilec verify IMAGE...`: whether images are as they were written, and what they are made of.

In: images. Out: for each its sections with their bytes, and whether matching reads them; of one that is damaged, what
is wrong, on standard error.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profilec.cli import terminal
from profilec.cli.terminal import CLEAN, ERROR, FINDINGS, counted

if TYPE_CHECKING:
    from profilec.saved_set import ImageReport

_FORMATS = ("text", "ndjson", "json")


def verify(
    paths: Annotated[
        list[str], typer.Argument(metavar="IMAGE", help="What `profilec compile` wrote; - for standard input.")
    ],
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="text|ndjson|json", help="Default: text on a terminal, else ndjson."),
    ] = None,
) -> None:
    """Check that images are whole, and show what they hold."""
    from profilec.cli.sources import open_image
    from profilec.runtime.imagefile.container import ImageError
    from profilec.saved_set import verify_file

    format_ = format_ or ("text" if sys.stdout.isatty() else "ndjson")
    terminal.expect_choice("--format", format_, _FORMATS)
    status = CLEAN
    results: list[dict[str, Any]] = []
    for path in paths:
        try:
            found = verify_file(open_image(path))
        except ImageError as error:
            terminal.say(f"error: {error}", "red")
            status = max(status, FINDINGS)
            results.append({"image": path, "sound": False, "fault": str(error)})
        except OSError as error:
            terminal.say(f"error: {path}: {error.strerror}", "red")
            status = ERROR
            continue
        else:
            results.append({**as_json(found), "sound": True})
            if format_ == "text":
                print(_text(found))
        if format_ == "ndjson":
            print(json.dumps(results[-1], ensure_ascii=False))
    if format_ == "json":
        print(json.dumps(results, ensure_ascii=False, indent=2))
    raise typer.Exit(status)


def summary(image: ImageReport) -> str:
    """An image in one line."""
    matching, others = (image.bytes_a_profile(matching=matching) for matching in (True, False))
    return (
        f"{image.path}: {counted(image.n_profiles, 'profile')}, {counted(image.n_bytes, 'byte')}; a profile takes "
        f"{matching:,.0f} in what matching reads, {others:,.0f} in ids, texts and the like"
    )


def as_json(image: ImageReport) -> dict[str, Any]:
    """An image as a JSON object."""
    return {
        "image": image.path,
        "profiles": image.n_profiles,
        "bytes": image.n_bytes,
        "bytes_a_profile": {
            "matching": round(image.bytes_a_profile(matching=True), 1),
            "others": round(image.bytes_a_profile(matching=False), 1),
        },
        "sections": [
            {
                "name": section.name,
                "matching": section.matching,
                "dtype": section.dtype,
                "shape": list(section.shape),
                "bytes": section.n_bytes,
            }
            for section in image.sections
        ],
    }


def _text(image: ImageReport) -> str:
    lines = [summary(image)]
    width = max(len(section.name) for section in image.sections)
    n_profiles = max(image.n_profiles, 1)
    for matching in (True, False):
        lines.append("  matching reads" if matching else "  matching does not read")
        lines += [
            f"    {section.name:<{width}}  {section.n_bytes:>14,} bytes  "
            f"{section.n_bytes / n_profiles:>9,.1f} a profile"
            for section in image.sections
            if section.matching == matching and section.n_bytes
        ]
    return "\n".join(lines)
