"""Check the graph: every invariant is a statement that finds the nodes that break it."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.graph.method import Graph
from fabula.graph.queries import FOLDER, read_statement_file
from fabula.store import Store, schema

MAX_FINDINGS = 20
"""How many findings of one invariant are reported; each is about all nodes of one document."""
MAX_COUNTED = 100_000
"""How many findings of one invariant are counted."""

REBUILD = "run `fabula ingest --rebuild --collection {collection} {source}`"
RENEW = "run `fabula renew --collection {collection}`"
DELETE = (
    "ingest the file they came from again, or delete them in Neo4j with "
    "`MATCH (n:Part|Passage|Element) WHERE n.document {which} DETACH DELETE n`"
)


Damage = Literal["indexes", "vectors", "content"]
"""The kinds of what breaks an invariant: indexes that can't be used, vectors that no search finds,
and all other nodes and edges."""
OF_STATEMENT: Mapping[str, Damage] = {"find_indexes": "indexes", "check_embeddings": "vectors"}
"""Which kind the findings of a statement are; those of others are `content`."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with a document or with the graph.

    Attributes:
        kind: Which kind of damage it is.
        graph: The name of the graph whose nodes break the invariant; '' for the core's own.
        invariant: The name of the statement in `cypher/` that found it.
        document: The document's id; empty for the graph.
        title: The document's title; empty for the graph.
        id: The id of one of the nodes that break the invariant.
        count: How many nodes break it.
        what: What is wrong.
        cure: What to do.
    """

    kind: Damage
    graph: str
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
        counts: How much is damaged of each kind: indexes, vectors, nodes of other invariants, and
            gaps.
        violations: What is wrong; at most `MAX_FINDINGS` of each invariant.
        wrong_parts: The graph and the document's id of each part that breaks an invariant of its
            graph; the id is '' for a part of the collection itself.
        notes: Sentences about what is right and worth knowing.
    """

    documents: int
    passages: int
    graphs: Mapping[str, int]
    counts: Mapping[str, int]
    violations: tuple[Violation, ...]
    wrong_parts: frozenset[tuple[str, str]]
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
    counts = Counter(dict.fromkeys(get_args(Damage), 0))
    found: Counter[str] = Counter()
    shown = []
    for violation in violations:
        counts[violation.kind] += violation.count
        found[violation.invariant] += 1
        if found[violation.invariant] <= MAX_FINDINGS:
            shown.append(violation)
    gaps = sum(entry.gaps for entry in entries)
    return CheckFindings(
        len(entries),
        counted["passages"],
        dict(built),
        {**counts, "gaps": gaps},
        tuple(shown),
        frozenset((each.graph, each.document) for each in violations if each.graph),
        notes,
    )


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

    def violations(self, document: str, entries: Sequence[Entry]) -> list[Violation]:
        """Return what breaks an invariant, of one document or of all that is checked."""
        parameters = {"collection": self.collection, "document": document, "limit": MAX_COUNTED}
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
            kind=OF_STATEMENT.get(name, "content"),
            graph=graph.name if graph else "",
            invariant=name,
            document=row["document"] or "",
            title=owner.title if owner else "",
            id=row["id"] or "",
            count=row["count"],
            what=row["what"],
            cure=self._cure(graph, name, row["document"], owner),
        )

    def _cure(
        self, graph: Graph[Any] | None, statement: str, document: str | None, owner: Entry | None
    ) -> str:
        """Return what to do; commands are quoted so that they can be pasted into a shell."""
        if (owner and (graph or statement in OF_STATEMENT)) or document == "":
            collection = owner.collection if owner else self.collection or "NAME"
            return RENEW.format(collection=shlex.quote(collection))
        if owner:
            collection, source = shlex.quote(owner.collection), shlex.quote(owner.source)
            return REBUILD.format(collection=collection, source=source)
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
                yield Violation(
                    "indexes", "", "find_indexes", "", "", fault.name, 1, what, fault.cure
                )


def _gap_notes(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a note on each graph that has gaps, which are known and no violation."""
    for name in sorted({name for entry in entries for name in entry.graphs}):
        lacking = [entry for entry in entries if name in entry.graphs and entry.graphs[name].gaps]
        if lacking:
            gaps = sum(entry.graphs[name].gaps for entry in lacking)
            others = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            yield (
                f"Gaps in {name}: {gaps:,}, of {lacking[0].title}{others}; `fabula renew` "
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
