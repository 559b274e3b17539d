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


@dataclass(frozen=True, slots=True)
class Stater:
    """Asks a chat model which facts a window states."""

    chat: Chat
    temperature: float
    stand_ins: StandIns

    def ask(self, window: Window) -> tuple[list[Fact], Counter[str]]:
        """The facts, chunk by chunk, and how many records were left out, by the reason.

        Both ends of a fact must be printed in the window. Raises BadReply.
        """
        asked = Prompt(
            system=prompt("triples_system"),
            user=prompt("triples", passages=window.passages, count=len(window.chunks)),
            max_tokens=REPLY_TOKENS,
            temperature=self.temperature,
            schema=TriplesReply,
            stand_in=lambda: self.stand_ins.stated(window),
        )
        return ask(self.chat, asked, lambda reply: read_facts(reply, window), TRIES)


def read_facts(reply: str, window: Window) -> tuple[list[Fact], Counter[str]]:
    """The facts of a reply that the window bears out. Raises BadReply where it is none."""
    given = read_lists(reply, ("triples",))["triples"]
    dropped = Counter({SURPLUS: len(given[MOST_RECORDS:])})
    records = [read_triple(one) for one in given[:MOST_RECORDS]]
    dropped[MALFORMED] += records.count(None)
    found = [one for one in records if one is not None]
    longest = [max(map(len, (one.subject, one.predicate, one.object))) for one in found]
    fit = [one for one, length in zip(found, longest, strict=True) if length <= LONGEST_NAME]
    dropped[OVERLONG] += len(found) - len(fit)
    ends = [end for one in fit for end in (one.subject, one.object)]
    printed = find_printed(ends, window.chunks)
    facts: list[Fact] = []
    for one in fit:
        subject, object = (printed.get(plain(end)) for end in (one.subject, one.object))
        if not subject or not object:
            dropped[UNPRINTED] += 1
            continue
        rows = {number - 1 for number in one.parts if 1 <= number <= len(window.chunks)}
        either = [row for row in range(len(window.chunks)) if subject[row] or object[row]]
        both = [row for row in either if subject[row] and object[row]]
        for row in sorted(rows.intersection(either)) or both or either:
            chunk = window.chunks[row]
            facts.append(Fact(chunk.id, chunk.start, one.subject, one.predicate, one.object))
    return facts, +dropped


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
