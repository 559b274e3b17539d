"""The first step: what a chat model states of a window, with the classes of both ends.

A record is used if both its ends are printed in the window. It rests on chunks and not on windows,
which may be cut in another way after an edit.
"""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any

from pydantic import WithJsonSchema, create_model

from fabula.graph.demonstrations import Demonstrations
from fabula.graph.extraction import ModelQuestion, Records, TextWindow
from fabula.graphs.entities.extract import REPLY_TOKENS, read_stated
from fabula.graphs.entities.printed_forms import find_printed, printed_key
from fabula.graphs.entities.records import TripleRecord, TripleShape, read_triple
from fabula.models.schemas import ReplyShape
from fabula.text.document import Chunk
from fabula.text.sentences import spans
from fabula_graphs.facts.labels import STATEMENTS
from fabula_graphs.facts.ontology import Ontology
from fabula_graphs.facts.values import FactStatement

PROMPTS = Path(__file__).parent / "prompts"
MAX_PROOF_CHARACTERS = 600
"""A longer sentence proves little, and is not kept."""
USUAL_STATEMENTS = 10.0
"""Facts of a window that a dry run assumes of a model that wrote nothing yet."""
CLASSES_OF_EXAMPLES = "The examples may have other classes; write only those that are listed."
_WORD = re.compile(r"\w{4,}")


class TypedShape(TripleShape):
    """A fact of three parts, and of which class its ends are."""

    subject_type: str
    object_type: str


class TypedReply(ReplyShape):
    """Facts of some passages."""

    triples: list[TypedShape]


@functools.cache
def typed_reply(classes: tuple[str, ...]) -> type[TypedReply]:
    """Return TypedReply with the closed list of classes in its schema."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(classes)})]
    shape = create_model(
        "TypedShape", __base__=TypedShape, subject_type=(closed, ...), object_type=(closed, ...)
    )
    return create_model("TypedReply", __base__=TypedReply, triples=(list[shape], ...))


def ask_statements(
    ontology: Ontology, means: Mapping[str, float], demonstrations: Demonstrations
) -> ModelQuestion[TextWindow, Records[FactStatement]]:
    """Return the question which facts a window states.

    As in Wikontic (Chepurova et al. 2025), with three demonstrations unless others are set.
    """
    classes = tuple(ontology.classes)
    listed = "\n".join(
        f"- {name} (under {', '.join(parents)})" if parents else f"- {name}"
        for name, parents in ontology.classes.items()
    )

    return ModelQuestion(
        step=STATEMENTS,
        prompt=PROMPTS / "state",
        values=lambda window: window.values(classes=listed),
        system_values={
            "text": demonstrations.text,
            **demonstrations.values("statements", TypedReply, CLASSES_OF_EXAMPLES),
        },
        schema=typed_reply(classes),
        max_tokens=REPLY_TOKENS,
        read=lambda reply, window: read_statements(reply, window, ontology),
        placeholder=lambda window, _: expected_statements(window, classes, means),
    )


def read_statements(reply: str, window: TextWindow, ontology: Ontology) -> Records[FactStatement]:
    """Return the statements of a reply. Raises BadReply if it has no list of them."""
    classes = {printed_key(name): name for name in ontology.classes}
    stated, dropped = read_stated(reply, window, partial(_read_typed, classes))
    statements = (
        FactStatement(chunk.id, chunk.start, *record.words, record.subject_type, record.object_type)
        for record, chunk in stated
    )
    return Records(tuple(dict.fromkeys(statements)), dropped)


@dataclass(frozen=True, slots=True)
class TypedRecord(TripleRecord):
    """A fact as it was read, and the classes of its ends, '' for none of the ontology's."""

    subject_type: str = ""
    object_type: str = ""


def _read_typed(classes: Mapping[str, str], item: Any) -> TypedRecord | None:
    if not (record := read_triple(item)):
        return None
    names = (item.get("subject_type"), item.get("object_type"))
    types = [classes.get(printed_key(name), "") if isinstance(name, str) else "" for name in names]
    return TypedRecord(*record.words, record.parts, *types)


def expected_statements(
    window: TextWindow, classes: Sequence[str], means: Mapping[str, float]
) -> str:
    """Return as many facts as are expected, as JSON: words that the passages print."""
    text = "\n".join(chunk.text for chunk in window.chunks)
    counts = Counter(_WORD.findall(text)) or Counter(["nothing"])
    words = sorted(counts, key=lambda word: (not word[0].isupper(), -counts[word], word))
    ends, kinds = cycle(words), cycle(classes)
    triples = [
        {
            "subject": next(ends),
            "predicate": f"has to do with {number}",
            "object": next(ends),
            "subject_type": next(kinds),
            "object_type": next(kinds),
            "parts": [1],
        }
        for number in range(round(means.get("mean_statements", USUAL_STATEMENTS)))
    ]
    return json.dumps({"triples": triples}, ensure_ascii=False)


def prove(
    statements: Iterable[FactStatement], chunks: Sequence[Chunk], language: str
) -> list[FactStatement]:
    """Return the statements, each with the first sentence of its chunk that prints both ends."""
    by_id = {chunk.id: chunk for chunk in chunks}
    cut = {id: spans(chunk.text, language) for id, chunk in by_id.items()}
    return [
        replace(statement, proof=_proof(statement, by_id[statement.chunk], cut[statement.chunk]))
        for statement in statements
    ]


def _proof(statement: FactStatement, chunk: Chunk, sentences: Sequence[tuple[int, int]]) -> str:
    """The first of a chunk's sentences that prints both ends, on one line; '' for none."""
    ends = (statement.subject, statement.object)
    # What begins with a small letter may begin a sentence, too.
    forms = [form for end in ends for form in (end, end[:1].upper() + end[1:])]
    printed = find_printed(forms, [chunk])
    starts = [start for start, _ in sentences]

    def rows(end: str) -> set[int]:
        [by_form] = printed.get(printed_key(end), [{}])
        places = (place - chunk.start for found in by_form.values() for place in found)
        return {bisect_right(starts, place) - 1 for place in places}

    both = sorted(rows(statement.subject) & rows(statement.object))
    texts = (" ".join(chunk.text[slice(*sentences[row])].split()) for row in both)
    return next((text for text in texts if len(text) <= MAX_PROOF_CHARACTERS), "")
