"""How many parts each graph of a collection has, read again only after the collection changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from fabula.store.database import Database
from fabula.store.parts import lock_prefix

MAX_REMEMBERED = 4096
"""How many combinations of a collection, a document and graphs are remembered: 1 MB."""
Versions = list[dict[str, Any]]
_Key = tuple[str, str, tuple[str, ...]]


class PartVersions:
    """Reads the versions of graphs; safe to share between threads.

    A collection of 20,000 documents with three graphs has 60,000 parts, and nearly every question
    asks for their versions. The revision of the collection says in one short read, of at most as
    many locks as a collection has, that they are those that were counted before.
    """

    def __init__(self) -> None:
        """Begin with nothing in memory."""
        self._lock = threading.Lock()
        self._known: OrderedDict[_Key, tuple[str, Versions]] = OrderedDict()

    def read(
        self, store: Database, collection: str, document: str, graphs: Sequence[str]
    ) -> Versions:
        """Return one row for each of these graphs that has parts, as `core/find_versions` has it.

        Args:
            store: The database.
            collection: The collection.
            document: The document; '' for all of the collection.
            graphs: The names of the graphs.

        """
        key = (collection, document, tuple(graphs))
        with self._lock:
            revision, known = self._known.get(key, ("", []))
        [row] = store.rows(
            "core/find_versions",
            collection=collection,
            document=document,
            graphs=list(graphs),
            locks=lock_prefix(collection),
            revision=revision,
        )
        if row["revision"] == revision:
            return known
        versions: Versions = row["versions"]
        with self._lock:
            self._known[key] = row["revision"], versions
            self._known.move_to_end(key)
            while len(self._known) > MAX_REMEMBERED:
                self._known.popitem(last=False)
        return versions
