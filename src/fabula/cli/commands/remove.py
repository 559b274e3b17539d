"""`fabula remove`: remove documents from the graph."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings


@click.command(
    "remove",
    cls=Command,
    examples=(
        "remove book.epub",
        'remove "A Christmas Carol" --yes',
        "remove --all --collection trial",
    ),
)
@click.argument("documents", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="all documents of the collection")
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@settings_flags(*GRAPH)
def command(documents: tuple[str, ...], everything: bool, yes: bool, settings: Settings) -> None:
    """Remove DOCUMENTS (ids, titles or files) from the collection, with all their graphs."""
    if bool(documents) == everything:
        raise click.UsageError("Name the documents to remove, or give --all.")
    # To remove everything, the collection must be named or the usual one: no guess.
    with (open_collection if everything else open_for_reading)(settings) as fabula:
        if everything:
            documents = tuple(entry.id for entry in fabula.documents())
        if everything and documents and not yes:
            click.confirm(
                f"Remove everything in collection {settings.collection!r} ({len(documents)})?",
                abort=True,
            )
        for entry in fabula.remove(*documents):
            echo(f"removed    {entry.title} ({entry.id})")
    if not documents:
        echo(f"Collection {settings.collection!r} is empty already.")
