"""How parts are written: staged in batches, then switched in by one transaction."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import neo4j
import numpy as np

from fabula.errors import BadValue, Changed, SpaceError, StoreError
from fabula.graph import REPLIES, TEXT, Edge, Node, Owner, Part, queries
from fabula.graph.hits import NEVER
from fabula.graph.queries import read_statement
from fabula.store import locks
from fabula.store.embedding_space import Space, other_space_error, refuse_reembedding
from fabula.store.rows import encode_vector, part_id, part_properties, read_space
from fabula.store.search_index import search_properties
from fabula.text.names import MAX_LINE_BYTES, MAX_NAME_BYTES, name_problem, quote_name

DOCUMENT = "Document"
"""The label of a document's node."""
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
SMALL_ROWS = 2000
"""The most rows of nodes and edges that are staged by one transaction, if at most one batch of them
has embeddings. Each commit costs several milliseconds, most of all in the full-text indexes, and so
a small document is cheaper in one."""
MAX_TIES_AT_SWITCH = 10_000
"""The most edges to chunks of another part that a switch makes. The server holds each in its heap
until the transaction ends: with 100,000 of them 512 MB were not enough. More are made before."""
Item = TypeVar("Item")
Transaction = neo4j.ManagedTransaction | neo4j.Transaction


@dataclass(frozen=True, slots=True)
class StagedParts:
    """What a run has staged before the last of its parts was made.

    Attributes:
        parts: The whole parts whose nodes are staged.
        pieces: Staged pieces of parts that are not whole yet.
        outgoing: Their edges to nodes that were not staged by then.
    """

    parts: tuple[Part, ...] = ()
    pieces: tuple[Part, ...] = ()
    outgoing: tuple[Edge, ...] = ()

    def and_also(self, parts: Sequence[Part], outgoing: Sequence[Edge]) -> StagedParts:
        """Return what is staged once these parts and pieces are, too."""
        whole = (*self.parts, *(part for part in parts if part.is_whole))
        owners = {part.owner for part in whole}
        pieces = (*self.pieces, *(part for part in parts if not part.is_whole))
        return StagedParts(
            whole, tuple(piece for piece in pieces if piece.owner not in owners), tuple(outgoing)
        )

    def only_of(self, parts: Sequence[Part]) -> StagedParts:
        """Return what is staged in pieces of these parts."""
        owners = {part.owner for part in parts}
        return StagedParts(pieces=tuple(piece for piece in self.pieces if piece.owner in owners))

    def count_embedded(self) -> int:
        """Return how many nodes with embeddings are staged."""
        nodes = (node for part in (*self.parts, *self.pieces) for node in part.nodes)
        return sum(node.embedding is not None for node in nodes)

    def fits(self, parts: Sequence[Part]) -> bool:
        """Return whether all that is staged is as it is in the parts that were made.

        Where a worker died, another one may have got other replies for the same parts.
        """
        made = {part.owner: part for part in parts}
        pieces: dict[Owner, list[Part]] = {}
        for piece in self.pieces:
            pieces.setdefault(piece.owner, []).append(piece)
        return all(
            part.owner in made and _is_same_part(part, made[part.owner]) for part in self.parts
        ) and all(
            owner in made and _begins(made[owner], of_owner) for owner, of_owner in pieces.items()
        )


def _is_same_part(part: Part, other: Part) -> bool:
    """Return whether two parts are equal, their embeddings included."""
    # Parts that were made in this process are the same objects.
    return part is other or (part == other and all(map(_is_same, part.nodes, other.nodes)))


