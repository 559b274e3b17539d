"""Operations: what a package adds to the command line, the service, assistants and the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.graph.queries import read_statement_file
from fabula.operations.kit import Asker, operation
from fabula.operations.notes import add_note
from fabula.operations.parameters import Document, Limit, NamedDocument, Who
from fabula_sections import CYPHER

if TYPE_CHECKING:
    from fabula.library.collection import Collection


@dataclass(frozen=True)
class Heading:
    """The heading of a section, and the title of its document."""

    title: str
    heading: str


@dataclass(frozen=True)
class Headings:
    """Headings in the order of the texts."""

    total: int
    rows: tuple[Heading, ...]


@operation(
    "/collections/{collection}/sections",
    group="Sections",
    positional=["document"],
    examples=["sections Harbour"],
)
def sections(collection: Collection, document: Document = "", limit: Limit = 100) -> Headings:
    """List the sections of a document, or of all."""
    statement = read_statement_file(CYPHER / "list_headings.cypher")
    entries = [collection.document(document)] if document else collection.documents()
    rows = [
        Heading(entry.title, row["heading"])
        for entry in entries
        for row in collection.open_store().run(
            statement, collection=collection.name, document=entry.id
        )
    ]
    return Headings(len(rows), tuple(rows[:limit]))


@dataclass(frozen=True)
class Marked:
    """Words that were marked, and by whom."""

    words: str
    by: str


@operation(
    "/collections/{collection}/documents/{document}/sections",
    group="Sections",
    role="write",
    method="POST",
    status=201,
    positional=["document", "words"],
    examples=['mark-section Harbour "Boris rang the bell"'],
)
def mark_section(
    collection: Collection,
    document: NamedDocument,
    words: Annotated[str, Field(min_length=1, max_length=200, description="words of it")],
    by: Who = "",
) -> Marked:
    """Highlight words of a section."""
    return Marked(words, add_note(collection, document, words, by=by).creator)


@dataclass(frozen=True)
class Shelf:
    """A collection, and how many sections its documents have."""

    collection: str
    sections: int


@dataclass(frozen=True)
class Shelves:
    """Collections by their names."""

    total: int
    rows: tuple[Shelf, ...]


@operation("/sections", group="Sections", examples=["shelves"])
def shelves(asker: Asker, limit: Limit = 100) -> Shelves:
    """Count the sections of each collection that one may see."""
    rows = [Shelf(name, sections(asker.open(name)).total) for name in asker.visible()]
    return Shelves(len(rows), tuple(rows[:limit]))
