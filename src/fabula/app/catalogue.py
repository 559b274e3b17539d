"""Documents by the names that people call them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.ask.notebook import list_documents
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.text.names import quoted

if TYPE_CHECKING:
    from fabula.store import Store

MOST = 5
"""Documents that a message names."""
SHOWN = 100
"""Documents that a notebook shows."""


class Documents:
    """The documents of a collection by title, read page by page at each iteration."""

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
        return list_documents(list(islice(self, SHOWN)), len(self))


def choose(
    store: Store, collection: str, name: str, *, whole: bool = False, is_path: bool = True
) -> Entry:
    """The one document of that id (or its beginning), title, part of a title, file or file name.

    With `whole`, a part of a title is no name. Where `is_path`, the name may be the path of a file
    on this machine: not where it comes from a client of the service. Raises NotFound, which names
    what there is in the collection, and nothing of any other.
    """
    if not isinstance(name, str):
        raise TypeError(f"A document is named by a str, its id, title or file, not by {name!r}.")
    sources = _resolve(name) if is_path else []
    found = store.named(collection, name, MOST + 1, whole=whole, sources=sources)
    if len(found) == 1:
        return found[0]
    if found:
        ids = "; ".join(f"{one.id} is {one.title}, {one.source}" for one in found[:MOST])
        count = f"{len(found)}" if len(found) <= MOST else f"more than {MOST}"
        raise NotFound(f"{quoted(name)} could be {count} documents; name one by its id: {ids}.")
    there = list(islice(store.documents(collection, MOST), MOST))
    if not there:
        raise nothing_there(collection)
    more = store.count(collection)[0] - len(there)
    titles = ", ".join(entry.title for entry in there) + (f" and {more} more" if more > 0 else "")
    raise NotFound(
        f"There is no document {quoted(name)} in collection {collection!r}. There are: {titles}.",
        advice="`fabula list` shows them.",
    )


def _resolve(name: str) -> list[str]:
    """Return the whole path of the file of that name; none where no file can be called so."""
    try:
        return [str(Path(name).resolve())]
    except (OSError, ValueError, RuntimeError):  # a NUL, a surrogate, a circle of links
        return []


def nothing_there(collection: str) -> NotFound:
    """What to tell who asks a collection without documents."""
    return NotFound(
        f"Nothing has been ingested into collection {collection!r} yet: add documents to it, or "
        "choose another collection.",
        advice=f"Run `fabula ingest BOOK --collection {collection}`; `fabula list --all` shows all "
        "collections.",
    )
