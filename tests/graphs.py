"""Small graphs made by hand, for tests of the store and of what reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fabula import ids
from fabula.graph import Edge, Node, Owner, Part, Record, fingerprint
from fabula.graph.building import chunks_of, text_part, text_recipe
from fabula.graphs.aspects.border import edges_of, nodes_of
from fabula.graphs.aspects.facts import facts
from fabula.graphs.aspects.knobs import Knobs
from fabula.graphs.aspects.values import Aspect, Detail, Member, Summary
from fabula.graphs.entities import border
from fabula.graphs.entities.triples import Fact, Triple
from fabula.graphs.entities.values import Cast, Entity, Extraction, Mention, Relation, Tie
from fabula.model import Chunk, Document, Section, Usage, Vector
from fabula.store import Store

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
            ids.detail_id(chunk.id, ordinal),
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
    """A collection as an older Fabula began it, which took any name."""
    store.make_schema()
    store.rows("core/save_space", collection=name, model=model, dimensions=dimensions)
    store.prepare(name, model, dimensions)


def small_document(
    source: str = "a.txt", words: str = "word", collection: str = "default"
) -> Document:
    """The document of a small graph."""
    return Document(
        id=ids.document_id(collection, source),
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
            Mention(one.id, one.start, name, {name: (0,)}, "person", said) for one in chunks
        ]
        identity = ids.entity_id(document, key)
        entities.append(Entity(identity, key, name, "person", {name: 2}, {}, tuple(mentions)))
    first, second = sorted(entities, key=lambda one: one.id)
    ties = tuple(Tie(one.id, one.start, first.name, second.name, "They met.") for one in chunks)
    identity = ids.relation_id(document, first.id, second.id)
    cast = Cast(tuple(entities), (Relation(identity, first.id, second.id, ties, (True, True)),))
    fact = Fact(chunks[0].id, chunks[0].start, "Anna", "met", "Boris")
    facts = [
        Triple(ids.triple_id(document, "anna", "met", "boris"), "Anna", "met", "Boris", (fact,))
    ]
    said_of = {one.id: border.Description(f"about {one.id}", "") for one in entities}
    said_of[identity] = border.Description("They met.", "")
    extraction = Extraction(tuple(one for each in entities for one in each.mentions), ties)
    made = [
        replace(node, embedding=vector(seed + number))
        for number, node in enumerate(border.nodes_of(cast, facts, said_of, chunks, "model"))
    ]
    return Part(
        parts[0].owner._replace(graph="entities"),
        tuple(made),
        tuple(border.edges_of(cast, facts, extraction)),
        Record({"graph": "entities", "rests_on": {"text": parts[0].record.fingerprint}}),
        frozenset({border.ENTITY, border.RELATION, border.TRIPLE}),
    )


def small_communities(cast: Part, seed: int = 40_000) -> Part:
    """The communities of a small cast, one within the other, and a report of each."""
    people = [node for node in cast.nodes if node.label == border.ENTITY]
    first = people[0]
    place = {name: first.properties[name] for name in ("section", "start", "end", "tokens")}
    told = place | {"aspect": "", "text": "They met.", "title": "Anna, Boris", "name": "They"}
    own = {"size": 2, "weight": 1.0, "chunks": 2, "by": "model"}
    report = {"summary": "They met.", "findings": "[]", "importance": 5.0, "why": "", "said": ""}
    made: list[Node] = []
    edges: list[Edge] = []
    for level in (0, 1):
        ids_of = [f"{first.id}-{label}-{level}" for label in ("community", "report")]
        properties = told | own | {"level": level}
        made.append(Node(ids_of[0], "Community", properties, first.sources))
        embedded = properties | report | {"embedded_text": "Anna, Boris. They met."}
        made.append(Node(ids_of[1], "Report", embedded, first.sources, vector(seed + level)))
        edges += [Edge("HAS_MEMBER", ids_of[0], one.id) for one in people]
        edges.append(Edge("REPORTS", ids_of[1], ids_of[0]))
        edges.append(Edge("CITES", ids_of[1], first.id))
    edges.append(Edge("PARENT_COMMUNITY", made[2].id, made[0].id))
    rests_on = {**cast.record.made_from["rests_on"], "entities": cast.record.fingerprint}
    return Part(
        cast.owner._replace(graph="communities"),
        tuple(made),
        tuple(edges),
        Record({"graph": "communities", "rests_on": rests_on}),
        frozenset({"Community", "Report", "Claim"}),
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
    aspects = [Aspect(name, "", "") for name in sorted({one.aspect for one in summaries})]
    knobs = Knobs(levels=9 if summaries else 0, details=2)
    made_from = {"graph": "aspects", "rests_on": {"text": fingerprint(base)}}
    record = Record(
        made_from,
        {"details": Usage(len(chunks), 100, 10)},
        facts(knobs, aspects, summaries, details, assigned, 0),
    )
    return [
        text_part(document, chunks, base, {"embed": Usage(2, 50, 0)}),
        Part(
            Owner(document.collection, "aspects", document.id),
            nodes_of(chunks, summaries, details),
            edges_of(summaries, details),
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
        replace(part, nodes=tuple(_moved(one, dimensions) for one in part.nodes)) for part in parts
    ]


def _moved(node: Node, dimensions: int) -> Node:
    if node.embedding is None:
        return node
    return replace(node, embedding=vector(len(node.properties["text"]), dimensions))


def _chunk(document: Document, number: int, words: str, seed: int) -> Chunk:
    text = f"{words} {number}."
    identity = ids.chunk_id(document.id, text, 0)
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
    weights = tuple(Member(member, 1 / (place + 1)) for place, member in enumerate(members))
    identity = ids.summary_id(document.id, aspect, level, members)
    text = f"{aspect} at level {level}"
    return Summary(identity, aspect, level, "I", 0, 40, text, 5, weights, vector(seed))
