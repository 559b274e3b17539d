"""Change a library at once: describe and remove documents, drop graphs. Each change is audited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fabula.app.collection import Collection
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.service.core.views import View
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.jobs.audit import Audit
    from fabula.jobs.callers import Caller


class DroppedView(View):
    """The graphs that were removed, or would be, from a document.

    `document` is its id, '' for the collection itself.
    """

    document: str
    title: str
    graphs: list[str]


def change_description(
    audit: Audit,
    caller: Caller,
    collection: Collection,
    entry: Entry,
    *,
    title: str | None = None,
    author: str | None = None,
    published: str | None = None,
) -> None:
    """Change the title, author or date of a document; what is None stays as it is.

    Raises:
        BadValue: The title is empty, or a value is too long.
        NotFound: The document has been removed meanwhile.

    """
    changed = collection.describe(entry.id, title=title, author=author, published=published)
    audit.record(
        caller,
        "change document",
        f"{collection.name}/{entry.id}",
        title=changed.title,
        author=changed.author,
        published=changed.published or None,
    )


def remove_document(audit: Audit, caller: Caller, collection: Collection, entry: Entry) -> None:
    """Remove a document with all its graphs, even while a graph of it is being built."""
    collection.store.remove(collection.name, entry.id)
    audit.record(caller, "remove document", f"{collection.name}/{entry.id}", title=entry.title)


def drop_graph(
    audit: Audit,
    caller: Caller,
    collection: Collection,
    name: str,
    document: str = "",
    *,
    dry: bool = False,
) -> list[DroppedView]:
    """Remove a graph, and those that were built on it, from a document or from all.

    Args:
        audit: Records the change.
        caller: Who asks.
        collection: The collection.
        name: The graph.
        document: The id of the document; '' for all, and the collection itself.
        dry: Remove nothing, and only return what would be removed.

    Raises:
        NotFound: No such document has the graph.
        SettingsError: There is no such graph, or it is the text.

    """
    documents: Sequence[str] = (document,) if document else ()
    dropped = [
        DroppedView(
            document=entry.id if entry else "", title=entry.title if entry else "", graphs=g
        )
        for entry, g in collection.drop(name, *documents, dry=dry)
    ]
    if not dropped:
        raise NotFound(f"There is no graph {quote_name(name)} here to be dropped.")
    if not dry:
        where = f"{collection.name}/{document}" if document else collection.name
        graphs = sorted({graph for view in dropped for graph in view.graphs})
        audit.record(caller, "drop graph", where, graphs=", ".join(graphs))
    return dropped
