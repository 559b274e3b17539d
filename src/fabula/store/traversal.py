"""Ways through the graph beside the nearest passages: what a mode's statement finds, and ties."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from fabula.model import Filters, Hit, Vector
from fabula.queries import query
from fabula.store import Store
from fabula.store.rows import unwired

Tie = Literal["parents", "neighbours"]
STATEMENTS: dict[Tie, str] = {
    "parents": "aspects/find_parents",
    "neighbours": "core/find_neighbours",
}


def related(store: Store, passages: Sequence[str], tie: Tie, collection: str) -> dict[str, list[Hit]]:
    """The summaries right above some passages, or the chunks beside them, by the passages' ids."""
    grouped: dict[str, list[Hit]] = defaultdict(list)
    for row in store.rows(STATEMENTS[tie], passages=list(passages), collection=collection):
        grouped[row["of"]].append(Hit(**row["hit"]))
    return grouped


def vectors(store: Store, passages: Sequence[str], collection: str) -> dict[str, Vector]:
    """The embeddings of some passages, by their ids: float32, shape (dimensions,), length 1."""
    space = store.space(collection)
    if space is None:
        return {}
    rows = store.rows(
        "core/find_vectors",
        passages=list(passages),
        collection=collection,
        embedding=space.embedding,
        dimensions=space.dimensions,
    )
    return {row["id"]: unwired(row["vector"]) for row in rows}
