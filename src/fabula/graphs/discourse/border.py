"""Where events and links become nodes and edges, as every graph has them, and back."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.method import Known
from fabula.graphs.discourse import ids
from fabula.graphs.discourse.senses import Senses
from fabula.graphs.discourse.values import RESOLVED, SLOTS, Event, Link
from fabula.text import tokens
from fabula.text.document import Chunk

EVENT, TERM, LINK = "Event", "Term", "Link"
FROM_CHUNK, IS, ARG1, ARG2 = "FROM_CHUNK", "IS", "ARG1", "ARG2"
SLOT_EDGES = {slot: slot.upper() for slot in SLOTS}
EVENTS, LINKS = "events", "links"
"""The steps in which a chat model is asked, and in which there may be gaps."""
JUDGED_BY = "senses"
"""The fact that has the digest of the set of senses by which pairs were judged."""
CAPTION = 60
"""Most characters of an event's name."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier build made of a document.

    `read` are the ids of the chunks that a model read for events, whether it found some or not,
    and `judged` the pairs of chunks that it was asked about, whether they are linked or not.
    """

    events: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    links: Mapping[tuple[str, str], Link] = field(default_factory=dict)
    read: frozenset[str] = frozenset()
    judged: frozenset[tuple[str, str]] = frozenset()


# Out


def nodes_and_edges(
    document: str,
    events: Sequence[Event],
    links: Sequence[Link],
    chunks: Sequence[Chunk],
    normal: Callable[[str], str],
    cause: Callable[[str], str],
    by: str,
) -> tuple[list[Node], list[Edge]]:
    """Events, their terms and links, with what ties them, but for whom terms stand for.

    `normal` says how values are compared, those that it makes '' of being no terms; `cause` which
    argument of a sense is the cause of the other; `by` who said it: "model" or "rules".
    """
    placed = {chunk.id: chunk for chunk in chunks}
    nodes: list[Node] = []
    edges: list[Edge] = []
    uses: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for event in events:
        id = ids.event_id(event.chunk, event.ordinal)
        nodes.append(_event_node(id, event, placed[event.chunk], by))
        edges.append(Edge(FROM_CHUNK, id, event.chunk))
        for slot, value in event.slots.items():
            if key := normal(value):
                uses[slot, key].append((event.chunk, value))
                edges.append(Edge(SLOT_EDGES[slot], id, ids.term_id(document, slot, key)))
    for (slot, key), told in uses.items():
        id = ids.term_id(document, slot, key)
        nodes.append(_term_node(id, slot, key, told, placed))
    for link in links:
        id = ids.link_id(link.arg1, link.arg2)
        nodes.append(_link_node(id, link, placed, cause(link.sense), by))
        edges += [Edge(ARG1, id, link.arg1), Edge(ARG2, id, link.arg2)]
    return nodes, edges


def ties_to_entities(
    terms: Iterable[Node], stands_for: Callable[[str, str], Iterable[str]]
) -> list[Edge]:
    """From each term of who and where to the entities that it stands for, by slot and text."""
    return [
        Edge(IS, term.id, entity)
        for term in terms
        if term.label == TERM and term.properties["slot"] in RESOLVED
        for entity in stands_for(term.properties["slot"], term.properties["text"])
    ]


def _event_node(id: str, event: Event, chunk: Chunk, by: str) -> Node:
    text = "; ".join(event.slots[slot] for slot in SLOTS if slot in event.slots)
    name = textwrap.shorten(text, CAPTION, placeholder="…")
    told = {"name": name, **event.slots, "ordinal": event.ordinal, "by": by}
    return Node(id, EVENT, {**told, **_place([chunk], text)}, (chunk.id,))


def _term_node(
    id: str, slot: str, key: str, told: Sequence[tuple[str, str]], placed: Mapping[str, Chunk]
) -> Node:
    """A term is called as it is most often, and of those as it is first."""
    [(text, _)] = Counter(value for _, value in told).most_common(1)
    sources = sorted({chunk for chunk, _ in told}, key=lambda one: placed[one].index)
    own = {"name": text, "slot": slot, "key": key, "count": len(told)}
    return Node(id, TERM, {**own, **_place([placed[sources[0]]], text)}, tuple(sources))


def _link_node(id: str, link: Link, placed: Mapping[str, Chunk], cause: str, by: str) -> Node:
    told = {
        "name": link.sense.rpartition(".")[2],
        "sense": link.sense,
        "form": link.form,
        "connective": link.connective,
        "cause": cause,
        "by": by,
    }
    text = f"{link.connective}: {link.sense}" if link.connective else link.sense
    ends = [placed[link.arg1], placed[link.arg2]]
    return Node(id, LINK, {**told, **_place(ends, text)}, (link.arg1, link.arg2))


def _place(chunks: Sequence[Chunk], text: str) -> dict[str, Any]:
    first, last = chunks[0], chunks[-1]
    place = {"aspect": "", "level": 0, "section": first.section}
    place |= {"start": first.start, "end": last.end}
    return {**place, "text": text, "tokens": tokens.count(text)}


# Back


def read(known: Known, senses: Senses) -> Earlier:
    """What is known of a document, by its chunks as they were; of links only by the same senses."""
    events: dict[str, list[Event]] = defaultdict(list)
    links: dict[tuple[str, str], Link] = {}
    for node in known.nodes:
        told = node.properties
        if node.label == EVENT:
            slots = {slot: told[slot] for slot in SLOTS if told.get(slot)}
            events[node.sources[0]].append(Event(node.sources[0], told["ordinal"], slots))
        elif node.label == LINK:
            arg1, arg2 = node.sources
            links[arg1, arg2] = Link(arg1, arg2, told["sense"], told["form"], told["connective"])
    missing = {step: [gap for gap in known.gaps if gap.step == step] for step in (EVENTS, LINKS)}
    unread = {id for gap in missing[EVENTS] for id in gap.sources}
    unjudged = {pair for gap in missing[LINKS] for pair in pairs_of(gap.properties["pairs"])}
    is_judged = known.facts.get(JUDGED_BY) == senses.digest
    ordered = [chunk.id for chunk in sorted(known.chunks, key=lambda chunk: chunk.index)]
    return Earlier(
        {id: sorted(some, key=lambda event: event.ordinal) for id, some in events.items()},
        links if is_judged else {},
        frozenset(ordered) - unread,
        frozenset(pairwise(ordered) if is_judged else ()) - unjudged,
    )


def told_pairs(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Pairs as a gap keeps them: a list of ids, two by two."""
    return [id for pair in pairs for id in pair]


def pairs_of(told: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs as a gap has kept them."""
    return list(zip(told[::2], told[1::2], strict=True))
