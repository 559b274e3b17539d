"""Map summaries, details and gaps to nodes and edges, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.graph import Edge, Gap, Node
from fabula.graph.method import Known, PieceListener
from fabula.graph.places import make_name
from fabula.graphs.aspects.labels import DETAIL, DETAILS, MODEL, RULES, SUMMARIZES, SUMMARY
from fabula.graphs.aspects.values import ClusterMember, Detail, MissingReply, StoredAspects, Summary
from fabula.text.document import Chunk, empty_vector

PLACE = ("section", "start", "end", "text", "tokens")
"""Properties that summaries and details have under the same names as chunks."""


def make_nodes(
    chunks: Sequence[Chunk],
    summaries: Sequence[Summary],
    details: Sequence[Detail],
    by: str = MODEL,
) -> tuple[Node, ...]:
    """Return the nodes of summaries, then of details; their sources are the chunks below them.

    `by` is who wrote them: MODEL, or RULES, which only quote the text.
    """
    below = _chunks_below(chunks, summaries)
    summary_nodes = [
        _summary_node(summary, tuple(chunks[row].id for row in sorted(below[summary.id])), by)
        for summary in summaries
    ]
    return (*summary_nodes, *(_detail_node(detail, by) for detail in details))


def _summary_node(summary: Summary, sources: tuple[str, ...], by: str) -> Node:
    return Node(
        summary.id,
        SUMMARY,
        {
            "name": summary_name(summary.aspect, summary.level, summary.text, by),
            "by": by,
            "aspect": summary.aspect,
            "level": summary.level,
            **_place(summary),
        },
        sources,
        summary.embedding,
    )


def _detail_node(detail: Detail, by: str) -> Node:
    return Node(
        detail.id,
        DETAIL,
        {"aspect": "", "level": 0, "ordinal": detail.ordinal, "by": by, **_place(detail)},
        (detail.chunk,),
        detail.embedding,
    )


class AspectPieces:
    """Passes summaries and details on as soon as they are embedded, as pieces of the part.

    Each summary comes after those that it is made from. Threads may share it: those of the trees of
    several aspects do, and none of them adds what another one looks for.
    """

    def __init__(self, chunks: Sequence[Chunk], by: str, listener: PieceListener | None) -> None:
        self._chunks, self._by, self._listener = chunks, by, listener
        self._below = {chunk.id: frozenset([row]) for row, chunk in enumerate(chunks)}

    def add(self, summaries: Sequence[Summary] = (), details: Sequence[Detail] = ()) -> None:
        """Pass on summaries of one level, or details, all with embeddings."""
        if self._listener is None or not (summaries or details):
            return
        nodes = []
        for summary in summaries:
            below = [self._below[member.id] for member in summary.members]
            rows = frozenset[int]().union(*below)
            self._below[summary.id] = rows
            sources = tuple(self._chunks[row].id for row in sorted(rows))
            nodes.append(_summary_node(summary, sources, self._by))
        nodes += [_detail_node(detail, self._by) for detail in details]
        self._listener(nodes, make_edges(summaries, details))


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
            by=node.properties["by"],
            **_read_place(node),
        )
        for node in known.nodes
        if node.label == SUMMARY
    ]
    details = [
        Detail(
            chunk=chunk_of[node.id],
            ordinal=node.properties["ordinal"],
            by=node.properties["by"],
            **_read_place(node),
        )
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


def summary_name(aspect: str, level: int, text: str, by: str = MODEL) -> str:
    """Return a caption for Neo4j Browser, as 'plot 2: Scrooge, a miser in London,…'.

    An extract says so, as in 'plot 2, extract: ...'.
    """
    mark = ", extract" if by == RULES else ""
    return f"{aspect} {level}{mark}: {make_name(text)}"


def _place(passage: Summary | Detail) -> dict[str, Any]:
    return {name: getattr(passage, name) for name in PLACE}


def _read_place(node: Node) -> dict[str, Any]:
    place = {name: node.properties[name] for name in PLACE}
    embedding = empty_vector() if node.embedding is None else node.embedding
    return {"id": node.id, "embedding": embedding, **place}
