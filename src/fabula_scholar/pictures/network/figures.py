"""Read who occurs in a document, and who meets whom, section by section, from its entity graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from fabula.graph import TEXT, Edge, Node
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.graph.parts import chunks_of
from fabula.graph.trace import Trace, TraceStep
from fabula.graphs.entities.labels import ENTITY, FROM_CHUNK, RELATION, SOURCE, TARGET
from fabula.library.drawing import refuse_without
from fabula.store import Store
from fabula.text.document import Chunk
from fabula_scholar.pictures.network.communities import (
    DrawnCommunity,
    cited_chunks,
    read_communities,
)
from fabula_scholar.pictures.network.conversation import Spoken, read_conversation
from fabula_scholar.pictures.shared.picture_parts import (
    COMMUNITIES,
    CONVERSATION,
    NETWORK,
    read_parts,
    sort_chunks,
)

MAX_FIGURES = 200
"""How many entities are drawn: those that are mentioned most."""
MAX_WALKED = 20
"""How many entities that a question's mode visited are highlighted; after these it visits nearly
all there are."""
PEOPLE = ("person", "group", "character")
MIN_PEOPLE = 5
"""From how many people on only these are shown at first."""
TENTHS = 10
"""How many parts a text without sections is divided into."""


@dataclass(frozen=True, slots=True)
class Figure:
    """An entity as it is drawn."""

    id: str
    name: str
    type: str
    text: str
    names: tuple[tuple[str, int, str], ...]
    """Its names in the text, each with its count and why it was taken for this entity."""
    mentions: Mapping[int, int]
    """Counts by the number of the section."""
    place: float
    """Its mean position in the text: 0 is the beginning, 1 the end."""

    @property
    def weight(self) -> int:
        """How often it is mentioned."""
        return sum(self.mentions.values())


@dataclass(frozen=True, slots=True)
class Meeting:
    """What one chunk, in a section, says of two figures."""

    section: int
    text: str


@dataclass(frozen=True, slots=True)
class DrawnRelation:
    """A relation between two figures as it is drawn."""

    id: str
    ends: tuple[int, int]
    """Positions in the list of figures."""
    text: str
    keywords: tuple[str, ...]
    chunks: Mapping[int, int]
    """How many chunks mention it, by the number of the section."""
    first: Meeting
    last: Meeting
    quotations: Mapping[int, int] = field(default_factory=dict)
    """What one of the two says to the other: how many quotations, by the number of the section."""

    @property
    def weight(self) -> int:
        """How many chunks mention it."""
        return sum(self.chunks.values())


@dataclass(frozen=True, slots=True)
class NetworkPicture:
    """The network of a document's entities, and what a question's mode visited in it."""

    title: str
    author: str
    sections: tuple[str, ...]
    figures: tuple[Figure, ...]
    """Most mentioned first."""
    relations: tuple[DrawnRelation, ...]
    entities: int
    """How many entities the graph has; not all are drawn."""
    question: str = ""
    mode: str = ""
    walked: tuple[int, ...] = ()
    """Positions of the figures that the mode visited, best first."""
    communities: tuple[DrawnCommunity, ...] = ()
    passages: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    """Section and text of the chunks that the reports of communities cite, by their numbers."""


def read_network(
    store: Store,
    entry: Entry,
    question: str = "",
    mode: str = "",
    walked: Sequence[str] = (),
    *,
    hits: Sequence[Hit] = (),
    with_communities: bool = False,
) -> NetworkPicture:
    """Return the network of a document's entities, and who of them speaks to whom.

    The latter is read where the document has the graph of speech.

    Args:
        store: The graph.
        entry: The document.
        question: What was asked, or ''.
        mode: The mode that answered the question.
        walked: Ids of the entities that the mode visited, best first.
        hits: What the mode found; reports of communities among it are highlighted.
        with_communities: Read the communities of the entities too.

    Raises:
        NotFound: The document lacks one of the graphs, or is gone.
        Changed: The document was replaced while it was read.
    """
    refuse_without(entry, NETWORK, "network")
    if with_communities:
        refuse_without(entry, COMMUNITIES, "communities")
    graphs = (TEXT, NETWORK, CONVERSATION, *((COMMUNITIES,) if with_communities else ()))
    parts = read_parts(store, entry, graphs)
    chunks, network = chunks_of(parts[TEXT]), parts[NETWORK]
    entities = {node.id for node in network.nodes if node.label == ENTITY}
    walked = [id for id in walked if id in entities][:MAX_WALKED]
    figures, relations = read_figures(network.nodes, network.edges, chunks, walked)
    rows = {figure.id: row for row, figure in enumerate(figures)}
    ordered, sections = sort_chunks(chunks), number_sections(chunks)
    if CONVERSATION in parts:
        numbers = dict(zip((chunk.id for chunk in ordered), sections, strict=True))
        spoken = read_conversation(parts[CONVERSATION])
        relations = add_conversation(relations, spoken, rows, numbers)
    communities = read_communities(
        parts[COMMUNITIES].nodes if with_communities else (),
        parts[COMMUNITIES].edges if with_communities else (),
        list(rows),
        [figure.name for figure in figures],
        {chunk.id: number for number, chunk in enumerate(ordered)},
        [hit.id for hit in hits],
    )
    return NetworkPicture(
        title=entry.title,
        author=entry.author,
        sections=section_titles(chunks),
        figures=figures,
        relations=relations,
        entities=len(entities),
        question=question,
        mode=mode,
        walked=tuple(rows[id] for id in walked),
        communities=communities,
        passages={
            number: (sections[number], ordered[number].text)
            for number in sorted(cited_chunks(communities))
        },
    )


def read_figures(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    chunks: Sequence[Chunk],
    walked: Collection[str] = (),
) -> tuple[tuple[Figure, ...], tuple[DrawnRelation, ...]]:
    """Return the figures of an entity graph, most mentioned first, and their relations.

    At most MAX_FIGURES are returned, and besides these all that were `walked`.
    """
    places = {chunk.id: place for place, chunk in enumerate(sort_chunks(chunks))}
    sections = dict(zip(places, number_sections(chunks), strict=True))
    mentions: dict[str, list[Edge]] = defaultdict(list)
    ends: dict[str, dict[str, str]] = defaultdict(dict)
    for edge in edges:
        if edge.type == FROM_CHUNK and edge.end in places:
            mentions[edge.start].append(edge)
        elif edge.type in (SOURCE, TARGET):
            ends[edge.start][edge.type] = edge.end
    for node_mentions in mentions.values():
        node_mentions.sort(key=lambda edge: places[edge.end])
    figures = [
        _read_figure(node, mentions[node.id], places, sections)
        for node in nodes
        if node.label == ENTITY
    ]
    figures.sort(key=lambda figure: (-figure.weight, figure.name, figure.id))
    rest = figures[MAX_FIGURES:]
    figures = figures[:MAX_FIGURES] + [figure for figure in rest if figure.id in walked]
    rows = {figure.id: row for row, figure in enumerate(figures)}
    relations = [
        _read_relation(node, (rows[pair[SOURCE]], rows[pair[TARGET]]), mentions[node.id], sections)
        for node in nodes
        if node.label == RELATION and mentions[node.id]
        if len(pair := ends[node.id]) == 2 and rows.keys() >= set(pair.values())
    ]
    relations.sort(key=lambda relation: (relation.weight, relation.id))
    return tuple(figures), tuple(relations)


def add_conversation(
    relations: Sequence[DrawnRelation],
    conversation: Mapping[tuple[str, str], Sequence[Spoken]],
    rows: Mapping[str, int],
    sections: Mapping[str, int],
) -> tuple[DrawnRelation, ...]:
    """Return relations with what is said in them; two who only speak to each other get one.

    Args:
        relations: The relations without it.
        conversation: What two entities say to each other, by their ids.
        rows: The positions of the figures by the ids of their entities.
        sections: The number of each chunk's section.
    """
    spoken = {
        _ordered(rows[first], rows[second]): said
        for (first, second), said in conversation.items()
        if first in rows and second in rows
    }

    def count(said: Sequence[Spoken]) -> dict[int, int]:
        return dict(Counter(sections[chunk] for chunk, _ in said))

    known = [
        replace(relation, quotations=count(spoken.pop(_ordered(*relation.ends), ())))
        for relation in relations
    ]
    for ends, said in spoken.items():
        first, last = (Meeting(sections[chunk], text) for chunk, text in (said[0], said[-1]))
        counts = count(said)
        id = f"speech {ends[0]} {ends[1]}"
        known.append(DrawnRelation(id, ends, "", (), counts, first, last, counts))
    return tuple(sorted(known, key=lambda relation: (relation.weight, relation.id)))


def first_types(figures: Sequence[Figure]) -> set[str]:
    """Return the types that are shown at first: people if some are known, otherwise all."""
    types = {figure.type for figure in figures}
    people = {type for type in types if type.casefold() in PEOPLE}
    return people if sum(figure.type in people for figure in figures) >= MIN_PEOPLE else types


def section_titles(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the titles of the sections in text order; a text without sections has tenths."""
    return tuple(dict(_number_and_title(chunks)).values())


