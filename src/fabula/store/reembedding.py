"""How a collection changes its embedding space: the next embeddings in the other slot, then a flip.

The phase is recorded in the graph, so that whoever comes next goes on where another was stopped.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import neo4j

from fabula.errors import StoreError
from fabula.graph import fingerprint
from fabula.graph.queries import embedding, index_name, label, over, query
from fabula.store import Store, schema, turns
from fabula.store.parts import lock_collection
from fabula.store.rows import made_space, wire
from fabula.store.space import Space
from fabula.text.document import Vectors

PAGE = 1000

Parts = Mapping[str, tuple[str, Mapping[str, Any]]]
"""The ids of an owner's parts and what they are made from, by the names of their graphs."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage or an element that has no embedding of the next space yet; its text is embedded."""

    id: str
    text: str


@contextmanager
def turn(store: Store, *collections: str) -> Iterator[Callable[[], Space | None]]:
    """Keeps all others from re-embedding these collections; gives what reads the first's space now.

    Reading raises StoreError where the turn was lost. Raises StoreError while another has it.
    """
    names = [f"reembed {collection}" for collection in sorted(collections)]
    asked = {"collection": collections[0]}
    with turns.turn(store, names, _refuse_second) as held:
        yield lambda: made_space(held.rows("core/find_space", **asked))


def _refuse_second() -> None:
    raise StoreError(
        "Another `fabula reembed` or `fabula db compact` is at work on this collection: wait until "
        "it ends, or stop it."
    )


def begin(store: Store, collection: str, model: str, dimensions: int) -> None:
    """Records the next space; from here on no document comes in."""

    def record(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, collection)
        next_space = {"collection": collection, "model": model, "dimensions": dimensions}
        transaction.run(query("core/reembed_begin"), next_space).consume()

    with store.session() as session:
        session.execute_write(record)


def count(store: Store, space: Space) -> tuple[int, int]:
    """How many nodes have embeddings, and how many one of the next space."""
    asked = {"collection": space.collection, "embedding": space.embedding}
    [row] = store.rows("core/reembed_count", next=embedding(space.next_slot), **asked)
    return row["nodes"], row["embedded"]


def unembedded(store: Store, space: Space, limit: int) -> Iterator[list[Unembedded]]:
    """At most `limit` nodes at a time that have no embedding of the next space when asked for.

    Each page is embedded before the next is asked for, or it comes again.
    """
    asked = {"collection": space.collection, "embedding": space.embedding, "limit": limit}
    asked["next"] = embedding(space.next_slot)
    for document in _documents(store, space.collection):
        while rows := store.rows("core/reembed_find", document=document, **asked):
            yield [Unembedded(**row) for row in rows]


def _documents(store: Store, collection: str) -> Iterator[str]:
    """The ids of a collection's documents; '' is what belongs to the collection itself."""
    yield ""
    title, after = "", ""
    while page := store.rows(
        "core/find_document_ids", collection=collection, after_title=title, after=after, limit=PAGE
    ):
        yield from (row["id"] for row in page)
        title, after = page[-1]["title_key"], page[-1]["id"]


def save(store: Store, space: Space, nodes: Sequence[Unembedded], vectors: Vectors) -> None:
    """Writes embeddings of the next space: unit float32 rows, one a node."""
    store.check_room()
    rows = [
        {"id": node.id, "embedding": wire(vector)}
        for node, vector in zip(nodes, vectors, strict=True)
    ]
    store.rows(
        "core/reembed_save",
        rows=rows,
        collection=space.collection,
        model=space.next_model,
        next=embedding(space.next_slot),
        label=label(space.next_dimensions),
        element_label=label(space.next_dimensions, "element"),
    )


def copy(store: Store, space: Space) -> None:
    """Puts the embeddings into the other slot as they are."""
    asked = {"collection": space.collection, "embedding": space.embedding}
    with store.session() as session:
        copying = query("core/reembed_copy")
        session.run(copying, asked, next=embedding(space.next_slot)).consume()


def drop_unused(store: Store, space: Space) -> None:
    """Drops the next slot's indexes where no collection's questions go to them."""
    place = space.next_dimensions, space.next_slot
    if place not in {(one.dimensions, one.slot) for one in store.spaces()}:
        for what, (_, dropping) in schema.VECTORS.items():
            store.run(over(query(dropping), *place), index_name(*place, what))


def index(store: Store, space: Space) -> None:
    """Builds the next space's indexes, beside those in use."""
    place = space.next_dimensions, space.next_slot
    for what in schema.VECTORS:
        if what == "passage" or space.element_kinds:
            schema.make_vectors(store, *place, what)
            schema.wait(store, index_name(*place, what))


def flip(store: Store, space: Space) -> None:
    """Makes the next space the space, at once, for questions and in what parts are made from."""
    rows = list(_renamed(store, space))

    def change(transaction: neo4j.ManagedTransaction) -> None:
        lock_collection(transaction, space.collection)
        wanted = {"model": space.next_model, "dimensions": space.next_dimensions}
        wanted |= {"collection": space.collection, "slot": space.slot}
        [row] = transaction.run(query("core/reembed_flip"), wanted)
        if not row["flipped"]:
            raise StoreError("Another `fabula reembed` took over: try again.")
        for start in range(0, len(rows), PAGE):
            some = {"collection": space.collection, "rows": rows[start : start + PAGE]}
            transaction.run(query("core/save_parts"), some).consume()

    with store.session() as session:
        session.execute_write(change)


def _renamed(store: Store, space: Space) -> Iterator[dict[str, Any]]:
    """Every part, made from the next model; what rests on another keeps to that one's print."""
    documents: dict[str, dict[str, tuple[str, Mapping[str, Any]]]] = defaultdict(dict)
    after = ""
    while page := store.rows(
        "core/find_parts", collection=space.collection, after=after, limit=PAGE
    ):
        for row in page:
            made_from = json.loads(row["made_from"])
            documents[row["document"]][row["graph"]] = (row["id"], made_from)
        after = page[-1]["id"]
    for parts in documents.values():
        for graph in parts:
            id, made_from = parts[graph][0], _made_from(graph, parts, space.next_model)
            written = json.dumps(made_from, sort_keys=True, ensure_ascii=False)
            yield {"id": id, "made_from": written, "fingerprint": fingerprint(made_from)}


def _made_from(graph: str, parts: Parts, model: str) -> dict[str, Any]:
    made_from = dict(parts[graph][1])
    made_from["models"] = dict(made_from.get("models", {})) | {"embedding_model": model}

    # A collection's own part, of no document, goes by when what it rests on was written.
    base = {
        name: fingerprint(_made_from(name, parts, model))
        if isinstance(was, str) and name in parts
        else was
        for name, was in made_from.get("rests_on", {}).items()
    }
    return made_from | ({"rests_on": base} if base else {})


def give_up(store: Store, space: Space) -> None:
    """Leaves what was written of the next space to be cleared."""
    store.rows("core/reembed_give_up", collection=space.collection)


def clear(store: Store, space: Space) -> None:
    """Clears the slot that is not in use; then documents may come in again."""
    is_same = space.former_dimensions == space.dimensions
    unused = [] if is_same else [label(space.former_dimensions, what) for what in schema.VECTORS]
    with store.session() as session:
        asked = {"collection": space.collection, "labels": unused}
        session.run(query("core/reembed_clear"), asked, former=embedding(space.next_slot)).consume()
    store.rows("core/reembed_end", collection=space.collection)
