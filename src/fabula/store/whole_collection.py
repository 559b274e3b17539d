"""Read all that a collection holds, and write it into a graph that does not have the collection.

What is written has the labels that readers ask for, except for the documents: they are staged, and
a collection without documents is not there for anybody. The last transaction makes them visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, timedelta
from typing import Any

import neo4j
from neo4j.time import DateTime

from fabula.errors import Changed, NotFound, SpaceError, StoreError
from fabula.graph.installed import LABELS
from fabula.graph.queries import read_statement
from fabula.store import Store, schema
from fabula.store.document_ids import find_document_ids
from fabula.store.embedding_space import IMPORTING, Space, refuse_reembedding
from fabula.store.locks import ProcessLock, process_lock
from fabula.store.parts import DOCUMENT, IDENTIFIER, lock_collection, lock_prefix, make_run_name
from fabula.store.rows import decode_vector, encode_vector, read_space
from fabula.text.names import quote_name

NODES_PER_SLICE = 250
"""Readers wait while the vector index takes a slice in, as in `fabula.store.parts`."""
CHARACTERS_PER_SLICE = 4_000_000
"""After this many characters of annotations a slice ends earlier: one node may have millions."""
LOCK_SECONDS = 2.0
"""How often it is checked that the lock of the import was not lost."""
BELONGINGS = frozenset({"AnnotationSlice", "Decision", DOCUMENT, "Element", "Part", "Passage"})
"""The labels that a collection's nodes have one of."""
FOREIGN = frozenset(LABELS) - BELONGINGS - {"Chunk", "Gap", "Replies"}
"""Labels of the core that none of them has."""
Row = Mapping[str, Any]


def read_collection(store: Store, collection: str) -> Iterator[tuple[str, Row]]:
    """Yield a row for the collection, one for each of its nodes, then one for each relationship.

    Returns:
        The kind of each row, and its values: of the "collection" its `name` and `properties`; of a
        "node" its `labels`, `properties` (times as {"time": "..."}) and `vector`, an array or None;
        of a "relationship" its `label`, `start`, `end` and `properties`.

    Raises:
        Changed: The collection was changed meanwhile.
        NotFound: It has no documents.
        SpaceError: It is being re-embedded.
    """
    revision = _revision(store, collection)
    space = store.space(collection)
    if space is None or not space.has_documents:
        raise NotFound(f"There is no collection {quote_name(collection)} with documents.")
    refuse_reembedding(space)
    if space.phase:
        raise SpaceError(
            f"Collection {collection!r} has been re-embedded, and its old embeddings are not "
            "deleted yet: run the re-embedding again, which ends it, and try again."
        )
    [row] = store.rows("core/find_collection", collection=collection)
    yield "collection", {"name": collection, "properties": row["properties"]}
    place: dict[str, Any] = {"collection": collection, "limit": NODES_PER_SLICE}
    embedding = {
        "embedding": space.embedding,
        "dimensions": space.dimensions,
        "characters": CHARACTERS_PER_SLICE,
    }
    for document in find_document_ids(store, collection):
        for row in _pages(store, "core/find_whole_nodes", place | embedding, document):
            properties = {
                name: {"time": value.iso_format()} if isinstance(value, DateTime) else value
                for name, value in row["properties"].items()
                if value is not None
            }
            vector = None if row["embedding"] is None else decode_vector(row["embedding"])
            yield (
                "node",
                {"labels": sorted(row["labels"]), "properties": properties, "vector": vector},
            )
    for document in find_document_ids(store, collection):
        for row in _pages(store, "core/find_relationships", place | {"documents": []}, document):
            for edge in row["leading"]:
                ends = {"label": edge["type"], "start": row["id"], "end": edge["id"]}
                yield "relationship", ends | {"properties": edge["properties"]}
    if _revision(store, collection) != revision:
        raise Changed("The collection was changed while it was read: export it again.")


def _read_time(value: Any) -> Any:
    if not isinstance(value, dict) or value.keys() != {"time"}:
        return value
    time = DateTime.from_iso_format(value["time"])
    # The driver would send an offset of zero as the zone named UTC.
    return time.replace(tzinfo=UTC) if time.utcoffset() == timedelta(0) else time


def _pages(store: Store, name: str, parameters: Row, document: str) -> Iterator[dict[str, Any]]:
    after = ""
    while rows := store.rows(name, document=document, after=after, **parameters):
        yield from rows
        after = rows[-1]["id"]


def _revision(store: Store, collection: str) -> str:
    """Return what changes whenever a writer takes a lock of the collection."""
    [row] = store.rows(
        "core/find_versions",
        collection=collection,
        document="",
        graphs=[],
        locks=lock_prefix(collection),
        revision="",
    )
    return str(row["revision"])


