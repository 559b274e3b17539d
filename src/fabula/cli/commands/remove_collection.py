"""`fabula remove-collection`: remove all documents of a collection."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings


@click.command(
    "remove-collection",
    cls=Command,
    examples=("remove-collection --collection trial", "remove-collection -c trial --yes"),
)
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@settings_flags(*GRAPH)
def command(yes: bool, settings: Settings) -> None:
    """Remove all documents of the collection, with all their graphs."""
    # The collection must be named or the usual one: no guess.
    with open_collection(settings) as fabula:
        entries = list(fabula.documents())
        if not entries:
            echo(f"Collection {fabula.name!r} is empty already.")
        elif not yes:
            click.confirm(
                f"Remove everything in collection {fabula.name!r} ({len(entries)})?", abort=True
            )
        for entry in entries:
            fabula.store.remove(fabula.name, entry.id)
            echo(f"removed    {entry.title} ({entry.id})")
