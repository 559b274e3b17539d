"""What this graph's modes share: the reports, which of them take part, and what to fall back on.

A report takes part at its level, or above it where its branch goes no deeper. One that was made of
more than another takes part beside it only where some of its members are in no other that does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fabula.ask import hybrid
from fabula.ask.fusion import by_scores
from fabula.graph.calls import batches
from fabula.graph.hits import Filters, Hit
from fabula.graph.installed import graph
from fabula.graph.mode import Tools
from fabula.graph.queries import query
from fabula.graph.recipes import is_outdated
from fabula.graphs.entities.finding import allows_report, chunk_hits, report_hit
from fabula.graphs.entities.modes import local
from fabula.text.document import Vector
from fabula.text.ranking import bm25
from fabula.text.stems import stemmer_of

Scope = Literal["document", "collection"]
"""Whose communities are asked: those of each document, or the collection's own."""
BELOW = ("text", "entities")
"""What reports are of: once one of these has changed, they are read again, too."""
OWN = "collection_communities"
PROOFS = 5
"""Chunks that a finding is followed to: those that tell most of it, which come first."""


@dataclass(frozen=True, slots=True)
class AskedFinding:
    """One thing that a report says, and the ids of the chunks that tell most of it."""

    text: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedReport:
    """A report as modes ask it: its `hit` has id, level, text and place.

    `parent` is the id of the nearest report above it, '' where there is none; `chunks` are how many
    its community's entities are mentioned in.
    """

    hit: Hit
    parent: str
    chunks: int
    importance: float
    title: str
    summary: str
    findings: tuple[AskedFinding, ...]
    is_extract: bool = False
    """Whether no model wrote it."""
    untold: frozenset[int] = frozenset()
    """Levels at which some of its community's members are in no report below it."""

    @property
    def id(self) -> str:
        """The report's own."""
        return self.hit.id


# What there is


def read_reports(filters: Filters, tools: Tools) -> tuple[AskedReport, ...]:
    """The reports of a collection, or of one document of it, by level; none where there are none.

    Read once for every change, and kept beside the connection. `tools.knobs.scope` says whose: one
    document has its own alone.
    """
    with tools.path.step("reports") as step:
        name, whole = "communities", Filters(filters.collection, filters.document)
        if tools.knobs.scope == "collection" and filters.document:
            step.note = "of the one document that is asked; "
        elif tools.knobs.scope == "collection":
            name = OWN
        kept = tools.keep(
            name,
            whole,
            (*BELOW, name),
            lambda: (_read(whole, name, tools), _age(whole, tools)),
            uses=("identities",),
        )
        found, age = kept or ((), "")
        extracts = sum(one.is_extract for one in found)
        step.note += f"{len(found):,}" + (f", {extracts:,} of them extracts" if extracts else "")
        step.note += age if name == OWN else ""
    return found


def _read(filters: Filters, name: str, tools: Tools) -> tuple[AskedReport, ...]:
    kind = "collectioncommunity" if name == OWN else "community"
    return make_reports(tools.read(query("communities/find_reports"), filters, kind=kind))


def make_reports(rows: Sequence[Mapping[str, Any]]) -> tuple[AskedReport, ...]:
    """The reports of communities, each under the nearest one above it.

    A community may have none: no model gave it, or it is of one entity.
    """
    above = {row["community"]: row["parent"] for row in rows}
    report_of = {row["community"]: row["id"] for row in rows if row["id"]}

    def parent(community: str) -> str:
        seen = {community}
        while (up := above.get(community)) and up not in seen:
            if up in report_of:
                return str(report_of[up])
            seen.add(up)
            community = up
        return ""

    divided = set(above.values())
    deepest = max((row["level"] for row in rows), default=0)
    untold: dict[str, set[int]] = {}
    for row in rows:
        if not row["id"]:
            level = row["level"]
            # Deeper down its members are told of by what it is divided into.
            to = level if row["community"] in divided else deepest
            untold.setdefault(parent(row["community"]), set()).update(range(level, to + 1))
    return tuple(
        AskedReport(
            hit=report_hit(row, 0.0),
            parent=parent(row["community"]),
            chunks=row["chunks"],
            importance=float(row["importance"]),
            title=row["heading"],
            summary=row["summary"],
            findings=_findings(row),
            is_extract=row["by"] == "rules",
            untold=frozenset(untold.get(row["id"], ())),
        )
        for row in rows
        if row["id"]
    )


