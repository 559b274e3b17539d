"""The events of a document in the order told, with whose they are: read of its discourse graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabula.graph import Edge, Node
from fabula.graphs.discourse.border import ARG1, ARG2, EVENT, IS, LINK, SLOT_EDGES, TERM
from fabula.graphs.discourse.values import SLOTS
from fabula.plot.network.figures import in_order
from fabula.text.document import Chunk

LANES: Mapping[str, int] = {"who": 14, "where": 7}
"""Lanes of people, and of places, at most: those of most events. The others share one."""
OTHERS: Mapping[str, str] = {"who": "others", "where": "elsewhere"}
NOBODY = "nobody named"
CLASSES: Mapping[str, str] = {
    "contingency": "cause",
    "contigency": "cause",
    "temporal": "time",
    "comparison": "contrast",
    "expansion": "more",
}
"""What a class of senses is called here, as small letters; one of them is so spelt in PDTB-2."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Somebody, or some place, whose events stand in one row. `slot` is who or where."""

    slot: str
    name: str
    events: int


@dataclass(frozen=True, slots=True)
class Happening:
    """An event as it is drawn: what is `told` of it by slot, the numbers of its chunk and lanes.

    `at` is where in the text it stands: 0 is the beginning, 1 the end.
    """

    id: str
    chunk: int
    at: float
    told: Mapping[str, str]
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tie:
    """How two chunks hang together: the `kind` is of CLASSES, the `cause` one of them, or -1."""

    id: str
    chunks: tuple[int, int]
    kind: str
    sense: str
    connective: str
    cause: int


@dataclass(frozen=True, slots=True)
class Story:
    """What happens in a document, in the order told, and how its passages hang together.

    `sections` have their titles and first chunks; `texts` are the chunks' own. `found` are the
    numbers of the chunks that a question found, best first. `by` is who read the events.
    """

    title: str
    author: str
    sections: tuple[tuple[str, int], ...]
    texts: tuple[str, ...]
    lanes: tuple[Lane, ...]
    events: tuple[Happening, ...]
    ties: tuple[Tie, ...]
    by: str
    question: str = ""
    mode: str = ""
    found: tuple[int, ...] = ()


def read_story(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    chunks: Sequence[Chunk],
    entities: Mapping[str, str],
) -> tuple[tuple[Lane, ...], tuple[Happening, ...], tuple[Tie, ...]]:
    """Lanes, events and ties of a discourse graph. `entities` are names of entities, by id."""
    places = {chunk.id: place for place, chunk in enumerate(in_order(chunks))}
    told = [node for node in nodes if node.label == EVENT and node.sources[0] in places]
    told.sort(key=lambda one: (places[one.sources[0]], one.properties["ordinal"], one.id))
    whose = _whose(nodes, edges, entities)
    rows = _rows([whose.get(one.id, {}) for one in told])
    lanes = [Lane(slot, name, count) for (slot, name), count in rows.items() if count]
    numbers = {(lane.slot, lane.name): number for number, lane in enumerate(lanes)}
    counts = Counter(one.sources[0] for one in told)
    seen: Counter[str] = Counter()
    events = []
    for one in told:
        chunk = one.sources[0]
        within = (seen[chunk] + 0.5) / counts[chunk]
        seen[chunk] += 1
        events.append(
            Happening(
                id=one.id,
                chunk=places[chunk],
                at=(places[chunk] + within) / len(places),
                told={slot: one.properties[slot] for slot in SLOTS if one.properties.get(slot)},
                lanes=_lanes(whose.get(one.id, {}), numbers),
            )
        )
    return tuple(lanes), tuple(events), _ties(nodes, edges, places)


def section_starts(chunks: Sequence[Chunk]) -> tuple[tuple[str, int], ...]:
    """The sections in text order, each with the number of its first chunk."""
    found: list[tuple[str, int]] = []
    for place, chunk in enumerate(in_order(chunks)):
        if not found or found[-1][0] != chunk.section:
            found.append((chunk.section, place))
    return tuple(found)


def _whose(
    nodes: Sequence[Node], edges: Sequence[Edge], entities: Mapping[str, str]
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Of each event the names of who, and of where: an entity's where it stands for one."""
    terms = {node.id: node.properties["text"] for node in nodes if node.label == TERM}
    stands: dict[str, list[str]] = defaultdict(list)
    slots = {SLOT_EDGES[slot]: slot for slot in LANES}
    found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for edge in edges:
        if edge.type == IS and edge.end in entities:
            stands[edge.start].append(entities[edge.end])
    for edge in edges:
        if edge.type in slots and edge.end in terms:
            names = sorted(set(stands[edge.end])) or [terms[edge.end]]
            slot = slots[edge.type]
            found[edge.start][slot] = (*found[edge.start].get(slot, ()), *names)
    return found


def _rows(whose: Sequence[Mapping[str, Sequence[str]]]) -> dict[tuple[str, str], int]:
    """How many events each lane has: people, most events first, the others, nobody; then places."""
    rows: dict[tuple[str, str], int] = {}
    for slot, most in LANES.items():
        counts = Counter(name for one in whose for name in set(one.get(slot, ())))
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        # One lane for a single other is as long as one for all of them.
        first = ranked if len(ranked) <= most + 1 else ranked[:most]
        rows |= {(slot, name): counts[name] for name in first}
        left = set(ranked[len(first) :])
        shared = {OTHERS[slot]: sum(not left.isdisjoint(one.get(slot, ())) for one in whose)}
        if slot == "who":
            shared[NOBODY] = sum(not one.get(slot) for one in whose)
        for name, count in shared.items():
            # Somebody may be called so.
            rows[slot, name] = rows.get((slot, name), 0) + count
    return rows


def _lanes(
    whose: Mapping[str, Sequence[str]], numbers: Mapping[tuple[str, str], int]
) -> tuple[int, ...]:
    found = {
        numbers.get((slot, name), numbers.get((slot, OTHERS[slot]), -1))
        for slot, names in whose.items()
        for name in names
    }
    if not whose.get("who"):
        found.add(numbers["who", NOBODY])
    return tuple(sorted(found - {-1}))


def _ties(
    nodes: Sequence[Node], edges: Sequence[Edge], places: Mapping[str, int]
) -> tuple[Tie, ...]:
    ends: dict[str, dict[str, int]] = defaultdict(dict)
    for edge in edges:
        if edge.type in (ARG1, ARG2) and edge.end in places:
            ends[edge.start][edge.type] = places[edge.end]
    found = []
    for node in nodes:
        pair = ends[node.id]
        if node.label != LINK or len(pair) < 2:
            continue
        own = node.properties
        kind = CLASSES.get(own["sense"].partition(".")[0].casefold(), "more")
        found.append(
            Tie(
                id=node.id,
                chunks=(pair[ARG1], pair[ARG2]),
                kind=kind,
                sense=own["sense"],
                connective=own["connective"],
                cause=pair.get(own.get("cause", "").upper(), -1),
            )
        )
    return tuple(sorted(found, key=lambda one: (one.chunks, one.id)))
