"""Where summaries and details become nodes and edges, as every graph has them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.graph import Edge, Gap, Node
from fabula.graph.method import Known
from fabula.graphs.aspects.values import Detail, Earlier, Member, Missing, Summary
from fabula.text.document import Chunk, not_embedded

SUMMARY, DETAIL = "Summary", "Detail"
SUMMARIZES, DETAILS = "SUMMARIZES", "DETAILS"
PLACE = ("section", "start", "end", "text", "tokens")
"""What both have, under the same names as a chunk."""
CAPTION = 60
"""Most characters of a summary's first words that are its name."""


def nodes_of(
    chunks: Sequence[Chunk], summaries: Sequence[Summary], details: Sequence[Detail]
) -> tuple[Node, ...]:
    """Summaries, then details; their sources are the chunks below them, in text order."""
    below = _chunks_below(chunks, summaries)
    told = [
        Node(
            one.id,
            SUMMARY,
            {
                "name": summary_name(one.aspect, one.level, one.text),
                "aspect": one.aspect,
                "level": one.level,
                **_place(one),
            },
            tuple(chunks[row].id for row in sorted(below[one.id])),
            one.embedding,
        )
        for one in summaries
    ]
    condensed = [
        Node(
            one.id,
            DETAIL,
            {"aspect": "", "level": 0, "ordinal": one.ordinal, **_place(one)},
            (one.chunk,),
            one.embedding,
        )
        for one in details
    ]
    return (*told, *condensed)


def edges_of(summaries: Sequence[Summary], details: Sequence[Detail]) -> tuple[Edge, ...]:
    """What each summary rests on, in the order of its members, and the chunk of each detail."""
    return (
        *(
            Edge(SUMMARIZES, one.id, member.id, {"weight": member.weight})
            for one in summaries
            for member in one.members
        ),
        *(Edge(DETAILS, one.id, one.chunk) for one in details),
    )


def gaps_of(
    chunks: Sequence[Chunk], summaries: Sequence[Summary], missing: Sequence[Missing]
) -> tuple[Gap, ...]:
    """What is missing, as gaps over the chunks, clusters and summaries that it was asked of."""
    below = _chunks_below(chunks, summaries)
    return tuple(
        Gap(
            one.step,
            one.why,
            tuple(
                chunks[row].id
                for row in sorted(set().union(*(below[member.id] for member in one.members)))
            ),
            {member.id: member.weight for member in one.members},
            {"aspect": one.aspect, "level": one.level},
        )
        for one in missing
    )


def read(known: Known) -> Earlier:
    """What is known, in an order that does not depend on the store's."""
    members: dict[str, list[Member]] = {}
    chunk: dict[str, str] = {}
    for edge in known.edges:
        if edge.type == SUMMARIZES:
            member = Member(edge.end, edge.properties["weight"])
            members.setdefault(edge.start, []).append(member)
        elif edge.type == DETAILS:
            chunk[edge.start] = edge.end
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
        Detail(chunk=chunk[node.id], ordinal=node.properties["ordinal"], **_read_place(node))
        for node in known.nodes
        if node.label == DETAIL and node.id in chunk
    ]
    missing = [
        Missing(
            gap.step,
            gap.why,
            tuple(Member(id, weight) for id, weight in gap.rests_on.items()),
            gap.properties["aspect"],
            gap.properties["level"],
        )
        for gap in known.gaps
    ]
    return Earlier(
        chunks=known.chunks,
        summaries=tuple(sorted(summaries, key=lambda one: (one.level, one.start, one.id))),
        details=tuple(sorted(details, key=lambda one: one.ordinal)),
        missing=tuple(missing),
        assigned=tuple(known.facts.get("assigned", ())),
        changed=known.facts.get("changed", 0),
    )


def _chunks_below(chunks: Sequence[Chunk], summaries: Sequence[Summary]) -> dict[str, set[int]]:
    """The rows of the chunks that each summary rests on, by its id."""
    below = {chunk.id: {row} for row, chunk in enumerate(chunks)}
    for one in sorted(summaries, key=lambda one: one.level):
        below[one.id] = set().union(*(below[member.id] for member in one.members))
    return below


def summary_name(aspect: str, level: int, text: str) -> str:
    """A caption, as 'plot 2: Scrooge, a miser in London,…'."""
    line = " ".join(text.split())
    first_words = line if len(line) <= CAPTION else f"{line[:CAPTION].rsplit(' ', 1)[0]}…"
    return f"{aspect} {level}: {first_words}"


def _place(one: Summary | Detail) -> dict[str, Any]:
    return {name: getattr(one, name) for name in PLACE}


def _read_place(node: Node) -> dict[str, Any]:
    place = {name: node.properties[name] for name in PLACE}
    embedding = not_embedded() if node.embedding is None else node.embedding
    return {"id": node.id, "embedding": embedding, **place}
