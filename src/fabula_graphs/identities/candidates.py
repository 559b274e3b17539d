"""Candidates: entities of different documents that may be one, by their names alone.

Candidates have equal keys, or names that differ as one person's names differ:
in a letter or two, by an initial, or in that one of them is short.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from fabula.graphs.entities.names import name_key, titled_key
from fabula.graphs.entities.resolve import PERSON, agree, person_or_place
from fabula_graphs.identities.misspelling import misspelt_by, most_letters

EQUAL, SPELLING, INITIAL, ALIAS, FAMILY, FIRST = (
    "equal names",
    "spelling",
    "initial",
    "another name",
    "family name",
    "first name",
)
"""Why entities are candidates; kept in Neo4j."""
SUREST_FIRST = (EQUAL, SPELLING, INITIAL, ALIAS, FAMILY, FIRST)
MIN_SURE_LETTERS = 8
"""Letters of a name of one word from which a difference in spelling is sure to be a mistake."""


@dataclass(frozen=True, slots=True)
class ComparedEntity:
    """An entity of one document, as it is compared with those of others.

    `book` is the document's title, `source` the id of the first chunk that the entity rests on.
    """

    id: str
    document: str
    book: str
    name: str
    key: str
    names: tuple[str, ...]
    type: str
    text: str
    mentions: int
    source: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """Entities of different documents that may be one, and `why`.

    Those that were compared before come first, and then those with most mentions. `is_sure` says
    whether their names alone are enough to join them.
    """

    why: str
    members: tuple[ComparedEntity, ...]
    is_sure: bool


def find_candidates(
    entities: Iterable[ComparedEntity], compared_before: Collection[str] = ()
) -> list[Candidates]:
    """Find all candidates, the surest first; the order of `entities` does not matter.

    Args:
        entities: The entities of all documents.
        compared_before: The ids of those that the previous build compared.
    """

    def order(entity: ComparedEntity) -> tuple[bool, int, str]:
        return (entity.id not in compared_before, -entity.mentions, entity.id)

    by_key: dict[str, list[ComparedEntity]] = defaultdict(list)
    for entity in sorted(entities, key=order):
        if entity.key:
            by_key[entity.key].append(entity)
    candidates = {
        (name, name): Candidates(EQUAL, tuple(namesakes), True)
        for name, namesakes in by_key.items()
        if len({entity.document for entity in namesakes}) > 1
    }
    pairs = chain(_misspelt(by_key), _initials(by_key), _aliases(by_key), _short(by_key))
    for why, first, second in pairs:
        pair = (min(first, second), max(first, second))
        if pair not in candidates and _are_likely(by_key[first], by_key[second]):
            members = sorted((by_key[first][0], by_key[second][0]), key=order)
            is_sure = why == SPELLING and _is_long(*pair)
            candidates[pair] = Candidates(why, tuple(members), is_sure)
    surest_first = sorted(
        candidates, key=lambda pair: (SUREST_FIRST.index(candidates[pair].why), pair)
    )
    return [candidates[pair] for pair in surest_first]


def may_be_one(*entities: ComparedEntity) -> bool:
    """Return whether nothing in the types and titles of these entities speaks against it."""
    names = (name for entity in entities for name in (entity.name, *entity.names))
    return agree((entity.type for entity in entities), names)


def score(first: ComparedEntity, second: ComparedEntity) -> float:
    """Return how alike the keys of two entities are, from 0 to 1 (Ratcliff and Obershelp 1988)."""
    matcher = difflib.SequenceMatcher(None, first.key, second.key, autojunk=False)
    return round(matcher.ratio(), 3)


def is_called(entity: ComparedEntity, name: str) -> bool:
    """Return whether a person who wrote this name, or id, means this entity."""
    names = {titled_key(form) for form in (entity.name, *entity.names)}
    return name == entity.id or titled_key(name) in names


def _are_likely(bearers: Sequence[ComparedEntity], others: Sequence[ComparedEntity]) -> bool:
    """Return whether the bearers of two names may be one, by the first of each."""
    # The build of a document that has both names knew all of its text, and took them for two.
    if {entity.document for entity in bearers} & {entity.document for entity in others}:
        return False
    return may_be_one(bearers[0], others[0]) and bearers[0].type == others[0].type


def _misspelt(by_key: Mapping[str, Sequence[ComparedEntity]]) -> Iterator[tuple[str, str, str]]:
    """Yield names of which one word differs in a letter or two after its first letter."""
    # Such words become equal when as many letters are left out of each (Mor and Fraenkel 1982).
    blocks: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in sorted(by_key):
        words = name.split()
        for at, word in enumerate(words):
            for rest in _with_letters_left_out(word[1:], most_letters(word)):
                blocks[(*words[:at], f"{word[0]}{rest}*", *words[at + 1 :])].append(name)
    for first, second in {pair for block in blocks.values() for pair in combinations(block, 2)}:
        if misspelt_by(first, second):
            yield SPELLING, first, second


def _with_letters_left_out(word: str, most: int) -> set[str]:
    """All that is left of a word without up to `most` of its letters; nothing where that is 0."""
    sizes = range(max(0, len(word) - most), len(word) + 1) if most else ()
    return {"".join(left) for size in sizes for left in combinations(word, size)}


def _initials(by_key: Mapping[str, Sequence[ComparedEntity]]) -> Iterator[tuple[str, str, str]]:
    """E. Scrooge and Ebenezer Scrooge."""
    for names in _people(by_key, last=True).values():
        for short in (name for name in names if len(name.split()[0]) == 1):
            full = [name for name in names if name[0] == short[0] and name != short]
            if len(full) == 1 and len(full[0].split()) == len(short.split()):
                yield INITIAL, short, full[0]


def _aliases(by_key: Mapping[str, Sequence[ComparedEntity]]) -> Iterator[tuple[str, str, str]]:
    """What one document also calls an entity is the name of another document's."""
    claims: dict[str, set[str]] = defaultdict(set)
    for name, namesakes in by_key.items():
        for form in {name_key(form) for entity in namesakes for form in entity.names}:
            if form != name and form in by_key:
                claims[form].add(name)
    for form in sorted(claims):
        # An alias of several entities says nothing of any of them.
        if len(claims[form]) == 1:
            yield ALIAS, form, min(claims[form])


def _short(by_key: Mapping[str, Sequence[ComparedEntity]]) -> Iterator[tuple[str, str, str]]:
    """A family name or a first name alone, where one person alone bears it."""
    for why, full in ((FAMILY, _people(by_key, last=True)), (FIRST, _people(by_key, last=False))):
        for word in sorted(full.keys() & by_key.keys()):
            if len(full[word]) == 1 and person_or_place(by_key[word][0].type) == PERSON:
                yield why, word, full[word][0]


def _people(
    by_key: Mapping[str, Sequence[ComparedEntity]], *, last: bool
) -> Mapping[str, list[str]]:
    """Persons' names of several words, by their last or their first one."""
    by_word: dict[str, list[str]] = defaultdict(list)
    for name in sorted(by_key):
        words = name.split()
        if len(words) > 1 and person_or_place(by_key[name][0].type) == PERSON:
            by_word[words[-1 if last else 0]].append(name)
    return by_word


def _is_long(first: str, second: str) -> bool:
    return " " in first or min(len(first), len(second)) >= MIN_SURE_LETTERS
