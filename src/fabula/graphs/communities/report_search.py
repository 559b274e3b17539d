"""What the modes over communities share: reading reports, choosing a level, ranking, fallbacks.

A report takes part in an answer at its own level, or above it where its branch of communities goes
no deeper. A report whose community was divided takes part beside the reports on its parts only
where some of its members are in none of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabula.ask import hybrid
from fabula.ask.fusion import fuse_by_scores
from fabula.graph.hits import Filters, Hit
from fabula.graph.installed import graph, graphs_upon
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graph.recipes import is_outdated
from fabula.graphs.entities.modes import local
from fabula.graphs.entities.modes.options import LocalOptions
from fabula.graphs.entities.retrieval import chunk_hits, report_hit
from fabula.models.prompts import without_notice
from fabula.text.document import Vector
from fabula.text.ranking import bm25
from fabula.text.stems import stemmer_of

SOURCE_GRAPHS = ("text", "entities")
"""The graphs that reports are made from: when one of these changes, reports are read again."""
COLLECTION_GRAPH = "collection_communities"
"""The graph of a collection's own communities."""
MIN_NEAREST = 200
"""How many reports the vector index is asked for at least: all those of most novels. The index also
has reports of levels that the question is not asked of."""
MAX_CHUNKS_PER_FINDING = 5
"""A finding leads to at most this many chunks: those with the strongest evidence, which are first.
"""


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """One thing that a report states."""

    text: str
    chunks: tuple[str, ...]
    """The ids of the chunks with the strongest evidence for it."""


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A report as it is read from the graph; its `hit` has its id, level, text and place."""

    hit: Hit
    parent: str
    """The id of the nearest report above it; '' where there is none."""
    chunks: int
    """How many chunks mention its community's members."""
    importance: float
    title: str
    summary: str
    findings: tuple[StoredFinding, ...]
    uncovered_levels: frozenset[int] = frozenset()
    """Levels at which some of its community's members are in no report below it."""
    terms: tuple[str, ...] = ()
    """The stems of its content words, in order: they are compared with those of each question."""

    @property
    def id(self) -> str:
        """The report's id."""
        return self.hit.id


# Reading reports


def read_reports(filters: Filters, tools: Tools) -> tuple[StoredReport, ...]:
    """Return all reports of a collection, or of one document of it, by level.

    They are read once after every change of the graph, and kept in memory with the connection.

    Args:
        filters: The collection, and the document if the question is limited to one.
        tools: Its option `scope` says whether to read the documents' reports or the collection's
            own. A question that is limited to one document gets the document's reports in any case.
    """
    with tools.trace.step("reports") as step:
        graph_name, whole = "communities", filters.open
        if tools.options.scope == "collection" and filters.is_part:
            step.note = "of the documents that are asked; "
        elif tools.options.scope == "collection":
            graph_name = COLLECTION_GRAPH
        cached = tools.store.cached(
            graph_name,
            whole,
            (*SOURCE_GRAPHS, graph_name),
            lambda: (_read(whole, graph_name, tools), _staleness_note(whole, tools)),
            uses=graphs_upon("entities"),
        )
        reports, staleness = cached or ((), "")
        step.note += f"{len(reports):,}"
        step.note += staleness if graph_name == COLLECTION_GRAPH else ""
    return reports


def _read(filters: Filters, graph_name: str, tools: Tools) -> tuple[StoredReport, ...]:
    kind = "collectioncommunity" if graph_name == COLLECTION_GRAPH else "community"
    return make_reports(
        tools.store.read(read_statement("communities/find_reports"), filters, kind=kind)
    )


def make_reports(rows: Sequence[Mapping[str, Any]]) -> tuple[StoredReport, ...]:
    """Return the reports in rows of communities, each with the nearest report above it.

    A community may have no report: because no model gave one, or because it has one member.

    Args:
        rows: Rows of the statement `communities/find_reports`, one for each community.
    """
    parents = {row["community"]: row["parent"] for row in rows}
    report_ids = {row["community"]: row["id"] for row in rows if row["id"]}

    def find_parent(community: str) -> str:
        seen = {community}
        # `seen` ends the walk where edges form a ring, as a hand-edited graph may have one.
        while (parent := parents.get(community)) and parent not in seen:
            if parent in report_ids:
                return str(report_ids[parent])
            seen.add(parent)
            community = parent
        return ""

    divided = set(parents.values())
    deepest = max((row["level"] for row in rows), default=0)
    uncovered: dict[str, set[int]] = {}
    for row in rows:
        if not row["id"]:
            level = row["level"]
            # Deeper down, the reports on its parts cover its members.
            last = level if row["community"] in divided else deepest
            levels = uncovered.setdefault(find_parent(row["community"]), set())
            levels.update(range(level, last + 1))
    return tuple(
        StoredReport(
            hit=report_hit(row, 0.0),
            parent=find_parent(row["community"]),
            chunks=row["chunks"],
            importance=float(row["importance"]),
            title=row["heading"],
            summary=row["summary"],
            findings=_findings(row),
            uncovered_levels=frozenset(uncovered.get(row["id"], ())),
            terms=_terms(report_hit(row, 0.0)),
        )
        for row in rows
        if row["id"]
    )


def _terms(hit: Hit) -> tuple[str, ...]:
    return tuple(stemmer_of(hit.language).search_terms(hit.text))