def write_collection(
    store: Store, collection: str, properties: Row, slices: Iterable[tuple[str, Sequence[Row]]]
) -> None:
    """Write a collection as it was read; if anything goes wrong, nothing is left of it.

    What an import that was killed has left is removed first.

    Args:
        store: The graph.
        collection: The name of the collection.
        properties: The properties of its node.
        slices: Rows as `read_collection` has them, some hundred of one kind together: all nodes
            before the first relationship.

    Raises:
        SpaceError: The collection is there already.
        StoreError: Rows do not belong together, or another process is importing the collection.
    """
    store.make_schema()
    run = make_run_name(collection)

    def refuse() -> None:
        raise StoreError(f"Another process is importing collection {collection!r}.")

    with process_lock(store, [f"import {collection}"], refuse, run) as lock:
        _remove_unfinished(store, collection, run)
        _begin(store, collection, properties)
        try:
            space = _make_indexes(store, collection)
            _write_slices(store, space, run, slices, lock)
            _finish(store, collection, run, properties, lock)
        except BaseException:
            # Also Ctrl-C. What can't be removed now is removed by the next import.
            with suppress(StoreError):
                _remove_unfinished(store, collection, run)
            raise


def _begin(store: Store, collection: str, properties: Row) -> None:
    def record(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, collection)
        place = {"collection": collection}
        space = read_space(transaction.run(read_statement("core/find_space"), place).data())
        if space and (space.has_documents or space.phase):
            raise SpaceError(
                f"There is a collection {collection!r} already: nothing was imported.",
                advice=f"`fabula remove-collection --collection {collection}` removes its "
                "documents.",
            )
        fields = place | {"properties": properties}
        transaction.run(read_statement("core/save_importing"), fields).consume()

    with store.session() as session:
        session.execute_write(record)


def _make_indexes(store: Store, collection: str) -> Space:
    space = store.space(collection)
    if space is None:
        raise _emptied()
    schema.make_vectors(store, space.dimensions, space.slot)
    if space.element_kinds:
        schema.make_vectors(store, space.dimensions, space.slot, "element")
    schema.wait(store, *schema.needed_indexes(space))
    return space


def _write_slices(
    store: Store,
    space: Space,
    run: str,
    slices: Iterable[tuple[str, Sequence[Row]]],
    lock: ProcessLock,
) -> None:
    for number, (kind, rows) in enumerate(slices):
        lock.check(LOCK_SECONDS)
        store.check_disk_space()
        fields: dict[str, Any] = {"collection": space.collection, "slice": number}
        if kind == "node":
            name = "core/save_imported_nodes"
            fields["embedding"] = space.embedding
            fields["rows"] = [_node_row(space.collection, run, row) for row in rows]
        else:
            name = "core/save_imported_edges"
            fields |= {"run": run, "rows": list(rows)}
        with store.session() as session:
            saved = session.execute_write(
                lambda transaction, name, fields: transaction.run(
                    read_statement(name), fields
                ).data(),
                name,
                fields,
            )
        # Without a row the slice is in: the driver sends a transaction again whose commit was lost.
        if saved and saved[0].get("edges", len(rows)) != len(rows):
            raise StoreError(
                f"{len(rows) - saved[0]['edges']} relationships lead to nodes that are not of the "
                "collection: nothing was imported."
            )


def _node_row(collection: str, run: str, row: Row) -> Row:
    """Return a node as the statement takes it; a document is staged."""
    labels = set(row["labels"])
    properties = {name: _read_time(value) for name, value in row["properties"].items()}
    is_of_core = labels & FOREIGN or any(label.startswith("Service") for label in labels)
    is_named = all(map(IDENTIFIER.fullmatch, labels))
    # A stranger's file may ask for nodes of other collections or of the service.
    if is_of_core or not is_named or not labels & BELONGINGS:
        raise StoreError(f"No collection has a node with the labels {sorted(labels)}.")
    if properties.get("collection") != collection:
        raise StoreError(f"A node with the id {properties.get('id')!r} is of another collection.")
    if DOCUMENT in labels:
        labels, properties = (labels - {DOCUMENT}) | {"Staged"}, {**properties, "run": run}
    vector = row["vector"]
    embedding = None if vector is None else encode_vector(vector)
    return {"labels": sorted(labels), "properties": properties, "embedding": embedding}


def _finish(store: Store, collection: str, run: str, properties: Row, lock: ProcessLock) -> None:
    def switch_in(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, collection)
        place = {"collection": collection}
        fields = place | {"run": run, "properties": properties}
        rows = transaction.run(read_statement("core/switch_imported"), fields).data()
        # Last: if the server was restarted, others may have had the lock since.
        lock.check()
        if rows:
            return
        # The driver sends a transaction again whose commit was lost.
        space = read_space(transaction.run(read_statement("core/find_space"), place).data())
        if space is None or space.phase:
            raise _emptied()

    with store.session() as session:
        session.execute_write(switch_in)


def _remove_unfinished(store: Store, collection: str, run: str) -> None:
    """Remove what this run, or one that was killed, has written; the caller has its lock."""
    space = store.space(collection)
    if space is None or space.phase != IMPORTING:
        return
    runs = [run, *store.find_abandoned_runs(collection)]
    with store.session() as session:
        for name in ("core/clear_collection", "core/clear_staged", "core/clear_importing"):
            statement = read_statement(name)
            session.run(statement, collection=collection, runs=runs).consume()


def _emptied() -> StoreError:
    return StoreError("The graph was emptied meanwhile: try again.")
