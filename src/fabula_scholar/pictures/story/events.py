"""Read the events of a document in the order in which they are told, from its discourse graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabula.errors import NotFound
from fabula.graph import TEXT, Edge, Node
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.graph.parts import chunks_of
from fabula.graphs.entities.labels import ENTITY
from fabula.library.drawing import refuse_without
from fabula.store import Store
from fabula.text.document import Chunk
from fabula.text.names import quote_name
from fabula_graphs.discourse.labels import ARG1, ARG2, EVENT, IS, LINK, SLOT_EDGES, SLOTS, TERM
from fabula_scholar.pictures.shared.picture_parts import DISCOURSE, NETWORK, read_parts, sort_chunks

MAX_LANES: Mapping[str, int] = {"who": 14, "where": 7}
"""How many people, and places, have a lane of their own: those of most events."""
OTHERS: Mapping[str, str] = {"who": "others", "where": "elsewhere"}
"""The names of the lanes that the remaining people and places share."""
NOBODY = "nobody named"
LINK_KINDS: Mapping[str, str] = {
    "contingency": "cause",
    "contigency": "cause",
    "temporal": "time",
    "comparison": "contrast",
    "expansion": "more",
}
"""The kind of a link, by the class of its sense. PDTB-2 spells one of them "contigency"."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A row with the events of one person or place; `slot` is "who" or "where"."""

    slot: str
    name: str
    events: int


@dataclass(frozen=True, slots=True)
class DrawnEvent:
    """An event as it is drawn."""

    id: str
    chunk: int
    """The number of its chunk."""
    at: float
    """Its position in the text: 0 is the beginning, 1 the end."""
    slots: Mapping[str, str]
    """What the text says of it, such as who and when."""
    lanes: tuple[int, ...]
    """The numbers of its lanes."""


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """A discourse relation between two chunks."""

    id: str
    chunks: tuple[int, int]
    kind: str
    """One of the values of LINK_KINDS."""
    sense: str
    connective: str
    cause: int
    """Which of its chunks is the cause, or -1."""


@dataclass(frozen=True, slots=True)
class StoryPicture:
    """What happens in a document, in the order told, and how its chunks are linked."""

    title: str
    author: str
    sections: tuple[tuple[str, int], ...]
    """Titles, each with the number of its first chunk."""
    texts: tuple[str, ...]
    """The texts of all chunks."""
    lanes: tuple[Lane, ...]
    events: tuple[DrawnEvent, ...]
    links: tuple[DrawnLink, ...]
    question: str = ""
    mode: str = ""
    hits: tuple[int, ...] = ()
    """Numbers of the chunks that the question found, best first."""


def read_document_story(
    store: Store,
    entry: Entry,
    question: str = "",
    mode: str = "",
    hits: Sequence[Hit] = (),
) -> StoryPicture:
    """Return the events of a document, and which of its chunks `mode` found for a question.

    Raises:
        NotFound: The document has no graph of discourse, or none with an event, or is gone.
        Changed: The document was replaced while it was read.
    """
    refuse_without(entry, DISCOURSE, "story")
    parts = read_parts(store, entry, (TEXT, DISCOURSE, NETWORK))
    chunks, discourse = sort_chunks(chunks_of(parts[TEXT])), parts[DISCOURSE]
    entities = parts[NETWORK].nodes if NETWORK in parts else ()
    names = {node.id: node.properties["name"] for node in entities if node.label == ENTITY}
    lanes, events, links = read_story(discourse.nodes, discourse.edges, chunks, names)
    if not events and not links:
        if store.place:
            raise NotFound(
                f"There is no story to draw: {quote_name(entry.title)} has no events before that "
                "place. Draw it to a later one."
            )
        raise NotFound(
            f"There is no story to draw: the graph of discourse of {quote_name(entry.title)} was "
            "built, and has no events."
        )
    places = {chunk.id: place for place, chunk in enumerate(chunks)}
    return StoryPicture(
        title=entry.title,
        author=entry.author,
        sections=section_starts(chunks),
        texts=tuple(chunk.text for chunk in chunks),
        lanes=lanes,
        events=events,
        links=links,
        question=question,
        mode=mode,
        hits=tuple(places[hit.id] for hit in hits if hit.id in places),
    )


