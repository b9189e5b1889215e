"""The verbs of `profilec store`."""

from __future__ import annotations

import typer

from profilec.cli.store import change, rescue, show

app = typer.Typer(
    help="Keep a set that changes in a folder, and look after it.", no_args_is_help=True, rich_markup_mode=None
)
app.command("init")(change.init)
app.command("add")(change.add)
app.command("remove")(change.remove)
app.command("list")(show.list_)
app.command("import")(change.import_)
app.command("compact")(change.compact)
app.command("backup")(rescue.backup)
app.command("verify")(show.verify)
app.command("stat")(show.stat)
app.command("salvage")(rescue.salvage)
