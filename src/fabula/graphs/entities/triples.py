"""Triples: facts of subject, predicate and object, which a chat model reads in a window.

HippoRAG 2 (Gutiérrez et al. 2025, arXiv 2502.14802) finds passages by such facts. Its code keeps
only Latin letters of a phrase; here letters of any script are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.graph.demonstrations import Demonstrations
from fabula.graph.extraction import ModelQuestion, Records, TextWindow
from fabula.graphs.entities import ids
from fabula.graphs.entities.extract import PROMPTS, REPLY_TOKENS, read_stated
from fabula.graphs.entities.placeholders import EntityPlaceholders
from fabula.graphs.entities.records import TRIPLES, TriplesReply, read_triple


@dataclass(frozen=True, slots=True)
class StatedTriple:
    """A fact that one chunk states; `place` is the character at which the chunk begins."""

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
    """A fact of a document in the words of the chunk that states it first, and all its places."""

    id: str
    subject: str
    predicate: str
    object: str
    facts: tuple[StatedTriple, ...]


def ask_triples(
    placeholders: EntityPlaceholders, demonstrations: Demonstrations
) -> ModelQuestion[TextWindow, Records[StatedTriple]]:
    """Return the question which facts a window states."""
    return ModelQuestion(
        step=TRIPLES,
        prompt=PROMPTS / "triples",
        values=TextWindow.values,
        system_values={
            "text": demonstrations.text,
            **demonstrations.values("triples", TriplesReply),
        },
        schema=TriplesReply,
        max_tokens=REPLY_TOKENS,
        read=read_facts,
        placeholder=lambda window, _: placeholders.facts(window),
    )


def read_facts(reply: str, window: TextWindow) -> Records[StatedTriple]:
    """Return the facts of a reply, chunk by chunk. Raises BadReply if it has no list of them."""
    stated, dropped = read_stated(reply, window, read_triple)
    facts = (StatedTriple(chunk.id, chunk.start, *record.words) for record, chunk in stated)
    return Records(tuple(facts), dropped)


def join_facts(document: str, facts: Iterable[StatedTriple]) -> tuple[Triple, ...]:
    """Join facts of the same phrases; the order of the facts does not matter.

    Returns:
        Triples, ordered by their ids.
    """
    by_phrases: dict[tuple[str, ...], list[StatedTriple]] = defaultdict(list)
    for fact in sorted(set(facts), key=_order):
        by_phrases[tuple(map(phrase_key, fact.words))].append(fact)
    triples = []
    for phrases, same in by_phrases.items():
        first = same[0]
        id = ids.triple_id(document, *phrases)
        triples.append(Triple(id, first.subject, first.predicate, first.object, tuple(same)))
    return tuple(sorted(triples, key=lambda triple: triple.id))


def phrase_key(text: str) -> str:
    """Return the words of an end or a predicate, in lower case and of any script.

    Ids in Neo4j are digests of phrases.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def _order(fact: StatedTriple) -> tuple[int, str, str, str, str]:
    return (fact.place, fact.chunk, *fact.words)
