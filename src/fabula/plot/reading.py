"""What of a document is drawn, as the graph has it, without embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.errors import Changed, NotFound
from fabula.graph import TEXT, Owner, Part
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.graph.method import Known
from fabula.graph.parts import chunks_of
from fabula.graphs.aspects import GRAPH, border
from fabula.graphs.aspects.values import Earlier
from fabula.graphs.discourse.border import EVENT
from fabula.graphs.entities.border import ENTITY
from fabula.plot.communities import cited, read_communities
from fabula.plot.sociogram import (
    MOST_WALKED,
    Sociogram,
    in_order,
    numbered_sections,
    read_figures,
    section_titles,
)
from fabula.plot.story import Story, read_story, section_starts
from fabula.store import Store
from fabula.store.part_reader import read_part

NETWORK, COMMUNITIES, DISCOURSE = "entities", "communities", "discourse"


def read(store: Store, entry: Entry) -> Earlier:
    """All passages of a document. Raises StoreError where it is replaced meanwhile, or NotFound."""
    parts = _read(store, entry, (TEXT, GRAPH.name))
    chunks = chunks_of(parts[TEXT])
    if GRAPH.name not in parts:
        return Earlier(chunks)
    return border.read(Known(chunks, parts[GRAPH.name].nodes, parts[GRAPH.name].edges))


def refuse_without(entry: Entry, graph: str, what: str) -> None:
    """Raises NotFound where a document lacks the graph that `what` is drawn from."""
    if graph not in entry.graphs:
        raise NotFound(
            f"{entry.title} has no graph of {graph}, so there is no {what} to draw: build that "
            "graph first.",
            advice=f"Run `fabula build {graph} {entry.id}`.",
        )


def read_network(
    store: Store,
    entry: Entry,
    question: str = "",
    mode: str = "",
    walked: Sequence[str] = (),
    *,
    hits: Sequence[Hit] = (),
    together: bool = False,
) -> Sociogram:
    """The network of a document's entities, and those of them that `mode` walked for `question`.

    With who belongs `together`, if that is asked; of these `mode` may have found some as `hits`.

    Raises NotFound and Changed, as `read`.
    """
    refuse_without(entry, NETWORK, "network")
    if together:
        refuse_without(entry, COMMUNITIES, "communities")
    graphs = (TEXT, NETWORK, *((COMMUNITIES,) if together else ()))
    parts = _read(store, entry, graphs)
    chunks, network = chunks_of(parts[TEXT]), parts[NETWORK]
    entities = {node.id for node in network.nodes if node.label == ENTITY}
    walked = [id for id in walked if id in entities][:MOST_WALKED]
    figures, bonds = read_figures(network.nodes, network.edges, chunks, walked)
    rows = {figure.id: row for row, figure in enumerate(figures)}
    ordered, sections = in_order(chunks), numbered_sections(chunks)
    communities = read_communities(
        parts[COMMUNITIES].nodes if together else (),
        parts[COMMUNITIES].edges if together else (),
        list(rows),
        [figure.name for figure in figures],
        {chunk.id: number for number, chunk in enumerate(ordered)},
        [hit.id for hit in hits],
    )
    return Sociogram(
        title=entry.title,
        author=entry.author,
        sections=section_titles(chunks),
        figures=figures,
        bonds=bonds,
        entities=len(entities),
        question=question,
        mode=mode,
        walked=tuple(rows[id] for id in walked),
        communities=communities,
        passages={
            number: (sections[number], ordered[number].text)
            for number in sorted(cited(communities))
        },
    )


def read_told(
    store: Store, entry: Entry, question: str = "", mode: str = "", hits: Sequence[Hit] = ()
) -> Story:
    """The events of a document in the order told, and which of its chunks `mode` found.

    Raises NotFound and Changed, as `read`.
    """
    refuse_without(entry, DISCOURSE, "story")
    parts = _read(store, entry, (TEXT, DISCOURSE, NETWORK))
    chunks, told = in_order(chunks_of(parts[TEXT])), parts[DISCOURSE]
    people = parts[NETWORK].nodes if NETWORK in parts else ()
    names = {one.id: one.properties["name"] for one in people if one.label == ENTITY}
    lanes, events, ties = read_story(told.nodes, told.edges, chunks, names)
    places = {chunk.id: place for place, chunk in enumerate(chunks)}
    readers = {node.properties["by"] for node in told.nodes if node.label == EVENT}
    return Story(
        title=entry.title,
        author=entry.author,
        sections=section_starts(chunks),
        texts=tuple(chunk.text for chunk in chunks),
        lanes=lanes,
        events=events,
        ties=ties,
        by=readers.pop() if len(readers) == 1 else "",
        question=question,
        mode=mode,
        found=tuple(places[hit.id] for hit in hits if hit.id in places),
    )


def _read(store: Store, entry: Entry, names: Sequence[str]) -> dict[str, Part]:
    there = [name for name in names if name in entry.graphs]
    parts = {name: read_part(store, Owner(entry.collection, name, entry.id)) for name in there}
    if any(part.record != entry.graphs[name] for name, part in parts.items()):
        raise Changed(f"{entry.title} was changed while it was read: try again.")
    return parts
