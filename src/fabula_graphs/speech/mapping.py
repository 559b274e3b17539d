"""Convert quotations to nodes and edges."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.extraction import RULES
from fabula.graph.places import make_name, place_text
from fabula.text.document import Chunk
from fabula.text.ids import digest
from fabula_graphs.speech.labels import FROM_CHUNK, QUOTATION, SPOKEN_BY, SPOKEN_TO
from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.values import Placed, Spoken


def place_quotations(spoken: Sequence[Spoken], chunks: Sequence[Chunk]) -> list[Placed]:
    """Return the quotations with the chunks in which they begin."""
    starts = [chunk.start for chunk in chunks]
    placed = []
    for said in spoken:
        row = bisect_right(starts, said.quotation.start) - 1
        if row >= 0:
            offset = said.quotation.start - chunks[row].start
            placed.append(Placed(said, chunks[row].id, offset, RULES))
    return placed


def nodes_and_edges(
    placed: Sequence[Placed], chunks: Sequence[Chunk], text: str, persons: Persons
) -> tuple[list[Node], list[Edge]]:
    """Return the quotations as nodes without embeddings, and their edges to chunks and entities.

    A quotation rests on all chunks that have a part of it. Speakers and addressees are named as
    their entities are, or where there is none, as the text prints them.
    """
    starts = [chunk.start for chunk in chunks]
    nodes: list[Node] = []
    edges: list[Edge] = []
    for item in placed:
        said = item.spoken
        quotation = said.quotation
        first = bisect_right(starts, quotation.start) - 1
        last = bisect_right(starts, quotation.end - 1) - 1
        sources = chunks[first : last + 1]
        length = str(quotation.end - quotation.start)
        id = digest(10, "quotation", item.chunk, str(item.offset), length)
        ends = {SPOKEN_BY: said.speaker, SPOKEN_TO: said.addressee}
        keys = {type: persons.find(name) if name else "" for type, name in ends.items()}
        names = {
            type: persons.names[key] if key in persons.entities else ends[type]
            for type, key in keys.items()
        }
        printed = text[quotation.start : quotation.end]
        title = f"{names[SPOKEN_BY] or '?'}: {printed}"
        properties: dict[str, Any] = {
            "name": make_name(title),
            "words": len(printed.split()),
            "speaker": names[SPOKEN_BY],
            "addressee": names[SPOKEN_TO],
            "printed": said.speaker,
            "printed_addressee": said.addressee,
            "evidence": " ".join(text[slice(*said.evidence)].split()),
            "evidence_start": said.evidence[0],
            "evidence_end": said.evidence[1],
            "mention_start": said.mention[0],
            "mention_end": said.mention[1],
            "rule": said.rule,
            "confidence": round(said.confidence, 2),
            "doubtful": said.is_doubtful,
            "manner": said.kind,
            "form": quotation.form,
            "turn": quotation.turn,
            "depth": quotation.depth,
            "continues": quotation.continues,
            "quoted_by": said.quoted_by,
            "quoted_until": said.quoted_until,
            "by": item.by,
            **place_text(printed, sources[0]),
            "start": quotation.start,
            "end": quotation.end,
        }
        nodes.append(Node(id, QUOTATION, properties, tuple(chunk.id for chunk in sources)))
        edges += [Edge(FROM_CHUNK, id, chunk.id) for chunk in sources]
        edges += [Edge(type, id, key) for type, key in keys.items() if key in persons.entities]
    return nodes, edges
