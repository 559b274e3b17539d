"""Maps entities, relations and triples to nodes and edges, and back.

The edges that lead to a chunk hold all that was extracted of it, so that the next build reads it
from the graph where the chunk did not change. The names of properties are kept in Neo4j.
"""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.method import Known
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
from fabula.graphs.entities.records import EXTRACTION, TRIPLES
from fabula.graphs.entities.triples import StatedTriple, Triple
from fabula.graphs.entities.values import (
    Entities,
    Entity,
    Extraction,
    Mention,
    Relation,
    RelationMention,
)
from fabula.text import tokens
from fabula.text.document import Chunk

MAX_CAPTION = 60
"""Characters of a relation's name."""
MAX_KEYWORDS = 12
"""How many keywords a relation keeps: those of most chunks."""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of an entity or a relation; `digest` is that of its statements."""

    text: str
    digest: str


@dataclass(frozen=True, slots=True)
class PreviousExtraction:
    """What the previous build made of a document, as far as it can be used again.

    Attributes:
        mentions: By the id of the chunk.
        relation_mentions: By the id of the chunk.
        facts: By the id of the chunk.
        asked_about: By the step, the ids of the chunks that a model was asked about, whatever it
            found in them.
        descriptions: Descriptions by the digests of their statements.
    """

    mentions: Mapping[str, Sequence[Mention]] = field(default_factory=dict)
    relation_mentions: Mapping[str, Sequence[RelationMention]] = field(default_factory=dict)
    facts: Mapping[str, Sequence[StatedTriple]] = field(default_factory=dict)
    asked_about: Mapping[str, frozenset[str]] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)


# To nodes and edges


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


def edges_of(cast: Entities, triples: Sequence[Triple], extraction: Extraction) -> list[Edge]:
    """Make the edges to chunks, and between entities, relations and triples.

    `extraction` is what the cast was merged from. It is kept on the edges whole: a person's
    decisions may have split mentions of two entities in one, and what ties two names of one entity
    is no relation, but both count again when the decisions change.
    """
    of_relations = {mention for relation in cast.relations for mention in relation.mentions}
    left = [mention for mention in extraction.relation_mentions if mention not in of_relations]
    within_entities = dict(_by_chunk(left))
    extracted = dict(_by_chunk(extraction.mentions))
    edges: list[Edge] = []
    for entity in cast.entities:
        for chunk, mentions in _by_chunk(entity.mentions):
            whole = [
                original
                for mention in mentions
                if (original := _before_splitting(mention, extracted[chunk]))
            ]
            properties = _mention_properties(mentions, whole)
            names = {mention.name for mention in mentions}
            if within := [
                mention for mention in within_entities.get(chunk, ()) if mention.source in names
            ]:
                properties["ties"] = _json(map(_relation_record, within))
            edges.append(Edge(FROM_CHUNK, entity.id, chunk, properties))
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


def text_to_embed(node: Node) -> str:
    """Return the text of a node that is embedded."""
    return str(node.properties.get("embedded_text") or node.properties["text"])


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
    first = sources[0]
    place = {"aspect": "", "level": 0, "section": first.section}
    place |= {"start": first.start, "end": first.end}
    text: dict[str, Any] = {"text": description.text, "tokens": tokens.count(description.text)}
    if label != TRIPLE:
        text["said"] = description.digest
        text["embedded_text"] = _embedded_text(label, properties, description.text)
    ids = tuple(chunk.id for chunk in sources)
    return Node(id, label, {**properties, **text, **place}, ids)


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
        "name": textwrap.shorten(f"{source} – {target}", MAX_CAPTION, placeholder="…"),
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


def _before_splitting(mention: Mention, extracted: Sequence[Mention]) -> Mention | None:
    """A mention with the names that a decision took from it; None for what was made of those."""
    if mention in extracted:
        return mention
    same = (other for other in extracted if replace(other, names=mention.names) == mention)
    return next(same, None)


def _mention_properties(mentions: Sequence[Mention], whole: Sequence[Mention]) -> dict[str, Any]:
    """What a chunk says of an entity.

    Several mentions of it, and such as were split, are kept one by one as JSON, too.
    """
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
    properties: dict[str, Any] = {
        "count": len(places),
        "starts": [start for start, _ in places],
        "names": [form for _, form in places],
        "said": _join_statements(mention.statement for mention in mentions),
        "type": first.type,
        "form": first.name,
        "aliases": aliases,
    }
    if list(whole) == [first]:
        return properties
    return properties | {"records": _json(map(_mention_record, whole))}


def _relation_mention_properties(mentions: Sequence[RelationMention]) -> dict[str, Any]:
    """What a chunk says of a relation; several mentions are kept one by one as JSON, too."""
    first = mentions[0]
    properties: dict[str, Any] = {
        "said": _join_statements(mention.statement for mention in mentions),
        "keywords": list(dict.fromkeys(word for mention in mentions for word in mention.keywords)),
        "strength": max(mention.strength for mention in mentions),
        "from_name": first.source,
        "to_name": first.target,
    }
    if len(mentions) == 1:
        return properties
    return properties | {"records": _json(map(_relation_record, mentions))}


def _wording(triple: Triple, fact: StatedTriple) -> dict[str, Any]:
    """The words in which a chunk states a triple, where they differ from the node's."""
    words = [fact.subject, fact.predicate, fact.object]
    return {} if words == [triple.subject, triple.predicate, triple.object] else {"words": words}


