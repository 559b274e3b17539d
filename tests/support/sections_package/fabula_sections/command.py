"""List the sections of a document: `fabula sections BOOK`."""

from __future__ import annotations

import click

from fabula.app.collection import Collection
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings
from fabula.graph.queries import read_statement_file
from fabula_sections import CYPHER


def headings(collection: Collection, document: str) -> list[str]:
    """Return the headings of a document, in the order of the text."""
    statement = read_statement_file(CYPHER / "list_headings.cypher")
    rows = collection.store.run(statement, collection=collection.name, document=document)
    return [row["heading"] for row in rows]


@click.command("sections")
@click.argument("document")
@settings_flags(*GRAPH)
def command(document: str, settings: Settings) -> None:
    """List the headings of DOCUMENT."""
    with open_for_reading(settings) as fabula:
        for heading in headings(fabula, fabula.document(document).id):
            echo(heading)
