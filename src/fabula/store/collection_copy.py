"""Copy a collection from one server to another, in slices, while it takes no changes.

A slice is one transaction at the target, which also records how far the copy is. So a copy that was
stopped anywhere goes on where it was, and no slice is written twice, also where the connection was
lost while one was committed. Nothing is merged: ids are unique, and a MERGE would look each one up.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

import neo4j
from neo4j.time import DateTime

from fabula.errors import SpaceError, StoreError
from fabula.graph.queries import read_statement
from fabula.store import Store, schema
from fabula.store.document_ids import find_document_ids
from fabula.store.embedding_space import Space, refuse_reembedding
from fabula.store.parts import lock_collection
from fabula.store.rows import read_space
from fabula.store.server_registry import CollectionPlace, save_place_in

NODES_PER_SLICE = 250
"""The target's readers wait while its vector index takes a slice in, as in `fabula.store.parts`."""
CHARACTERS_PER_SLICE = 4_000_000
"""After this many characters of annotations a slice ends earlier: one node may have millions."""
NODES, RELATIONSHIPS, DONE = "nodes", "relationships", "done"
"""The phases of a copy. A relationship needs both of its ends, so all nodes come first."""


class IncompleteCopy(StoreError):
    """A copy can't become whole, as relationships of the collection lead out of it."""


@dataclass(frozen=True, slots=True)
class CopyCursor:
    """How far a copy is: its phase, and the last node of which document; `slice` slices are in.

    `move` is the name of the move that the copy is of (`close_to_writers`).
    """

    slice: int
    phase: str
    document: str
    after: str
    move: str


def refuse_unsettled(space: Space) -> None:
    """Raise SpaceError for a collection that has embeddings of two models."""
    refuse_reembedding(space)
    if space.phase:
        raise SpaceError(
            f"Collection {space.collection!r} has been re-embedded, and its old embeddings are not "
            "deleted yet: run the re-embedding again, which ends it, and try again."
        )


def close_to_writers(store: Store, collection: str, server: str) -> str:
    """Let a collection take no more changes, as it is being moved to another server.

    Transactions of writers that are at work are waited for.

    Returns:
        The name of the move. It stays the same until the collection takes changes again, so what
        another move has copied, before a dump was restored or of another library, has another one.

    Raises:
        SpaceError: It is being re-embedded.

    """

    def close(transaction: neo4j.ManagedTransaction) -> str:
        lock_collection(transaction, collection)
        place = {"collection": collection}
        if space := read_space(transaction.run(read_statement("core/find_space"), place).data()):
            refuse_unsettled(space)
        rows = transaction.run(read_statement("servers/find_moved"), place).data()
        move = _name_of_move(rows) or uuid.uuid4().hex
        _save_moved(transaction, collection, server, move)
        return move

    with store.session() as session:
        move: str = session.execute_write(close)
    return move


def find_move(store: Store, collection: str) -> str:
    """Return the name of the move for which a collection takes no changes; '' for none."""
    return _name_of_move(store.rows("servers/find_moved", collection=collection))


def _name_of_move(rows: Sequence[Mapping[str, Any]]) -> str:
    return str(rows[0]["move"]) if rows and rows[0]["is_moving"] else ""


def open_to_writers(store: Store, collection: str) -> None:
    """Let a collection take changes again, as it is not moved."""
    store.rows("servers/clear_moved", collection=collection)


def refuse_occupied(target: Store, collection: str, server: str, move: str = "") -> None:
    """Raise StoreError if a server has a collection of this name that is no copy of this one.

    Args:
        target: The server.
        collection: The name.
        server: The server's name.
        move: The name of the move that is continued; '' for a new one.

    """
    cursor = read_cursor(target, collection)
    if cursor is not None:
        if cursor.move != move:
            raise StoreError(
                f"Server {server!r} has the copy of another move of a collection {collection!r}: "
                "that of another library, or one from before a dump was restored. Nothing was "
                "copied.",
                advice="Wait until the other move has ended, or see docs/servers.md.",
            )
        return
    space = target.space(collection)
    if space and space.has_documents:
        raise StoreError(
            f"Server {server!r} has another collection {collection!r}, which this library does not "
            "know: nothing was copied. Move it to another server."
        )


def read_cursor(target: Store, collection: str) -> CopyCursor | None:
    """Return how far a collection is copied to a server; None if nothing is."""
    rows = target.rows("servers/find_copy", collection=collection)
    return CopyCursor(**rows[0]) if rows else None


