"""Which chunks tell of the same who, where, when and so on as a question; it knows no database."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabula.graphs.discourse.normal import listed, normal, normal_forms
from fabula.graphs.discourse.values import RESOLVED, SLOTS

ALIKE = 0.5
"""The share of stems that two values have to share, of all that they have (Jaccard)."""
LONGEST_RUN = 8
"""Words of a question that may be one value."""

Slots = Mapping[str, Sequence[str]]
"""What a question says of an event: the values of its slots."""


@dataclass
class Term:
    """A value of a slot in all documents that have it: its chunks, and whom it stands for where.

    The captain of one book is not that of another: each entity has chunks of its own.
    """

    chunks: set[str] = field(default_factory=set)
    entities: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Terms:
    """The terms of a collection, or of one document.

    `places` are its chunks by their ids, numbered in text order. `by_slot` are terms by slot and
    key, `having` the keys that have a stem, by slot and stem, and `named` the entities that have a
    name, by its normal forms.
    """

    language: str
    places: Mapping[str, int]
    by_slot: Mapping[str, Mapping[str, Term]]
    having: Mapping[str, Mapping[str, Sequence[str]]]
    named: Mapping[str, frozenset[str]]

    def match(self, slot: str, value: str) -> dict[str, tuple[float, float]]:
        """The chunks in which a slot has a value, or one like it: how alike, and how rare.

        Alike is 1 where both are the same as values are compared, or of the same entity, and else
        the share of stems that they share, if that is a half at least.
        """
        asked = normal(value, self.language)
        if not asked:
            return {}
        stems = frozenset(asked.split())
        entities = self._entities(slot, value)
        terms, having = self.by_slot.get(slot, {}), self.having.get(slot, {})
        found: dict[str, tuple[float, float]] = {}
        likely = {key for stem in stems for key in having.get(stem, ())}
        likely |= {key for key, term in terms.items() if entities & term.entities.keys()}
        for key in sorted(likely):
            term = terms[key]
            rare = self._rarity(term)
            alike = 1.0 if key == asked else jaccard(stems, key)
            same = {one for entity in entities for one in term.entities.get(entity, ())}
            for told, chunks in ((alike, term.chunks), (1.0, same)):
                if told >= ALIKE:
                    found |= {
                        one: max((told, rare), found.get(one, (told, rare))) for one in chunks
                    }
        return found

    def rank(self, asked: Slots, least: int = 1) -> list[str]:
        """The chunks that match in so many slots at least, best first.

        By how many slots match, then by how alike they are, weighed by how rare the values are,
        then slot by slot in their order; the earlier one of equals.
        """
        matched: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
        for slot in SLOTS:
            for value in asked.get(slot, ()):
                for chunk, told in self.match(slot, value).items():
                    own = matched[chunk]
                    own[slot] = max(told, own.get(slot, told))

        def order(chunk: str) -> tuple[object, ...]:
            own = matched[chunk]
            total = math.fsum(alike * rare for alike, rare in own.values())
            by_slot = [-own[slot][0] if slot in own else 0.0 for slot in SLOTS]
            return (-len(own), -total, *by_slot, self.places[chunk], chunk)

        found = (one for one, own in matched.items() if one in self.places and len(own) >= least)
        return sorted(found, key=order)

    def find(self, question_words: Sequence[str], slot: str, tells: Iterable[bool]) -> list[str]:
        """The runs of a question's words that are values of a slot, the longest at each place.

        `tells` says of each word whether it says something alone.
        """
        telling = list(tells)
        terms = self.by_slot.get(slot, {})
        found: list[str] = []
        place = 0
        while place < len(question_words):
            for size in range(min(LONGEST_RUN, len(question_words) - place), 0, -1):
                run = " ".join(question_words[place : place + size])
                if any(telling[place : place + size]) and self._is_value(slot, run, terms):
                    found.append(run)
                    place += size
                    break
            else:
                place += 1
        return list(dict.fromkeys(found))

    def _is_value(self, slot: str, run: str, terms: Mapping[str, Term]) -> bool:
        own = normal(run, self.language)
        return own in terms or (slot in RESOLVED and own in self.named)

    def _entities(self, slot: str, value: str) -> frozenset[str]:
        if slot not in RESOLVED:
            return frozenset()
        for forms in (normal_forms(one, self.language) for one in listed(value)):
            for form in forms:
                if form in self.named:
                    return self.named[form]
        return frozenset()

    def _rarity(self, term: Term) -> float:
        """As `inverse_document_frequencies` has it, of the chunks."""
        having = len(term.chunks)
        without = max(0, len(self.places) - having)
        return math.log1p((without + 0.5) / (having + 0.5))


def make_terms(
    language: str,
    chunks: Iterable[str],
    terms: Iterable[tuple[str, str, Sequence[str]]],
    resolved: Iterable[tuple[str, str, str, Sequence[str], Sequence[str]]],
) -> Terms:
    """Terms out of rows: slot, key and chunks; slot, key, entity, its names, and its chunks.

    `chunks` are in text order, document by document.
    """
    by_slot: dict[str, dict[str, Term]] = {slot: defaultdict(Term) for slot in SLOTS}
    for slot, key, own in terms:
        by_slot[slot][key].chunks |= set(own)
    named: dict[str, set[str]] = defaultdict(set)
    for slot, key, entity, names, own in resolved:
        by_slot[slot][key].entities.setdefault(entity, set()).update(own)
        for name in names:
            for form in normal_forms(name, language):
                named[form].add(entity)
    having: dict[str, dict[str, list[str]]] = {slot: defaultdict(list) for slot in SLOTS}
    for slot, found in by_slot.items():
        for key in sorted(found):
            for stem in dict.fromkeys(key.split()):
                having[slot][stem].append(key)
    return Terms(
        language,
        {chunk: place for place, chunk in enumerate(chunks)},
        {slot: dict(found) for slot, found in by_slot.items()},
        {slot: dict(found) for slot, found in having.items()},
        {form: frozenset(some) for form, some in named.items()},
    )


def jaccard(stems: frozenset[str], key: str) -> float:
    """The share of stems that a value and a key share, of all that they have together."""
    own = frozenset(key.split())
    return len(stems & own) / len(stems | own)


def in_turn(
    near: Sequence[str], related: Mapping[str, Sequence[str]], matched: Sequence[str]
) -> Iterator[str]:
    """Each near chunk and those related to it, then those that match; each once, at its first."""
    every = [one for first in near for one in (first, *related.get(first, ()))]
    return iter(dict.fromkeys([*every, *matched]))
