"""Maps entities, relations and triples to nodes and edges.

The names of properties are kept in Neo4j.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.places import make_name, place_text
from fabula.graphs.entities.labels import (
    ENTITY,
    FROM_CHUNK,
    OBJECT,
    RELATES_TO,
    RELATION,
    SOURCE,
    SUBJECT,
    TARGET,
    TRIPLE,
)
from fabula.graphs.entities.names import Names
from fabula.graphs.entities.triples import StatedTriple, Triple
from fabula.graphs.entities.values import Entities, Entity, Mention, Relation, RelationMention
from fabula.text.document import Chunk

MAX_KEYWORDS = 12
"""How many keywords a relation keeps: those of most chunks."""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of an entity or a relation; `digest` is that of its statements."""

    text: str
    digest: str


def nodes_of(
    cast: Entities,
    triples: Sequence[Triple],
    descriptions: Mapping[str, Description],
    chunks: Sequence[Chunk],
    by: str,
) -> list[Node]:
    """Make the nodes of entities, relations and triples, without embeddings.

    Each rests on the chunks that mention or state it, in text order, and its place in the text is
    that of the first of them.

    Args:
        cast: The entities and relations.
        triples: The triples.
        descriptions: By the id of each entity and relation.
        chunks: All chunks of the document.
        by: Who extracted them: "model" or "rules".
    """
    chunk_by_id = {chunk.id: chunk for chunk in chunks}
    names = {entity.id: entity.name for entity in cast.entities}
    degrees: dict[str, int] = defaultdict(int)
    for relation in cast.relations:
        degrees[relation.source] += 1
        degrees[relation.target] += 1
    nodes: list[Node] = []
    for entity in cast.entities:
        if sources := _in_order((mention.chunk for mention in entity.mentions), chunk_by_id):
            properties = _entity(entity, degrees[entity.id], by)
            nodes.append(_node(ENTITY, entity.id, properties, descriptions[entity.id], sources))
    for relation in cast.relations:
        if sources := _in_order((mention.chunk for mention in relation.mentions), chunk_by_id):
            properties = _relation(relation, names)
            description = descriptions[relation.id]
            nodes.append(_node(RELATION, relation.id, properties, description, sources))
    for triple in triples:
        sources = _in_order((fact.chunk for fact in triple.facts), chunk_by_id)
        text = f"{triple.subject} {triple.predicate} {triple.object}"
        properties = {
            "count": len(sources),
            "by": by,
            "subject": triple.subject,
            "predicate": triple.predicate,
            "object": triple.object,
        }
        nodes.append(_node(TRIPLE, triple.id, properties, Description(text, ""), sources))
    return nodes


def edges_of(cast: Entities, triples: Sequence[Triple]) -> list[Edge]:
    """Make the edges to chunks, and between entities, relations and triples."""
    edges: list[Edge] = []
    for entity in cast.entities:
        for chunk, mentions in _by_chunk(entity.mentions):
            edges.append(Edge(FROM_CHUNK, entity.id, chunk, _mention_properties(mentions)))
    for relation in cast.relations:
        forward = dict(zip(relation.mentions, relation.forward, strict=True))
        for chunk, mentions in _by_chunk(relation.mentions):
            properties = {**_relation_mention_properties(mentions), "forward": forward[mentions[0]]}
            edges.append(Edge(FROM_CHUNK, relation.id, chunk, properties))
        edges += [
            Edge(SOURCE, relation.id, relation.source),
            Edge(TARGET, relation.id, relation.target),
            Edge(RELATES_TO, relation.source, relation.target, _weights(relation)),
        ]
    return edges + _triple_edges(cast, triples)


def _triple_edges(cast: Entities, triples: Sequence[Triple]) -> list[Edge]:
    # An entity may be printed as "the Spirit" alone: then its key is the bare name.
    names = Names({entity.id: {entity.key: 0, **entity.names} for entity in cast.entities})
    edges: list[Edge] = []
    for triple in triples:
        for chunk, (fact, *_) in _by_chunk(triple.facts):
            edges.append(Edge(FROM_CHUNK, triple.id, chunk, _wording(triple, fact)))
        for type, name in ((SUBJECT, triple.subject), (OBJECT, triple.object)):
            if entities := names.exact(name) or names.find_untitled(name):
                edges.append(Edge(type, triple.id, entities[0]))
    return edges


