"""How a document's graph is written: staged in batches, then switched in by one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, TypeVar

import neo4j
import numpy as np
from neo4j.vector import Vector as WireVector

from fabula.errors import SpaceError, StoreError
from fabula.model import Chunk, Detail, DocumentGraph, Summary, Usage
from fabula.queries import query
from fabula.store.rows import made_space
from fabula.store.space import refuse_reembedding

BATCH = 1000

Item = TypeVar("Item")


def stage(
    session: neo4j.Session,
    run: str,
    graph: DocumentGraph,
    settings: Mapping[str, object],
    written: Callable[[int], None],
) -> None:
    """Writes all of `graph` as nodes of the one label Staged, which no index and no reader sees."""
    document = graph.document

    def save(name: str, **parameters: object) -> None:
        given = {"run": run, **parameters}
        session.execute_write(lambda transaction: transaction.run(query(name), given).consume())

    save("save_staged_document", id=document.id, properties=_document_properties(graph, settings))
    for rows in _batches(_chunk_rows(graph)):
        save("save_staged_chunks", document=document.id, rows=rows)
        written(len(rows))
    for rows in _batches(_summary_rows(graph)):
        save("save_staged_summaries", rows=rows)
        written(len(rows))
    for rows in _batches(_detail_rows(graph)):
        save("save_staged_details", rows=rows)
        written(len(rows))


def switch(
    transaction: neo4j.ManagedTransaction,
    run: str,
    graph: DocumentGraph,
    settings: Mapping[str, object],
) -> bool:
    """Takes the document's old nodes out of sight and puts the run's staged ones in their place.

    Whether there were old ones. Raises SpaceError where the graph's embeddings are, or are about
    to be, of another model than the document's, and StoreError where not all is staged any more.
    """
    aspects = sorted({summary.aspect for summary in graph.summaries})
    space = made_space(transaction.run(query("switch_lock"), aspects=aspects).data())
    if space is None:
        raise StoreError("The graph was emptied meanwhile: run the command again.")
    refuse_reembedding(space)
    own = (settings["embedding_model"], len(graph.chunks[0].embedding))
    if own != (space.model, space.dimensions):
        raise SpaceError(
            f"While {graph.document.title} was built, the graph was given embeddings of "
            f"{space.model} ({space.dimensions} dimensions): ingest it again with that model, or "
            "into another graph."
        )
    _refuse_incomplete(transaction, run, graph)
    [old] = transaction.run(query("switch_out"), document=graph.document.id)
    transaction.run(query("switch_in"), run=run, created_at=old["created_at"]).consume()
    return old["created_at"] is not None


def _refuse_incomplete(
    transaction: neo4j.ManagedTransaction, run: str, graph: DocumentGraph
) -> None:
    """A run that took too long may be swept by another, and a whole database be put in place."""
    passages: list[Chunk | Summary | Detail] = [*graph.chunks, *graph.summaries, *graph.details]
    [staged] = transaction.run(query("count_run"), run=run)
    if staged["nodes"] != 1 + len({passage.id for passage in passages}):
        raise StoreError(
            f"What was staged of {graph.document.title} is gone: run the command again."
        )


def _chunk_rows(graph: DocumentGraph) -> Iterator[dict[str, Any]]:
    previous = None
    for chunk in graph.chunks:
        own = {"kind": "chunk", "aspect": "", "level": 0, "index": chunk.index}
        yield _row(graph, chunk, own) | {"previous": previous}
        previous = chunk.id


def _summary_rows(graph: DocumentGraph) -> Iterator[dict[str, Any]]:
    # A summary is tied to its members as it is written: they come first.
    for summary in sorted(graph.summaries, key=lambda one: one.level):
        own = {"kind": "summary", "aspect": summary.aspect, "level": summary.level}
        members = [{"id": member.id, "weight": member.weight} for member in summary.members]
        yield _row(graph, summary, own) | {"members": members}


def _detail_rows(graph: DocumentGraph) -> Iterator[dict[str, Any]]:
    for detail in graph.details:
        own = {"kind": "detail", "aspect": "", "level": 0, "ordinal": detail.ordinal}
        yield _row(graph, detail, own) | {"chunk": detail.chunk}


def _row(
    graph: DocumentGraph, passage: Chunk | Summary | Detail, own: dict[str, Any]
) -> dict[str, Any]:
    shared = {"document": graph.document.id, "collection": graph.document.collection}
    place = {"section": passage.section, "start": passage.start, "end": passage.end}
    said = {"text": passage.text, "tokens": passage.tokens}
    return {
        "id": passage.id,
        "properties": own | shared | place | said,
        "embedding": WireVector.from_numpy(passage.embedding),
    }


def _document_properties(graph: DocumentGraph, settings: Mapping[str, object]) -> dict[str, Any]:
    document = graph.document
    spent = sum(graph.usage.values(), Usage())
    return {
        "collection": document.collection,
        "title": document.title,
        "author": document.author,
        "language": document.language,
        "source": document.source,
        "sha256": document.sha256,
        "tokens": sum(chunk.tokens for chunk in graph.chunks),
        "settings": json.dumps(settings, sort_keys=True),
        "usage": json.dumps({step: asdict(usage) for step, usage in graph.usage.items()}),
        **asdict(spent),
        "assigned": list(graph.assigned),
        "changed": graph.changed,
    }


def _batches(rows: Iterable[Item]) -> Iterator[list[Item]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def refuse_broken(passages: Sequence[Chunk | Summary | Detail]) -> None:
    """A vector index silently leaves out what it can't hold: refuse it before it is written."""
    sizes = {len(passage.embedding) for passage in passages}
    if len(sizes) > 1:
        raise StoreError(f"The embeddings have different dimensions: {sorted(sizes)}.")
    for passage in passages:
        norm = float(np.linalg.norm(passage.embedding))
        if not np.isfinite(norm) or norm == 0:
            raise StoreError(f"The embedding of passage {passage.id} has no length; see its text.")
