"""`fabula cite`: print documents for a bibliography."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import LastAnswer, recall_answer
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.config.settings import Settings
from fabula.errors import NotFound

if TYPE_CHECKING:
    from fabula.export.bibliography import CitedPlaces
    from fabula.library.collection import Collection


@click.command(
    "cite",
    cls=Command,
    examples=(
        'cite "A Christmas Carol"',
        "cite --last > answer.bib",
        "cite --last --format webannotation > answer.jsonld",
        'cite "A Christmas Carol" --year 1843 --place London',
        "cite --format csl > library.json",
    ),
)
@click.argument("documents", nargs=-1)
@click.option("--last", is_flag=True, help="the documents that the last answer cites")
@click.option("--at", default="", help="place of the only document: its pages or lines are cited")
@click.option("--year", default="", help="year of the only document, in place of the file's")
@click.option("--edition", default="", help="its edition")
@click.option("--publisher", default="", help="its publisher")
@click.option("--place", default="", help="where it was published")
@click.option(
    "--format",
    type=click.Choice(["bibtex", "csl", "webannotation"]),
    default="bibtex",
    show_default=True,
    help="BibTeX; CSL-JSON for Zotero and pandoc; or, with --last, the words that the answer cites "
    "as W3C Web Annotations",
)
@settings_flags(*GRAPH)
def command(
    documents: tuple[str, ...],
    last: bool,
    at: str,
    year: str,
    edition: str,
    publisher: str,
    place: str,
    format: str,
    settings: Settings,
) -> None:
    """Print DOCUMENTS (ids, titles or files), or all of the collection, for a bibliography.

    The key of a document is made from its author, title and file, and stays the same as long as
    these do. What a file does not say about a book, say yourself: --year, --edition, --publisher
    and --place of a single document. --last and --at also say which printed pages or numbered lines
    are cited, where a document has them; --at takes what `fabula read --at` does.
    """
    from fabula.export.bibliography import CitedPlaces, bibtex, csl
    from fabula.library.catalogue import empty_collection_error

    if last and documents:
        raise click.UsageError("Name documents or give --last, not both.")
    if (at or year or edition or publisher or place) and len(documents) != 1:
        raise click.UsageError(
            "--at, --year, --edition, --publisher and --place need one document."
        )
    if format == "webannotation" and not last:
        raise click.UsageError(
            "Web Annotations are of the last answer: add --last. "
            "`fabula annotations export` writes those of a document."
        )
    places: dict[str, CitedPlaces] = {}
    if last:
        answer = recall_answer(settings.home)
        if not answer.citations:
            raise NotFound(f"The last answer, to {answer.question!r}, cites nothing.")
        # An answer over several collections cites documents of each.
        names = {each.document: each.collection or answer.collection for each in answer.citations}
        with open_collection(settings) as fabula:
            owners = {id: fabula.app.collection(name) for id, name in names.items()}
            if format == "webannotation":
                print_json(_citations(owners, answer))
                return
            entries = [collection.document(id) for id, collection in owners.items()]
            places = _find_labels(owners, [(each.document, each.at) for each in answer.citations])
    else:
        with open_for_reading(settings) as collection:
            requested = {entry.id: entry for entry in map(collection.document, documents)}
            entries = list(requested.values() if documents else collection.documents())
            if not entries:
                raise empty_collection_error(collection.name)
            if len(documents) == 1:
                [entry] = entries
                places = _find_labels({entry.id: collection}, [(entry.id, at)]) if at else {}
                cited = places.get(entry.id, CitedPlaces())
                places[entry.id] = cited._replace(publisher=publisher, address=place)
                published, of = year or entry.published, edition or entry.edition
                entries = [replace(entry, published=published, edition=of)]
    if format == "bibtex":
        echo(bibtex(entries, places), nl=False)
    else:
        print_json(csl(entries, places))


def _citations(owners: Mapping[str, Collection], answer: LastAnswer) -> dict[str, Any]:
    """Return the words that an answer cites as Web Annotations; `owners` are by document."""
    from fabula.export.citations import CitedWords, citations_json, make_citation, words_at

    cited = []
    for each in answer.citations:
        reading = owners[each.document].read(each.document, each.at)
        for part in reading.lines:
            for start, end in part.lit:
                words = words_at(part.text, start, end, part.start)
                annotation = make_citation(each.number, words, answer.question)
                cited.append(CitedWords(each.document, reading.document.language, annotation))
    return citations_json(answer.question, cited)


def _find_labels(
    owners: Mapping[str, Collection], places: Sequence[tuple[str, str]]
) -> dict[str, CitedPlaces]:
    """Return the labels of places of documents, whose collections `owners` has by document."""
    from fabula.export.bibliography import CitedPlaces

    pages: dict[str, dict[str, None]] = {}
    lines: dict[str, dict[str, None]] = {}
    for cited, at in places:
        for part in owners[cited].read(cited, at).lines:
            if part.lit:
                pages.setdefault(cited, {})[part.pages] = None
                lines.setdefault(cited, {})[part.lines] = None
    return {
        document: CitedPlaces(
            ", ".join(filter(None, pages[document])), ", ".join(filter(None, lines[document]))
        )
        for document in pages
    }
