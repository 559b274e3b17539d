"""Find the chunks that have the same who, where, when and so on as a question."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fabula_graphs.discourse.labels import SLOTS
from fabula_graphs.discourse.normal import normal, normal_forms, split_list
from fabula_graphs.discourse.values import RESOLVED

MIN_SIMILARITY = 0.5
"""Of two values: the share of their stems that they have in common (Jaccard)."""

Slots = Mapping[str, Sequence[str]]
"""What a question says of an event: the values of its slots."""


@dataclass
class Term:
    """A value of a slot in all documents that have it.

    Attributes:
        chunks: The ids of the chunks that have it.
        entities: The ids of the entities that it stands for, each with the chunks where it does:
            the captain of one book is not the captain of another.
    """

    chunks: set[str] = field(default_factory=set)
    entities: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Terms:
    """The terms of a collection, or of one document.

    Attributes:
        language: The language of most documents, as ISO 639-1.
        places: The chunks' numbers in text order, by their ids.
        by_slot: The terms by slot and key.
        having: The keys with a stem, by slot and stem.
        named: The ids of the entities with a name, by its normal forms.
    """

    language: str
    places: Mapping[str, int]
    by_slot: Mapping[str, Mapping[str, Term]]
    having: Mapping[str, Mapping[str, Sequence[str]]]
    named: Mapping[str, frozenset[str]]

    def match(self, slot: str, value: str) -> dict[str, tuple[float, float]]:
        """Return the chunks in which a slot has a value like this: how similar, and how rare.

        Similarity is 1 if both values have the same normal form or the same entity, else the share
        of stems that they have in common; below a half they are not alike. Rarity is an inverse
        document frequency.
        """
        form = normal(value, self.language)
        if not form:
            return {}
        stems = frozenset(form.split())
        entities = self._entities(slot, value)
        terms, having = self.by_slot.get(slot, {}), self.having.get(slot, {})
        scores: dict[str, tuple[float, float]] = {}
        candidates = {key for stem in stems for key in having.get(stem, ())}
        candidates |= {key for key, term in terms.items() if entities & term.entities.keys()}
        for key in sorted(candidates):
            term = terms[key]
            rarity = self._rarity(term)
            similarity = 1.0 if key == form else jaccard(stems, key)
            same = {chunk for entity in entities for chunk in term.entities.get(entity, ())}
            for score, chunks in (((similarity, rarity), term.chunks), ((1.0, rarity), same)):
                if score[0] >= MIN_SIMILARITY:
                    scores |= {chunk: max(score, scores.get(chunk, score)) for chunk in chunks}
        return scores

    def rank(self, question: Slots) -> list[str]:
        """Return the chunks that match in a slot, best first.

        They are ordered by how many slots match, then by similarity weighted with rarity, then slot
        by slot in the slots' order; of equal ones the earlier comes first.
        """
        matched: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
        for slot in SLOTS:
            for value in question.get(slot, ()):
                for chunk, score in self.match(slot, value).items():
                    slots = matched[chunk]
                    slots[slot] = max(score, slots.get(slot, score))

        def order(chunk: str) -> tuple[object, ...]:
            slots = matched[chunk]
            total = math.fsum(similarity * rarity for similarity, rarity in slots.values())
            by_slot = [-slots[slot][0] if slot in slots else 0.0 for slot in SLOTS]
            return (-len(slots), -total, *by_slot, self.places[chunk], chunk)

        return sorted((chunk for chunk in matched if chunk in self.places), key=order)

    def _entities(self, slot: str, value: str) -> frozenset[str]:
        if slot not in RESOLVED:
            return frozenset()
        for forms in (normal_forms(name, self.language) for name in split_list(value)):
            for form in forms:
                if form in self.named:
                    return self.named[form]
        return frozenset()

    def _rarity(self, term: Term) -> float:
        """The inverse document frequency of a term, as in `inverse_document_frequencies`."""
        having = len(term.chunks)
        without = max(0, len(self.places) - having)
        return math.log1p((without + 0.5) / (having + 0.5))


def make_terms(
    language: str,
    chunks: Iterable[str],
    terms: Iterable[tuple[str, str, Sequence[str]]],
    resolved: Iterable[tuple[str, str, str, Sequence[str], Sequence[str]]],
) -> Terms:
    """Return terms made of rows of the graph.

    Args:
        language: The language of most documents, as ISO 639-1.
        chunks: Ids of all chunks in text order, document by document.
        terms: Slot, key and chunk ids of each term.
        resolved: Slot, key, entity id, the entity's names and chunk ids of each resolved term.
    """
    by_slot: dict[str, dict[str, Term]] = {slot: defaultdict(Term) for slot in SLOTS}
    for slot, key, ids in terms:
        by_slot[slot][key].chunks |= set(ids)
    named: dict[str, set[str]] = defaultdict(set)
    for slot, key, entity, names, ids in resolved:
        by_slot[slot][key].entities.setdefault(entity, set()).update(ids)
        for name in names:
            for form in normal_forms(name, language):
                named[form].add(entity)
    having: dict[str, dict[str, list[str]]] = {slot: defaultdict(list) for slot in SLOTS}
    for slot, by_key in by_slot.items():
        for key in sorted(by_key):
            for stem in dict.fromkeys(key.split()):
                having[slot][stem].append(key)
    return Terms(
        language,
        {chunk: place for place, chunk in enumerate(chunks)},
        {slot: dict(by_key) for slot, by_key in by_slot.items()},
        {slot: dict(by_stem) for slot, by_stem in having.items()},
        {form: frozenset(entities) for form, entities in named.items()},
    )


def jaccard(stems: frozenset[str], key: str) -> float:
    """Return the share of the stems of a value and a key that both have."""
    others = frozenset(key.split())
    return len(stems & others) / len(stems | others)


def in_turn(
    near: Sequence[str], related: Mapping[str, Sequence[str]], matched: Sequence[str]
) -> list[str]:
    """Return each near chunk with those related to it, then those that match; each one once."""
    every = [chunk for first in near for chunk in (first, *related.get(first, ()))]
    return list(dict.fromkeys([*every, *matched]))
