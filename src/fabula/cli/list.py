"""`fabula list`: the documents that the graph holds."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.table import Table

from fabula.cli.options import GRAPH, settings_flags
from fabula.cli.screen import console, print_json
from fabula.cli.starting import opened
from fabula.settings import Settings


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.option("--all", "everywhere", is_flag=True, help="of all collections")
@settings_flags(*GRAPH)
def command(as_json: bool, everywhere: bool, settings: Settings) -> None:
    """List the documents of a collection, or of all."""
    with opened(settings) as fabula:
        entries = fabula.documents("" if everywhere else settings.collection)
        others = len(fabula.documents()) - len(entries)
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    if entries:
        table = Table(show_edge=False)
        for heading in ("id", "collection", "title", "author", "language"):
            table.add_column(heading)
        table.add_column("tokens", justify="right")
        table.add_column("updated")
        for entry in entries:
            facts = (entry.id, entry.collection, entry.title, entry.author, entry.language)
            table.add_row(*facts, f"{entry.tokens:,}", entry.updated_at[:16].replace("T", " "))
        console().print(table)
    else:
        click.echo(f"Collection {settings.collection!r} is empty: run `fabula ingest BOOK`.")
    if others:
        click.echo(f"{others} more in other collections: --all shows them.")
