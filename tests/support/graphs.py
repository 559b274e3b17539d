"""Small graphs made by hand, for tests of the store and of what reads it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fabula.graph import Edge, Node, Owner, Part, Record, fingerprint
from fabula.graph.parts import chunks_of, text_part
from fabula.graph.recipes import text_recipe
from fabula.graphs.aspects.ids import detail_id, summary_id
from fabula.graphs.aspects.mapping import make_edges, make_nodes
from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.part_facts import count_facts
from fabula.graphs.aspects.previous import PreviousAspects
from fabula.graphs.aspects.values import (
    Aspect,
    ClusterMember,
    Detail,
    Grown,
    StoredAspects,
    Summary,
)
from fabula.graphs.entities import labels, mapping
from fabula.graphs.entities.ids import entity_id, relation_id, triple_id
from fabula.graphs.entities.triples import StatedTriple, Triple
from fabula.graphs.entities.values import Entities, Entity, Mention, Relation, RelationMention
from fabula.models.usage import Usage
from fabula.store import Store
from fabula.text.document import Chunk, Document, Section, Vector
from fabula.text.ids import chunk_id
from fabula.text.ids import document_id as text_document_id

DIMENSIONS = 8
MODEL = "test-model"
"""What the embeddings of graphs made by hand are said to be of."""
CHUNK_TOKENS = 200
"""The size of chunks that such a graph is said to be built with."""


def vector(seed: int, dimensions: int = DIMENSIONS) -> Vector:
    """A unit vector, the same for the same seed."""
    drawn = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return drawn / np.linalg.norm(drawn)


def small_graph(
    source: str = "a.txt", chunks: int = 4, words: str = "word", collection: str = "default"
) -> list[Part]:
    """Chunks; and with them a plot and a theme tree of two levels, and two details a chunk."""
    document = small_document(source, words, collection)
    seeds = iter(range(10_000))
    made = tuple(_chunk(document, number, words, next(seeds)) for number in range(chunks))
    summaries = [
        summary
        for aspect in ("plot", "theme")
        for summary in _tree(document, aspect, made, [next(seeds) for _ in range(3)])
    ]
    details = [
        Detail(
            detail_id(chunk.id, ordinal),
            chunk.id,
            ordinal,
            chunk.section,
            chunk.start,
            chunk.end,
            f"detail {ordinal} of {words} {chunk.index}",
            4,
            vector(next(seeds)),
        )
        for chunk in made
        for ordinal in range(2)
    ]
    return parts_of(document, made, summaries, details, ["theme"])


def begin_collection(
    store: Store, name: str, model: str = MODEL, dimensions: int = DIMENSIONS
) -> None:
    """A collection of any name, also of one that Fabula refuses."""
    store.make_schema()
    store.rows("core/save_space", collection=name, model=model, dimensions=dimensions)
    store.prepare(name, model, dimensions)


def small_document(
    source: str = "a.txt", words: str = "word", collection: str = "default"
) -> Document:
    """The document of a small graph."""
    return Document(
        id=text_document_id(collection, source),
        collection=collection,
        source=source,
        title=source.removesuffix(".txt").title(),
        author="Nobody",
        language="en",
        text="",
        sections=(Section("I", 0),),
        sha256=f"sha of {words}",
    )


def names_of(parts: Sequence[Part], count: int = 3, seed: int = 20_000) -> Part:
    """A part with embedded elements, and one that has no embedding, beside those of a text."""
    text = parts[0]
    owner = text.owner._replace(graph="names")
    chunk = nodes(parts, "Chunk")[0]
    place = {"aspect": "", "level": 0, "section": "I", "start": 0, "end": 10, "tokens": 2}
    named = [
        Node(
            f"{owner.collection}/{owner.document}/name {number}",
            "Name",
            {**place, "text": f"name {number}", "embedded_text": f"who is called name {number}"},
            (chunk.id,),
            None if number == count else vector(seed + number),
        )
        for number in range(count + 1)
    ]
    edges = [Edge("FROM_CHUNK", one.id, chunk.id) for one in named]
    made_from = {"graph": "names", "rests_on": {"text": text.record.fingerprint}}
    return Part(owner, tuple(named), tuple(edges), Record(made_from), frozenset({"Name"}))


def small_cast(parts: Sequence[Part], seed: int = 30_000) -> Part:
    """The entities of a small graph: two in its first two chunks, what ties them, and a fact."""
    document = parts[0].owner.document
    chunks = chunks_of(replace(parts[0], nodes=tuple(nodes(parts, "Chunk"))))[:2]
    entities = []
    for name in ("Anna", "Boris"):
        key, said = name.lower(), f"{name} is there."
        mentions = [
            Mention(chunk.id, chunk.start, name, {name: (0,)}, "person", said) for chunk in chunks
        ]
        identity = entity_id(document, key)
        entities.append(Entity(identity, key, name, "person", {name: 2}, {}, tuple(mentions)))
    first, second = sorted(entities, key=lambda one: one.id)
    ties = tuple(
        RelationMention(chunk.id, chunk.start, first.name, second.name, "They met.")
        for chunk in chunks
    )
    identity = relation_id(document, first.id, second.id)
    cast = Entities(tuple(entities), (Relation(identity, first.id, second.id, ties, (True, True)),))
    fact = StatedTriple(chunks[0].id, chunks[0].start, "Anna", "met", "Boris")
    facts = [Triple(triple_id(document, "anna", "met", "boris"), "Anna", "met", "Boris", (fact,))]
    said_of = {entity.id: mapping.Description(f"about {entity.id}", "") for entity in entities}
    said_of[identity] = mapping.Description("They met.", "")
    made = [
        replace(node, embedding=vector(seed + number))
        for number, node in enumerate(mapping.nodes_of(cast, facts, said_of, chunks, "model"))
    ]
    return Part(
        parts[0].owner._replace(graph="entities"),
        tuple(made),
        tuple(mapping.edges_of(cast, facts)),
        Record({"graph": "entities", "rests_on": {"text": parts[0].record.fingerprint}}),
        frozenset({labels.ENTITY, labels.RELATION, labels.TRIPLE}),
    )


def small_communities(cast: Part, chunks: Sequence[str], seed: int = 40_000) -> Part:
    """Communities over all entities of a part: one of all, and one each of the halves.

    Each has a report that cites its members, and the first of the ties between them, if any, and
    that rests on the first of `chunks`, ids in text order, that tell of them.
    """
    people = [node for node in cast.nodes if node.label == labels.ENTITY]
    half = (len(people) + 1) // 2
    top = ""
    made: list[Node] = []
    edges: list[Edge] = []
    for number, members in enumerate((people, people[:half], people[half:])):
        one = f"{cast.owner.document} community {number}"
        there = [id for id in chunks if any(id in member.sources for member in members)]
        place = {"aspect": "", "level": min(number, 1), "section": "I", "start": 0, "end": 10}
        place |= {"tokens": 4, "by": "rules"}
        names = " and ".join(sorted(member.properties["name"] for member in members))
        own = {"name": names, "title": names, "text": names, "size": len(members)}
        own |= {"chunks": len(there), "weight": 1.0}
        written = {"name": names, "title": f"Report of {names}", "text": f"{names} meet."}
        written |= {"summary": f"{names} meet.", "why": "", "said": "x"}
        found = {"summary": "They meet.", "explanation": "Often.", "chunks": there[:1]}
        written |= {"findings": json.dumps([found])}
        report = f"{one} report"
        made += [
            Node(one, "Community", {**place, **own}, tuple(there)),
            Node(
                report,
                "Report",
                {**place, **written, "importance": 5.0 - number},
                tuple(there[:1]),
                vector(seed + number),
            ),
        ]
        inside = {member.id for member in members}
        ends: dict[str, set[str]] = defaultdict(set)
        for edge in cast.edges:
            if edge.type in (labels.SOURCE, labels.TARGET):
                ends[edge.start].add(edge.end)
        cited = sorted(id for id, pair in ends.items() if pair <= inside)[:1]
        edges += [Edge("HAS_MEMBER", one, id) for id in sorted(inside)]
        edges += [Edge("CITES", report, id) for id in [*sorted(inside), *cited]]
        edges.append(Edge("REPORTS", report, one))
        if top:
            edges.append(Edge("PARENT_COMMUNITY", one, top))
        top = top or one
    return Part(
        cast.owner._replace(graph="communities"),
        tuple(made),
        tuple(edges),
        Record({"graph": "communities", "rests_on": {"entities": cast.record.fingerprint}}),
        frozenset({"Community", "Report"}),
    )


def settled_of(part: Part) -> Part:
    """A part of the whole collection, which rests on this one of a document."""
    owner = Owner(part.owner.collection, "persons")
    [first, *_] = part.nodes
    node = Node(f"{owner.collection}/person", "Person", {"text": "a person"}, first.sources)
    edges = [Edge("NAMED", node.id, one.id) for one in part.nodes]
    rests_on = {"names": {part.owner.document: part.record.fingerprint}}
    return Part(owner, (node,), tuple(edges), Record({"graph": "persons", "rests_on": rests_on}))


def parts_of(
    document: Document,
    chunks: Sequence[Chunk],
    summaries: Sequence[Summary],
    details: Sequence[Detail],
    assigned: Sequence[str] = (),
) -> list[Part]:
    """The parts of a document, of the text and of the aspect graph, in that order."""
    base = text_recipe(document.sha256, CHUNK_TOKENS, MODEL)
    aspects = [Aspect(name, "", "") for name in sorted({summary.aspect for summary in summaries})]
    knobs = Options(levels=9 if summaries else 0, details=2)
    grown = Grown(tuple(summaries), tuple(assigned))
    made_from = {"graph": "aspects", "rests_on": {"text": fingerprint(base)}}
    record = Record(
        made_from,
        {"details": Usage(len(chunks), 100, 10)},
        count_facts(knobs, aspects, grown, details, PreviousAspects(StoredAspects(), chunks)),
    )
    return [
        text_part(document, chunks, base, {"embed": Usage(2, 50, 0)}),
        Part(
            Owner(document.collection, "aspects", document.id),
            make_nodes(chunks, summaries, details),
            make_edges(summaries, details),
            record,
        ),
    ]


def put(store: Store, parts: Sequence[Part], model: str = MODEL) -> None:
    """Puts the parts of a document into the graph, in the place of what it had."""
    store.apply(parts, model)


def document_id(parts: Sequence[Part]) -> str:
    """The id of the document whose parts these are."""
    return parts[0].owner.document


def nodes(parts: Iterable[Part], label: str) -> list[Node]:
    """The nodes of that label, in the order they were made in."""
    return [node for part in parts for node in part.nodes if node.label == label]


def in_space(parts: Sequence[Part], dimensions: int) -> list[Part]:
    """The same graph with other embeddings."""
    return [
        replace(part, nodes=tuple(_moved(node, dimensions) for node in part.nodes))
        for part in parts
    ]


def _moved(node: Node, dimensions: int) -> Node:
    if node.embedding is None:
        return node
    return replace(node, embedding=vector(len(node.properties["text"]), dimensions))


def _chunk(document: Document, number: int, words: str, seed: int) -> Chunk:
    text = f"{words} {number}."
    identity = chunk_id(document.id, text, 0)
    return Chunk(identity, number, "I", number * 10, number * 10 + 10, text, 3, vector(seed))


def _tree(
    document: Document, aspect: str, chunks: tuple[Chunk, ...], seeds: list[int]
) -> list[Summary]:
    half = len(chunks) // 2
    low = [
        _summary(document, aspect, 1, [chunk.id for chunk in part], seed)
        for part, seed in zip((chunks[: half + 1], chunks[half:]), seeds, strict=False)
    ]
    return [*low, _summary(document, aspect, 2, [one.id for one in low], seeds[2])]


def _summary(document: Document, aspect: str, level: int, members: list[str], seed: int) -> Summary:
    weights = tuple(ClusterMember(member, 1 / (place + 1)) for place, member in enumerate(members))
    identity = summary_id(document.id, aspect, level, members)
    text = f"{aspect} at level {level}"
    return Summary(identity, aspect, level, "I", 0, 40, text, 5, weights, vector(seed))
