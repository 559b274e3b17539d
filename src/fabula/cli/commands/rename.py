"""`fabula rename`: change the title, author and year of a document."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings


@click.command(
    "rename",
    cls=Command,
    examples=(
        'rename carol.txt "A Christmas Carol"',
        'rename "A Christmas Carol" --author "Charles Dickens" --year 1843',
    ),
)
@click.argument("document")
@click.argument("title", required=False)
@click.option("--author", help="the author; '' for none")
@click.option("--year", help="the year or date of the text; '' for none")
@settings_flags(*GRAPH)
def command(
    document: str, title: str | None, author: str | None, year: str | None, settings: Settings
) -> None:
    """Give DOCUMENT (its id, title or file) another TITLE, author or year.

    The text and its graphs stay. If the file is ingested again with another text, all three are
    those of the file again.
    """
    if title is None and author is None and year is None:
        raise click.UsageError("Give a new title, --author or --year.")
    with open_for_reading(settings) as fabula:
        entry = fabula.describe(document, title=title, author=author, published=year)
    by = f" by {entry.author}" if entry.author else ""
    date = f" ({entry.published})" if entry.published else ""
    echo(f"{entry.id}: {entry.title}{by}{date}")