def read_walked(path: Trace) -> list[str]:
    """Return the ids of the entities that a question's mode visited, best first.

    The step `elements` lists what is near the question in the index; of these only the entities
    that the mode used later are returned.
    """
    walked: dict[str, None] = {}
    for step in _iterate_steps(path.root):
        if step.name == "elements":
            continue
        walked |= dict.fromkeys(step.walked)
        entities = (hit.id for hit in step.hits if hit.kind == ENTITY.lower())
        walked |= dict.fromkeys(id for id in entities if id in step.passed_on)
    return list(walked)


def number_sections(chunks: Sequence[Chunk]) -> list[int]:
    """Return the number of each chunk's section, from 0, in text order."""
    return [number for number, _ in _number_and_title(chunks)]


def _number_and_title(chunks: Sequence[Chunk]) -> Iterator[tuple[int, str]]:
    """Yield the number and the title of each chunk's section, in text order."""
    ordered = sort_chunks(chunks)
    runs = [
        (title, len(list(run))) for title, run in groupby(ordered, key=lambda chunk: chunk.section)
    ]
    if len(runs) < 2:
        parts = min(TENTHS, len(ordered))
        for place in range(len(ordered)):
            number = place * parts // len(ordered)
            yield number, f"part {number + 1} of {parts}"
        return
    for number, (title, count) in enumerate(runs):
        yield from ((number, title) for _ in range(count))