def _join_statements(statements: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(filter(None, statements)))


def _json(records: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps(list(records), ensure_ascii=False)


def _mention_record(mention: Mention) -> dict[str, Any]:
    return {
        "form": mention.name,
        "type": mention.type,
        "said": mention.statement,
        "aliases": mention.aliases,
        "places": {form: list(starts) for form, starts in mention.names.items()},
    }


def _relation_record(mention: RelationMention) -> dict[str, Any]:
    return {
        "from_name": mention.source,
        "to_name": mention.target,
        "said": mention.statement,
        "keywords": mention.keywords,
        "strength": mention.strength,
    }


def _by_chunk(records: Iterable[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Mentions or facts by their chunks, in text order."""
    ordered = sorted(records, key=lambda record: (record.place, record.chunk))
    for chunk, group in groupby(ordered, key=lambda record: record.chunk):
        yield str(chunk), list(group)


def _in_order(ids: Iterable[str], chunk_by_id: Mapping[str, Chunk]) -> list[Chunk]:
    return sorted((chunk_by_id[id] for id in set(ids)), key=lambda chunk: chunk.index)


# From nodes and edges


def read_previous(known: Known, chunks: Sequence[Chunk]) -> PreviousExtraction:
    """Read what the previous build made of the chunks that are still there.

    Their places are moved to where the chunks are now.
    """
    starts = {chunk.id: chunk.start for chunk in chunks}
    previous_starts = {chunk.id: chunk.start for chunk in known.chunks}
    labels = {node.id: node.label for node in known.nodes}
    triples = {
        node.id: [node.properties[name] for name in ("subject", "predicate", "object")]
        for node in known.nodes
        if node.label == TRIPLE
    }
    mentions: dict[str, list[Mention]] = defaultdict(list)
    relation_mentions: dict[str, list[RelationMention]] = defaultdict(list)
    facts: dict[str, list[StatedTriple]] = defaultdict(list)
    for edge in known.edges:
        chunk, properties = edge.end, edge.properties
        if edge.type != FROM_CHUNK or chunk not in starts or chunk not in previous_starts:
            continue
        place = starts[chunk]
        if labels[edge.start] == ENTITY:
            shift = place - previous_starts[chunk]
            mentions[chunk] += _read_mentions(chunk, place, shift, properties)
            if "ties" in properties:
                relation_mentions[chunk] += read_relation_mentions(
                    chunk, place, {"records": properties["ties"]}
                )
        elif labels[edge.start] == RELATION:
            relation_mentions[chunk] += read_relation_mentions(chunk, place, properties)
        else:
            words = properties.get("words") or triples[edge.start]
            facts[chunk].append(StatedTriple(chunk, place, *words))
    return PreviousExtraction(
        mentions,
        relation_mentions,
        facts,
        {step: _chunks_asked_about(known, step) for step in (EXTRACTION, TRIPLES)},
        {
            node.properties["said"]: node.properties["text"]
            for node in known.nodes
            if node.properties.get("said")
        },
    )


def _chunks_asked_about(known: Known, step: str) -> frozenset[str]:
    if step == TRIPLES and not known.facts.get("stated"):
        return frozenset()
    return known.answered(step)


def _read_mentions(
    chunk: str, place: int, shift: int, properties: Mapping[str, Any]
) -> Iterator[Mention]:
    if "records" in properties:
        records = json.loads(properties["records"])
    else:
        places: dict[str, list[int]] = defaultdict(list)
        for form, start in zip(properties["names"], properties["starts"], strict=True):
            places[form].append(start)
        records = [{**properties, "places": places}]
    for record in records:
        names = {
            form: tuple(start + shift for start in starts)
            for form, starts in record["places"].items()
        }
        yield Mention(
            chunk,
            place,
            record["form"],
            names,
            record["type"],
            record["said"],
            tuple(record["aliases"]),
        )


def read_relation_mentions(
    chunk: str, place: int, properties: Mapping[str, Any]
) -> Iterator[RelationMention]:
    """Read mentions from the edge of a relation, or from an entity's edge those of its names."""
    records = json.loads(properties["records"]) if "records" in properties else [properties]
    for record in records:
        yield RelationMention(
            chunk,
            place,
            record["from_name"],
            record["to_name"],
            record["said"],
            tuple(record["keywords"]),
            record["strength"],
        )