def read_story(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    chunks: Sequence[Chunk],
    entities: Mapping[str, str],
) -> tuple[tuple[Lane, ...], tuple[DrawnEvent, ...], tuple[DrawnLink, ...]]:
    """Return the lanes, events and links of a discourse graph.

    Args:
        nodes: The nodes of the graph.
        edges: Its edges.
        chunks: The chunks of the document.
        entities: Names of its entities by id; the lane of a person or place has the entity's name
            if the graph says which entity it is.
    """
    places = {chunk.id: place for place, chunk in enumerate(sort_chunks(chunks))}
    event_nodes = [node for node in nodes if node.label == EVENT and node.sources[0] in places]
    event_nodes.sort(
        key=lambda node: (places[node.sources[0]], node.properties["ordinal"], node.id)
    )
    participants = _read_participants(nodes, edges, entities)
    lane_counts = _count_lanes([participants.get(node.id, {}) for node in event_nodes])
    lanes = [Lane(slot, name, count) for (slot, name), count in lane_counts.items() if count]
    numbers = {(lane.slot, lane.name): number for number, lane in enumerate(lanes)}
    counts = Counter(node.sources[0] for node in event_nodes)
    placed: Counter[str] = Counter()
    events = []
    for node in event_nodes:
        chunk = node.sources[0]
        # Events of one chunk are spread evenly over it: where in it they are isn't known.
        within = (placed[chunk] + 0.5) / counts[chunk]
        placed[chunk] += 1
        properties = node.properties
        events.append(
            DrawnEvent(
                id=node.id,
                chunk=places[chunk],
                at=(places[chunk] + within) / len(places),
                slots={slot: properties[slot] for slot in SLOTS if properties.get(slot)},
                lanes=_find_lanes(participants.get(node.id, {}), numbers),
            )
        )
    return tuple(lanes), tuple(events), _read_links(nodes, edges, places)


def section_starts(chunks: Sequence[Chunk]) -> tuple[tuple[str, int], ...]:
    """Return the sections in text order, each with the number of its first chunk."""
    starts: list[tuple[str, int]] = []
    for place, chunk in enumerate(sort_chunks(chunks)):
        if not starts or starts[-1][0] != chunk.section:
            starts.append((chunk.section, place))
    return tuple(starts)


def _read_participants(
    nodes: Sequence[Node], edges: Sequence[Edge], entities: Mapping[str, str]
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the names of who, and of where, of each event: an entity's name if it is known."""
    terms = {node.id: node.properties["text"] for node in nodes if node.label == TERM}
    term_entities: dict[str, list[str]] = defaultdict(list)
    slots = {SLOT_EDGES[slot]: slot for slot in MAX_LANES}
    participants: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for edge in edges:
        if edge.type == IS and edge.end in entities:
            term_entities[edge.start].append(entities[edge.end])
    for edge in edges:
        if edge.type in slots and edge.end in terms:
            names = sorted(set(term_entities[edge.end])) or [terms[edge.end]]
            slot = slots[edge.type]
            participants[edge.start][slot] = (*participants[edge.start].get(slot, ()), *names)
    return participants


def _count_lanes(
    participants: Sequence[Mapping[str, Sequence[str]]],
) -> dict[tuple[str, str], int]:
    """Return how many events each lane has, by slot and name, in the order of the lanes."""
    # People with most events come first, then the others together, then nobody; then places.
    lanes: dict[tuple[str, str], int] = {}
    for slot, most in MAX_LANES.items():
        counts = Counter(name for event in participants for name in set(event.get(slot, ())))
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        # If only one more is left, its own lane takes no more space than the shared one.
        first = ranked if len(ranked) <= most + 1 else ranked[:most]
        lanes |= {(slot, name): counts[name] for name in first}
        rest = set(ranked[len(first) :])
        in_rest = [not rest.isdisjoint(event.get(slot, ())) for event in participants]
        shared = {OTHERS[slot]: sum(in_rest)}
        if slot == "who":
            shared[NOBODY] = sum(not event.get(slot) for event in participants)
        for name, count in shared.items():
            # A person of the book may have the name of a shared lane.
            lanes[slot, name] = lanes.get((slot, name), 0) + count
    return lanes


def _find_lanes(
    participants: Mapping[str, Sequence[str]], numbers: Mapping[tuple[str, str], int]
) -> tuple[int, ...]:
    lanes = {
        numbers.get((slot, name), numbers.get((slot, OTHERS[slot]), -1))
        for slot, names in participants.items()
        for name in names
    }
    if not participants.get("who"):
        lanes.add(numbers["who", NOBODY])
    return tuple(sorted(lanes - {-1}))


def _read_links(
    nodes: Sequence[Node], edges: Sequence[Edge], places: Mapping[str, int]
) -> tuple[DrawnLink, ...]:
    ends: dict[str, dict[str, int]] = defaultdict(dict)
    for edge in edges:
        if edge.type in (ARG1, ARG2) and edge.end in places:
            ends[edge.start][edge.type] = places[edge.end]
    links = []
    for node in nodes:
        pair = ends[node.id]
        if node.label != LINK or len(pair) < 2:
            continue
        properties = node.properties
        sense_class = properties["sense"].partition(".")[0].casefold()
        links.append(
            DrawnLink(
                id=node.id,
                chunks=(pair[ARG1], pair[ARG2]),
                kind=LINK_KINDS.get(sense_class, "more"),
                sense=properties["sense"],
                connective=properties["connective"],
                cause=pair.get(properties.get("cause", "").upper(), -1),
            )
        )
    return tuple(sorted(links, key=lambda link: (link.chunks, link.id)))
