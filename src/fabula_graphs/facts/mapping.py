"""Convert facts to nodes and edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.places import make_name, place_text
from fabula.text.document import Chunk
from fabula_graphs.facts.labels import FACT, FROM_CHUNK, OBJECT, SUBJECT
from fabula_graphs.facts.ontology import RELATED, Ontology
from fabula_graphs.facts.values import OntologyFact

MAX_PREDICATES = 3
"""Predicates in the text of a fact that is of no relation by name: those stated first."""


def nodes_of(
    facts: Sequence[OntologyFact], ontology: Ontology, chunks: Sequence[Chunk]
) -> list[Node]:
    """Return the nodes of facts, without embeddings.

    Each rests on the chunks that state it, in text order, and stands where the first of them does.

    Args:
        facts: The facts.
        ontology: The words for their relations.
        chunks: All chunks of the document.
    """
    chunks_by_id = {chunk.id: chunk for chunk in chunks}
    nodes: list[Node] = []
    for fact in facts:
        ids = {statement.chunk for statement in fact.statements}
        sources = sorted((chunks_by_id[id] for id in ids), key=lambda chunk: chunk.index)
        text = f"{fact.subject.name} {_words(fact, ontology)} {fact.object.name}"
        properties: dict[str, Any] = {
            "name": make_name(text),
            "subject": fact.subject.name,
            "predicate": fact.predicate,
            "object": fact.object.name,
            "subject_type": next(iter(fact.subject.types), ""),
            "object_type": next(iter(fact.object.types), ""),
            "proof": next(filter(None, (stated.proof for stated in fact.statements)), ""),
            "count": len(sources),
            **place_text(text, sources[0]),
        }
        nodes.append(Node(fact.id, FACT, properties, tuple(chunk.id for chunk in sources)))
    return nodes


def edges_of(facts: Sequence[OntologyFact]) -> list[Edge]:
    """Return the edges of facts to their chunks and to the entities that they are about."""
    edges: list[Edge] = []
    for fact in facts:
        edges += [
            Edge(FROM_CHUNK, fact.id, chunk, {"stated": said})
            for chunk, said in _by_chunk(fact).items()
        ]
        for type, end in ((SUBJECT, fact.subject), (OBJECT, fact.object)):
            if end.entity:
                edges.append(Edge(type, fact.id, end.entity))
    return edges


def _by_chunk(fact: OntologyFact) -> dict[str, list[str]]:
    """What the chunks of a fact state, by their ids, each statement in its own words."""
    by_chunk: dict[str, list[str]] = defaultdict(list)
    for statement in fact.statements:
        by_chunk[statement.chunk].append(" ".join(statement.words))
    return by_chunk


def _words(fact: OntologyFact, ontology: Ontology) -> str:
    """How a fact reads between its ends; of no relation by name, as it was stated."""
    if fact.predicate == RELATED:
        stated = dict.fromkeys(statement.predicate for statement in fact.statements)
        return ", ".join(list(stated)[:MAX_PREDICATES])
    return ontology.relations[fact.predicate].words