def _node(
    label: str,
    id: str,
    properties: Mapping[str, Any],
    description: Description,
    sources: Sequence[Chunk],
) -> Node:
    text = place_text(description.text, sources[0])
    if label != TRIPLE:
        text["said"] = description.digest
        text["embedded_text"] = _embedded_text(label, properties, description.text)
    ids = tuple(chunk.id for chunk in sources)
    return Node(id, label, {**properties, **text}, ids)


def _embedded_text(label: str, properties: Mapping[str, Any], text: str) -> str:
    """Names and keywords before the description, as LightRAG embeds entities and relations."""
    if label == ENTITY:
        return f"{properties['name']}. {text}"
    keywords = f"{', '.join(properties['keywords'])}. " if properties["keywords"] else ""
    return f"{keywords}{properties['source']}, {properties['target']}. {text}"


def _entity(entity: Entity, degree: int, by: str) -> dict[str, Any]:
    places = [starts for mention in entity.mentions for starts in mention.names.values()]
    return {
        "name": entity.name,
        "key": entity.key,
        "names": list(entity.names),
        "counts": list(entity.names.values()),
        "merged_by": [entity.merged_by.get(name, "") for name in entity.names],
        "type": entity.type,
        "mentions": sum(map(len, places)),
        "chunks": len({mention.chunk for mention in entity.mentions}),
        "degree": degree,
        "by": by,
    }


def _relation(relation: Relation, names: Mapping[str, str]) -> dict[str, Any]:
    source, target = names[relation.source], names[relation.target]
    counts: dict[str, int] = defaultdict(int)
    for mention in relation.mentions:
        for keyword in mention.keywords:
            counts[keyword] += 1
    keywords = sorted(counts, key=lambda keyword: -counts[keyword])
    return {
        "name": make_name(f"{source} – {target}"),
        "source": source,
        "target": target,
        "keywords": keywords[:MAX_KEYWORDS],
        **_weights(relation),
    }


def _weights(relation: Relation) -> dict[str, int]:
    """In how many chunks a relation is, and its strength: the sum of each chunk's strongest."""
    strongest: dict[str, int] = defaultdict(int)
    for mention in relation.mentions:
        strongest[mention.chunk] = max(strongest[mention.chunk], mention.strength)
    return {"count": len(strongest), "strength": sum(strongest.values())}


def _mention_properties(mentions: Sequence[Mention]) -> dict[str, Any]:
    """What a chunk says of an entity."""
    places = sorted(
        (start, form)
        for mention in mentions
        for form, starts in mention.names.items()
        for start in starts
    )
    first = mentions[0]
    if len(mentions) == 1:
        aliases = list(first.aliases)
    else:
        names = (alias for mention in mentions for alias in (*mention.aliases, mention.name))
        aliases = [alias for alias in dict.fromkeys(names) if alias != first.name]
    return {
        "count": len(places),
        "starts": [start for start, _ in places],
        "names": [form for _, form in places],
        "said": _join_statements(mention.statement for mention in mentions),
        "type": first.type,
        "form": first.name,
        "aliases": aliases,
    }


def _relation_mention_properties(mentions: Sequence[RelationMention]) -> dict[str, Any]:
    """What a chunk says of a relation."""
    first = mentions[0]
    return {
        "said": _join_statements(mention.statement for mention in mentions),
        "keywords": list(dict.fromkeys(word for mention in mentions for word in mention.keywords)),
        "strength": max(mention.strength for mention in mentions),
        "from_name": first.source,
        "to_name": first.target,
    }


def _wording(triple: Triple, fact: StatedTriple) -> dict[str, Any]:
    """The words in which a chunk states a triple, where they differ from the node's."""
    words = [fact.subject, fact.predicate, fact.object]
    return {} if words == [triple.subject, triple.predicate, triple.object] else {"words": words}


def _join_statements(statements: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(filter(None, statements)))


def _by_chunk(records: Iterable[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Mentions or facts by their chunks, in text order."""
    ordered = sorted(records, key=lambda record: (record.place, record.chunk))
    for chunk, group in groupby(ordered, key=lambda record: record.chunk):
        yield str(chunk), list(group)


def _in_order(ids: Iterable[str], chunk_by_id: Mapping[str, Chunk]) -> list[Chunk]:
    return sorted((chunk_by_id[id] for id in set(ids)), key=lambda chunk: chunk.index)
