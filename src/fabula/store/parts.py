"""How parts are written: staged in batches, then switched in by one transaction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

import neo4j
import numpy as np

from fabula.errors import BadValue, Changed, SpaceError, StoreError
from fabula.graph import TEXT, Edge, Node, Owner, Part, queries
from fabula.graph.queries import read_statement
from fabula.store import locks
from fabula.store.embedding_space import Space, other_space_error, refuse_reembedding
from fabula.store.rows import encode_vector, part_id, part_properties, read_space
from fabula.store.search_index import search_properties
from fabula.text.names import MAX_LINE_BYTES, MAX_NAME_BYTES, name_problem, quote_name

ROWS_PER_BATCH = 1000
PASSAGES_PER_BATCH = 250
"""How many nodes with embeddings one transaction stages. The vector index takes them in when it
commits, and readers of the index wait meanwhile: a tenth of a second with 250 of 1,536 dimensions.
"""
LOCKS_PER_COLLECTION = 64
"""How many locks a collection has. A writer takes the one of its document, re-embedding all."""
MAX_CAPTION_CHARACTERS = 60
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
"""What a label or a type may look like. Which ones there are is said by closed lists."""
LINE_PROPERTIES = ("title", "source", "section", "name")
"""Properties that are indexed, or may be, and hold a line of text."""
Item = TypeVar("Item")
Transaction = neo4j.ManagedTransaction | neo4j.Transaction


def stage(
    session: neo4j.Session,
    run: str,
    parts: Sequence[Part],
    space: Space,
    written: Callable[[int], None],
) -> list[Edge]:
    """Write all parts as nodes with the label Staged and the labels of the search indexes.

    No reader asks for these labels alone, so none sees the nodes before the switch.

    Args:
        session: A session of the store.
        run: The id of the run, by which its nodes are found again.
        parts: The parts to write.
        space: The embedding space of their collection.
        written: Told after each batch how many nodes with embeddings it had.

    Returns:
        The edges that lead to nodes of other parts, which the switch ties.

    """

    def save(name: str, **parameters: object) -> None:
        sent = {"run": run, **parameters}
        session.execute_write(
            lambda transaction: transaction.run(read_statement(name), sent).consume()
        )

    rows = [_row(part, node, space) for part in parts for node in part.nodes]
    bare = [row for row in rows if "embedding" not in row]
    bare += [_part_row(part) for part in parts]
    for batch in _batches(bare):
        save("core/stage_nodes", rows=batch)
    for batch in _batches((row for row in rows if "embedding" in row), PASSAGES_PER_BATCH):
        save("core/stage_passages", rows=batch, embedding=space.embedding)
        written(len(batch))
    staged = {row["id"] for row in (*rows, *bare)}
    edges = [edge for part in parts for edge in (*part.edges, *_part_edges(part))]
    inside = [edge for edge in edges if edge.start in staged and edge.end in staged]
    for batch_of_edges in _batches(inside):
        save("core/stage_edges", rows=[_edge_row(edge) for edge in batch_of_edges])
    return [edge for edge in edges if not (edge.start in staged and edge.end in staged)]


def switch(
    transaction: neo4j.ManagedTransaction,
    run: str,
    parts: Sequence[Part],
    out: Sequence[Edge],
    space: Space,
) -> None:
    """Hide the owners' old nodes and make the run's staged nodes visible in their place.

    This changes labels, and no text and no embedding. So the server holds little of it in its heap,
    and the indexes that change are closed to readers only for a moment.

    Raises:
        Changed: What the parts rest on has changed.
        SpaceError: The collection's embeddings are, or are about to be, of another model.
        StoreError: Some of what was staged is gone.

    """
    owners = [part.owner for part in parts]
    lock_owners(transaction, owners)
    _refuse_moved(transaction, space)
    _refuse_incomplete(transaction, run, parts)
    _refuse_baseless(transaction, parts)
    created: dict[str, str] = {}
    # The text comes first, because everything that rests on it goes with it: also a graph that was
    # built meanwhile, or one whose package is not installed any more.
    for owner in sorted(owners, key=lambda owner: owner.graph != TEXT):
        statement = "core/switch_out_document" if owner.graph == TEXT else "core/switch_out"
        [old] = transaction.run(read_statement(statement), owner._asdict())
        if old["created_at"]:
            created[owner.document] = old["created_at"]
    transaction.run(read_statement("core/switch_in"), run=run, created=created).consume()
    for batch in _batches(out):
        rows = [_edge_row(edge) for edge in batch]
        [tied] = transaction.run(
            read_statement("core/switch_tie"), collection=space.collection, rows=rows
        )
        if tied["edges"] != len(rows):
            raise _change_error()


def find_abandoned_runs(session: neo4j.Session) -> list[str]:
    """Return the runs that staged something and have ended: nobody holds their locks."""
    runs = session.run(read_statement("core/find_runs")).value("run")
    held = locks.find_held_names(session) if runs else set()
    return [run for run in runs if run not in held and locks.is_free(session, [run])]


def lock_owners(transaction: Transaction, owners: Iterable[Owner]) -> None:
    """Make writers of one document wait for each other; those of different ones hardly ever do."""
    locks = {
        _stripe(owner.collection, int(_digest(owner.document), 16) % LOCKS_PER_COLLECTION)
        for owner in owners
    }
    transaction.run(read_statement("core/take_locks"), locks=sorted(locks)).consume()


def lock_collection(transaction: Transaction, collection: str) -> None:
    """Wait for all writers of a collection, and let none begin until the transaction ends."""
    locks = sorted(_stripe(collection, number) for number in range(LOCKS_PER_COLLECTION))
    transaction.run(read_statement("core/take_locks"), locks=locks).consume()


def lock_prefix(collection: str) -> str:
    """Return what the ids of all locks of a collection begin with."""
    return f"{_digest(collection)}/"


def _stripe(collection: str, number: int) -> str:
    return f"{lock_prefix(collection)}{number}"


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _refuse_moved(transaction: neo4j.ManagedTransaction, space: Space) -> None:
    rows = transaction.run(read_statement("core/find_space"), collection=space.collection).data()
    now = read_space(rows)
    if now is None:
        raise StoreError("The graph was emptied meanwhile: try again.")
    refuse_reembedding(now)
    if now.kind == space.kind and now.slot != space.slot:
        raise SpaceError(
            f"While this was built, `fabula db compact` moved collection {space.collection!r}: try "
            "again."
        )
    if now.kind != space.kind:
        raise SpaceError(
            f"While this was built, collection {space.collection!r} was given embeddings of "
            f"{now.model} ({now.dimensions} dimensions): try again with that model, or "
            "use another --collection."
        )


def _refuse_incomplete(
    transaction: neo4j.ManagedTransaction, run: str, parts: Sequence[Part]
) -> None:
    """Raise StoreError if another run has deleted what was staged, or a dump was restored."""
    [staged] = transaction.run(read_statement("core/count_run"), run=run)
    if staged["nodes"] != len(parts) + len({node.id for part in parts for node in part.nodes}):
        raise StoreError("What was staged does not exist any more: try again.")


def _refuse_baseless(transaction: neo4j.ManagedTransaction, parts: Sequence[Part]) -> None:
    """Raise Changed if a part was built on something else than what exists or comes with it."""
    coming = {(part.owner.document, part.owner.graph): part for part in parts}
    for part in parts:
        collection, _, document = part.owner
        if not document:
            # A collection's own part may be out of date: it is then reported as stale.
            continue
        expected = dict(part.record.made_from.get("rests_on", {}))
        for name in list(expected):
            if base := coming.get((document, name)):
                if base.record.fingerprint != expected[name]:
                    raise _change_error()
                del expected[name]
        if not expected:
            continue
        existing = {
            row["graph"]: row["fingerprint"]
            for row in transaction.run(
                read_statement("core/find_fingerprints"), collection=collection, document=document
            )
        }
        if any(existing.get(name) != fingerprint for name, fingerprint in expected.items()):
            raise _change_error()


def _change_error() -> Changed:
    return Changed("The document was changed while this was built: try again.")


def _row(part: Part, node: Node, space: Space) -> dict[str, Any]:
    owner = part.owner
    if not IDENTIFIER.fullmatch(node.label):
        raise StoreError(f"{node.label!r} is not a valid label of a node.")
    shared = {"collection": owner.collection, "kind": node.label.lower(), "graph": owner.graph}
    properties = {
        "name": make_caption(str(node.properties.get("text", node.id))),
        **node.properties,
        **shared,
        "sources": list(node.sources),
    }
    if node.label == "Document":
        # A document is no part of itself, and rests on nothing.
        del properties["sources"], properties["kind"], properties["graph"]
        return {
            "id": node.id,
            "labels": [node.label],
            "index_labels": [],
            "properties": properties,
        }
    properties["document"] = owner.document
    properties |= search_properties(owner.collection, searched_text(properties))
    label: queries.Embedded = "passage" if part.is_passage(node) else "element"
    row = {
        "id": node.id,
        "labels": [label.capitalize(), node.label],
        "index_labels": [queries.text_label(label)],
        "properties": properties,
    }
    if node.embedding is None:
        return row
    index_labels = [*row["index_labels"], queries.label_name(space.dimensions, label)]
    return row | {"index_labels": index_labels, "embedding": encode_vector(node.embedding)}


def searched_text(properties: Mapping[str, Any]) -> str:
    """Return what a node is found by: its text, and before it the name that it was given.

    A passage's name is the beginning of its text, which is not counted twice.
    """
    name, text = str(properties["name"]), str(properties.get("text", ""))
    return text if name == make_caption(text) else f"{name}\n{text}"


def make_caption(text: str) -> str:
    """Return the first words of a text, for a name."""
    line = " ".join(text[: 4 * MAX_CAPTION_CHARACTERS].split())
    return (
        line
        if len(line) <= MAX_CAPTION_CHARACTERS
        else line[: MAX_CAPTION_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
    )


def _part_row(part: Part) -> dict[str, Any]:
    properties = part_properties(part.owner, part.record)
    return {
        "id": part_id(part.owner),
        "labels": ["Part"],
        "index_labels": [],
        "properties": properties,
    }


def _part_edges(part: Part) -> list[Edge]:
    document = part.owner.document
    return [Edge("PART_OF", part_id(part.owner), document)] if document else []


def _edge_row(edge: Edge) -> dict[str, Any]:
    if not IDENTIFIER.fullmatch(edge.type):
        raise StoreError(f"{edge.type!r} is not a valid type of an edge.")
    tie = {"type": edge.type, "start": edge.start, "end": edge.end}
    return tie | {"properties": dict(edge.properties)}


def _batches(items: Iterable[Item], size: int = ROWS_PER_BATCH) -> Iterator[list[Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def refuse_invalid(parts: Sequence[Part], space: Space) -> None:
    """Refuse, before anything is written, what an index of Neo4j's can't hold.

    A vector index silently leaves such vectors out, and an index never recovers from a name that is
    too long.

    Raises:
        SpaceError: An embedding has another number of dimensions than the collection's.
        StoreError: An embedding has no length, a node has no source, or a name is too long.

    """
    for part in parts:
        for field, name in zip(Owner._fields, part.owner, strict=True):
            _refuse_name(field, name, MAX_NAME_BYTES)
        for node in part.nodes:
            _refuse_name("id", node.id, MAX_NAME_BYTES)
            _refuse_name("aspect", node.properties.get("aspect", ""), MAX_NAME_BYTES)
            for name in LINE_PROPERTIES:
                _refuse_name(name, node.properties.get(name, ""), MAX_LINE_BYTES)
            if node.embedding is None:
                continue
            if len(node.embedding) != space.dimensions:
                other = f"{len(node.embedding)} dimensions of {space.model}"
                raise other_space_error(space, other, space.model)
            norm = float(np.linalg.norm(node.embedding))
            if not np.isfinite(norm) or norm == 0:
                raise StoreError(
                    f"The embedding of {node.label.lower()} {node.id} has no length; see its text."
                )
            if not node.sources:
                raise StoreError(f"{node.label} {node.id} rests on no chunk.")


def find_searchable(parts: Sequence[Part]) -> dict[str, list[str]]:
    """Return the aspects and kinds of all nodes with embeddings, as a `Space` names them."""
    values: dict[str, set[str]] = {"aspects": set(), "kinds": set(), "element_kinds": set()}
    for part in parts:
        for node in part.nodes:
            if node.embedding is not None:
                values["aspects"].add(str(node.properties.get("aspect", "")))
                kinds = "kinds" if part.is_passage(node) else "element_kinds"
                values[kinds].add(node.label.lower())
    return {name: sorted(distinct) for name, distinct in values.items()}


def refuse_long_line(line: str) -> None:
    """Raise BadValue for a title or an author that no index holds."""
    if wrong := name_problem(line, MAX_LINE_BYTES):
        raise BadValue(f"The line {quote_name(line)} {wrong}.")


def _refuse_name(field: str, name: str, max_bytes: int) -> None:
    if wrong := name_problem(name, max_bytes):
        raise StoreError(f"The {field} {quote_name(name)} {wrong}.")
