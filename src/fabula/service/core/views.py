"""Documents as the API and the page name them: by their ids alone."""

from __future__ import annotations

from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.text.names import quote_name


def document_of(collection: Collection, id: str) -> Entry:
    """Return the document of an id. Raises NotFound, also for a title or the start of an id."""
    for entry in collection.open_store().find_named(collection.name, id, 2, whole=True):
        if entry.id == id:
            return entry
    raise NotFound(
        f"There is no document {quote_name(id)} in collection {quote_name(collection.name)}."
    )
