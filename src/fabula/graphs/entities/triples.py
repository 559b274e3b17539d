"""Facts of subject, predicate and object, as a chat model states them of a window.

HippoRAG 2 (Gutiérrez et al. 2025, arXiv 2502.14802) finds passages by such facts. Other than its
code, which keeps Latin letters alone, a phrase keeps those of any script.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.graph.extraction import Question, Records, Window
from fabula.graphs.entities import ids
from fabula.graphs.entities.extract import PROMPTS, REPLY_TOKENS, read_stated
from fabula.graphs.entities.records import TRIPLES, TriplesReply, read_triple
from fabula.graphs.entities.stand_ins import StandIns


@dataclass(frozen=True, slots=True)
class Fact:
    """What one chunk states; `place` is where the chunk begins, in characters of the document."""

    chunk: str
    place: int
    subject: str
    predicate: str
    object: str

    @property
    def words(self) -> tuple[str, str, str]:
        """Subject, predicate and object."""
        return (self.subject, self.predicate, self.object)


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
    """Return the facts of a reply, chunk by chunk. Raises BadReply if it has no list of them."""
    stated, dropped = read_stated(reply, window, read_triple)
    facts = (Fact(chunk.id, chunk.start, *record.words) for record, chunk in stated)
    return Records(tuple(facts), dropped)


def join_facts(document: str, facts: Iterable[Fact]) -> tuple[Triple, ...]:
    """Facts of the same words as one, by their ids; the order they come in does not matter."""
    same: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in sorted(set(facts), key=_order):
        same[tuple(map(phrase, fact.words))].append(fact)
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
    return (fact.place, fact.chunk, *fact.words)
