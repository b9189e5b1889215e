"""Arguments to a compiled set, its diagnostics printed: how the verbs that need a set begin.

In: files of profiles, which are compiled, or one image, which is loaded, or one store, which is opened. Out: the set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from profilec.cli import terminal
from profilec.cli.sources import SourceError, find_files, holds_image, names_image, names_store, open_image

if TYPE_CHECKING:
    from profilec.cli.documents.formats import Input
    from profilec.planner.statistics import Statistics
    from profilec.profileset import ProfileSet
    from profilec.values.types import Schema


def files_or_stop(arguments: Sequence[str]) -> list[Path]:
    """The files of profiles that arguments name; ends the verb where one names none, or an image."""
    for argument in arguments:
        if names_store(argument):
            terminal.stop(
                f"{argument}: it is a store, and this takes the text of profiles, as `profilec store list "
                f"{argument} --format prof` writes it"
            )
    try:
        files = find_files(arguments)
    except SourceError as error:
        terminal.stop(str(error))
    for file in files:
        if names_image(str(file)):
            terminal.stop(f"{file}: it is an image, and this takes the text of profiles")
    return files


def schema_or_stop(arguments: Sequence[str], findings: terminal.Findings) -> Schema | None:
    """What the SCHEMA statements of files declare; None where there is none."""
    from profilec.planner.sources import Source

    try:
        return Source(files_or_stop(arguments), findings).schema(None)
    except OSError as error:
        terminal.stop(terminal.reason(error))


def load_history(profile_set: ProfileSet, paths: Sequence[str], options: Input) -> None:
    """Reads earlier documents into the set's store, by their suffixes: `options.format` is that of other documents, and
    goes only where a suffix says nothing.

    Raises:
        InputError, MalformedError: as `read_documents`.
    """
    from profilec.cli.documents.formats import InputError, read_documents
    from profilec.values.kinds import DocumentError

    for chunk in read_documents(paths, replace(options, suffix_first=True)):
        try:
            profile_set.documents.extend(chunk.documents)
        except DocumentError as error:
            try:
                rows = chunk.rows()
            except DocumentError:
                raise InputError(f"{chunk.name}: {error}") from None
            for line, document in zip(chunk.lines, rows, strict=True):
                try:
                    profile_set.documents.add(document)
                except DocumentError as found:
                    options.tally.malformed(chunk.name, line, str(found))
    options.tally.n_records = 0  # documents are numbered from the first that is matched


def statistics_or_stop(paths: Sequence[str], schema: Schema | None) -> Statistics:
    """What files say of the documents to come, for the planner: documents, or statistics."""
    from profilec.cli.documents.chunks import Tally
    from profilec.cli.documents.formats import Input
    from profilec.cli.stats import read_statistics

    tally = Tally(report=lambda message: terminal.say(message, "red"), strict=False)
    return read_statistics(paths, Input(tally, warn=terminal.warn, schema=schema))


def read_some(paths: Sequence[str], profile_set: ProfileSet) -> tuple[list[dict[str, Any]], int]:
    """The first documents of files, and how many of them were malformed."""
    from profilec.cli.documents.chunks import Tally
    from profilec.cli.documents.formats import Input, InputError, read_documents

    tally = Tally(report=lambda message: terminal.say(message, "red"))
    documents: list[dict[str, Any]] = []
    try:
        for chunk in read_documents(paths, Input(tally, terminal.warn, schema=profile_set.schema)):
            documents += chunk.rows()[: _MOST_RUN - len(documents)]
            if len(documents) == _MOST_RUN:
                terminal.warn(f"the first {_MOST_RUN:,} documents are run")
                break
    except InputError as error:
        terminal.stop(str(error))
    return documents, tally.n_malformed


_MOST_RUN = 10_000


def load(
    arguments: Sequence[str],
    *,
    skip_errors: bool = False,
    options: dict[str, Any] | None = None,
    schema: Schema | None = None,
    statistics: Any = None,
    calibration: str | None = None,
    images_findings: bool = False,
) -> tuple[ProfileSet, terminal.Findings]:
    """The compiled set of the files, or of an image, and what was found in them. Arguments as `profilec.compile`'s.

    What was found when an image was compiled is only counted, unless `images_findings` asks for it.
    Ends the verb where they cannot be read, and where a profile has an error, unless `skip_errors`.
    """
    import profilec
    from profilec.values.kinds import DocumentError

    findings = terminal.Findings()
    stores = [argument for argument in arguments if names_store(argument)]
    if stores:
        others = {"--statistics": statistics, "--calibration": calibration}
        return _open_store(stores[0], arguments, options, others), findings
    images = [argument for argument in arguments if holds_image(argument)]
    if images:
        for name, given in (("--statistics", statistics), ("--calibration", calibration)):
            if given is not None:
                terminal.stop(f"{images[0]}: an image has its plan already: give {name} to `profilec compile`")
        profile_set = _load_image(images[0], arguments, options)
        if images_findings:
            findings.all(profile_set.diagnostics)
        else:
            findings.count(profile_set.diagnostics)
            _say_counted(images[0], findings)
        return profile_set, findings
    try:
        files = files_or_stop(arguments)
        on_error = "skip" if skip_errors else "raise"
        with terminal.progress("compiling") as advance:
            profile_set = profilec.compile(
                files,
                schema=schema,
                statistics=statistics,
                calibration=None if calibration is None else Path(calibration),
                options=options,
                on_error=on_error,
                progress=advance,
            )
    except profilec.ProfileError as error:
        findings.all(error.diagnostics)
        raise typer.Exit(terminal.ERROR) from None
    except OSError as error:
        terminal.stop(terminal.reason(error))
    except DocumentError as error:
        terminal.stop(f"--statistics: {error}")
    except ValueError as error:
        terminal.stop(str(error))
    findings.all(profile_set.diagnostics)
    return profile_set, findings


def _say_counted(image: str, findings: terminal.Findings) -> None:
    found = [(findings.n_errors, "error"), (findings.n_warnings, "warning")]
    counts = [terminal.counted(n, noun) for n, noun in found if n]
    if counts:
        terminal.warn(f"{image}: compiled with {' and '.join(counts)}, which `profilec check {image}` shows")


def _open_store(
    store: str, arguments: Sequence[str], options: dict[str, Any] | None, others: dict[str, Any]
) -> ProfileSet:
    import atexit

    import profilec

    if set(arguments) != {store}:
        terminal.stop(f"{store}: it is a store, and is a set of its own: name no other profiles beside it")
    given = [*(options or ()), *(name for name, value in others.items() if value is not None)]
    if given:
        terminal.stop(f"{store}: its options were chosen by `profilec store init`: leave out {', '.join(given)}")
    try:
        profile_set = profilec.open(store)
    except profilec.StoreError as error:
        terminal.stop(str(error))
    atexit.register(profile_set.close)
    return profile_set


def _load_image(image: str, arguments: Sequence[str], options: dict[str, Any] | None) -> ProfileSet:
    from profilec.profileset import ProfileSet
    from profilec.runtime.imagefile.container import ImageError
    from profilec.saved_set import read_set

    if set(arguments) != {image}:
        terminal.stop(f"{image}: it is an image, and is a set of its own: name no other profiles beside it")
    if options:
        terminal.stop(f"{image}: its options ({', '.join(options)}) were chosen by `profilec compile`")
    try:
        return ProfileSet(read_set(open_image(image)))
    except ImageError as error:
        terminal.stop(str(error))
    except OSError as error:
        terminal.stop(f"{image}: {error.strerror}")


def read_options(
    given: Sequence[str], *, matcher: Sequence[str] = (), index: Sequence[str] = (), phase_order: str | None = None
) -> dict[str, Any]:
    """The options of `compile` that the command line names; ends the verb where one is none.

    >>> read_options(["max_depth=50"], matcher=["bitmap"], index=["price=interval"])
    {'max_depth': 50, 'matcher': 'bitmap', 'index': {'price': 'interval'}}
    >>> read_options([], matcher=["price=access", "betree"])
    {'matcher': {'price': 'access', '*': 'betree'}}
    >>> read_options(["ranking=optimistic", "ranking_weights=beta:0.5,gamma:1", "ranking_threshold=-0.5"])
    {'ranking': 'optimistic', 'ranking_weights': {'beta': 0.5, 'gamma': 1}, 'ranking_threshold': -0.5}
    """
    from profilec.planner.options import Options

    options: dict[str, Any] = {}
    for option in given:
        name, value = _cut("--option", option)
        if name.partition("=")[0] == "index":
            terminal.stop("--option index: an index is forced with --index ATTRIBUTE=NAME")
        elif name == "rules" and value not in ("all", "none"):
            options[name] = value.split(",")
        elif name == "prefilter" and value.lower() in ("true", "false"):
            options[name] = value.lower() == "true"
        elif name == "ranking_weights":
            weights = _chosen_once("--option ranking_weights", (one.partition(":")[::2] for one in value.split(",")))
            options[name] = {weight: _number(of_weight) for weight, of_weight in weights.items()}
        else:
            options[name] = _number(value, whole=name not in ("ranking_threshold", "replan"))
    if matcher:
        chosen = _chosen_once("--matcher", (_cut("--matcher", one) if "=" in one else ("*", one) for one in matcher))
        options["matcher"] = chosen if set(chosen) != {"*"} else chosen["*"]
    if phase_order is not None:
        options["phase_order"] = phase_order
    if index:
        options["index"] = _chosen_once("--index", (_cut("--index", choice) for choice in index))
    try:
        Options.read(options)
    except (TypeError, ValueError) as error:
        terminal.stop(str(error))
    return options


_WHOLE = re.compile(r"-?\d{1,40}")
_DECIMAL = re.compile(r"-?\d{1,40}(\.\d{1,40})?([eE][-+]?\d{1,3})?")


def _number(text: str, *, whole: bool = False) -> int | float | str:
    """The number that a text says; where it says none, or is to be `whole` and is not, the text."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if not whole and _DECIMAL.fullmatch(text) else text


def _chosen_once(option: str, choices: Iterable[tuple[str, str]]) -> dict[str, str]:
    """By name; ends the verb where two choices are made for one."""
    chosen: dict[str, str] = {}
    for name, value in choices:
        if chosen.setdefault(name, value) != value:
            of = "all" if name == "*" else name
            terminal.stop(f"{option} is given twice for {of}: {chosen[name]} and {value}")
    return chosen


def _cut(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        terminal.stop(f"{option} takes NAME=VALUE, not {text!r}")
    return name, value
