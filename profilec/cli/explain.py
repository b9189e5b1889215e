"""`profilec explain FILE...`: how a set, or each of its profiles, is matched; or why one did or did not match.

In: files of profiles, and for `--why` documents. Out: text, or JSON: the normal form, entries and
access predicates of profiles, or each predicate's truth, place in the source and value seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profilec.cli import terminal
from profilec.cli.choices import Engine, Indexes, Master, Matchers, PhaseOrder

if TYPE_CHECKING:
    from profilec.profileset import ProfileSet
    from profilec.why import Explanation


def explain(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help=".prof files, folders of them, an image, a store, - for standard input."),
    ],
    ids: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="A profile; may be repeated.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every profile, one after the other.")] = False,
    form: Annotated[
        str | None, typer.Option("--form", metavar="cnf|dnf", help="Show this normal form of each profile too.")
    ] = None,
    why: Annotated[
        str | None,
        typer.Option("--why", metavar="DOC", help="Why documents match or not: a file of them, - or one as JSON text."),
    ] = None,
    join_documents: Annotated[
        list[str] | None,
        typer.Option("--join-documents", metavar="FILE", help="Earlier documents; may be repeated."),
    ] = None,
    format_: Annotated[
        str,
        typer.Option("--format", metavar="text|json|dot|mermaid|html", help="How to write; the last three of sets."),
    ] = "text",
    analyze: Annotated[
        list[str] | None,
        typer.Option("--analyze", metavar="DOCS", help="Run the plan with documents, and show what was seen."),
    ] = None,
    statistics: Annotated[
        list[str] | None,
        typer.Option(
            "--statistics", metavar="FILE", help="Documents, or what `profilec stats` wrote; may be repeated."
        ),
    ] = None,
    diff: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--diff", metavar="STATS STATS", help="How the plan changes from one of two statistics to the other."
        ),
    ] = None,
    engine: Engine = "local",
    master: Master = None,
    documents: Annotated[
        str | None,
        typer.Option("--documents", metavar="DOCS", help="What Spark's plan reads: NDJSON, CSV or Parquet."),
    ] = None,
    allow_nested_loop: Annotated[
        bool,
        typer.Option(
            "--allow-nested-loop", help="Let Spark collect --join-documents for what no equality narrows down."
        ),
    ] = False,
    calibration: Annotated[
        str | None, typer.Option("--calibration", metavar="FILE", help="Unit costs that `profilec calibrate` measured.")
    ] = None,
    matcher: Matchers = None,
    index: Indexes = None,
    phase_order: PhaseOrder = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of compile.")
    ] = None,
) -> None:
    """Show how profiles are matched, or why a document does or does not match them."""
    from profilec.cli.load import load, read_options, read_some, statistics_or_stop
    from profilec.cli.spark_engine import MASTER, expect_engine, explained, session

    local = {"--id": ids, "--all": all_, "--form": form, "--why": why, "--analyze": analyze, "--diff": diff}
    of_spark = {"--master": master, "--documents": documents, "--allow-nested-loop": allow_nested_loop or None}
    expect_engine(engine, local, of_spark)
    if engine == "spark" and (documents is None or format_ != "text"):
        terminal.stop("--engine spark needs --documents DOCS, and writes text")
    of_one = bool(ids or all_ or form is not None or why is not None)
    terminal.expect_choice("--format", format_, ("text", "json") if of_one or diff else _FORMATS)
    if of_one and (analyze or diff):
        terminal.stop(f"{'--analyze' if analyze else '--diff'} is of the set, and of no profile or document")
    if form is not None:
        terminal.expect_choice("--form", form, ("cnf", "dnf"))
    options = read_options(option or [], matcher=matcher or [], index=index or [], phase_order=phase_order)
    if diff is not None:
        others = {"--analyze": analyze, "--statistics": statistics, "--join-documents": join_documents}
        for name in [name for name, given in others.items() if given]:
            terminal.stop(f"{name} does not go with --diff, which compares the plans for two statistics")
        _print_diff(paths, options, diff, calibration, format_)
        return
    known = statistics_or_stop(statistics, None) if statistics else None
    profile_set, _ = load(paths, options=options, statistics=known, calibration=calibration)
    for id_ in ids or []:
        if id_ not in profile_set:
            terminal.stop(_unknown(id_, profile_set.ids))
    if engine == "spark":
        assert documents is not None
        with session(master or MASTER) as spark:
            print(explained(spark, profile_set, documents, join_documents or (), allow_nested_loop), end="")
        return
    n_malformed = _load_history(profile_set, join_documents) if join_documents else 0
    if why is not None:
        n_malformed += _print_why(profile_set, ids or profile_set.ids, why, format_)
        raise typer.Exit(terminal.FINDINGS if n_malformed else terminal.CLEAN)
    chosen = ids or (profile_set.ids if all_ or form is not None else [])
    if not chosen and not all_:
        seen, n_bad = read_some(analyze, profile_set) if analyze else (None, 0)
        n_malformed += n_bad
        print(profile_set.explain(format=format_, analyze=seen))
    else:
        _print_profiles(profile_set, chosen, format_, form)
    if n_malformed:
        raise typer.Exit(terminal.FINDINGS)


_FORMATS = ("text", "json", "dot", "mermaid", "html")


def _print_diff(
    paths: Sequence[str], options: dict[str, Any], diff: tuple[str, str], calibration: str | None, format_: str
) -> None:
    from profilec.cli.load import load, statistics_or_stop
    from profilec.grammar.diagnostics import escaped
    from profilec.planner.drawing import changes

    plans = []
    for path in diff:
        profile_set, _ = load(
            paths, options=options, statistics=statistics_or_stop([path], None), calibration=calibration
        )
        plans.append(json.loads(profile_set.explain(format="json")))
    if format_ == "json":
        print(json.dumps({"before": plans[0], "after": plans[1]}, ensure_ascii=False, indent=2))
    else:
        print("\n".join(map(escaped, changes(*plans))))


def _load_history(profile_set: ProfileSet, paths: Sequence[str]) -> int:
    """Adds the earlier documents; how many were malformed."""
    from profilec.cli.documents.chunks import Tally
    from profilec.cli.documents.formats import Input, InputError
    from profilec.cli.load import load_history

    tally = Tally(report=lambda message: terminal.say(message, "red"))
    try:
        load_history(profile_set, paths, Input(tally, terminal.warn, schema=profile_set.schema))
    except InputError as error:
        terminal.stop(str(error))
    return tally.n_malformed


def _print_profiles(profile_set: ProfileSet, ids: Sequence[str], format_: str, form: str | None) -> None:
    from profilec.planner.normal_forms import NormalFormTooLarge

    n_refused = 0
    for number, id_ in enumerate(ids):
        try:
            text = profile_set.explain(id_, format=format_, form=form)
        except NormalFormTooLarge as error:
            terminal.say(f"error: profile {id_!r}: {error}", "red")
            n_refused += 1
            continue
        if format_ == "text" and number:
            print()
        # One profile is one object; several are one a line.
        print(text if format_ == "text" or len(ids) == 1 else json.dumps(json.loads(text), ensure_ascii=False))
    if n_refused:
        raise typer.Exit(terminal.ERROR)


def _print_why(profile_set: ProfileSet, ids: Sequence[str], source: str, format_: str) -> int:
    """Prints the explanation of each document and profile; how many documents were malformed."""
    from profilec.cli.documents.chunks import Malformed, Tally
    from profilec.cli.documents.formats import Input, InputError, read_documents
    from profilec.cli.documents.json_text import RecordDecoder

    tally = Tally(report=lambda message: terminal.say(message, "red"))
    options = Input(tally, terminal.warn, schema=profile_set.schema)
    try:
        if source.lstrip().startswith("{"):
            read = RecordDecoder().decode(source.encode(), 1)
            if isinstance(read, Malformed):
                terminal.stop(f"--why: {read.message}")
            documents = [(0, read.document)]
        else:
            documents = [
                pair
                for chunk in read_documents([source], options)
                for pair in zip(chunk.numbers, chunk.rows(), strict=True)
            ]
    except InputError as error:
        terminal.stop(str(error))
    for number, document in documents:
        if len(documents) > 1 and format_ == "text":
            print(f"document {number}")
        for id_ in ids:
            explanation = profile_set.why(document, id_)
            if format_ == "json":
                print(json.dumps({"document": number, **_as_json(explanation)}, ensure_ascii=False))
            else:
                print(explanation)
    return tally.n_malformed


def _as_json(explanation: Explanation) -> dict[str, Any]:
    steps = [
        {
            "text": step.text,
            "line": step.line,
            "column": step.column,
            "value": _json_value(step.value),
            "truth": step.truth,
        }
        for step in explanation.steps
    ]
    return {"profile": explanation.profile, "truth": explanation.truth, "steps": steps}


def _json_value(value: Any) -> Any:
    """A value that JSON can say; what it has no word for (a day, an infinity, a decimal) is text."""
    match value:
        case None | bool() | str():
            return value
        case list() | tuple():
            return [_json_value(inner) for inner in value]
        case Mapping():
            return {str(name): _json_value(inner) for name, inner in value.items()}
        case int() | float() if abs(value) <= _MOST:
            return value
        case int() | float():
            return str(Decimal(value))
    return str(value)


_MOST = 10**1_000
"""Greater numbers are text: Python writes no integer of thousands of digits, and JSON no infinity."""


def _unknown(id_: str, ids: Sequence[str]) -> str:
    from profilec.grammar.diagnostics import did_you_mean

    hint = did_you_mean(id_, ids)
    return f"no profile {id_!r}" + (f"; {hint}" if hint else "")
