"""A document's graph as it was written, read back for the next ingest to use again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.model import Chunk, Detail, Known, Member, Summary, Vector

if TYPE_CHECKING:
    from fabula.store import Store

PAGE = 2000
"""Passages read at once: with 1,536 dimensions each, 12 MB."""


def known(store: Store, document: str, dimensions: int) -> Known:
    """All passages of a document, in the order they were made; nothing of one that isn't there.

    Nor of one that is replaced while it is read: half of each version is neither. `dimensions`: of
    the graph's embeddings.
    """
    before = store.rows("find_document", document=document)
    rows: dict[str, list[dict[str, Any]]] = {"chunk": [], "summary": [], "detail": []}
    after = ""
    while True:
        page = store.rows(
            "find_passages", document=document, after=after, limit=PAGE, dimensions=dimensions
        )
        for row in page:
            rows[row["kind"]].append(row)
        if len(page) < PAGE:
            break
        after = page[-1]["id"]
    if not before or store.rows("find_document", document=document) != before:
        return Known()
    return Known(
        chunks=tuple(sorted(map(_chunk, rows["chunk"]), key=lambda chunk: chunk.index)),
        summaries=tuple(
            sorted(map(_summary, rows["summary"]), key=lambda one: (one.level, one.start, one.id))
        ),
        details=tuple(sorted(map(_detail, rows["detail"]), key=lambda one: one.ordinal)),
        assigned=tuple(before[0]["assigned"]),
        changed=before[0]["changed"],
    )


def _chunk(row: dict[str, Any]) -> Chunk:
    return Chunk(**_place(row), index=row["index"])


def _summary(row: dict[str, Any]) -> Summary:
    members = tuple(Member(**member) for member in row["members"])
    return Summary(**_place(row), aspect=row["aspect"], level=row["level"], members=members)


def _detail(row: dict[str, Any]) -> Detail:
    return Detail(**_place(row), chunk=row["chunk"], ordinal=row["ordinal"])


def _place(row: dict[str, Any]) -> dict[str, Any]:
    shared = ("id", "section", "start", "end", "text", "tokens")
    return {name: row[name] for name in shared} | {"embedding": _vector(row["embedding"])}


def _vector(sent: Any) -> Vector:
    """From Neo4j's vector type, which comes as big-endian bytes."""
    return np.frombuffer(sent.raw(), ">f4").astype(np.float32)