def _begins(part: Part, pieces: Sequence[Part]) -> bool:
    """Return whether a part has all that these pieces have, and so can be staged after them."""
    nodes = {node.id: node for node in part.nodes}
    edges = {_edge_key(edge): edge for edge in part.edges}
    all_edges = [edge for piece in pieces for edge in piece.edges]
    # Staged edges are known by their ends and types, so there must be one of each.
    keys = Counter(map(_edge_key, part.edges))
    return (
        all(_is_same(node, nodes.get(node.id)) for piece in pieces for node in piece.nodes)
        and all(edge == edges.get(_edge_key(edge)) for edge in all_edges)
        and all(keys[_edge_key(edge)] == 1 for edge in all_edges)
        and len({*map(_edge_key, all_edges)}) == len(all_edges)
    )


def _edge_key(edge: Edge) -> tuple[str, str, str]:
    return edge.type, edge.start, edge.end


def _is_same(node: Node, other: Node | None) -> bool:
    if node != other or other is None:
        return False
    if node.embedding is None or other.embedding is None:
        return node.embedding is other.embedding
    return bool(np.array_equal(node.embedding, other.embedding))


NOTHING_STAGED = StagedParts()


@dataclass(frozen=True, slots=True)
class RunStaging:
    """What a run has staged, and the embedding space that it was staged for."""

    space: Space
    parts: StagedParts

    def is_current(self, space: Space) -> bool:
        """Return whether the embeddings are where those of this space are."""
        return (space.kind, space.slot) == (self.space.kind, self.space.slot)


def stage(
    session: neo4j.Session,
    run: str,
    parts: Sequence[Part],
    space: Space,
    written: Callable[[int], None],
    before: StagedParts = NOTHING_STAGED,
    *,
    is_last: bool = True,
) -> list[Edge]:
    """Write all parts as nodes with the label Staged and the labels of the search indexes.

    No reader asks for these labels alone, so none sees the nodes before the switch.

    The nodes of documents and the records of parts are written at the very end. Neo4j changes its
    indexes in the order in which nodes were made, and closes the page of an index that it has
    changed until it changes another one of the same index, or the transaction ends. In the switch
    of 13,600 nodes, readers of the list of documents waited for all nodes behind the document.

    Args:
        session: A session of the store.
        run: The id of the run, by which its nodes are found again.
        parts: The parts to write, and pieces of others that are still being made.
        space: The embedding space of their collection.
        written: Told after each batch how many nodes with embeddings it had.
        before: What the run has staged already.
        is_last: Whether the run stages nothing after this, and the switch follows.

    Returns:
        The edges that lead to nodes of other parts, those of the parts before included. The switch
        ties them.
    """
    # Of a part that came with its last pieces, the pieces are not needed any more.
    owners = {part.owner for part in parts if part.is_whole}
    parts = [part for part in parts if part.is_whole or part.owner not in owners]
    whole = [part for part in parts if part.is_whole]
    earlier = (*before.parts, *before.pieces)
    staged = {node.id for part in earlier for node in part.nodes if node.label != DOCUMENT}
    ends = _read_ends(session, parts, space.collection, before.parts)
    rows = [
        _row(part, node, space, ends, below[node.id])
        for part in parts
        for below in [_all_sources(part)]
        for node in part.nodes
        if node.id not in staged and node.label != DOCUMENT
    ]
    complete = (*before.parts, *whole) if is_last else ()
    records = [
        _document_row(part, node)
        for part in complete
        for node in part.nodes
        if node.label == DOCUMENT
    ]
    records += [_part_row(part) for part in complete]
    # A row with an embedding changes the vector index, whose readers wait meanwhile: fewer of them
    # go at once than of the others.
    bare = [row for row in rows if "embedding" not in row]
    embedded = [row for row in rows if "embedding" in row]
    staged |= {row["id"] for row in (*rows, *records)}
    known = {_edge_key(edge) for piece in before.pieces for edge in piece.edges}
    edges = [*before.outgoing]
    edges += [edge for part in parts for edge in part.edges if _edge_key(edge) not in known]
    edges += [edge for part in complete for edge in _part_edges(part)]
    # Edges to nodes of other parts wait for the switch: these nodes may be replaced until then.
    inside = [edge for edge in edges if edge.start in staged and edge.end in staged]
    shared = {"run": run, "embedding": space.embedding}
    slices = [
        *(("core/stage_nodes", batch) for batch in _batches(bare)),
        *(("core/stage_passages", batch) for batch in _batches(embedded, PASSAGES_PER_BATCH)),
        *(("core/stage_nodes", batch) for batch in _batches(records)),
        *(("core/stage_edges", batch) for batch in _batches([_edge_row(edge) for edge in inside])),
    ]
    # A small part is one transaction, which costs one wait for the disk in place of three.
    row_count = len(rows) + len(records) + len(inside)
    is_one = len(embedded) <= PASSAGES_PER_BATCH and row_count <= SMALL_ROWS
    for together in [slices] if is_one else [[single] for single in slices]:
        session.execute_write(_save_slices, together, shared)
        written(sum(len(batch) for name, batch in together if name == "core/stage_passages"))
    return [edge for edge in edges if not (edge.start in staged and edge.end in staged)]