def prepare_target(source: Store, target: Store, collection: str) -> None:
    """Make the indexes that the collection needs at its new server, and wait for them."""
    target.make_schema()
    if (space := source.space(collection)) is None:
        return
    schema.make_vectors(target, space.dimensions, space.slot)
    names = [schema.TEXTS, space.index]
    if space.element_kinds:
        schema.make_vectors(target, space.dimensions, space.slot, "element")
        names += [schema.ELEMENT_TEXTS, space.element_index]
    schema.wait(target, *names)


def count_nodes(store: Store, collection: str) -> dict[str, int]:
    """Return how many nodes, embeddings and relationships a collection has."""
    [row] = store.rows(
        "servers/count_copied", collection=collection, embedding=_embedding(store, collection)
    )
    return row


def copy_slices(
    source: Store,
    target: Store,
    collection: str,
    move: str,
    check: Callable[[], None],
    copied: Callable[[str, int], None],
) -> None:
    """Copy all nodes and relationships that are not copied yet.

    Args:
        source: The server that the collection lives on; it takes no changes there.
        target: The server that it is copied to.
        collection: The collection.
        move: The name of the move.
        check: Called before each slice; it may end the copy by raising an error.
        copied: Told after each slice its phase, and how many nodes it had, or the relationships of
            how many nodes.

    """
    cursor = read_cursor(target, collection)
    if cursor is None:
        target.rows("servers/save_copy", collection=collection, move=move)
        cursor = CopyCursor(0, NODES, "", "", move)
    space = source.space(collection)
    for phase, following in ((NODES, RELATIONSHIPS), (RELATIONSHIPS, DONE)):
        if cursor.phase != phase:
            continue
        is_reached = False
        for document in find_document_ids(source, collection):
            # The documents before this one were copied by a run that was stopped.
            is_reached = is_reached or document == cursor.document
            if not is_reached:
                continue
            after = cursor.after if document == cursor.document else ""
            while rows := _read(source, phase, collection, document, after, space):
                check()
                after = rows[-1]["id"]
                cursor = _write(target, space, collection, cursor, rows, document, after)
                copied(phase, len(rows))
        if not is_reached:
            raise StoreError("The collection was changed while it was copied: move it again.")
        if following == DONE:  # is recorded with the node of the collection
            return
        check()
        cursor = _write(target, space, collection, cursor, [], "", "", following)


def compare(source: Store, target: Store, collection: str) -> str:
    """Return in what a copy differs in number from the collection; '' if it is complete."""
    there, here = count_nodes(source, collection), _count_copy(source, target, collection)
    return ", ".join(
        f"{here[what]:,} {what} of {there[what]:,}" for what in there if here[what] != there[what]
    )


def finish_copy(source: Store, target: Store, collection: str) -> None:
    """Record a collection at the server that it was copied to, as it is where it comes from."""
    rows = source.rows("servers/find_collection", collection=collection)

    def record(transaction: neo4j.ManagedTransaction) -> None:
        # The locks' times are the revision by which processes know that what they have of this
        # collection in memory, from when it lived here before, is out of date.
        lock_collection(transaction, collection)
        place = {"collection": collection}
        for row in rows:
            fields = place | {"properties": row["properties"]}
            transaction.run(read_statement("servers/save_collection"), fields).consume()
        # It may have lived here before, and have been moved away.
        transaction.run(read_statement("servers/clear_moved"), place).consume()

    with target.session() as session:
        session.execute_write(record)


def forget_copy(target: Store, collection: str) -> None:
    """Forget that a collection was copied here, once it lives here."""
    target.rows("servers/clear_copy", collection=collection)


def remove_copy(target: Store, collection: str, move: str) -> None:
    """Remove the copy of a move that is not complete or not wanted any more."""
    cursor = read_cursor(target, collection)
    if cursor is None or cursor.move != move:
        return
    _clear(target, collection)
    target.rows("servers/clear_collection_node", collection=collection)
    target.rows("servers/clear_copy", collection=collection)


