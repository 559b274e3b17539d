"""Triples: facts of subject, predicate and object, which a chat model reads in a window.

HippoRAG 2 (Gutiérrez et al. 2025, arXiv 2502.14802) finds passages by such facts. Its code keeps
only Latin letters of a phrase; here letters of any script are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.graphs.entities import ids
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
from fabula.graphs.entities.prompts import prompt
from fabula.graphs.entities.records import TriplesReply, read_triple
from fabula.graphs.entities.stand_ins import StandIns
from fabula.graphs.entities.windows import Window
from fabula.models import Chat, Prompt
from fabula.models.replies import ask, read_lists


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that one chunk states; `place` is the character at which the chunk begins."""

    chunk: str
    place: int
    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact of a document in the words of the chunk that states it first, and all its places."""

    id: str
    subject: str
    predicate: str
    object: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Stater:
    """Asks a chat model which facts a window states."""

    chat: Chat
    temperature: float
    stand_ins: StandIns

    def ask(self, window: Window) -> tuple[list[Fact], Counter[str]]:
        """Ask a model which facts a window states: a paid call.

        Returns:
            The facts, chunk by chunk, and how many records were left out, by the reason.

        Raises:
            BadReply: No reply can be used.
        """
        request = Prompt(
            system=prompt("triples_system"),
            user=prompt("triples", passages=window.passages, count=len(window.chunks)),
            max_tokens=REPLY_TOKENS,
            temperature=self.temperature,
            schema=TriplesReply,
            stand_in=lambda: self.stand_ins.stated(window),
        )
        return ask(self.chat, request, lambda reply: read_facts(reply, window), TRIES)


def read_facts(reply: str, window: Window) -> tuple[list[Fact], Counter[str]]:
    """Read the facts of a reply.

    Both ends of a fact must be printed in the window. A fact is given to those of the chunks that
    the reply names which print one of its ends; or else to those that print both, or one.

    Returns:
        The facts, chunk by chunk, and how many records were left out, by the reason.

    Raises:
        BadReply: The reply is not of this shape.
    """
    values = read_lists(reply, ("triples",))["triples"]
    dropped = Counter({SURPLUS: len(values[MOST_RECORDS:])})
    records_or_none = [read_triple(value) for value in values[:MOST_RECORDS]]
    records = [record for record in records_or_none if record is not None]
    dropped[MALFORMED] += len(records_or_none) - len(records)
    short = [
        record
        for record in records
        if max(map(len, (record.subject, record.predicate, record.object))) <= LONGEST_NAME
    ]
    dropped[OVERLONG] += len(records) - len(short)
    ends = [end for record in short for end in (record.subject, record.object)]
    printed = find_printed(ends, window.chunks)
    facts: list[Fact] = []
    for record in short:
        subject, object = (printed.get(plain(end)) for end in (record.subject, record.object))
        if not subject or not object:
            dropped[UNPRINTED] += 1
            continue
        claimed = {number - 1 for number in record.parts if 1 <= number <= len(window.chunks)}
        either = [row for row in range(len(window.chunks)) if subject[row] or object[row]]
        both = [row for row in either if subject[row] and object[row]]
        words = (record.subject, record.predicate, record.object)
        for row in sorted(claimed.intersection(either)) or both or either:
            chunk = window.chunks[row]
            facts.append(Fact(chunk.id, chunk.start, *words))
    return facts, +dropped


def join_facts(document: str, facts: Iterable[Fact]) -> tuple[Triple, ...]:
    """Join facts of the same phrases; the order of the facts does not matter.

    Returns:
        Triples, ordered by their ids.
    """
    by_phrases: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in sorted(set(facts), key=_order):
        by_phrases[tuple(map(phrase, (fact.subject, fact.predicate, fact.object)))].append(fact)
    triples = []
    for phrases, same in by_phrases.items():
        first = same[0]
        id = ids.triple_id(document, *phrases)
        triples.append(Triple(id, first.subject, first.predicate, first.object, tuple(same)))
    return tuple(sorted(triples, key=lambda triple: triple.id))


def phrase(text: str) -> str:
    """Return the words of an end or a predicate, in lower case and of any script.

    Ids in Neo4j are digests of phrases.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def _order(fact: Fact) -> tuple[int, str, str, str, str]:
    return (fact.place, fact.chunk, fact.subject, fact.predicate, fact.object)
