"""Where facts become nodes and edges, as every graph has them, and statements are read back.

What each chunk states is whole on the edges that lead to it, so that the graph gives it back where
the chunk did not change: what was left out, too, as other entities may let it in.
"""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.method import Known
from fabula.graphs.facts.ontology import RELATED, Ontology
from fabula.graphs.facts.values import Choice, Fact, Statement
from fabula.text import tokens
from fabula.text.document import Chunk, Vector

FACT = "Fact"
FROM_CHUNK, SUBJECT, OBJECT = "FROM_CHUNK", "SUBJECT", "OBJECT"
STATEMENTS, NORMALISATION = "statements", "normalisation"
"""The steps in which a chat model is asked, and in which there may be gaps."""
CAPTION = 60
"""Most characters of a fact's name."""
MOST_WORDS = 3
"""Of the predicates of a fact that is of no relation by name: those stated first."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier build knew: what chunks state, which of them a model was asked about.

    `vectors` are embeddings by the texts that were embedded.
    """

    statements: Mapping[str, Sequence[Statement]] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    vectors: Mapping[str, Vector] = field(default_factory=dict)


def nodes_of(
    facts: Sequence[Fact], ontology: Ontology, chunks: Sequence[Chunk], by: str
) -> list[Node]:
    """Facts, bare of embeddings; `by` is who stated them: "model" or "rules".

    Each rests on the chunks that state it, in text order, and stands where the first of them does.
    """
    placed = {chunk.id: chunk for chunk in chunks}
    found: list[Node] = []
    for one in facts:
        stated = {placed[statement.chunk].index: statement.chunk for statement in one.statements}
        sources = [placed[stated[index]] for index in sorted(stated)]
        text = f"{one.subject.name} {_words(one, ontology)} {one.object.name}"
        told: dict[str, Any] = {
            "name": textwrap.shorten(text, CAPTION, placeholder="…"),
            "subject": one.subject.name,
            "predicate": one.predicate,
            "object": one.object.name,
            "subject_type": one.subject.types[0],
            "object_type": one.object.types[0],
            "text": text,
            "tokens": tokens.count(text),
            "proof": next((said.proof for said in one.statements if said.proof), ""),
            "count": len(sources),
            "by": by,
        }
        place = {"aspect": "", "level": 0, "section": sources[0].section}
        place |= {"start": sources[0].start, "end": sources[0].end}
        found.append(Node(one.id, FACT, {**told, **place}, tuple(chunk.id for chunk in sources)))
    return found


def edges_of(facts: Sequence[Fact], left_out: Iterable[Statement]) -> list[Edge]:
    """What each fact rests on, and which entities it is about.

    What was left out goes with the edge of another fact to its chunk, or with the first of all.
    """
    others: dict[str, list[Statement]] = defaultdict(list)
    stated = {statement.chunk for one in facts for statement in one.statements}
    for statement in left_out:
        others[statement.chunk if statement.chunk in stated else ""].append(statement)
    found: list[Edge] = []
    for one in facts:
        by_chunk: dict[str, list[Statement]] = defaultdict(list)
        for statement in one.statements:
            by_chunk[statement.chunk].append(statement)
        for chunk, statements in by_chunk.items():
            told = {"records": _json(statements)}
            if rest := [*others.pop("", ()), *others.pop(chunk, ())]:
                told["others"] = _json(rest)
            found.append(Edge(FROM_CHUNK, one.id, chunk, told))
        for type, end in ((SUBJECT, one.subject), (OBJECT, one.object)):
            if end.entity:
                found.append(Edge(type, one.id, end.entity))
    return found


def read(known: Known, chunks: Sequence[Chunk]) -> Earlier:
    """What is known of those chunks that are still there, moved to where they are now.

    A statement has no proof yet: that is in its chunk's text.
    """
    now = {chunk.id: chunk.start for chunk in chunks}
    statements: dict[str, list[Statement]] = defaultdict(list)
    for edge in known.edges:
        if edge.type != FROM_CHUNK:
            continue
        for name in ("records", "others"):
            for one in json.loads(edge.properties.get(name, "[]")):
                if one["chunk"] in now:
                    statements[one["chunk"]].append(_statement(one, now[one["chunk"]]))
    missing = {id for gap in known.gaps if gap.step == STATEMENTS for id in gap.sources}
    # What was left out is kept beside what was not: where nothing is left, it has to be asked for.
    asked = {chunk.id for chunk in known.chunks} if known.nodes else set[str]()
    return Earlier(
        statements,
        frozenset(asked - missing),
        {
            node.properties["text"]: node.embedding
            for node in known.nodes
            if node.embedding is not None
        },
    )


def _words(fact: Fact, ontology: Ontology) -> str:
    """How a fact reads between its ends; of no relation by name, as it was stated."""
    if fact.predicate == RELATED:
        stated = dict.fromkeys(one.predicate for one in fact.statements)
        return ", ".join(list(stated)[:MOST_WORDS])
    return ontology.relations[fact.predicate].words


def _json(statements: Iterable[Statement]) -> str:
    records = [
        {
            "chunk": one.chunk,
            "words": [one.subject, one.predicate, one.object],
            "types": [one.subject_type, one.object_type],
            "choices": [choice and [choice.taken, *choice.among] for choice in one.choices],
        }
        for one in statements
    ]
    return json.dumps(records, ensure_ascii=False)


def _statement(record: Mapping[str, Any], place: int) -> Statement:
    subject, predicate, object = (
        choice and Choice(choice[0], tuple(choice[1:])) for choice in record["choices"]
    )
    start, words, end = record["words"]
    start_type, end_type = record["types"]
    choices = (subject, predicate, object)
    return Statement(
        record["chunk"], place, start, words, end, start_type, end_type, choices=choices
    )
