"""`fabula collections`: list the collections."""

from __future__ import annotations

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import HOME_FLAGS
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings


@click.command("collections", cls=Command, examples=("collections",))
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@HOME_FLAGS
def command(as_json: bool, settings: Settings) -> None:
    """List the collections and their sizes."""
    with open_collection(settings) as fabula:
        rows = [
            {
                "collection": name,
                "documents": store.count(name)[0],
                "passages": store.count_passages(name),
            }
            for name in fabula.app.collections()
            for store in [fabula.app.store_of(name)]
        ]
    if as_json:
        print_json(rows)
        return
    if not rows:
        echo("Every collection is empty: run `fabula ingest BOOK`.")
        return
    table = Table(show_edge=False)
    table.add_column("collection")
    for heading in ("documents", "passages"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(str(row["collection"]), f"{row['documents']:,}", f"{row['passages']:,}")
    print_table(table)
