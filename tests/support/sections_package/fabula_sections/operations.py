"""An operation: what a package adds to the command line, the service, assistants and the page."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.app.collection import Collection
from fabula.graph.queries import read_statement_file
from fabula.operations.kit import operation
from fabula.operations.parameters import Document, Limit
from fabula_sections import CYPHER


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
        for row in collection.store.run(statement, collection=collection.name, document=entry.id)
    ]
    return Headings(len(rows), tuple(rows[:limit]))
