"""`fabula cite`: print documents for a bibliography."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import LastAnswer, recall_answer
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.config.settings import Settings
from fabula.errors import NotFound

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.export.bibliography import CitedPlaces


@click.command(
    "cite",
    cls=Command,
    examples=(
        'cite "A Christmas Carol"',
        "cite --last > answer.bib",
        "cite --format csl > library.json",
    ),
)
@click.argument("documents", nargs=-1)
@click.option("--last", is_flag=True, help="the documents that the last answer cites")
@click.option(
    "--format",
    type=click.Choice(["bibtex", "csl"]),
    default="bibtex",
    show_default=True,
    help="BibTeX, or CSL-JSON for Zotero and pandoc",
)
@settings_flags(*GRAPH)
def command(documents: tuple[str, ...], last: bool, format: str, settings: Settings) -> None:
    """Print DOCUMENTS (ids, titles or files), or all of the collection, for a bibliography.

    The key of a document is made from its author, title and file, and stays the same as long as
    these do. Add what a file does not say about a book, such as its year, yourself. --last also
    says which printed pages or numbered lines are cited, where a document has them.
    """
    from fabula.app.catalogue import empty_collection_error
    from fabula.export.bibliography import bibtex, csl

    if last and documents:
        raise click.UsageError("Name documents or give --last, not both.")
    places: dict[str, CitedPlaces] = {}
    if last:
        answer = recall_answer(settings.home)
        if not answer.citations:
            raise NotFound(f"The last answer, to {answer.question!r}, cites nothing.")
        ids = dict.fromkeys(citation.document for citation in answer.citations)
        with open_collection(settings) as fabula:
            collection = fabula.app.collection(answer.collection)
            entries = [collection.document(id) for id in ids]
            places = _find_places(collection, answer)
    else:
        with open_for_reading(settings) as collection:
            requested = {entry.id: entry for entry in map(collection.document, documents)}
            entries = list(requested.values() if documents else collection.documents())
            if not entries:
                raise empty_collection_error(collection.name)
    if format == "bibtex":
        echo(bibtex(entries, places), nl=False)
    else:
        print_json(csl(entries, places))


def _find_places(collection: Collection, answer: LastAnswer) -> dict[str, CitedPlaces]:
    """Return the printed pages and numbered lines that an answer cites, by documents."""
    from fabula.export.bibliography import CitedPlaces

    pages: dict[str, dict[str, None]] = {}
    lines: dict[str, dict[str, None]] = {}
    for citation in answer.citations:
        reading = collection.read(citation.document, citation.at)
        for part in reading.lines:
            if part.lit:
                pages.setdefault(citation.document, {})[part.pages] = None
                lines.setdefault(citation.document, {})[part.lines] = None
    return {
        document: CitedPlaces(
            ", ".join(filter(None, pages[document])), ", ".join(filter(None, lines[document]))
        )
        for document in pages
    }
