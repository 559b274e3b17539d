"""How parts come in and go: staged in batches, then switched by one transaction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import neo4j
import numpy as np

from fabula.errors import BadValue, Changed, SpaceError, StoreError
from fabula.graph import TEXT, Edge, Node, Owner, Part, queries
from fabula.graph.queries import query
from fabula.store import turns
from fabula.store.rows import made_space, part_id, part_properties, wire
from fabula.store.space import Space, other_space, refuse_reembedding
from fabula.text.names import LONGEST, LONGEST_LINE, problem, quoted

BATCH = 1000
SLICE = 250
"""Nodes with embeddings that one transaction stages. The vector index takes them in as it commits,
and holds up those who read it meanwhile: with 250 of 1,536 dimensions for a tenth of a second."""
STRIPES = 64
"""Locks of a collection: a writer takes that of its document, and re-embedding takes all."""
NAME = 60
"""Most characters of a caption."""
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
"""What a label or a type may be; it is closed lists that say which they are."""
LINES = ("title", "source", "section", "name")
"""Properties that are indexed, or may be, and hold more than a name."""
Item = TypeVar("Item")
Writing = neo4j.ManagedTransaction | neo4j.Transaction


def stage(
    session: neo4j.Session,
    run: str,
    parts: Sequence[Part],
    space: Space,
    written: Callable[[int], None],
) -> list[Edge]:
    """Write all parts as nodes with the label Staged and those of the indexes of retrieval.

    No reader asks for these labels alone, so none sees the nodes before the switch.

    Returns the edges that lead out of the run's own nodes: those are tied in the switch.
    """

    def save(name: str, **parameters: object) -> None:
        given = {"run": run, **parameters}
        session.execute_write(lambda transaction: transaction.run(query(name), given).consume())

    rows = [_row(part, node, space) for part in parts for node in part.nodes]
    bare = [row for row in rows if "embedding" not in row]
    bare += [_part_row(part) for part in parts]
    for batch in _batches(bare):
        save("core/stage_nodes", rows=batch)
    for batch in _batches((row for row in rows if "embedding" in row), SLICE):
        save("core/stage_passages", rows=batch, embedding=space.embedding)
        written(len(batch))
    staged = {row["id"] for row in (*rows, *bare)}
    edges = [edge for part in parts for edge in (*part.edges, *_part_edges(part))]
    inside = [edge for edge in edges if edge.start in staged and edge.end in staged]
    for some in _batches(inside):
        save("core/stage_edges", rows=[_edge_row(edge) for edge in some])
    return [edge for edge in edges if not (edge.start in staged and edge.end in staged)]


def switch(
    transaction: neo4j.ManagedTransaction,
    run: str,
    parts: Sequence[Part],
    out: Sequence[Edge],
    space: Space,
) -> None:
    """Takes the owners' old nodes out of sight and puts the run's staged ones in their place.

    It changes labels, and no text and no embedding: so the server holds little of it in its heap,
    and the indexes that it changes are closed to readers for a moment only. Raises SpaceError where
    the collection's embeddings are, or are about to be, of another model, StoreError where not all
    is staged any more, and Changed where what the parts rest on has changed.
    """
    owners = [part.owner for part in parts]
    lock(transaction, owners)
    _refuse_moved(transaction, space)
    _refuse_incomplete(transaction, run, parts)
    _refuse_baseless(transaction, parts)
    created: dict[str, str] = {}
    # Text first: with it goes whatever rested on it, a graph that was built meanwhile, too, and one
    # whose package is not installed any more.
    for owner in sorted(owners, key=lambda owner: owner.graph != TEXT):
        statement = "core/switch_out_document" if owner.graph == TEXT else "core/switch_out"
        [old] = transaction.run(query(statement), owner._asdict())
        if old["created_at"]:
            created[owner.document] = old["created_at"]
    transaction.run(query("core/switch_in"), run=run, created=created).consume()
    for batch in _batches(out):
        rows = [_edge_row(edge) for edge in batch]
        [tied] = transaction.run(query("core/switch_tie"), collection=space.collection, rows=rows)
        if tied["edges"] != len(rows):
            raise _changed()


def broken_off(session: neo4j.Session) -> list[str]:
    """The runs that have staged something and never will switch it in: nobody has their turns."""
    runs = session.run(query("core/find_runs")).value("run")
    living = turns.find_held(session) if runs else set()
    return [run for run in runs if run not in living and turns.is_free(session, [run])]


def lock(transaction: Writing, owners: Iterable[Owner]) -> None:
    """Makes writers of one document wait for each other, and hardly those of different ones."""
    locks = {
        _stripe(owner.collection, int(_digest(owner.document), 16) % STRIPES) for owner in owners
    }
    transaction.run(query("core/take_locks"), locks=sorted(locks)).consume()


def lock_collection(transaction: Writing, collection: str) -> None:
    """Waits for all writers of a collection, and lets none begin until the transaction ends."""
    locks = sorted(_stripe(collection, number) for number in range(STRIPES))
    transaction.run(query("core/take_locks"), locks=locks).consume()


def _stripe(collection: str, number: int) -> str:
    return f"{_digest(collection)}/{number}"


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _refuse_moved(transaction: neo4j.ManagedTransaction, space: Space) -> None:
    rows = transaction.run(query("core/find_space"), collection=space.collection).data()
    now = made_space(rows)
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
    """A run that lost its turn may be swept by another, and a whole database be put in place."""
    [staged] = transaction.run(query("core/count_run"), run=run)
    if staged["nodes"] != len(parts) + len({node.id for part in parts for node in part.nodes}):
        raise StoreError("What was staged is gone: try again.")


def _refuse_baseless(transaction: neo4j.ManagedTransaction, parts: Sequence[Part]) -> None:
    """What a part was built on must be what comes in with it, or what is there."""
    coming = {(part.owner.document, part.owner.graph): part for part in parts}
    for part in parts:
        collection, _, document = part.owner
        if not document:
            # It is stale where documents have changed, and questions go on being answered.
            continue
        wanted = dict(part.record.made_from.get("rests_on", {}))
        for name in list(wanted):
            if base := coming.get((document, name)):
                if base.record.fingerprint != wanted[name]:
                    raise _changed()
                del wanted[name]
        if not wanted:
            continue
        there = {
            row["graph"]: row["fingerprint"]
            for row in transaction.run(
                query("core/find_fingerprints"), collection=collection, document=document
            )
        }
        if any(there.get(name) != fingerprint for name, fingerprint in wanted.items()):
            raise _changed()


def _changed() -> Changed:
    return Changed("The document was changed while this was built: try again.")


def _row(part: Part, node: Node, space: Space) -> dict[str, Any]:
    owner = part.owner
    if not WORD.fullmatch(node.label):
        raise StoreError(f"{node.label!r} is no label.")
    shared = {"collection": owner.collection, "kind": node.label.lower(), "graph": owner.graph}
    properties = {
        "name": caption(str(node.properties.get("text", node.id))),
        **node.properties,
        **shared,
        "sources": list(node.sources),
    }
    if node.label == "Document":
        # It is no part of itself, and rests on nothing.
        del properties["sources"], properties["kind"], properties["graph"]
        return {
            "id": node.id,
            "labels": [node.label],
            "index_labels": [],
            "properties": properties,
        }
    properties["document"] = owner.document
    what: queries.Embedded = "passage" if part.is_passage(node) else "element"
    row = {
        "id": node.id,
        "labels": [what.capitalize(), node.label],
        "index_labels": [queries.text_label(what)],
        "properties": properties,
    }
    if node.embedding is None:
        return row
    index_labels = [*row["index_labels"], queries.label(space.dimensions, what)]
    return row | {"index_labels": index_labels, "embedding": wire(node.embedding)}


def caption(text: str) -> str:
    """The first words of a text, for a name."""
    line = " ".join(text[: 4 * NAME].split())
    return line if len(line) <= NAME else line[: NAME - 1].rsplit(" ", 1)[0] + "…"


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
    if not WORD.fullmatch(edge.type):
        raise StoreError(f"{edge.type!r} is no type of an edge.")
    tie = {"type": edge.type, "start": edge.start, "end": edge.end}
    return tie | {"properties": dict(edge.properties)}


def _batches(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    waiting = iter(items)
    while batch := list(islice(waiting, size)):
        yield batch


def refuse_broken(parts: Sequence[Part], space: Space) -> None:
    """What an index can't hold: it silently leaves vectors out, and never recovers of long names.

    Raises StoreError before any of it is written.
    """
    for part in parts:
        for what, name in zip(Owner._fields, part.owner, strict=True):
            _refuse_name(what, name, LONGEST)
        for node in part.nodes:
            _refuse_name("id", node.id, LONGEST)
            _refuse_name("aspect", node.properties.get("aspect", ""), LONGEST)
            for line in LINES:
                _refuse_name(line, node.properties.get(line, ""), LONGEST_LINE)
            if node.embedding is None:
                continue
            if len(node.embedding) != space.dimensions:
                wanted = f"{len(node.embedding)} dimensions of {space.model}"
                raise other_space(space, wanted, space.model)
            norm = float(np.linalg.norm(node.embedding))
            if not np.isfinite(norm) or norm == 0:
                raise StoreError(
                    f"The embedding of {node.label.lower()} {node.id} has no length; see its text."
                )
            if not node.sources:
                raise StoreError(f"{node.label} {node.id} rests on no chunk.")


def searchable(parts: Sequence[Part]) -> dict[str, list[str]]:
    """The aspects of what has an embedding, and the kinds of passages, and of such elements."""
    found: dict[str, set[str]] = {"aspects": set(), "kinds": set(), "element_kinds": set()}
    for part in parts:
        for node in part.nodes:
            if node.embedding is not None:
                found["aspects"].add(str(node.properties.get("aspect", "")))
                kinds = "kinds" if part.is_passage(node) else "element_kinds"
                found[kinds].add(node.label.lower())
    return {name: sorted(values) for name, values in found.items()}


def refuse_long(line: str) -> None:
    """Raise BadValue for a title or an author that no index holds."""
    if wrong := problem(line, LONGEST_LINE):
        raise BadValue(f"The line {quoted(line)} {wrong}.")


def _refuse_name(what: str, name: str, most: int) -> None:
    if wrong := problem(name, most):
        raise StoreError(f"The {what} {quoted(name)} {wrong}.")
