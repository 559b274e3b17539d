"""Documents by the names that people call them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from fabula.errors import NotFound
from fabula.model import Entry
from fabula.notebook import list_documents

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


def choose(store: Store, collection: str, name: str, *, whole: bool = False) -> Entry:
    """The one document of that id (or its beginning), title, part of a title, file or file name.

    With `whole`, a part of a title is no name. Raises NotFound, which names what there is in the
    collection, and nothing of any other.
    """
    if not isinstance(name, str):
        raise TypeError(f"A document is named by a str, its id, title or file, not by {name!r}.")
    found = store.named(collection, name, MOST + 1, whole=whole)
    if len(found) == 1:
        return found[0]
    if found:
        ids = "; ".join(f"{one.id} is {one.title}, {one.source}" for one in found[:MOST])
        count = f"{len(found)}" if len(found) <= MOST else f"more than {MOST}"
        raise NotFound(f"{name!r} could be {count} documents; name one by its id: {ids}.")
    there = list(islice(store.documents(collection, MOST), MOST))
    if not there:
        raise nothing_there(collection)
    more = store.count(collection)[0] - len(there)
    titles = ", ".join(entry.title for entry in there) + (f" and {more} more" if more > 0 else "")
    raise NotFound(
        f"There is no document {name!r} in collection {collection!r}. `fabula list` shows them: "
        f"{titles}."
    )


def nothing_there(collection: str) -> NotFound:
    """What to tell who asks a collection without documents."""
    return NotFound(
        f"Nothing has been ingested into collection {collection!r} yet: run `fabula ingest BOOK "
        f"--collection {collection}`, or choose another with --collection; `fabula list --all` "
        "shows all."
    )
