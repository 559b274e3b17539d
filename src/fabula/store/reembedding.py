"""How a graph changes its embedding space: the next embeddings beside those in use, then a swap.

Phases are recorded in the graph, so that whoever comes next goes on where another was stopped.
Readers use the index passage_vectors, but while the embeddings are moved passage_vectors_next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import neo4j
from neo4j.exceptions import Neo4jError
from neo4j.vector import Vector as WireVector

from fabula.errors import StoreError
from fabula.model import Vectors
from fabula.queries import query
from fabula.store import Store, schema
from fabula.store.rows import made_space
from fabula.store.space import Space

PATIENCE = 1.0
"""Seconds to wait for a turn that another process may just be giving back."""
TAKEN = ("LockClientStopped", "Terminated", "TransactionTimedOutClientConfiguration")
"""How the codes of a statement end that waited for the turn too long."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage that has no embedding of the next space yet."""

    id: str
    text: str


@contextmanager
def turn(store: Store) -> Iterator[Callable[[], Space | None]]:
    """Keeps all others from re-embedding this graph; gives what reads the space as it is now.

    Reading raises StoreError where the turn was lost. The turn is an open transaction: it ends
    with this process, however that ends. Raises StoreError while another has it.
    """
    with store.session() as session:
        _refuse_second(session)
        transaction = session.begin_transaction()
        try:
            transaction.run(query("save_turn")).consume()
            yield lambda: made_space(transaction.run(query("find_embedding_space")).data())
        finally:
            transaction.close()


def _refuse_second(session: neo4j.Session) -> None:
    try:
        with session.begin_transaction(timeout=PATIENCE) as transaction:
            transaction.run(query("save_turn")).consume()
            transaction.rollback()
    except Neo4jError as error:
        if not (error.code or "").endswith(TAKEN):
            raise
        raise StoreError(
            "Another `fabula reembed` is at work on this graph: wait until it ends, or stop it."
        ) from error


def begin(store: Store, model: str, dimensions: int) -> None:
    """Records the next space; from here on no document comes in."""
    store.rows("switch_reembedding_on", model=model, dimensions=dimensions)


def count(store: Store) -> tuple[int, int]:
    """How many passages there are, and how many have an embedding of the next space."""
    [row] = store.rows("count_embedded")
    return row["passages"], row["embedded"]


def unembedded(store: Store, limit: int) -> list[Unembedded]:
    """At most `limit` passages without an embedding of the next space."""
    return [Unembedded(**row) for row in store.rows("find_to_embed", limit=limit)]


def save(store: Store, passages: Sequence[Unembedded], vectors: Vectors) -> None:
    """Writes embeddings of the next space: unit float32 rows, one a passage."""
    rows = [
        {"id": passage.id, "embedding": WireVector.from_numpy(vector)}
        for passage, vector in zip(passages, vectors, strict=True)
    ]
    store.rows("save_next_embeddings", rows=rows)


def index(store: Store, dimensions: int) -> None:
    """Builds the next space's index beside the one in use."""
    schema.make_vectors(store, schema.NEXT_VECTORS, dimensions)
    schema.wait(store, schema.NEXT_VECTORS)


def swap(store: Store, model: str) -> None:
    """Makes the next space the space, at once, for questions and in the documents' settings."""
    named = {"embedding_model": model}
    rows = [
        {"id": entry.id, "settings": json.dumps(dict(entry.settings) | named, sort_keys=True)}
        for entry in store.documents()
    ]
    store.rows("switch_space", rows=rows)


def move(store: Store, dimensions: int) -> None:
    """Puts the embeddings in their place, and builds the index over it anew."""
    store.rows("schema_drop_passage_vectors")
    with store.session() as session:
        session.run(query("save_moved_embeddings")).consume()
    schema.make_vectors(store, schema.VECTORS, dimensions)
    schema.wait(store, schema.VECTORS)
    store.rows("switch_clearing_on")


def give_up(store: Store) -> None:
    """Leaves what was written of the next space to be cleared."""
    store.rows("switch_clearing_on")


def clear(store: Store) -> None:
    """Clears the second index and the property it was over; then documents may come in again."""
    store.rows("schema_drop_passage_vectors_next")
    with store.session() as session:
        session.run(query("clear_next_embeddings")).consume()
    store.rows("switch_reembedding_off")
