"""Documents of a collection: list them, and find one by whatever name a person gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.errors import NotFound, did_you_mean
from fabula.graph.entries import Entry
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.store import Store

MAX_NAMED = 5
"""Documents that a message names."""
MAX_COMPARED = 1000
"""Documents whose titles are compared with a name that none of them has."""
PUNCTUATION = ".,;:!?'\"()"
MAX_ROWS = 100
"""Documents that a notebook shows."""


class Documents:
    """The documents of a collection by title. Each iteration reads them page by page."""

    def __init__(self, store: Store, collection: str) -> None:
        self._store = store
        self.collection = collection

    def __iter__(self) -> Iterator[Entry]:
        return self._store.documents(self.collection)

    def __len__(self) -> int:
        return self._store.count(self.collection)[0]

    def __repr__(self) -> str:
        return f"<Documents of {self.collection!r}>"

    def _repr_html_(self) -> str:
        from fabula.ask.notebook import list_documents

        return list_documents(list(islice(self, MAX_ROWS)), len(self))


def find_document(store: Store, collection: str, name: str, *, is_path: bool = True) -> Entry:
    """Return the one document that a name means.

    Args:
        store: The graph.
        collection: The collection to look in.
        name: An id or its beginning, a title or a part of one, a file or its name.
        is_path: The name may be the path of a file on this machine. Not so for a name that comes
            from a client of the service.

    Raises:
        NotFound: The name means no document, or several. The message names documents of this
            collection, and of no other.
    """
    if not isinstance(name, str):
        raise TypeError(f"A document is named by a str, its id, title or file, not by {name!r}.")
    sources = _resolve(name) if is_path else []
    matches = store.find_named(collection, name, MAX_NAMED + 1, sources=sources)
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = "; ".join(
            f"{entry.id} is {entry.title}, {entry.source}" for entry in matches[:MAX_NAMED]
        )
        count = f"{len(matches)}" if len(matches) <= MAX_NAMED else f"more than {MAX_NAMED}"
        raise NotFound(f"{quote_name(name)} could be {count} documents; name one by its id: {ids}.")
    titles = [entry.title for entry in islice(store.documents(collection), MAX_COMPARED)]
    if not titles:
        raise empty_collection_error(collection)
    more = store.count(collection)[0] - MAX_NAMED
    listed = ", ".join(titles[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    # A word of a title names a document, too.
    words = [word.strip(PUNCTUATION) for title in titles for word in title.split()]
    hint = did_you_mean(name, [*titles, *words], f"There are: {listed}.")
    raise NotFound(
        f"There is no document {quote_name(name)} in collection {collection!r}. {hint}",
        advice="`fabula list` shows them.",
    )


def find_only_document(store: Store, collection: str, place: str) -> Entry:
    """Return the only document of a collection, in which a place is meant.

    Raises:
        NotFound: There is none, or there are several.
    """
    entries = [*islice(store.documents(collection, 2), 2)]
    if not entries:
        raise empty_collection_error(collection)
    if len(entries) > 1:
        raise NotFound(
            f"{quote_name(place)} is a place in a text, and collection {collection!r} has "
            "several: name the document as well. A question may name a whole volume instead.",
            advice="Name the document, with --document where the command has it.",
        )
    return entries[0]


def refuse_missing(store: Store, collection: str, names: Sequence[str]) -> None:
    """Raise NotFound if a collection has no documents, or none of one of some names."""
    if not store.count(collection)[0]:
        raise empty_collection_error(collection)
    for name in filter(None, names):
        if not store.find_named(collection, name, 1):
            find_document(store, collection, name)


def _resolve(name: str) -> list[str]:
    """Return the absolute path of the file of this name; none if no file can have the name."""
    try:
        return [str(Path(name).resolve())]
    except (OSError, ValueError, RuntimeError):  # a NUL, a surrogate, links in a circle
        return []


def empty_collection_error(collection: str) -> NotFound:
    """Return the error for a collection without documents."""
    return NotFound(
        f"Nothing has been ingested into collection {collection!r} yet: add documents to it, or "
        "choose another collection.",
        advice=f"Run `fabula ingest BOOK --collection {collection}`; `fabula collections` shows "
        "all.",
    )
