"""Whether the graph is sound: every invariant is a statement that finds what breaks it."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.graph.method import Graph
from fabula.graph.queries import FOLDER, read
from fabula.graph.recipes import is_outdated
from fabula.store import Store, schema

MOST = 20
"""Findings that one invariant reports; each stands for all nodes of a document that break it."""

REBUILD = "run `fabula ingest --rebuild --collection {collection} {source}`"
SETTLED = "run `fabula build {graph} --rebuild`, which makes the collection's own graph anew"
OUTDATED = "documents changed since it was made: run `fabula build {graph}`"
UNOWNED = (
    "ingest the file they came from again, or delete them in Neo4j with "
    "`MATCH (n:Part|Passage|Element) WHERE n.document {which} DETACH DELETE n`"
)


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
    """What was looked at, what is wrong with it, and what is worth saying though it is right.

    `graphs` are how many of the documents have each graph but their text.
    """

    documents: int
    passages: int
    graphs: Mapping[str, int]
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]


def check(
    store: Store, graphs: Iterable[Graph[Any]], collection: str = "", document: str = ""
) -> Findings:
    """Every invariant of the core and of `graphs`; changes nothing.

    Of one document, named by its id, or of a whole collection, or '' for all of them.
    """
    installed = tuple(graphs)
    look = _Look(store, installed, collection, document)
    entries = look.entries()
    violations = [*_indexes(store, collection), *look.violations(document, entries)]
    while changed := look.changed(entries) & {one.document for one in violations}:
        # What was found is of no version: half of it was looked at before, half after the change.
        violations = [one for one in violations if one.document not in changed]
        entries = look.entries()
        for one in sorted(changed):
            violations += look.violations(one, entries)
    [counted] = store.rows("core/count_checked", collection=collection, document=document)
    notes = (*_gaps(entries), *_doubts(entries, installed), *_notes(store, collection, document))
    has = Counter(name for entry in entries for name in entry.graphs if name != TEXT)
    return Findings(len(entries), counted["passages"], dict(has), tuple(violations), notes)


def _statements(graphs: Iterable[Graph[Any]]) -> Iterator[tuple[Graph[Any] | None, str, str]]:
    """The invariants, and the names of their files: the core's, of no graph, and each graph's."""
    folders = [(None, FOLDER / "core"), *((one, one.cypher) for one in graphs if one.cypher)]
    for graph, folder in folders:
        for file in sorted(folder.glob("check_*.cypher")):
            yield graph, file.stem, read(file)


@dataclass(frozen=True, slots=True)
class _Look:
    """What is looked at, and the graphs that bring invariants."""

    store: Store
    graphs: Sequence[Graph[Any]]
    collection: str
    document: str

    def entries(self) -> list[Entry]:
        """The documents that are looked at."""
        if self.document:
            return self.store.same(self.collection, [self.document])
        every = [space.collection for space in self.store.spaces()]
        names = [self.collection] if self.collection else every
        return [entry for name in names for entry in self.store.documents(name)]

    def outdated(self, graph: Graph[Any]) -> bool:
        """Whether documents have changed since a part of the collection itself was made."""
        spaces = [space.collection for space in self.store.spaces()]
        for name in [self.collection] if self.collection else spaces:
            settled = self.store.settled(name)
            if graph.name in settled and is_outdated(graph, self.store.documents(name), settled):
                return True
        return False

    def violations(self, document: str, entries: Sequence[Entry]) -> list[Violation]:
        """What breaks an invariant, of one document or of all that is looked at."""
        asked = {"collection": self.collection, "document": document, "limit": MOST}
        return [
            self._violation(graph, name, row, entries)
            for graph, name, statement in _statements(self.graphs)
            for row in self.store.run(statement, name, **asked)
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
        """What can be pasted as it is, whatever a file or a collection is called."""
        if owner:
            collection, source = shlex.quote(owner.collection), shlex.quote(owner.source)
            return REBUILD.format(collection=collection, source=source)
        if document == "":
            advice = OUTDATED if graph and graph.settle and self.outdated(graph) else SETTLED
            return advice.format(graph=graph.name if graph else "GRAPH")
        return UNOWNED.format(which="IS NULL" if document is None else f"= {json.dumps(document)}")

    def changed(self, entries: Sequence[Entry]) -> set[str]:
        """The ids of documents that came, went or were replaced since `entries` were read."""
        was, now = ({_version(entry) for entry in read} for read in (entries, self.entries()))
        return {version[0] for version in was ^ now}


def _version(entry: Entry) -> tuple[str, ...]:
    parts = (f"{graph} {record.updated_at}" for graph, record in sorted(entry.graphs.items()))
    return (entry.id, entry.updated_at, *parts)


def _indexes(store: Store, collection: str) -> Iterator[Violation]:
    """A collection that nothing was ever written to needs none."""
    for space in store.spaces():
        if collection in ("", space.collection):
            for fault in schema.faults(store, space):
                what = f"the index {fault.name} {fault.what}"
                yield Violation("find_indexes", "", "", fault.name, 1, what, fault.cure)


def _gaps(entries: Sequence[Entry]) -> Iterator[str]:
    """A note on each graph that has gaps: those are known, and no fault of the graph's."""
    for name in sorted({name for entry in entries for name in entry.graphs}):
        lacking = [one for one in entries if name in one.graphs and one.graphs[name].gaps]
        if lacking:
            gaps = sum(one.graphs[name].gaps for one in lacking)
            others = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            yield (
                f"Gaps in {name}: {gaps:,}, of {lacking[0].title}{others}; `fabula ingest --retry` "
                "asks for them again."
            )


def _doubts(entries: Sequence[Entry], graphs: Iterable[Graph[Any]]) -> Iterator[str]:
    """What graphs tell of documents that a model may be unfit for; of the first MOST of them."""
    doubted = (
        (entry, graph, said)
        for graph in graphs
        for entry in entries
        if graph.name in entry.graphs and (said := graph.doubt(entry.graphs[graph.name].facts))
    )
    for entry, graph, said in islice(doubted, MOST):
        yield f"In {graph.name} of {entry.title}, {'; '.join(said)}."


def _notes(store: Store, collection: str, document: str) -> Iterator[str]:
    for space in store.spaces():
        if space.phase and collection in ("", space.collection):
            yield f"Collection {space.collection!r} is being re-embedded with {space.target}."
    runs = store.broken_off()
    [left] = store.rows("core/count_left_over", collection=collection, document=document, runs=runs)
    if left["nodes"]:
        yield (
            f"{left['nodes']:,} nodes are left over from what was replaced, or was broken off; no "
            "reader sees them, and the next ingest deletes them."
        )
    [staged] = store.rows("core/count_staged", collection=collection, runs=runs)
    if staged["nodes"]:
        yield (
            f"{staged['nodes']:,} nodes are staged by {staged['runs']} ingests that go on now; no "
            "reader sees them."
        )
