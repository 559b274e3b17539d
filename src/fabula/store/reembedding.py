"""Change the embedding space of a collection: write the next embeddings, then switch to them.

The next embeddings are written into the slot that is not in use. The phase is recorded in the
graph, so that the next run continues where another was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import neo4j

from fabula.errors import StoreError
from fabula.graph import Owner, Record, fingerprint
from fabula.graph.queries import embedding_property, index_name, label_name, read_statement
from fabula.store import Store, locks, schema
from fabula.store.document_ids import find_document_ids
from fabula.store.embedding_space import Space
from fabula.store.parts import lock_collection
from fabula.store.rows import encode_vector, part_id, read_space
from fabula.text.document import Vectors


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage or an element without an embedding of the next space, and the text to embed."""

    id: str
    text: str


@contextmanager
def lock_space(store: Store, collection: str) -> Iterator[Callable[[], Space | None]]:
    """Keep other processes from re-embedding a collection.

    Yields:
        A function that returns its space as it is now. It raises StoreError if the lock was lost.

    Raises:
        StoreError: Another process is re-embedding it.
    """
    with locks.process_lock(store, [f"reembed {collection}"], _refuse_second) as lock:
        yield lambda: read_space(lock.rows("core/find_space", collection=collection))


def _refuse_second() -> None:
    raise StoreError(
        "Another `fabula reembed` is at work on this collection. Wait until it ends, or stop it."
    )


def begin(store: Store, collection: str, model: str, dimensions: int) -> None:
    """Record the next space; from now on the collection takes no documents."""

    def record(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, collection)
        next_space = {"collection": collection, "model": model, "dimensions": dimensions}
        transaction.run(read_statement("core/reembed_begin"), next_space).consume()

    with store.session() as session:
        session.execute_write(record)


def count_embedded(store: Store, space: Space) -> tuple[int, int]:
    """Return how many nodes have embeddings, and how many of them one of the next space."""
    [row] = store.rows(
        "core/reembed_count",
        collection=space.collection,
        embedding=space.embedding,
        next=embedding_property(space.next_slot),
    )
    return row["nodes"], row["embedded"]


def find_unembedded(store: Store, space: Space, limit: int) -> Iterator[list[Unembedded]]:
    """Yield pages of at most `limit` nodes that have no embedding of the next space yet.

    Each page has to be embedded before the next one is read, or it comes again.
    """
    parameters = {"collection": space.collection, "embedding": space.embedding, "limit": limit}
    parameters["next"] = embedding_property(space.next_slot)
    for document in find_document_ids(store, space.collection):
        while rows := store.rows("core/reembed_find", document=document, **parameters):
            yield [Unembedded(**row) for row in rows]


def save(store: Store, space: Space, nodes: Sequence[Unembedded], vectors: Vectors) -> None:
    """Write embeddings of the next space: unit rows, shape (nodes, dimensions)."""
    store.check_disk_space()
    store.rows(
        "core/reembed_save",
        rows=_make_rows(nodes, vectors),
        collection=space.collection,
        model=space.next_model,
        next=embedding_property(space.next_slot),
        label=label_name(space.next_dimensions),
        element_label=label_name(space.next_dimensions, "element"),
    )


def find_unusable(store: Store, space: Space, after: str, limit: int) -> list[Unembedded]:
    """Return a page of the nodes whose embedding the vector index leaves out, after an id."""
    rows = store.rows(
        "core/find_unusable_vectors",
        **_present(space),
        dimensions=space.dimensions,
        after=after,
        limit=limit,
    )
    return [Unembedded(**row) for row in rows]


def save_usable(store: Store, space: Space, nodes: Sequence[Unembedded], vectors: Vectors) -> None:
    """Write embeddings of the space that a collection has: unit rows, shape (nodes, dimensions)."""
    store.check_disk_space()
    rows = _make_rows(nodes, vectors)
    store.rows("core/save_vectors", rows=rows, model=space.model, **_present(space))


def _present(space: Space) -> dict[str, Any]:
    return {
        "collection": space.collection,
        "embedding": space.embedding,
        "label": label_name(space.dimensions),
        "element_label": label_name(space.dimensions, "element"),
    }


def _make_rows(nodes: Sequence[Unembedded], vectors: Vectors) -> list[dict[str, Any]]:
    return [
        {"id": node.id, "embedding": encode_vector(vector)}
        for node, vector in zip(nodes, vectors, strict=True)
    ]


def index(store: Store, space: Space) -> None:
    """Make the next space's indexes beside those in use, and wait until they are populated."""
    place = space.next_dimensions, space.next_slot
    for what in schema.VECTOR_STATEMENTS:
        if what == "passage" or space.element_kinds:
            schema.make_vectors(store, *place, what)
            schema.wait(store, index_name(*place, what))


def flip(store: Store, space: Space) -> None:
    """Switch to the next space: in the parts' recipes, and then for questions.

    Meanwhile the collection takes no documents, so that nobody plans by half of the recipes.
    """
    _rename_model(store, space, space.next_model)

    def change(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, space.collection)
        parameters = {"model": space.next_model, "dimensions": space.next_dimensions}
        parameters |= {"collection": space.collection, "slot": space.slot}
        [row] = transaction.run(read_statement("core/reembed_flip"), parameters)
        if not row["flipped"]:
            raise StoreError("Another `fabula reembed` took over: try again.")

    with store.session() as session:
        session.execute_write(change)


def _rename_model(store: Store, space: Space, model: str) -> None:
    """Give every part the recipe and the fingerprint that it has under a model."""
    collection = space.collection
    owned = ((entry.id, entry.graphs) for entry in store.documents(collection))
    for document, parts in chain(owned, [("", store.collection_parts(collection))]):
        rows = []
        for graph in parts:
            made_from = _recipe_for(graph, parts, model)
            written = json.dumps(made_from, sort_keys=True, ensure_ascii=False)
            id = part_id(Owner(collection, graph, document))
            rows.append({"id": id, "made_from": written, "fingerprint": fingerprint(made_from)})
        # A transaction for each document: that of all parts would outgrow the server's memory.
        store.rows("core/save_parts", collection=collection, rows=rows)


def _recipe_for(graph: str, parts: Mapping[str, Record], model: str) -> dict[str, Any]:
    made_from = dict(parts[graph].made_from)
    made_from["models"] = dict(made_from.get("models", {})) | {"embedding_model": model}

    # A part of a document records the fingerprints of what it rests on. A collection's own part
    # records when that was written, which does not change.
    base = {
        name: fingerprint(_recipe_for(name, parts, model))
        if isinstance(recorded, str) and name in parts
        else recorded
        for name, recorded in made_from.get("rests_on", {}).items()
    }
    return made_from | ({"rests_on": base} if base else {})


def give_up(store: Store, space: Space) -> None:
    """Give up the next space, and leave what was written of it to be cleared."""
    _rename_model(store, space, space.model)
    store.rows("core/reembed_give_up", collection=space.collection)


def clear(store: Store, space: Space) -> None:
    """Clear the slot that is not in use; afterwards the collection takes documents again."""
    is_same = space.former_dimensions == space.dimensions
    unused = (
        []
        if is_same
        else [label_name(space.former_dimensions, what) for what in schema.VECTOR_STATEMENTS]
    )
    with store.session() as session:
        parameters = {"collection": space.collection, "labels": unused}
        parameters["former"] = embedding_property(space.next_slot)
        session.run(read_statement("core/reembed_clear"), parameters).consume()
    store.rows("core/reembed_end", collection=space.collection)
