"""Where a cast becomes nodes and edges, as every graph has them, and back.

What was said of a chunk is whole on the edges that lead to it, so that the graph gives it back
where the chunk did not change.
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
from fabula.graphs.entities.records import EXTRACTION, TRIPLES
from fabula.graphs.entities.triples import Fact, Triple, phrase
from fabula.graphs.entities.values import Cast, Entity, Extraction, Mention, Relation, Tie
from fabula.text import tokens
from fabula.text.document import Chunk

ENTITY, RELATION, TRIPLE = "Entity", "Relation", "Triple"
FROM_CHUNK, SOURCE, TARGET = "FROM_CHUNK", "SOURCE", "TARGET"
SUBJECT, OBJECT, RELATES_TO = "SUBJECT", "OBJECT", "RELATES_TO"
CAPTION = 60
"""Most characters of a relation's name."""
MOST_KEYWORDS = 12
"""Of a relation: those that are said most often."""


@dataclass(frozen=True, slots=True)
class Description:
    """What is told of an entity or a relation; `said` is the digest of what it was made from."""

    text: str
    said: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier build made of a document, by the chunks and texts that it made it from.

    `asked` are the ids of the chunks that a model was asked about, by the step, whether it had
    something to say of them or not. `described` has descriptions by the digests of what they were
    made from.
    """

    mentions: Mapping[str, Sequence[Mention]] = field(default_factory=dict)
    ties: Mapping[str, Sequence[Tie]] = field(default_factory=dict)
    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    asked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    described: Mapping[str, str] = field(default_factory=dict)


# Out


def nodes_of(
    cast: Cast,
    triples: Sequence[Triple],
    descriptions: Mapping[str, Description],
    chunks: Sequence[Chunk],
    by: str,
) -> list[Node]:
    """Entities, relations and triples, bare of embeddings; `descriptions` are by ids.

    Each rests on the chunks that mention or state it, in text order, and stands where the first
    of them does. `by` is who extracted them: "model" or "rules".
    """
    placed = {chunk.id: chunk for chunk in chunks}
    names = {entity.id: entity.name for entity in cast.entities}
    degrees: dict[str, int] = defaultdict(int)
    for relation in cast.relations:
        degrees[relation.source] += 1
        degrees[relation.target] += 1
    found = [
        _node(ENTITY, one.id, _entity(one, degrees[one.id], by), descriptions[one.id], sources)
        for one in cast.entities
        if (sources := _in_order((mention.chunk for mention in one.mentions), placed))
    ]
    found += [
        _node(RELATION, one.id, _relation(one, names), descriptions[one.id], sources)
        for one in cast.relations
        if (sources := _in_order((tie.chunk for tie in one.ties), placed))
    ]
    for one in triples:
        sources = _in_order((fact.chunk for fact in one.facts), placed)
        told: dict[str, Any] = {"count": len(sources), "by": by}
        told |= {"subject": one.subject, "predicate": one.predicate, "object": one.object}
        text = f"{one.subject} {one.predicate} {one.object}"
        found.append(_node(TRIPLE, one.id, told, Description(text, ""), sources))
    return found


def edges_of(cast: Cast, triples: Sequence[Triple], extraction: Extraction) -> list[Edge]:
    """What each rests on, whom relations and triples tie, and plain ties to walk along.

    `extraction` is what the cast was made of: a person may have parted mentions that are of two,
    and what ties two names that are one is no relation. It is kept for who is told them apart.
    """
    tied = {tie for relation in cast.relations for tie in relation.ties}
    within = dict(_by_chunk([tie for tie in extraction.ties if tie not in tied]))
    extracted = dict(_by_chunk(extraction.mentions))
    found: list[Edge] = []
    for entity in cast.entities:
        for chunk, mentions in _by_chunk(entity.mentions):
            whole = [at for one in mentions if (at := _whole(one, extracted[chunk]))]
            told = _mentioned(mentions, whole)
            names = {mention.name for mention in mentions}
            if ties := [tie for tie in within.get(chunk, ()) if tie.source in names]:
                told["ties"] = _json(map(_tie_record, ties))
            found.append(Edge(FROM_CHUNK, entity.id, chunk, told))
    for relation in cast.relations:
        forward = dict(zip(relation.ties, relation.forward, strict=True))
        for chunk, ties in _by_chunk(relation.ties):
            told = {**_tied(ties), "forward": forward[ties[0]]}
            found.append(Edge(FROM_CHUNK, relation.id, chunk, told))
        found += [
            Edge(SOURCE, relation.id, relation.source),
            Edge(TARGET, relation.id, relation.target),
            Edge(RELATES_TO, relation.source, relation.target, _weights(relation)),
        ]
    ends = _ends(cast)
    for triple in triples:
        for chunk, (fact, *_) in _by_chunk(triple.facts):
            found.append(Edge(FROM_CHUNK, triple.id, chunk, _stated(triple, fact)))
        for type, words in ((SUBJECT, triple.subject), (OBJECT, triple.object)):
            if end := ends.get(phrase(words)):
                found.append(Edge(type, triple.id, end))
    return found


def embedded(node: Node) -> str:
    """What of a node is embedded."""
    return str(node.properties.get("embedded_text") or node.properties["text"])


def _node(
    label: str, id: str, told: Mapping[str, Any], about: Description, sources: Sequence[Chunk]
) -> Node:
    place = {"aspect": "", "level": 0, "section": sources[0].section}
    place |= {"start": sources[0].start, "end": sources[0].end}
    said: dict[str, Any] = {"text": about.text, "tokens": tokens.count(about.text)}
    if label != TRIPLE:
        said |= {"said": about.said, "embedded_text": _embedded(label, told, about.text)}
    return Node(id, label, {**told, **said, **place}, tuple(chunk.id for chunk in sources))


def _embedded(label: str, told: Mapping[str, Any], text: str) -> str:
    """Names, and theme words, before what is told, as LightRAG embeds entities and relations."""
    if label == ENTITY:
        return f"{told['name']}. {text}"
    words = f"{', '.join(told['keywords'])}. " if told["keywords"] else ""
    return f"{words}{told['source']}, {told['target']}. {text}"


def _entity(entity: Entity, degree: int, by: str) -> dict[str, Any]:
    return {
        "name": entity.name,
        "key": entity.key,
        "names": list(entity.names),
        "counts": list(entity.names.values()),
        "merged_by": [entity.merged_by.get(name, "") for name in entity.names],
        "type": entity.type,
        "mentions": sum(len(starts) for one in entity.mentions for starts in one.names.values()),
        "chunks": len({mention.chunk for mention in entity.mentions}),
        "degree": degree,
        "by": by,
    }


def _relation(relation: Relation, names: Mapping[str, str]) -> dict[str, Any]:
    source, target = names[relation.source], names[relation.target]
    times: dict[str, int] = defaultdict(int)
    for tie in relation.ties:
        for keyword in tie.keywords:
            times[keyword] += 1
    keywords = sorted(times, key=lambda keyword: -times[keyword])
    return {
        "name": textwrap.shorten(f"{source} – {target}", CAPTION, placeholder="…"),
        "source": source,
        "target": target,
        "keywords": keywords[:MOST_KEYWORDS],
        **_weights(relation),
    }


def _weights(relation: Relation) -> dict[str, int]:
    """In how many chunks a relation is, and its strength: that of each chunk once, added up."""
    strongest: dict[str, int] = defaultdict(int)
    for tie in relation.ties:
        strongest[tie.chunk] = max(strongest[tie.chunk], tie.strength)
    return {"count": len(strongest), "strength": sum(strongest.values())}


def _whole(mention: Mention, extracted: Sequence[Mention]) -> Mention | None:
    """What a mention was before some of its names were parted from it; None for what was parted."""
    if mention in extracted:
        return mention
    same = (one for one in extracted if replace(one, names=mention.names) == mention)
    return next(same, None)


def _mentioned(mentions: Sequence[Mention], whole: Sequence[Mention]) -> dict[str, Any]:
    """What a chunk says of an entity.

    Several records of it, and such as were parted, are told one by one, as JSON.
    """
    places = sorted(
        (start, form) for one in mentions for form, starts in one.names.items() for start in starts
    )
    first, *others = mentions
    aliases = dict.fromkeys(alias for one in mentions for alias in (*one.aliases, one.name))
    del aliases[first.name]
    told: dict[str, Any] = {
        "count": len(places),
        "starts": [start for start, _ in places],
        "names": [form for _, form in places],
        "said": _joined(one.said for one in mentions),
        "type": first.type,
        "form": first.name,
        "aliases": list(aliases) if others else list(first.aliases),
    }
    if list(whole) == [first]:
        return told
    return told | {"records": _json(map(_mention_record, whole))}


def _tied(ties: Sequence[Tie]) -> dict[str, Any]:
    """What a chunk says of a relation, likewise."""
    first, *others = ties
    told: dict[str, Any] = {
        "said": _joined(tie.said for tie in ties),
        "keywords": list(dict.fromkeys(word for tie in ties for word in tie.keywords)),
        "strength": max(tie.strength for tie in ties),
        "from_name": first.source,
        "to_name": first.target,
    }
    return told | {"records": _json(map(_tie_record, ties))} if others else told


def _stated(triple: Triple, fact: Fact) -> dict[str, Any]:
    """The words in which a chunk states a fact, where they are not the node's."""
    words = [fact.subject, fact.predicate, fact.object]
    return {} if words == [triple.subject, triple.predicate, triple.object] else {"words": words}