def tie_to_chunks(
    session: neo4j.Session,
    run: str,
    parts: Sequence[Part],
    outgoing: Sequence[Edge],
    collection: str,
) -> list[Edge]:
    """Make the edges to chunks of other parts before the switch, if they are many.

    If the text is replaced until then, they go with its chunks. The switch counts them.

    Args:
        session: A session of the store.
        run: The id of the run, which has staged the parts.
        parts: The parts that are switched in.
        outgoing: The edges that lead to nodes of other parts.
        collection: Their collection.

    Returns:
        The edges that are left to the switch.

    Raises:
        Changed: A chunk is not there any more.
    """
    chunks = {id for part in parts for node in part.nodes for id in node.sources}
    ties = [edge for edge in outgoing if edge.end in chunks]
    if len(ties) <= MAX_TIES_AT_SWITCH:
        return list(outgoing)
    for batch in _batches(ties):
        rows = [_edge_row(edge) for edge in batch]
        session.execute_write(_tie_rows, rows, run, collection)
    return [edge for edge in outgoing if edge.end not in chunks]


def _tie_rows(
    transaction: neo4j.ManagedTransaction,
    rows: Sequence[Mapping[str, Any]],
    run: str,
    collection: str,
) -> None:
    ties = {"rows": rows, "run": run, "collection": collection}
    [tied] = transaction.run(read_statement("core/stage_ties"), ties)
    # MATCH finds no row for a node that is gone, and says nothing: the count says it.
    if tied["edges"] != len(rows):
        raise _change_error()


def _save_slices(
    transaction: neo4j.ManagedTransaction,
    slices: Sequence[tuple[str, Sequence[Mapping[str, Any]]]],
    shared: Mapping[str, Any],
) -> None:
    """Send batches of rows, each to the statement of its name, within one transaction."""
    for name, batch in slices:
        transaction.run(read_statement(name), rows=batch, **shared).consume()


