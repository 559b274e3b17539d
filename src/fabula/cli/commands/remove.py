"""`fabula remove`: documents out of the graph."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant, opened
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
@click.option("--yes", is_flag=True, help="don't ask")
@settings_flags(*GRAPH)
def command(documents: tuple[str, ...], everything: bool, yes: bool, settings: Settings) -> None:
    """Remove DOCUMENTS (ids, titles or files) of the collection, each with all its passages."""
    if bool(documents) == everything:
        raise click.UsageError("Name the documents to remove, or give --all.")
    # All of a collection goes only where it is named, or is the usual one.
    with (opened if everything else meant)(settings) as fabula:
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
