"""A sound graph, and statements that break it and are undone."""

from __future__ import annotations

from typing import Any

import neo4j

from fabula.store import Store
from graphs import DIMENSIONS, names_of, put, small_graph


def put_sound(store: Store) -> None:
    """Writes a graph of two documents in two collections."""
    for collection in ("default", "other"):
        store.prepare(collection, "test-model", DIMENSIONS)
    for parts in (small_graph(), small_graph("b.txt", chunks=3, collection="other")):
        put(store, [*parts, names_of(parts)])


class Undone(Store):
    """A store whose statements are all of one transaction, which somebody rolls back."""

    def __init__(self, transaction: neo4j.Transaction, store: Store) -> None:
        super().__init__(store._driver, "neo4j")
        self._transaction = transaction

    def run(
        self, statement: str, name: str = "a query", /, **parameters: Any
    ) -> list[dict[str, Any]]:
        return self._transaction.run(statement, parameters).data()