def _joined(said: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(filter(None, said)))


def _json(records: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps(list(records), ensure_ascii=False)


def _mention_record(mention: Mention) -> dict[str, Any]:
    return {
        "form": mention.name,
        "type": mention.type,
        "said": mention.said,
        "aliases": mention.aliases,
        "places": {form: list(starts) for form, starts in mention.names.items()},
    }


def _tie_record(tie: Tie) -> dict[str, Any]:
    return {
        "from_name": tie.source,
        "to_name": tie.target,
        "said": tie.said,
        "keywords": tie.keywords,
        "strength": tie.strength,
    }


def _by_chunk(records: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Mentions, or ties, by their chunks, in text order."""
    ordered = sorted(records, key=lambda one: (one.place, one.chunk))
    for chunk, found in groupby(ordered, key=lambda one: one.chunk):
        yield str(chunk), list(found)


def _in_order(ids: Iterable[str], placed: Mapping[str, Chunk]) -> list[Chunk]:
    return sorted((placed[id] for id in set(ids)), key=lambda chunk: chunk.index)


def _ends(cast: Cast) -> dict[str, str]:
    """The entity that a phrase is a name of, by its id; where several have it, the one most often
    called so.
    """
    found: dict[str, tuple[int, str]] = {}
    for entity in cast.entities:
        for form, count in {entity.key: 0, **entity.names}.items():
            best = (-count, entity.id)
            found[phrase(form)] = min(found.get(phrase(form), best), best)
    return {form: id for form, (_, id) in found.items()}


# Back


def read(known: Known, chunks: Sequence[Chunk]) -> Earlier:
    """What is known of those chunks that are still there, moved to where they are now."""
    now = {chunk.id: chunk.start for chunk in chunks}
    was = {chunk.id: chunk.start for chunk in known.chunks}
    labels = {node.id: node.label for node in known.nodes}
    stated = {
        node.id: [node.properties[name] for name in ("subject", "predicate", "object")]
        for node in known.nodes
        if node.label == TRIPLE
    }
    mentions: dict[str, list[Mention]] = defaultdict(list)
    ties: dict[str, list[Tie]] = defaultdict(list)
    facts: dict[str, list[Fact]] = defaultdict(list)
    for edge in known.edges:
        if edge.type != FROM_CHUNK or edge.end not in now or edge.end not in was:
            continue
        id, place, told = edge.end, now[edge.end], edge.properties
        if labels[edge.start] == ENTITY:
            mentions[id] += _read_mentions(id, place, place - was[id], told)
            if "ties" in told:
                ties[id] += _read_ties(id, place, {"records": told["ties"]})
        elif labels[edge.start] == RELATION:
            ties[id] += _read_ties(id, place, told)
        else:
            facts[id].append(Fact(id, place, *(told.get("words") or stated[edge.start])))
    return Earlier(
        mentions,
        ties,
        facts,
        {step: _asked(known, step) for step in (EXTRACTION, TRIPLES)},
        {
            node.properties["said"]: node.properties["text"]
            for node in known.nodes
            if node.properties.get("said")
        },
    )


def _asked(known: Known, step: str) -> frozenset[str]:
    if step == TRIPLES and not known.facts.get("stated"):
        return frozenset()
    return known.answered(step)


def _read_mentions(
    chunk: str, place: int, shift: int, told: Mapping[str, Any]
) -> Iterator[Mention]:
    places: dict[str, list[int]] = defaultdict(list)
    for form, start in zip(told["names"], told["starts"], strict=True):
        places[form].append(start)
    records = json.loads(told["records"]) if "records" in told else [{**told, "places": places}]
    for one in records:
        yield Mention(
            chunk,
            place,
            one["form"],
            {form: tuple(start + shift for start in at) for form, at in one["places"].items()},
            one["type"],
            one["said"],
            tuple(one["aliases"]),
        )


def _read_ties(chunk: str, place: int, told: Mapping[str, Any]) -> Iterator[Tie]:
    """What a chunk says of a relation; of an entity, what ties its own names."""
    for one in json.loads(told["records"]) if "records" in told else [told]:
        yield Tie(
            chunk,
            place,
            one["from_name"],
            one["to_name"],
            one["said"],
            tuple(one["keywords"]),
            one["strength"],
        )
