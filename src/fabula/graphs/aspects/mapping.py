"""Map summaries, details and gaps to nodes and edges, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.graph import Edge, Gap, Node
from fabula.graph.method import Known
from fabula.graphs.aspects.labels import DETAIL, DETAILS, SUMMARIZES, SUMMARY
from fabula.graphs.aspects.values import ClusterMember, Detail, MissingReply, StoredAspects, Summary
from fabula.text.document import Chunk, empty_vector

PLACE = ("section", "start", "end", "text", "tokens")
"""Properties that summaries and details have under the same names as chunks."""
MAX_NAME_CHARACTERS = 60
"""How much of a summary's first words is part of its name."""


def make_nodes(
    chunks: Sequence[Chunk], summaries: Sequence[Summary], details: Sequence[Detail]
) -> tuple[Node, ...]:
    """Return the nodes of summaries, then of details; their sources are the chunks below them."""
    below = _chunks_below(chunks, summaries)
    summary_nodes = [
        Node(
            summary.id,
            SUMMARY,
            {
                "name": summary_name(summary.aspect, summary.level, summary.text),
                "aspect": summary.aspect,
                "level": summary.level,
                **_place(summary),
            },
            tuple(chunks[row].id for row in sorted(below[summary.id])),
            summary.embedding,
        )
        for summary in summaries
    ]
    detail_nodes = [
        Node(
            detail.id,
            DETAIL,
            {"aspect": "", "level": 0, "ordinal": detail.ordinal, **_place(detail)},
            (detail.chunk,),
            detail.embedding,
        )
        for detail in details
    ]
    return (*summary_nodes, *detail_nodes)


def make_edges(summaries: Sequence[Summary], details: Sequence[Detail]) -> tuple[Edge, ...]:
    """Return edges from each summary to its members, in their order, and from details to chunks."""
    return (
        *(
            Edge(SUMMARIZES, summary.id, member.id, {"weight": member.weight})
            for summary in summaries
            for member in summary.members
        ),
        *(Edge(DETAILS, detail.id, detail.chunk) for detail in details),
    )


def make_gaps(
    chunks: Sequence[Chunk], summaries: Sequence[Summary], missing: Sequence[MissingReply]
) -> tuple[Gap, ...]:
    """Return what is missing as gaps over the chunks, clusters and summaries it is missing for."""
    below = _chunks_below(chunks, summaries)
    gaps = []
    for each in missing:
        rows: set[int] = set().union(*(below[member.id] for member in each.members))
        gaps.append(
            Gap(
                each.step,
                each.why,
                tuple(chunks[row].id for row in sorted(rows)),
                {member.id: member.weight for member in each.members},
                {"aspect": each.aspect, "level": each.level},
            )
        )
    return tuple(gaps)


def read_stored(known: Known) -> StoredAspects:
    """Return the aspect graph in a part, in an order that does not depend on the store's."""
    members: dict[str, list[ClusterMember]] = {}
    chunk_of: dict[str, str] = {}
    for edge in known.edges:
        if edge.type == SUMMARIZES:
            member = ClusterMember(edge.end, edge.properties["weight"])
            members.setdefault(edge.start, []).append(member)
        elif edge.type == DETAILS:
            chunk_of[edge.start] = edge.end
    summaries = [
        Summary(
            aspect=node.properties["aspect"],
            level=node.properties["level"],
            members=tuple(members.get(node.id, ())),
            **_read_place(node),
        )
        for node in known.nodes
        if node.label == SUMMARY
    ]
    details = [
        Detail(chunk=chunk_of[node.id], ordinal=node.properties["ordinal"], **_read_place(node))
        for node in known.nodes
        if node.label == DETAIL and node.id in chunk_of
    ]
    missing = [
        MissingReply(
            gap.step,
            gap.why,
            tuple(ClusterMember(id, weight) for id, weight in gap.rests_on.items()),
            gap.properties["aspect"],
            gap.properties["level"],
        )
        for gap in known.gaps
    ]
    summaries.sort(key=lambda summary: (summary.level, summary.start, summary.id))
    details.sort(key=lambda detail: detail.ordinal)
    return StoredAspects(
        chunks=known.chunks,
        summaries=tuple(summaries),
        details=tuple(details),
        missing=tuple(missing),
        assigned=tuple(known.facts.get("assigned", ())),
        changed=known.facts.get("changed", 0),
        rounds=known.facts.get("rounds", 0),
        missed=tuple(
            zip(known.facts.get("missed_in", ()), known.facts.get("missed", ()), strict=False)
        ),
    )


def _chunks_below(chunks: Sequence[Chunk], summaries: Sequence[Summary]) -> dict[str, set[int]]:
    """Return the rows of the chunks below each chunk or summary, by its id."""
    below = {chunk.id: {row} for row, chunk in enumerate(chunks)}
    for summary in sorted(summaries, key=lambda summary: summary.level):
        below[summary.id] = set().union(*(below[member.id] for member in summary.members))
    return below


def summary_name(aspect: str, level: int, text: str) -> str:
    """Return a caption for Neo4j Browser, as 'plot 2: Scrooge, a miser in London,…'."""
    line = " ".join(text.split())
    if len(line) > MAX_NAME_CHARACTERS:
        line = f"{line[:MAX_NAME_CHARACTERS].rsplit(' ', 1)[0]}…"
    return f"{aspect} {level}: {line}"


def _place(passage: Summary | Detail) -> dict[str, Any]:
    return {name: getattr(passage, name) for name in PLACE}


def _read_place(node: Node) -> dict[str, Any]:
    place = {name: node.properties[name] for name in PLACE}
    embedding = empty_vector() if node.embedding is None else node.embedding
    return {"id": node.id, "embedding": embedding, **place}
