"""Whether the graph is sound: every invariant is a statement that finds what breaks it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.model import Entry
from fabula.store import STALE_MS, Store, schema

MOST = 20
"""Findings that one invariant reports; each stands for all nodes of a document that break it."""

REBUILD = "run `fabula ingest --rebuild --collection {collection} {source}`"
UNOWNED = (
    "ingest the file they came from again, or delete them in Neo4j with "
    "`MATCH (n:Chunk|Summary|Detail) WHERE n.document {which} DETACH DELETE n`"
)

OF_DOCUMENTS = (
    "check_chunk_order",
    "check_chunk_tokens",
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
    entries = _entries(store, document)
    violations = [*_indexes(store), *_violations(store, document, entries)]
    while changed := _changed(store, document, entries) & {one.document for one in violations}:
        # What was found is of no version: half of it was looked at before, half after the change.
        violations = [one for one in violations if one.document not in changed]
        entries = _entries(store, document)
        for one in sorted(changed):
            violations += _violations(store, one, [entry for entry in entries if entry.id == one])
    [counted] = store.rows("count_checked", document=document)
    notes = tuple(_notes(store, document))
    return Findings(len(entries), counted["passages"], tuple(violations), notes)


def _entries(store: Store, document: str) -> list[Entry]:
    return [entry for entry in store.documents() if document in ("", entry.id)]


def _changed(store: Store, document: str, entries: Sequence[Entry]) -> set[str]:
    """The ids of documents that came, went or were replaced since `entries` were read."""
    versions = [
        {(entry.id, entry.updated_at) for entry in read}
        for read in (entries, _entries(store, document))
    ]
    return {id for id, _ in versions[0] ^ versions[1]}


def _violations(store: Store, document: str, entries: Sequence[Entry]) -> Iterator[Violation]:
    yield from _of_documents(store, document, entries)
    yield from _as_built(store, entries)


def _indexes(store: Store) -> Iterator[Violation]:
    """A graph that nothing was ever written to needs none."""
    if space := store.space():
        for fault in schema.faults(store, space):
            what = f"the index {fault.name} {fault.what}"
            yield Violation("find_indexes", "", "", fault.name, 1, what, fault.cure)


def _of_documents(store: Store, document: str, entries: Sequence[Entry]) -> Iterator[Violation]:
    for name in OF_DOCUMENTS:
        rows = store.rows(name, document=document, limit=MOST)
        yield from (_violation(name, row, entries) for row in rows)


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
        yield from (_violation(name, row, entries) for row in rows)


def _notes(store: Store, document: str) -> Iterator[str]:
    space = store.space()
    if space and space.phase:
        yield f"The graph is being re-embedded with {space.target}."
    before = store.moment(STALE_MS)
    [left] = store.rows("count_left_over", document=document, before=before)
    if left["nodes"]:
        yield (
            f"{left['nodes']:,} nodes are left over from what was replaced, or was broken off; no "
            "reader sees them, and the next ingest deletes them."
        )
    [staged] = store.rows("count_staged", before=before)
    if staged["nodes"]:
        yield (
            f"{staged['nodes']:,} nodes are staged by {staged['runs']} ingests that go on now or "
            "were broken off within the hour; no reader sees them."
        )


def _violation(name: str, row: dict[str, Any], entries: Sequence[Entry]) -> Violation:
    owner = next((entry for entry in entries if entry.id == row["document"]), None)
    return Violation(
        invariant=name,
        document=row["document"] or "",
        title=owner.title if owner else "",
        id=row["id"] or "",
        count=row["count"],
        what=row["what"],
        cure=_cure(row["document"], owner),
    )


def _cure(document: str | None, owner: Entry | None) -> str:
    """What can be pasted as it is, whatever a file or a collection is called."""
    if owner:
        collection, source = shlex.quote(owner.collection), shlex.quote(owner.source)
        return REBUILD.format(collection=collection, source=source)
    return UNOWNED.format(which="IS NULL" if document is None else f"= {json.dumps(document)}")
