"""Check the graph: every invariant is a statement that finds the nodes that break it."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.graph.method import Graph
from fabula.graph.queries import FOLDER, read_statement_file
from fabula.graph.recipes import is_outdated
from fabula.store import Store, schema

MAX_FINDINGS = 20
"""How many findings one invariant reports; each is about all nodes of one document."""

REBUILD = "run `fabula ingest --rebuild --collection {collection} {source}`"
REBUILD_COLLECTION = (
    "run `fabula build {graph} --rebuild`, which makes the collection's own graph anew"
)
BUILD_COLLECTION = "documents changed since it was made: run `fabula build {graph}`"
DELETE = (
    "ingest the file they came from again, or delete them in Neo4j with "
    "`MATCH (n:Part|Passage|Element) WHERE n.document {which} DETACH DELETE n`"
)


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with a document or with the graph.

    Attributes:
        invariant: The name of the statement in `cypher/` that found it.
        document: The document's id; empty for the graph.
        title: The document's title; empty for the graph.
        id: The id of one of the nodes that break the invariant.
        count: How many nodes break it.
        what: What is wrong.
        cure: What to do.
    """

    invariant: str
    document: str
    title: str
    id: str
    count: int
    what: str
    cure: str


@dataclass(frozen=True, slots=True)
class CheckFindings:
    """The result of a check.

    Attributes:
        documents: How many documents were checked.
        passages: How many passages they have.
        graphs: How many of the documents have each graph, the text left out.
        violations: What is wrong.
        notes: Sentences about what is right and worth knowing.
    """

    documents: int
    passages: int
    graphs: Mapping[str, int]
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]


def check(
    store: Store, graphs: Iterable[Graph[Any]], collection: str = "", document: str = ""
) -> CheckFindings:
    """Check every invariant of the core and of some graphs; change nothing.

    Args:
        store: The graph.
        graphs: The graphs that are installed.
        collection: The collection to check; '' for all of them.
        document: The id of the document to check; '' for all of them.
    """
    installed = tuple(graphs)
    checker = _Checker(store, installed, collection, document)
    entries = checker.entries()
    violations = [*_indexes(store, collection), *checker.violations(document, entries)]
    while changed := checker.find_changed(entries) & {
        violation.document for violation in violations
    }:
        # Half of these documents was checked before they changed, and half afterwards.
        violations = [violation for violation in violations if violation.document not in changed]
        entries = checker.entries()
        for id in sorted(changed):
            violations += checker.violations(id, entries)
    [counted] = store.rows("core/count_checked", collection=collection, document=document)
    notes = (
        *_gap_notes(entries),
        *_warnings(entries, installed),
        *_state_notes(store, collection, document),
    )
    built = Counter(name for entry in entries for name in entry.graphs if name != TEXT)
    return CheckFindings(len(entries), counted["passages"], dict(built), tuple(violations), notes)


def _statements(graphs: Iterable[Graph[Any]]) -> Iterator[tuple[Graph[Any] | None, str, str]]:
    """Yield each invariant with its graph, None for those of the core, and its file's name."""
    own = [(graph, graph.cypher) for graph in graphs if graph.cypher]
    folders: list[tuple[Graph[Any] | None, Path]] = [(None, FOLDER / "core"), *own]
    for graph, folder in folders:
        for file in sorted(folder.glob("check_*.cypher")):
            yield graph, file.stem, read_statement_file(file)