def switch(
    transaction: neo4j.ManagedTransaction,
    run: str,
    parts: Sequence[Part],
    out: Sequence[Edge],
    space: Space,
    made_before: int = 0,
) -> int:
    """Hide the owners' old nodes and make the run's staged nodes visible in their place.

    This changes labels, and no text and no embedding. So the server holds little of it in its heap,
    and the indexes that change are closed to readers only for a moment.

    Args:
        transaction: A transaction of the store.
        run: The id of the run that has staged the parts.
        parts: The parts.
        out: The edges to nodes of other parts that are to be made.
        space: The embedding space of their collection.
        made_before: How many such edges `tie_to_chunks` has made.

    Returns:
        How many old nodes there were, which are to be deleted afterwards.

    Raises:
        Changed: What the parts rest on has changed.
        SpaceError: The collection's embeddings are, or are about to be, of another model.
        StoreError: Some of what was staged is gone.
    """
    owners = [part.owner for part in parts]
    # All checks come after the lock: what they find stays true until the transaction ends.
    lock_owners(transaction, owners)
    _refuse_other_space(transaction, space)
    _refuse_incomplete(transaction, run, parts)
    _refuse_baseless(transaction, parts)
    created: dict[str, str] = {}
    kept: dict[str, dict[str, Any]] = {}
    hidden = 0
    with_text = {owner.document for owner in owners if owner.graph == TEXT}
    # The text comes first, because everything that rests on it goes with it: also a graph that was
    # built meanwhile, or one whose package is not installed any more.
    for owner in sorted(owners, key=lambda owner: owner.graph != TEXT):
        if owner.document in with_text and owner.graph != TEXT:
            continue
        statement = "core/switch_out_document" if owner.graph == TEXT else "core/switch_out"
        [old] = transaction.run(read_statement(statement), owner._asdict())
        if old["created_at"]:
            created[owner.document] = old["created_at"]
            kept[owner.document] = dict(old.get("kept") or ())
        hidden += old["nodes"]
    if made_before:
        ties = {"run": run, "collection": space.collection}
        [found] = transaction.run(read_statement("core/count_ties"), ties)
        if found["edges"] != made_before:
            raise _change_error()
    switched = {"run": run, "created": created, "kept": kept, "whole": is_small(parts)}
    transaction.run(read_statement("core/switch_in"), switched).consume()
    for batch in _batches(out):
        rows = [_edge_row(edge) for edge in batch]
        [tied] = transaction.run(
            read_statement("core/switch_tie"), collection=space.collection, rows=rows
        )
        # MATCH finds no row for a node that is gone, and says nothing: the count says it.
        if tied["edges"] != len(rows):
            raise _change_error()
    return hidden


def is_small(parts: Sequence[Part]) -> bool:
    """Return whether parts are small enough for the switch to leave no marks of staging."""
    return sum(len(part.nodes) for part in parts) <= ROWS_PER_BATCH


def make_run_name(collection: str) -> str:
    """Return a name for a run of staging that nobody else has; it begins as its collection says."""
    return f"{run_prefix(collection)}{uuid.uuid4().hex}"


def run_prefix(collection: str) -> str:
    """Return what the names of all runs of a collection begin with; '' for all collections."""
    return f"run/{_digest(collection)}/" if collection else ""


def find_abandoned_runs(session: neo4j.Session, collection: str = "") -> list[str]:
    """Return a collection's runs that staged something and have ended: nobody holds their locks.

    Without a collection, return those of all.
    """
    # The server may hide the transactions of other users, so that names not shown are tried too.
    # That takes seconds for each that is held, and is left out for those that are shown.
    runs = session.run(read_statement("core/find_runs"), run_prefix=run_prefix(collection)).value(
        "run"
    )
    held = locks.find_held_names(session) if runs else set()
    return [run for run in runs if run not in held and locks.is_free(session, [run])]


def lock_owners(transaction: Transaction, owners: Iterable[Owner]) -> None:
    """Make writers of one document wait for each other; those of different ones hardly ever do."""
    locks = {
        # Stripes, and not a lock for each document: a lock is a node, and stays.
        _stripe(owner.collection, int(_digest(owner.document), 16) % LOCKS_PER_COLLECTION)
        for owner in owners
    }
    transaction.run(read_statement("core/take_locks"), locks=sorted(locks)).consume()


def lock_collection(transaction: Transaction, collection: str) -> None:
    """Wait for all writers of a collection, and let none begin until the transaction ends."""
    # In the same order as `lock_owners` takes them, so that no two writers wait for each other.
    locks = sorted(_stripe(collection, number) for number in range(LOCKS_PER_COLLECTION))
    transaction.run(read_statement("core/take_locks"), locks=locks).consume()


def lock_prefix(collection: str) -> str:
    """Return what the ids of all locks of a collection begin with."""
    return f"{_digest(collection)}/"