def remove_old(source: Store, collection: str, server: str) -> None:
    """Remove a collection from the server that it has been moved away from.

    Its name stays closed to writers there: a process that was stopped before the move, and goes on
    after it, would otherwise make a second collection of that name.

    Args:
        source: The server that it has left.
        collection: The collection.
        server: The server that it lives on now.

    """
    _clear(source, collection)

    def close(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, collection)
        place = {"collection": collection}
        transaction.run(read_statement("servers/clear_collection_node"), place).consume()
        _save_moved(transaction, collection, server)

    with source.session() as session:
        session.execute_write(close)


def open_moved_names(store: Store) -> None:
    """Let collections be made again of names that were moved from a server, as it is not used."""
    store.rows("servers/clear_all_moved")


def place_name(home: Store, collection: str, server: str) -> None:
    """Record that a new collection is made on another server, and let no process make it at home.

    Raises:
        StoreError: It exists at home, or the server was removed meanwhile.

    """

    def close(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, collection)
        place = {"collection": collection}
        space = read_space(transaction.run(read_statement("core/find_space"), place).data())
        if space and (space.has_documents or space.phase):
            raise StoreError(f"Collection {collection!r} was made meanwhile: try again.")
        transaction.run(read_statement("servers/clear_collection_node"), place).consume()
        _save_moved(transaction, collection, server)
        save_place_in(transaction, CollectionPlace(collection, server))

    with home.session() as session:
        session.execute_write(close)


def _save_moved(
    transaction: neo4j.ManagedTransaction, collection: str, server: str, move: str = ""
) -> None:
    """Close a collection to writers; it is still being moved if the move has a name."""
    fields = {"collection": collection, "server": server, "move": move, "is_moving": bool(move)}
    transaction.run(read_statement("servers/save_moved"), fields).consume()


def _clear(store: Store, collection: str) -> None:
    with store.session() as session:
        statement = read_statement("servers/clear_collection")
        session.run(statement, collection=collection).consume()


def _count_copy(source: Store, target: Store, collection: str) -> dict[str, int]:
    embedding = _embedding(source, collection)
    [row] = target.rows("servers/count_copied", collection=collection, embedding=embedding)
    return row


def _embedding(store: Store, collection: str) -> str:
    space = store.space(collection)
    return space.embedding if space else ""


def _read(
    source: Store, phase: str, collection: str, document: str, after: str, space: Space | None
) -> list[dict[str, Any]]:
    place = {"collection": collection, "document": document, "after": after}
    place["limit"] = NODES_PER_SLICE  # type: ignore[assignment]
    if phase == RELATIONSHIPS:
        return source.rows("servers/find_copied_relationships", **place)
    rows = source.rows(
        "servers/find_copied_nodes",
        **place,
        characters=CHARACTERS_PER_SLICE,
        embedding=space.embedding if space else "",
        dimensions=space.dimensions if space else 1,
    )
    for row in rows:
        row["properties"] = {name: _keep_zone(value) for name, value in row["properties"].items()}
    return rows


def _keep_zone(value: Any) -> Any:
    """Return a time as Neo4j had it; the driver would send its offset as the zone named UTC."""
    is_utc = isinstance(value, DateTime) and value.utcoffset() == timedelta(0)
    return value.replace(tzinfo=UTC) if is_utc else value


def _write(
    target: Store,
    space: Space | None,
    collection: str,
    cursor: CopyCursor,
    rows: Sequence[Mapping[str, Any]],
    document: str,
    after: str,
    phase: str = "",
) -> CopyCursor:
    """Write a slice, and return how far the copy is with it."""
    following = CopyCursor(cursor.slice + 1, phase or cursor.phase, document, after, cursor.move)
    fields: dict[str, Any] = {
        "collection": collection,
        "slice": cursor.slice,
        "cursor": {"phase": following.phase, "document": document, "after": after},
    }
    if cursor.phase == NODES:
        name = "servers/save_copied_nodes"
        fields |= {"embedding": space.embedding if space else "", "rows": [*rows]}
    else:
        name = "servers/save_copied_relationships"
        fields["rows"] = [edge for row in rows for edge in row["leading"]]

    def save(transaction: neo4j.ManagedTransaction) -> None:
        # Without a row the slice is in: the driver sends a transaction again whose commit was lost.
        for row in transaction.run(read_statement(name), fields).data():
            if row["slices"] and "edges" in row and row["edges"] != len(fields["rows"]):
                raise IncompleteCopy(
                    f"{len(fields['rows']) - row['edges']} relationships lead to nodes that are "
                    "not in the copy."
                )

    target.check_disk_space()
    with target.session() as session:
        session.execute_write(save)
    return following
