"""Small casts made by hand, for tests of the entity graph's ways to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula import Fabula
from fabula.graph import TEXT, Edge, Node, Owner, Part, Record
from fabula.graph.parts import chunks_of
from fabula.graphs.entities import GRAPH
from fabula.graphs.entities.network import Network, make_network
from fabula.models.offline import StaticEmbedder
from fabula.store.part_reader import read_part
from fabula.text import tokens
from fabula.text.document import Chunk

NAME = "entities"
Cast = Mapping[str, tuple[str, Mapping[str, str], str]]
"""Type, chapters by printed name, and description of each, by its name."""
Ties = Mapping[tuple[str, str], tuple[str, str]]
"""Chapters and description by the two names."""


def network(
    entities: Mapping[str, tuple[str, str]],
    relations: Mapping[str, tuple[str, str, str]],
    facts: Mapping[str, tuple[str, str, str]] | None = None,
    *,
    chunks: str = "",
    types: Mapping[str, str] | None = None,
    keywords: Mapping[str, str] | None = None,
    language: str = "en",
    identities: Mapping[str, str] | None = None,
) -> Network:
    """A network.

    `entities`: names ("Fred|Scrooge"; the first counts as often as there are chunks, others once)
    and chunks ("c1 c2") by id; `relations` and `facts`: two entities and chunks by id. There are no
    chunks but these, unless some are named.
    """
    chunk_ids = {chunk for _, some in entities.values() for chunk in some.split()}
    cast: dict[str, list[object]] = {
        name: [] for name in ("ids", "keys", "names", "counts", "types", "sources")
    }
    for id, (names, some) in entities.items():
        forms = names.split("|")
        cast["ids"].append(id)
        cast["keys"].append(forms[0].casefold())
        cast["names"].append(forms)
        cast["counts"].append([max(1, len(some.split())), *[1] * (len(forms) - 1)])
        cast["types"].append((types or {}).get(id, "person"))
        cast["sources"].append(some.split())
    return make_network(
        cast,
        chunks.split() if chunks else sorted(chunk_ids),
        _columns(relations, keywords or {}),
        _columns(facts or {}, {}),
        language,
        identities=identities,
    )


def _columns(
    links: Mapping[str, tuple[str, str, str]], keywords: Mapping[str, str]
) -> dict[str, list[object]]:
    return {
        "ids": list(links),
        "starts": [start for start, _, _ in links.values()],
        "ends": [end for _, end, _ in links.values()],
        "counts": [len(some.split()) for _, _, some in links.values()],
        "sources": [some.split() for _, _, some in links.values()],
        "keywords": [keywords.get(id, "").split() for id in links],
    }


def put_cast(
    fabula: Fabula, document: str, cast: Cast, ties: Ties, facts: Ties | None = None
) -> None:
    """A cast as the part of a document that is there, in the place of what it had."""
    entry = fabula.document(document)
    chunks = chunks_of(read_part(fabula.open_store(), Owner(fabula.name, TEXT, entry.id)))
    nodes: list[Node] = []
    edges: list[Edge] = []
    ids = {name: f"{entry.id}-{number:02}" for number, name in enumerate(sorted(cast))}
    for name, (type, chapters_of, text) in cast.items():
        mentioned = {form: _chunks(chunks, chapters) for form, chapters in chapters_of.items()}
        own = sorted(
            {chunk.start: chunk for named in mentioned.values() for chunk in named}.items()
        )
        counts = {form: len(some) for form, some in mentioned.items()}
        properties = {
            "name": name,
            "key": name.casefold(),
            "names": list(counts),
            "counts": list(counts.values()),
            "type": type,
            "chunks": len(own),
        }
        nodes.append(_node(ids[name], "Entity", text, f"{name}. {text}", own, properties))
    for label, some in (("Relation", ties), ("Triple", facts or {})):
        ends = ("SOURCE", "TARGET") if label == "Relation" else ("SUBJECT", "OBJECT")
        for (first, second), (chapters, text) in some.items():
            id = f"{label.lower()}-{ids[first]}-{ids[second]}"
            own = sorted((chunk.start, chunk) for chunk in _chunks(chunks, chapters))
            properties = {"source": first, "target": second, "count": len(own), "keywords": ["tie"]}
            nodes.append(_node(id, label, text, f"{first}, {second}. {text}", own, properties))
            edges += [Edge(ends[0], id, ids[first]), Edge(ends[1], id, ids[second])]
    record = Record({"graph": NAME, "rests_on": {TEXT: entry.graphs[TEXT].fingerprint}})
    labels = frozenset(GRAPH.elements)
    owner = Owner(fabula.name, NAME, entry.id)
    part = Part(owner, tuple(nodes), tuple(edges), record, labels)
    fabula.open_store().apply([part], StaticEmbedder().model)


def _chunks(chunks: Sequence[Chunk], chapters: str) -> list[Chunk]:
    """The chunks that begin these chapters."""
    heads = [f"CHAPTER {chapter}\n" for chapter in chapters.split()]
    return [chunk for chunk in chunks if any(map(chunk.text.startswith, heads))]


def _node(
    id: str,
    label: str,
    text: str,
    embedded: str,
    chunks: Sequence[tuple[int, Chunk]],
    own: Mapping[str, Any],
) -> Node:
    first = chunks[0][1]
    place = {"section": first.section, "start": first.start, "end": first.end}
    about = {"text": text, "tokens": tokens.count(text), "aspect": "", "level": 0}
    [vector] = StaticEmbedder().embed([embedded]).vectors
    sources = tuple(chunk.id for _, chunk in chunks)
    return Node(id, label, {**place, **about, **own, "embedded_text": embedded}, sources, vector)