def _stripe(collection: str, number: int) -> str:
    return f"{lock_prefix(collection)}{number}"


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _refuse_other_space(transaction: neo4j.ManagedTransaction, space: Space) -> None:
    rows = transaction.run(read_statement("core/find_space"), collection=space.collection).data()
    now = read_space(rows)
    if now is None:
        raise StoreError("The graph was emptied meanwhile: try again.")
    refuse_reembedding(now)
    if (now.kind, now.slot) != (space.kind, space.slot):
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
        # A part below that is replaced by the same switch is compared with what comes, and not with
        # what is there.
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


def _read_ends(
    session: neo4j.Session, parts: Sequence[Part], collection: str, before: Sequence[Part]
) -> Mapping[str, int]:
    """Return where the chunks end that the parts rest on, those that come with them included."""
    ends = {
        node.id: int(node.properties["end"])
        for part in (*before, *parts)
        if part.owner.graph == TEXT
        for node in part.nodes
        if "end" in node.properties
    }
    # What rests on several documents has no place in any of them.
    of_documents = [part for part in parts if part.owner.document]
    sources = {id for part in of_documents for node in part.nodes for id in node.sources}
    for batch in _batches(sorted(sources - ends.keys())):
        found = session.run(read_statement("core/find_ends"), collection=collection, ids=batch)
        ends |= {row["id"]: row["end"] for row in found}
    return ends


def _all_sources(part: Part) -> Mapping[str, Sequence[str]]:
    """Return the chunks that each node rests on, those included that it inherits along edges."""
    sources: dict[str, tuple[str, ...]] = {node.id: node.sources for node in part.nodes}
    own = dict(sources)
    for edge in part.edges:
        if edge.type in part.inherits:
            sources[edge.start] = (*sources[edge.start], *own.get(edge.end, ()))
    return sources


def place_properties(
    label: str, sources: Sequence[str], ends: Mapping[str, int], growing: frozenset[str]
) -> dict[str, int]:
    """Return where a reader has to be to be shown a node: `last`, and `since`.

    `last` is the end of the last chunk that the node rests on. `since` is the same, except for an
    element that grows with the text: for it, it is the end of the first chunk.

    Args:
        label: The label of the node.
        sources: The chunks that it rests on.
        ends: Where chunks end, by their ids.
        growing: Labels of elements that grow with the text.
    """
    # What rests on a chunk that is not there, or on none, could be from anywhere.
    places = [ends.get(source, NEVER) for source in sources] or [NEVER]
    return {"last": max(places), "since": min(places) if label in growing else max(places)}


def _row(
    part: Part, node: Node, space: Space, ends: Mapping[str, int], sources: Sequence[str]
) -> dict[str, Any]:
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
    properties["document"] = owner.document
    known_ends = ends if owner.document else {}
    properties |= place_properties(node.label, sources, known_ends, part.growing)
    properties |= search_properties(owner.collection, searched_text(properties))
    label: queries.Embedded = "passage" if part.is_passage(node) else "element"
    row = {
        "id": node.id,
        "labels": [label.capitalize(), node.label],
        "index_labels": [] if node.label == REPLIES else [queries.text_label(label)],
        "properties": properties,
    }
    if node.embedding is None:
        return row
    index_labels = [*row["index_labels"], queries.label_name(space.dimensions, label)]
    return row | {"index_labels": index_labels, "embedding": encode_vector(node.embedding)}


def _document_row(part: Part, node: Node) -> dict[str, Any]:
    """Return the row of a document's node, which is no part of itself and rests on nothing."""
    name = make_caption(str(node.properties.get("text", node.id)))
    properties = {"name": name, **node.properties, "collection": part.owner.collection}
    return {"id": node.id, "labels": [DOCUMENT], "index_labels": [], "properties": properties}


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
            # The cosine index leaves out a vector of length 0 or with NaN, and says nothing.
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