def _findings(row: Mapping[str, Any]) -> tuple[AskedFinding, ...]:
    """What a report says, by findings; where it has none, its text and all that it rests on."""
    told = [
        AskedFinding(
            f"{one['summary']} {one['explanation']}".strip(), tuple(one["chunks"][:PROOFS])
        )
        for one in json.loads(row["findings"] or "[]")
    ]
    return tuple(told) or (AskedFinding(row["text"], tuple(row["sources"][:PROOFS])),)


def _age(filters: Filters, tools: Tools) -> str:
    """Says of the collection's own communities that documents have changed since, if so."""
    settled = tools.store.settled(filters.collection)
    if OWN not in settled:
        return ""
    if is_outdated(graph(OWN), tools.store.documents(filters.collection), settled):
        return f"; documents changed since they were made: run `fabula build {OWN}`"
    return ""


# Which take part


def at_level(reports: Iterable[AskedReport], level: int) -> list[AskedReport]:
    """The reports of one level, and those above it whose branch goes no deeper.

    So every entity counts with its deepest report up to that level; twice only beside one that no
    deeper report is of.
    """
    within = [one for one in reports if one.hit.level <= level]
    divided = {one.parent for one in within}
    deepest = max((one.hit.level for one in within), default=0)
    return [one for one in within if one.id not in divided or deepest in one.untold]


# What a question is near to


def embed(texts: Sequence[str], tools: Tools) -> list[Vector]:
    """The embeddings of some texts, in as few requests as the embedder takes."""
    with tools.path.step("embed", f"{len(texts)} texts, {tools.embedder.model}"):
        divided = batches(texts, tools.embedder.batch)
        return [row for some in divided for row in tools.embedder.embed(some).vectors]


def by_cosine(
    vector: Vector, reports: Sequence[AskedReport], filters: Filters, tools: Tools
) -> list[AskedReport]:
    """The reports by the cosine of their whole texts, nearest first; each told its score."""
    vectors = tools.store.vectors(filters.collection, [one.id for one in reports])
    scored = [
        replace(one, hit=replace(one.hit, score=float(vectors[one.id] @ vector)))
        for one in reports
        if one.id in vectors
    ]
    return sorted(scored, key=lambda one: (-one.hit.score, one.id))


def by_meaning_and_words(
    question: str, reports: Sequence[AskedReport], filters: Filters, tools: Tools
) -> list[AskedReport]:
    """The reports by cosine and BM25, put together as `hybrid` does with passages."""
    vector = tools.embed(question)
    with tools.path.step("rank", "reports by cosine and words") as step:
        near = [one.hit for one in by_cosine(vector, reports, filters, tools)]
        languages = {one.hit.language for one in reports}
        asked = {term for language in languages for term in stemmer_of(language).terms(question)}
        words = [stemmer_of(one.hit.language).terms(one.hit.text) for one in reports]
        scores = bm25(asked, words).tolist()
        alike = [
            replace(one.hit, score=score)
            for one, score in zip(reports, scores, strict=True)
            if score > 0
        ]
        weight = hybrid.WORDS
        ranked = by_scores([(alike, weight), (near, 1 - weight)], len(reports))
        step.found(ranked)
    named = {one.id: one for one in reports}
    return [replace(named[hit.id], hit=hit) for hit in ranked]


def as_hits(ranked: Sequence[AskedReport], filters: Filters, tools: Tools) -> list[Hit]:
    """The best reports as hits; where the filters let none through, the chunks they rest on."""
    hits = [one.hit for one in ranked if allows_report(filters, one.hit.level)]
    if hits:
        return hits[: tools.k]
    scored: dict[str, float] = {}
    for one in ranked:
        for chunk in (id for finding in one.findings for id in finding.chunks):
            scored.setdefault(chunk, one.hit.score)
    hits = chunk_hits(scored, filters, tools)
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[: tools.k]


# What to fall back on


def fall_back(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """What `local` finds where there are no reports; and `hybrid`, where there are no entities."""
    with tools.path.step("fall back", "there are no reports: entities, as local has them") as step:
        hits = local.retrieve(question, filters, replace(tools, knobs=local.Knobs()))
        step.found(hits)
    if hits:
        return hits
    with tools.path.step("fall back", "there are no entities: passages, as hybrid has them") as one:
        hits = hybrid.retrieve(question, filters, replace(tools, knobs=hybrid.Knobs()))
        one.found(hits)
    return hits