def _read_figure(
    node: Node, mentions: Sequence[Edge], places: Mapping[str, int], sections: Mapping[str, int]
) -> Figure:
    properties = node.properties
    counts: Counter[int] = Counter()
    total = 0.0
    for edge in mentions:
        counts[sections[edge.end]] += edge.properties["count"]
        total += (places[edge.end] + 0.5) / len(places)
    return Figure(
        id=node.id,
        name=properties["name"],
        type=properties["type"],
        text=properties["text"],
        names=tuple(
            zip(properties["names"], properties["counts"], properties["merged_by"], strict=True)
        ),
        mentions=dict(counts),
        place=total / max(len(mentions), 1),
    )


def _read_relation(
    node: Node, ends: tuple[int, int], mentions: Sequence[Edge], sections: Mapping[str, int]
) -> DrawnRelation:
    first, last = (
        Meeting(sections[edge.end], str(edge.properties["said"]))
        for edge in (mentions[0], mentions[-1])
    )
    return DrawnRelation(
        id=node.id,
        ends=ends,
        text=node.properties["text"],
        keywords=tuple(node.properties["keywords"]),
        chunks=dict(Counter(sections[edge.end] for edge in mentions)),
        first=first,
        last=last,
    )


def _ordered(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


def _iterate_steps(step: TraceStep) -> Iterator[TraceStep]:
    yield step
    for inner in step.steps:
        yield from _iterate_steps(inner)
