"""Convert facts to nodes and edges, and read statements back.

What each chunk states is kept whole on the edges that lead to it, so that the graph gives it back
if the chunk did not change: what was left out, too, as other entities may let it in.
"""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from fabula.graph import Edge, Node, Part
from fabula.graph.method import Known
from fabula.text import tokens
from fabula.text.document import Chunk
from fabula_graphs.facts.labels import FACT, FROM_CHUNK, OBJECT, STATEMENTS, SUBJECT
from fabula_graphs.facts.ontology import RELATED, Ontology
from fabula_graphs.facts.values import ChosenMeaning, FactStatement, OntologyFact

MAX_NAME_CHARACTERS = 60
"""Of a fact's name."""
MAX_LEFT_OUT = 200
"""Statements that were left out and are kept on one edge: some 30 kB."""
MAX_PREDICATES = 3
"""Predicates in the text of a fact that is of no relation by name: those stated first."""


@dataclass(frozen=True, slots=True)
class PreviousStatements:
    """Statements by chunk id, and the ids of the chunks that a model was asked about."""

    statements: Mapping[str, Sequence[FactStatement]] = field(default_factory=dict)
    answered: frozenset[str] = frozenset()


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
            "name": textwrap.shorten(text, MAX_NAME_CHARACTERS, placeholder="…"),
            "subject": fact.subject.name,
            "predicate": fact.predicate,
            "object": fact.object.name,
            "subject_type": next(iter(fact.subject.types), ""),
            "object_type": next(iter(fact.object.types), ""),
            "text": text,
            "tokens": tokens.count(text),
            "proof": next(filter(None, (stated.proof for stated in fact.statements)), ""),
            "count": len(sources),
            "aspect": "",
            "level": 0,
            "section": sources[0].section,
            "start": sources[0].start,
            "end": sources[0].end,
        }
        nodes.append(Node(fact.id, FACT, properties, tuple(chunk.id for chunk in sources)))
    return nodes


def edges_of(facts: Sequence[OntologyFact], left_out: Iterable[FactStatement]) -> list[Edge]:
    """Return the edges of facts to their chunks and to the entities that they are about.

    What was left out is kept on the edges to chunks. The chunks of what finds no place there are
    kept as `forgotten` on the first edge: a model is asked about them again.
    """
    kept, forgotten = _place_left_out(facts, left_out)
    edges: list[Edge] = []
    for fact in facts:
        for chunk, stated in _by_chunk(fact):
            properties: dict[str, Any] = {"records": _json(stated)}
            if others := kept[fact.id, chunk]:
                properties["others"] = _json(others)
            if forgotten and not edges:
                properties["forgotten"] = forgotten
            edges.append(Edge(FROM_CHUNK, fact.id, chunk, properties))
        for type, end in ((SUBJECT, fact.subject), (OBJECT, fact.object)):
            if end.entity:
                edges.append(Edge(type, fact.id, end.entity))
    return edges


def _place_left_out(
    facts: Sequence[OntologyFact], left_out: Iterable[FactStatement]
) -> tuple[dict[tuple[str, str], list[FactStatement]], list[str]]:
    """What was left out, by the fact and the chunk of the edge that keeps it.

    It is kept on the edge of a fact to its chunk. Where no fact is of its chunk, or that edge has
    enough, it is kept on another one: each has MAX_LEFT_OUT at most. Besides, the ids of the chunks
    of what finds no place.
    """
    waiting: dict[str, list[FactStatement]] = defaultdict(list)
    for statement in left_out:
        waiting[statement.chunk].append(statement)
    kept: dict[tuple[str, str], list[FactStatement]] = {}
    for fact in facts:
        for chunk, _ in _by_chunk(fact):
            kept[fact.id, chunk] = waiting[chunk][:MAX_LEFT_OUT]
            waiting[chunk] = waiting[chunk][MAX_LEFT_OUT:]
    rest = iter([statement for statements in waiting.values() for statement in statements])
    for others in kept.values():
        others.extend(islice(rest, MAX_LEFT_OUT - len(others)))
    return kept, sorted({statement.chunk for statement in rest})


def _by_chunk(fact: OntologyFact) -> list[tuple[str, list[FactStatement]]]:
    """The statements of a fact by the ids of their chunks."""
    by_chunk: dict[str, list[FactStatement]] = defaultdict(list)
    for statement in fact.statements:
        by_chunk[statement.chunk].append(statement)
    return [*by_chunk.items()]


def read_previous(known: Known, chunks: Sequence[Chunk]) -> PreviousStatements:
    """Return what is known of the chunks that are still there, at the places where they are now.

    Statements have no proof yet: that is in their chunks' texts.
    """
    starts = {chunk.id: chunk.start for chunk in chunks}
    statements: dict[str, list[FactStatement]] = defaultdict(list)
    forgotten: set[str] = set()
    for edge in known.edges:
        if edge.type != FROM_CHUNK:
            continue
        forgotten |= {*edge.properties.get("forgotten", ())}
        for name in ("records", "others"):
            for record in json.loads(edge.properties.get(name, "[]")):
                if record["chunk"] in starts:
                    statement = _statement(record, starts[record["chunk"]])
                    statements[statement.chunk].append(statement)
    # What was left out is kept on edges of facts: if there is none, all has to be asked for again.
    answered = known.answered(STATEMENTS) - forgotten if known.nodes else frozenset()
    return PreviousStatements(statements, frozenset(answered))


def restrict_part(part: Part, _below: Mapping[str, Part], _chunks: Set[str]) -> Part:
    """Return the facts of the read chunks without what a build left out of any chunk.

    It is kept for the next build, also on the edges of facts of other chunks than its own.
    """
    edges = tuple(
        Edge(edge.type, edge.start, edge.end, _without(edge.properties, "others", "forgotten"))
        for edge in part.edges
    )
    return replace(part, edges=edges)


def _without(properties: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in names}


def _words(fact: OntologyFact, ontology: Ontology) -> str:
    """How a fact reads between its ends; of no relation by name, as it was stated."""
    if fact.predicate == RELATED:
        stated = dict.fromkeys(statement.predicate for statement in fact.statements)
        return ", ".join(list(stated)[:MAX_PREDICATES])
    return ontology.relations[fact.predicate].words


def _json(statements: Iterable[FactStatement]) -> str:
    records = [
        {
            "chunk": statement.chunk,
            "words": statement.words,
            "types": [statement.subject_type, statement.object_type],
            "choices": [choice and [choice.taken, *choice.among] for choice in statement.choices],
        }
        for statement in statements
    ]
    return json.dumps(records, ensure_ascii=False)


def _statement(record: Mapping[str, Any], place: int) -> FactStatement:
    subject, predicate, object = (
        choice and ChosenMeaning(choice[0], tuple(choice[1:])) for choice in record["choices"]
    )
    statement = FactStatement(record["chunk"], place, *record["words"], *record["types"])
    return replace(statement, choices=(subject, predicate, object))
