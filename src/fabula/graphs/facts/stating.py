"""What a chat model states of a window, with the classes of both ends: the first step.

As in Wikontic (Chepurova et al. 2025), with three demonstrations; a record is kept where both its
ends are printed in the window, and rests on chunks, not on windows.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema, create_model

from fabula.graphs.entities.extract import (
    LONGEST_NAME,
    MALFORMED,
    MOST_RECORDS,
    OVERLONG,
    REPLY_TOKENS,
    SURPLUS,
    TRIES,
    UNPRINTED,
)
from fabula.graphs.entities.printed import find_printed, plain
from fabula.graphs.entities.records import TripleRecord, TripleShape, read_triple
from fabula.graphs.entities.windows import Window
from fabula.graphs.facts.ontology import Ontology
from fabula.graphs.facts.prompts import prompt
from fabula.graphs.facts.stand_ins import StandIns
from fabula.graphs.facts.values import Statement
from fabula.models import Chat, Prompt
from fabula.models.replies import ask, read_lists
from fabula.text.document import Chunk
from fabula.text.sentences import spans

LONGEST_PROOF = 600
"""Characters of a sentence that is kept as proof; a longer one proves little."""


class TypedShape(TripleShape):
    """A fact of three parts, and of which class its ends are."""

    subject_type: str
    object_type: str


class TypedReply(BaseModel):
    """Facts of some passages."""

    model_config = ConfigDict(extra="forbid")

    triples: list[TypedShape]


@functools.cache
def typed_reply(classes: tuple[str, ...]) -> type[TypedReply]:
    """TypedReply whose schema tells an endpoint the closed list of classes."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(classes)})]
    one = create_model(
        "TypedShape", __base__=TypedShape, subject_type=(closed, ...), object_type=(closed, ...)
    )
    return create_model("TypedReply", __base__=TypedReply, triples=(list[one], ...))


@dataclass(frozen=True, slots=True)
class Stater:
    """Asks a chat model which facts a window states."""

    chat: Chat
    ontology: Ontology
    temperature: float
    stand_ins: StandIns
    language: str

    def ask(self, window: Window) -> tuple[list[Statement], Counter[str]]:
        """The statements, chunk by chunk, and how many records were left out, by the reason.

        Raises BadReply.
        """
        classes = tuple(self.ontology.classes)
        listed = "\n".join(
            f"- {name} (under {', '.join(parents)})" if parents else f"- {name}"
            for name, parents in self.ontology.classes.items()
        )
        count = len(window.chunks)
        asked = Prompt(
            system=prompt("state_system"),
            user=prompt("state", classes=listed, passages=window.passages, count=count),
            max_tokens=REPLY_TOKENS,
            temperature=self.temperature,
            schema=typed_reply(classes),
            stand_in=lambda: self.stand_ins.stated(window, classes),
        )
        return ask(self.chat, asked, lambda reply: self._read(reply, window), TRIES)

    def _read(self, reply: str, window: Window) -> tuple[list[Statement], Counter[str]]:
        found, dropped = read_statements(reply, window, self.ontology)
        return prove(found, window.chunks, self.language), dropped


def read_statements(
    reply: str, window: Window, ontology: Ontology
) -> tuple[list[Statement], Counter[str]]:
    """The statements of a reply that the window bears out. Raises BadReply where it is none."""
    given = read_lists(reply, ("triples",))["triples"]
    dropped = Counter({SURPLUS: len(given[MOST_RECORDS:])})
    known = {plain(name): name for name in ontology.classes}
    records: list[tuple[TripleRecord, tuple[str, str]]] = []
    for one in given[:MOST_RECORDS]:
        record = read_triple(one)
        if record is None:
            dropped[MALFORMED] += 1
        elif max(map(len, (record.subject, record.predicate, record.object))) > LONGEST_NAME:
            dropped[OVERLONG] += 1
        else:
            subject, object = (
                _class(one.get(f"{end}_type"), known) for end in ("subject", "object")
            )
            records.append((record, (subject, object)))
    ends = [end for one, _ in records for end in (one.subject, one.object)]
    printed = find_printed(ends, window.chunks)
    found: list[Statement] = []
    for record, types in records:
        start, end = (printed.get(plain(name)) for name in (record.subject, record.object))
        if not start or not end:
            dropped[UNPRINTED] += 1
            continue
        rows = {number - 1 for number in record.parts if 1 <= number <= len(window.chunks)}
        either = [row for row in range(len(window.chunks)) if start[row] or end[row]]
        both = [row for row in either if start[row] and end[row]]
        for row in sorted(rows.intersection(either)) or both or either:
            chunk = window.chunks[row]
            words = (record.subject, record.predicate, record.object)
            found.append(Statement(chunk.id, chunk.start, *words, *types))
    return list(dict.fromkeys(found)), +dropped


def prove(
    statements: Iterable[Statement], chunks: Sequence[Chunk], language: str
) -> list[Statement]:
    """The statements, each with the first sentence of its chunk that prints both its ends."""
    placed = {chunk.id: chunk for chunk in chunks}
    cut = {id: spans(chunk.text, language) for id, chunk in placed.items()}
    return [
        replace(one, proof=_proof(one, placed[one.chunk], cut[one.chunk])) for one in statements
    ]


def _proof(one: Statement, chunk: Chunk, sentences: Sequence[tuple[int, int]]) -> str:
    """The first of a chunk's sentences that prints both ends, on one line; '' for none."""
    ends = (one.subject, one.object)
    # What begins with a small letter may begin a sentence, too.
    forms = [form for end in ends for form in (end, end[:1].upper() + end[1:])]
    printed = find_printed(forms, [chunk])
    starts = [start for start, _ in sentences]

    def rows(end: str) -> set[int]:
        [told] = printed.get(plain(end), [{}])
        places = (place - chunk.start for some in told.values() for place in some)
        return {bisect_right(starts, place) - 1 for place in places}

    both = sorted(rows(one.subject) & rows(one.object))
    texts = (" ".join(chunk.text[slice(*sentences[row])].split()) for row in both)
    return next((text for text in texts if len(text) <= LONGEST_PROOF), "")


def _class(given: Any, known: dict[str, str]) -> str:
    return known.get(plain(given), "") if isinstance(given, str) else ""