@dataclass(frozen=True, slots=True)
class _Checker:
    """Runs the invariants of the core and of `graphs` over what is checked."""

    store: Store
    graphs: Sequence[Graph[Any]]
    collection: str
    document: str

    def entries(self) -> list[Entry]:
        """Return the documents that are checked."""
        if self.document:
            return self.store.find_same(self.collection, [self.document])
        return [entry for name in self._collections() for entry in self.store.documents(name)]

    def _collections(self) -> list[str]:
        if self.collection:
            return [self.collection]
        return [space.collection for space in self.store.spaces()]

    def is_outdated(self, graph: Graph[Any]) -> bool:
        """Return whether documents have changed since a collection's own graph was made."""
        for name in self._collections():
            collection_parts = self.store.collection_parts(name)
            if graph.name in collection_parts and is_outdated(
                graph, self.store.documents(name), collection_parts
            ):
                return True
        return False

    def violations(self, document: str, entries: Sequence[Entry]) -> list[Violation]:
        """Return what breaks an invariant, of one document or of all that is checked."""
        parameters = {"collection": self.collection, "document": document, "limit": MAX_FINDINGS}
        return [
            self._violation(graph, name, row, entries)
            for graph, name, statement in _statements(self.graphs)
            for row in self.store.run(statement, name, **parameters)
        ]

    def _violation(
        self, graph: Graph[Any] | None, name: str, row: dict[str, Any], entries: Sequence[Entry]
    ) -> Violation:
        owner = next((entry for entry in entries if entry.id == row["document"]), None)
        return Violation(
            invariant=name,
            document=row["document"] or "",
            title=owner.title if owner else "",
            id=row["id"] or "",
            count=row["count"],
            what=row["what"],
            cure=self._cure(graph, row["document"], owner),
        )

    def _cure(self, graph: Graph[Any] | None, document: str | None, owner: Entry | None) -> str:
        """Return what to do; commands are quoted so that they can be pasted into a shell."""
        if owner:
            collection, source = shlex.quote(owner.collection), shlex.quote(owner.source)
            return REBUILD.format(collection=collection, source=source)
        if document == "":
            advice = (
                BUILD_COLLECTION
                if graph and graph.build_collection and self.is_outdated(graph)
                else REBUILD_COLLECTION
            )
            return advice.format(graph=graph.name if graph else "GRAPH")
        return DELETE.format(which="IS NULL" if document is None else f"= {json.dumps(document)}")

    def find_changed(self, entries: Sequence[Entry]) -> set[str]:
        """Return the ids of documents that came, went or changed since `entries` were read."""
        before = {_version(entry) for entry in entries}
        now = {_version(entry) for entry in self.entries()}
        return {version[0] for version in before ^ now}


def _version(entry: Entry) -> tuple[str, ...]:
    parts = (f"{graph} {record.updated_at}" for graph, record in sorted(entry.graphs.items()))
    return (entry.id, entry.updated_at, *parts)


def _indexes(store: Store, collection: str) -> Iterator[Violation]:
    """Yield what is wrong with the indexes that collections need."""
    for space in store.spaces():
        if collection in ("", space.collection):
            for fault in schema.find_faults(store, space):
                what = f"the index {fault.name} {fault.what}"
                yield Violation("find_indexes", "", "", fault.name, 1, what, fault.cure)


def _gap_notes(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a note on each graph that has gaps, which are known and no violation."""
    for name in sorted({name for entry in entries for name in entry.graphs}):
        lacking = [entry for entry in entries if name in entry.graphs and entry.graphs[name].gaps]
        if lacking:
            gaps = sum(entry.graphs[name].gaps for entry in lacking)
            others = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            yield (
                f"Gaps in {name}: {gaps:,}, of {lacking[0].title}{others}; `fabula retry` "
                "asks for them again."
            )


def _warnings(entries: Sequence[Entry], graphs: Iterable[Graph[Any]]) -> Iterator[str]:
    """Yield what graphs warn of in documents, as that a model may be unfit; the first few."""
    warnings = (
        f"In {graph.name} of {entry.title}, {'; '.join(sentences)}."
        for graph in graphs
        for entry in entries
        if graph.name in entry.graphs
        and (facts := entry.graphs[graph.name].facts)
        and (sentences := graph.warnings(facts))
    )
    yield from islice(warnings, MAX_FINDINGS)


def _state_notes(store: Store, collection: str, document: str) -> Iterator[str]:
    for space in store.spaces():
        if space.phase and collection in ("", space.collection):
            yield f"Collection {space.collection!r} is {space.state}."
    runs = store.find_abandoned_runs(collection)
    [left] = store.rows("core/count_left_over", collection=collection, document=document, runs=runs)
    if left["nodes"]:
        yield (
            f"{left['nodes']:,} nodes are left over from replaced documents or interrupted runs. "
            "No reader sees them, and the next ingest into their collection deletes them."
        )
    [staged] = store.rows("core/count_staged", collection=collection, runs=runs)
    if staged["nodes"]:
        yield (
            f"{staged['nodes']:,} nodes are staged by {staged['runs']} ingests that are running "
            "now. No reader sees them."
        )