def _findings(row: Mapping[str, Any]) -> tuple[StoredFinding, ...]:
    """Return a report's findings; if it has none, its whole text as one finding."""
    findings = [
        StoredFinding(
            f"{finding['summary']} {finding['explanation']}".strip(),
            tuple(finding["chunks"][:MAX_CHUNKS_PER_FINDING]),
        )
        for finding in json.loads(row["findings"] or "[]")
    ]
    whole = StoredFinding(row["text"], tuple(row["sources"][:MAX_CHUNKS_PER_FINDING]))
    return tuple(findings) or (whole,)


def _staleness_note(filters: Filters, tools: Tools) -> str:
    """Return a note if documents changed since the collection's own communities were built."""
    records = tools.store.collection_parts(filters.collection)
    if COLLECTION_GRAPH not in records:
        return ""
    documents = tools.store.documents(filters.collection)
    if is_outdated(graph(COLLECTION_GRAPH), documents, records):
        return f"; documents changed since they were made: run `fabula build {COLLECTION_GRAPH}`"
    return ""


# Choosing reports of a level


def allowed_reports(reports: Sequence[StoredReport], filters: Filters) -> list[StoredReport]:
    """Return the reports whose level the filters allow."""
    return [report for report in reports if filters.allows("report", level=report.hit.level)]


def reports_at_level(reports: Iterable[StoredReport], level: int) -> list[StoredReport]:
    """Return the reports of one level, and those above it whose branch goes no deeper.

    So every entity counts once, with the deepest report on it down to that level. The exception: a
    report is also taken if one of its members is in no deeper report, and then its other members
    count twice.
    """
    within = [report for report in reports if report.hit.level <= level]
    parents = {report.parent for report in within}
    deepest = max((report.hit.level for report in within), default=0)
    return [
        report
        for report in within
        if report.id not in parents or deepest in report.uncovered_levels
    ]


# Ranking reports


def rank_by_cosine(
    vector: Vector, reports: Sequence[StoredReport], filters: Filters, tools: Tools, limit: int
) -> list[StoredReport]:
    """Return the reports nearest to a vector, best first; their cosine becomes their score.

    The vector index finds them, so that no embedding is read for it.

    Args:
        vector: The vector, of length 1.
        reports: The reports that count.
        filters: The collection, and the document if it is only one.
        tools: The tools of the mode, whose option `scope` says which reports are meant.
        limit: How many are needed. There may be more, and fewer if many others are nearer.
    """
    is_own = tools.options.scope == "collection" and not filters.is_part
    limit = max(2 * limit, MIN_NEAREST)
    rows = tools.find_rows(
        read_statement("communities/find_nearest_reports"),
        vector,
        filters.open,
        kind="collectionreport" if is_own else "report",
        limit=limit,
        depth=2 * limit,
    )
    by_id = {report.id: report for report in reports}
    return [
        replace(by_id[row["id"]], hit=replace(by_id[row["id"]].hit, score=row["score"]))
        for row in rows
        if row["id"] in by_id
    ]


def rank_by_cosine_and_words(
    question: str, reports: Sequence[StoredReport], filters: Filters, tools: Tools
) -> list[StoredReport]:
    """Return reports by cosine and BM25, combined with the weights of the mode `hybrid`.

    Reports that neither share a word with the question nor are among the nearest come last.
    """
    question = without_notice(question)
    vector = tools.embed(question)
    with tools.trace.step("rank", "reports by cosine and words") as step:
        nearest = rank_by_cosine(vector, reports, filters, tools, tools.k)
        by_cosine = [report.hit for report in nearest]
        languages = {report.hit.language for report in reports}
        terms = {
            term for language in languages for term in stemmer_of(language).search_terms(question)
        }
        scores = bm25(terms, [report.terms for report in reports]).tolist()
        by_words = [
            replace(report.hit, score=score)
            for report, score in zip(reports, scores, strict=True)
            if score > 0
        ]
        weight = hybrid.weigh_words(tools)
        ranked = fuse_by_scores([(by_words, weight), (by_cosine, 1 - weight)], len(reports))
        step.record(ranked)
    by_id = {report.id: report for report in reports}
    found = {hit.id for hit in ranked}
    rest = (report for report in reports if report.id not in found)
    others = [replace(report, hit=replace(report.hit, score=0.0)) for report in rest]
    return [replace(by_id[hit.id], hit=hit) for hit in ranked] + others


def to_hits(ranked: Sequence[StoredReport], filters: Filters, tools: Tools) -> list[Hit]:
    """Return the best reports as hits; where the filters allow no report, the chunks behind them.

    A chunk gets the score of the best report that leads to it. Those of one report come in the
    order in which its findings rest on them: their ids would be another order in each folder.
    """
    hits = [report.hit for report in allowed_reports(ranked, filters)]
    if hits:
        return hits[: tools.k]
    scores: dict[str, float] = {}
    for report in ranked:
        for finding in report.findings:
            for chunk in finding.chunks:
                scores.setdefault(chunk, report.hit.score)
    places = {chunk: place for place, chunk in enumerate(scores)}
    hits = chunk_hits(scores, filters, tools)
    return sorted(hits, key=lambda hit: (-hit.score, places[hit.id]))[: tools.k]


# Without reports


def fall_back(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return what `local` finds, where there are no reports; where it finds nothing, `hybrid`."""
    note = "there are no reports: entities are searched, as by local"
    with tools.trace.step("fall back", note) as step:
        hits = local.retrieve(question, filters, replace(tools, options=LocalOptions()))
        step.record(hits)
    if hits:
        return hits
    return hybrid.fall_back(question, "there are no entities", filters, tools)
