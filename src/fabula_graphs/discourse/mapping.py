"""Convert events and links to nodes and edges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.places import make_name, place_text
from fabula.text.document import Chunk
from fabula_graphs.discourse import ids
from fabula_graphs.discourse.labels import (
    ARG1,
    ARG2,
    EVENT,
    FROM_CHUNK,
    IS,
    LINK,
    SLOT_EDGES,
    SLOTS,
    TERM,
)
from fabula_graphs.discourse.values import RESOLVED, Event, Link


def nodes_and_edges(
    document: str,
    events: Sequence[Event],
    links: Sequence[Link],
    chunks: Sequence[Chunk],
    normal: Callable[[str], str],
    cause: Callable[[str], str],
) -> tuple[list[Node], list[Edge]]:
    """Return events, their terms and links, and the edges between them.

    Args:
        document: The document's id.
        events: What happens in the chunks.
        links: How neighbouring chunks hang together.
        chunks: All chunks of the document.
        normal: The form by which values are compared; those whose form is '' are no terms.
        cause: Which argument of a sense is the cause of the other: "arg1", "arg2" or ''.
    """
    chunks_by_id = {chunk.id: chunk for chunk in chunks}
    nodes: list[Node] = []
    edges: list[Edge] = []
    uses: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for event in events:
        id = ids.event_id(event.chunk, event.ordinal)
        nodes.append(_event_node(id, event, chunks_by_id[event.chunk]))
        edges.append(Edge(FROM_CHUNK, id, event.chunk))
        for slot, value in event.slots.items():
            if key := normal(value):
                uses[slot, key].append((event.chunk, value))
                edges.append(Edge(SLOT_EDGES[slot], id, ids.term_id(document, slot, key)))
    for (slot, key), values in uses.items():
        id = ids.term_id(document, slot, key)
        nodes.append(_term_node(id, slot, key, values, chunks_by_id))
    for link in links:
        id = ids.link_id(link.arg1, link.arg2)
        nodes.append(_link_node(id, link, chunks_by_id, cause(link.sense)))
        edges += [Edge(ARG1, id, link.arg1), Edge(ARG2, id, link.arg2)]
    return nodes, edges


def ties_to_entities(
    terms: Iterable[Node], stands_for: Callable[[str, str], Iterable[str]]
) -> list[Edge]:
    """Return the edges from terms of who and where to the entities that they stand for.

    `stands_for` gives the ids of these entities by slot and text.
    """
    return [
        Edge(IS, term.id, entity)
        for term in terms
        if term.label == TERM and term.properties["slot"] in RESOLVED
        for entity in stands_for(term.properties["slot"], term.properties["text"])
    ]


def _event_node(id: str, event: Event, chunk: Chunk) -> Node:
    text = "; ".join(event.slots[slot] for slot in SLOTS if slot in event.slots)
    properties = {"name": make_name(text), **event.slots, "ordinal": event.ordinal}
    return Node(id, EVENT, {**properties, **place_text(text, chunk)}, (chunk.id,))


def _term_node(
    id: str, slot: str, key: str, values: Sequence[tuple[str, str]], chunks: Mapping[str, Chunk]
) -> Node:
    """The node of a term, named by its commonest value, the first of those that are as common."""
    [(text, _)] = Counter(value for _, value in values).most_common(1)
    sources = sorted({chunk for chunk, _ in values}, key=lambda chunk: chunks[chunk].index)
    properties = {"name": text, "slot": slot, "key": key, "count": len(values)}
    return Node(id, TERM, {**properties, **place_text(text, chunks[sources[0]])}, tuple(sources))


def _link_node(id: str, link: Link, chunks: Mapping[str, Chunk], cause: str) -> Node:
    properties: dict[str, Any] = {
        "name": link.sense.rpartition(".")[2],
        "sense": link.sense,
        "form": link.form,
        "connective": link.connective,
        "cause": cause,
    }
    text = f"{link.connective}: {link.sense}" if link.connective else link.sense
    properties |= place_text(text, chunks[link.arg1], chunks[link.arg2])
    return Node(id, LINK, properties, (link.arg1, link.arg2))
