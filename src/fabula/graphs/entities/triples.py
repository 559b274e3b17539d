"""Facts of subject, predicate and object, as a chat model states them of a window.

HippoRAG 2 (Gutiérrez et al. 2025, arXiv 2502.14802) finds passages by such facts. Other than its
code, which keeps Latin letters alone, a phrase keeps those of any script.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.graph.extraction import UNPRINTED, Question, Records, Window, read_records
from fabula.graphs.entities import ids
from fabula.graphs.entities.extract import MAX_RECORDS, PROMPTS, REPLY_TOKENS, rows_of_fact
from fabula.graphs.entities.printed import find_printed
from fabula.graphs.entities.records import TRIPLES, TriplesReply, read_triple
from fabula.graphs.entities.stand_ins import StandIns
from fabula.models.replies import read_lists


@dataclass(frozen=True, slots=True)
class Fact:
    """What one chunk states; `place` is where the chunk begins, in characters of the document."""

    chunk: str
    place: int
    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Triple:
    """What a document states, in the words in which it is stated first, and where it is stated."""

    id: str
    subject: str
    predicate: str
    object: str
    facts: tuple[Fact, ...]


def ask_triples(placeholders: StandIns) -> Question[Window, Records[Fact]]:
    """Return the question which facts a window states."""
    return Question(
        step=TRIPLES,
        prompt=PROMPTS / "triples",
        values=Window.values,
        schema=TriplesReply,
        max_tokens=REPLY_TOKENS,
        read=read_facts,
        placeholder=lambda window, _: placeholders.stated(window),
    )


def read_facts(reply: str, window: Window) -> Records[Fact]:
    """Return the facts of a reply whose ends are both printed in the window, chunk by chunk.

    Raises:
        BadReply: It has no list of facts.

    """
    items = read_lists(reply, ("triples",))["triples"]
    dropped: Counter[str] = Counter()
    records = read_records(items, read_triple, MAX_RECORDS, dropped, lambda record: record.words)
    printed = find_printed([end for record in records for end in record.ends], window.chunks)
    facts: list[Fact] = []
    for record in records:
        rows = rows_of_fact(record, window, printed)
        if not rows:
            dropped[UNPRINTED] += 1
        for row in rows:
            chunk = window.chunks[row]
            facts.append(Fact(chunk.id, chunk.start, *record.words))
    return Records(tuple(facts), +dropped)


def join_facts(document: str, facts: Iterable[Fact]) -> tuple[Triple, ...]:
    """Facts of the same words as one, by their ids; the order they come in does not matter."""
    same: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in sorted(set(facts), key=_order):
        same[tuple(map(phrase, (fact.subject, fact.predicate, fact.object)))].append(fact)
    triples = [
        Triple(
            ids.triple_id(document, *words),
            told[0].subject,
            told[0].predicate,
            told[0].object,
            tuple(told),
        )
        for words, told in same.items()
    ]
    return tuple(sorted(triples, key=lambda triple: triple.id))


def phrase(text: str) -> str:
    """An end or a predicate as phrases are compared: its words, in lower case, of any script."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def _order(fact: Fact) -> tuple[int, str, str, str, str]:
    return (fact.place, fact.chunk, fact.subject, fact.predicate, fact.object)
