"""Whether the graph is sound: every invariant is a statement that finds what breaks it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.model import Entry
from fabula.store import STALE_MS, Store

MOST = 20
"""Findings that one invariant reports; each stands for all nodes of a document that break it."""

REBUILD = "run `fabula ingest --rebuild {source}`"
SWEEP = "when no other Fabula is at work, ingest any file: what is left over goes with it"
INDEX = "run `fabula ingest` again, and `fabula doctor` to see how the indexes are"

OF_DOCUMENTS = (
    "check_chunk_order",
    "check_chunk_chain",
    "check_chunk_tiling",
    "check_chunk_documents",
    "check_orphans",
    "check_summary_members",
    "check_summary_levels",
    "check_summary_aspects",
    "check_weights",
    "check_searchable_aspects",
    "check_details",
    "check_embeddings",
    "check_ids",
    "check_properties",
    "check_texts",
)
"""The invariants that need to know nothing but the graph."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with a document, or with the graph where `document` and `title` are empty.

    `count` nodes break the `invariant`, which is the name of its statement in `cypher/`; `id` is
    one of them. `cure` says what to do.
    """

    invariant: str
    document: str
    title: str
    id: str
    count: int
    what: str
    cure: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What was looked at, what is wrong with it, and what is worth saying though it is right."""

    documents: int
    passages: int
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]


def check(store: Store, document: str = "") -> Findings:
    """Every invariant of one document, named by its id, or of the whole graph; changes nothing."""
    entries = [entry for entry in store.documents() if document in ("", entry.id)]
    passages = sum(layer.passages for entry in entries for layer in store.layers(entry.id))
    before = f"{int(time.time() * 1000) - STALE_MS:015d}"
    violations = [
        *_indexes(store),
        *_of_documents(store, document, entries),
        *_as_built(store, entries),
        *_left_over(store, document, before, entries),
    ]
    return Findings(len(entries), passages, tuple(violations), tuple(_notes(store, before)))


def _indexes(store: Store) -> Iterator[Violation]:
    """A graph that nothing was ever written to needs none, nor all while it is re-embedded."""
    space = store.space()
    if space is None or space.phase:
        return
    found = {index.name: index for index in store.indexes()}
    for name in ("passage_vectors", "passage_texts"):
        index = found.get(name)
        state = f"{index.state}, {index.percent:.0f} % populated" if index else "missing"
        if index is None or index.state != "ONLINE" or index.percent < 100:
            what = f"the index {name} is {state}"
            yield Violation("find_indexes", "", "", name, 1, what, INDEX)


def _of_documents(store: Store, document: str, entries: Sequence[Entry]) -> Iterator[Violation]:
    for name in OF_DOCUMENTS:
        rows = store.rows(name, document=document, limit=MOST)
        yield from (_violation(name, row, entries, REBUILD) for row in rows)


def _as_built(store: Store, entries: Sequence[Entry]) -> Iterator[Violation]:
    """What a document's own settings promise: its aspects, and how many details a chunk has."""
    aspects = [
        {"document": entry.id, "aspects": list(names)}
        for entry in entries
        if entry.settings.get("levels", 0) and isinstance(names := entry.settings["aspects"], dict)
    ]
    details = [
        {"document": entry.id, "details": entry.settings["details"]}
        for entry in entries
        if "details" in entry.settings
    ]
    for name, promised in (("check_aspects", aspects), ("check_detail_counts", details)):
        rows = store.rows(name, rows=promised, limit=MOST)
        yield from (_violation(name, row, entries, REBUILD) for row in rows)


def _left_over(
    store: Store, document: str, before: str, entries: Sequence[Entry]
) -> Iterator[Violation]:
    name = "check_left_over"
    rows = store.rows(name, document=document, before=before, limit=MOST)
    yield from (_violation(name, row, entries, SWEEP) for row in rows)


def _notes(store: Store, before: str) -> Iterator[str]:
    space = store.space()
    if space and space.phase:
        yield f"The graph is being re-embedded with {space.next_model}."
    [staged] = store.rows("count_staged", before=before)
    if staged["nodes"]:
        yield (
            f"{staged['nodes']:,} nodes are staged by {staged['runs']} ingests that go on now or "
            "were broken off within the hour; no reader sees them."
        )


def _violation(name: str, row: dict[str, Any], entries: Sequence[Entry], cure: str) -> Violation:
    owner = next((entry for entry in entries if entry.id == row["document"]), None)
    source = owner.source if owner else "FILE"
    return Violation(
        invariant=name,
        document=row["document"] or "",
        title=owner.title if owner else "",
        id=row["id"] or "",
        count=row["count"],
        what=row["what"],
        cure=cure.format(source=source),
    )
