"""Who is in a document and who meets whom, section by section: read from its entity graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.path import Path, Step
from fabula.graphs.entities.border import ENTITY, FROM_CHUNK, RELATION, SOURCE, TARGET
from fabula.plot.network.communities import Community
from fabula.text.document import Chunk

MOST = 200
"""Entities that are drawn at most, those that are mentioned most."""
MOST_WALKED = 20
"""Of those that a question's mode went through: beyond them it went everywhere."""
PEOPLE = ("person", "group", "character")
FEW = 5
PARTS = 10
"""What a text without sections is divided into."""


@dataclass(frozen=True, slots=True)
class Figure:
    """An entity as it is drawn.

    `names` are its printed forms, each with its count and why it was taken for this one;
    `mentions` are by the number of the section. `place` is where in the text it is
    spoken of, on the average: 0 is the beginning, 1 the end.
    """

    id: str
    name: str
    type: str
    text: str
    names: tuple[tuple[str, int, str], ...]
    mentions: Mapping[int, int]
    place: float

    @property
    def weight(self) -> int:
        """How often it is mentioned."""
        return sum(self.mentions.values())


@dataclass(frozen=True, slots=True)
class Meeting:
    """What one chunk says of two."""

    section: int
    said: str


@dataclass(frozen=True, slots=True)
class Bond:
    """A relation as it is drawn, between two of a list of figures; `chunks` are by section."""

    id: str
    ends: tuple[int, int]
    text: str
    keywords: tuple[str, ...]
    chunks: Mapping[int, int]
    first: Meeting
    last: Meeting

    @property
    def weight(self) -> int:
        """In how many chunks it is."""
        return sum(self.chunks.values())


@dataclass(frozen=True, slots=True)
class Sociogram:
    """The network of a document's figures, most mentioned first, and what a question's mode walked.

    `entities` is how many there are in the graph; `walked` are numbers of figures, best first.
    `communities` are there if they are drawn, with the `passages` that their reports rest on: the
    section and text of each chunk, by its number.
    """

    title: str
    author: str
    sections: tuple[str, ...]
    figures: tuple[Figure, ...]
    bonds: tuple[Bond, ...]
    entities: int
    question: str = ""
    mode: str = ""
    walked: tuple[int, ...] = ()
    communities: tuple[Community, ...] = ()
    passages: Mapping[int, tuple[int, str]] = field(default_factory=dict)


def read_figures(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    chunks: Sequence[Chunk],
    walked: Collection[str] = (),
) -> tuple[tuple[Figure, ...], tuple[Bond, ...]]:
    """The figures of an entity graph, the MOST that are mentioned most, and what ties them.

    Those that were `walked` are among them however seldom they are mentioned.
    """
    places = {chunk.id: place for place, chunk in enumerate(in_order(chunks))}
    numbers = dict(zip(places, (number for number, _ in _numbered(chunks)), strict=True))
    told: dict[str, list[Edge]] = defaultdict(list)
    ends: dict[str, dict[str, str]] = defaultdict(dict)
    for edge in edges:
        if edge.type == FROM_CHUNK and edge.end in places:
            told[edge.start].append(edge)
        elif edge.type in (SOURCE, TARGET):
            ends[edge.start][edge.type] = edge.end
    for some in told.values():
        some.sort(key=lambda edge: places[edge.end])
    found = [
        _figure(node, told[node.id], places, numbers) for node in nodes if node.label == ENTITY
    ]
    found.sort(key=lambda one: (-one.weight, one.name, one.id))
    figures = found[:MOST] + [one for one in found[MOST:] if one.id in walked]
    rows = {figure.id: row for row, figure in enumerate(figures)}
    bonds = [
        _bond(node, (rows[pair[SOURCE]], rows[pair[TARGET]]), told[node.id], numbers)
        for node in nodes
        if node.label == RELATION and told[node.id]
        if len(pair := ends[node.id]) == 2 and rows.keys() >= set(pair.values())
    ]
    bonds.sort(key=lambda bond: (bond.weight, bond.id))
    return tuple(figures), tuple(bonds)


def first_types(figures: Sequence[Figure]) -> set[str]:
    """The types that are shown at first: people, where some are known to be, or else all."""
    types = {figure.type for figure in figures}
    people = {type for type in types if type.casefold() in PEOPLE}
    return people if sum(figure.type in people for figure in figures) >= FEW else types


def section_titles(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """The sections in text order; of a text that has none, tenths."""
    return tuple(dict(_numbered(chunks)).values())


def read_walked(path: Path) -> list[str]:
    """The ids of the entities that a question's mode went through, best first.

    What is near in the index alone is none of them: the mode takes what it needs of that.
    """
    found: dict[str, None] = {}
    for step in _steps(path.root):
        if step.name == "elements":
            continue
        found |= dict.fromkeys(step.walked)
        entities = (hit.id for hit in step.hits if hit.kind == ENTITY.lower())
        found |= dict.fromkeys(id for id in entities if id in step.kept)
    return list(found)


def numbered_sections(chunks: Sequence[Chunk]) -> list[int]:
    """The number of each chunk's section, in text order."""
    return [number for number, _ in _numbered(chunks)]


def in_order(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks as the text has them."""
    return sorted(chunks, key=lambda chunk: (chunk.index, chunk.id))


def _numbered(chunks: Sequence[Chunk]) -> Iterator[tuple[int, str]]:
    """The number of each chunk's section, from 0, and its title."""
    ordered = in_order(chunks)
    runs = [(title, len(list(run))) for title, run in groupby(ordered, key=lambda one: one.section)]
    if len(runs) < 2:
        parts = min(PARTS, len(ordered))
        for place in range(len(ordered)):
            number = place * parts // len(ordered)
            yield number, f"part {number + 1} of {parts}"
        return
    for number, (title, count) in enumerate(runs):
        yield from ((number, title) for _ in range(count))


def _figure(
    node: Node, told: Sequence[Edge], places: Mapping[str, int], numbers: Mapping[str, int]
) -> Figure:
    own = node.properties
    mentions: Counter[int] = Counter()
    total = 0.0
    for edge in told:
        mentions[numbers[edge.end]] += edge.properties["count"]
        total += (places[edge.end] + 0.5) / len(places)
    return Figure(
        id=node.id,
        name=own["name"],
        type=own["type"],
        text=own["text"],
        names=tuple(zip(own["names"], own["counts"], own["merged_by"], strict=True)),
        mentions=dict(mentions),
        place=total / max(len(told), 1),
    )


def _bond(
    node: Node, ends: tuple[int, int], told: Sequence[Edge], numbers: Mapping[str, int]
) -> Bond:
    own = node.properties
    first, last = (Meeting(numbers[one.end], _said(one)) for one in (told[0], told[-1]))
    return Bond(
        id=node.id,
        ends=ends,
        text=own["text"],
        keywords=tuple(own["keywords"]),
        chunks=dict(Counter(numbers[edge.end] for edge in told)),
        first=first,
        last=last,
    )


def _said(edge: Edge) -> str:
    said: Any = edge.properties["said"]
    return str(said)


def _steps(step: Step) -> Iterator[Step]:
    yield step
    for inner in step.steps:
        yield from _steps(inner)
