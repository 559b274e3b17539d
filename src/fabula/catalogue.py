"""Documents by the names that people call them."""

from __future__ import annotations

from itertools import islice

from fabula.errors import NotFound
from fabula.model import Entry
from fabula.store import Store

MOST = 5
"""Documents that a message names."""


def choose(store: Store, collection: str, name: str, *, whole: bool = False) -> Entry:
    """The one document of that id (or its beginning), title, part of a title, file or file name.

    With `whole`, a part of a title is no name. Raises NotFound, which names what there is in the
    collection, and nothing of any other.
    """
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
