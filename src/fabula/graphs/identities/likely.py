"""Which entities of different documents may be one, by their names alone.

Those of equal keys are; other names are likely that differ as one person's names differ within a
text (`graphs.entities.resolve`): in a letter or two, by an initial, or in that one is short.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from fabula.graphs.entities.names import key, titled
from fabula.graphs.entities.resolve import PERSON, agree, kind, misspelt_by, most_letters

EQUAL, SPELLING, INITIAL, ALIAS, FAMILY, FIRST = (
    "equal names",
    "spelling",
    "initial",
    "another name",
    "family name",
    "first name",
)
"""Why names are likely to be one's, the surest first."""
WHYS = (EQUAL, SPELLING, INITIAL, ALIAS, FAMILY, FIRST)
SURE_LETTERS = 8
"""A name of one word that differs in spelling has as many letters to be one without being asked."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity of one document, as it is compared with those of others.

    `book` is the document's title, `source` the id of the first chunk that it rests on.
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
class Alike:
    """Entities of different documents whose names say that they may be one, and `why`.

    Those that were compared before come first, and then who is mentioned most. `is_sure`: whether
    names alone will do.
    """

    why: str
    members: tuple[Named, ...]
    is_sure: bool


def find_alike(everyone: Iterable[Named], before: Collection[str] = ()) -> list[Alike]:
    """All that may be one, the surest first; the same for the same, in whatever order.

    `before` are the ids of those that were compared before.
    """

    def order(one: Named) -> tuple[bool, int, str]:
        return (one.id not in before, -one.mentions, one.id)

    by_key: dict[str, list[Named]] = defaultdict(list)
    for one in sorted(everyone, key=order):
        if one.key:
            by_key[one.key].append(one)
    found = {
        (name, name): Alike(EQUAL, tuple(some), True)
        for name, some in by_key.items()
        if len({one.document for one in some}) > 1
    }
    pairs = (_misspelt(by_key), _initials(by_key), _aliases(by_key), _short(by_key))
    for why, first, second in (one for some in pairs for one in some):
        pair = (min(first, second), max(first, second))
        if pair not in found and _are_likely(by_key[first], by_key[second]):
            members = sorted((by_key[first][0], by_key[second][0]), key=order)
            found[pair] = Alike(why, tuple(members), why == SPELLING and _is_long(*pair))
    return [
        found[pair] for pair in sorted(found, key=lambda one: (WHYS.index(found[one].why), one))
    ]


def may_be_one(*some: Named) -> bool:
    """Whether nothing in their types and titles speaks against it."""
    names = (name for one in some for name in (one.name, *one.names))
    return agree((one.type for one in some), names)


def score(one: Named, other: Named) -> float:
    """How alike two names are, as keys: 1 for equal ones (Ratcliff and Obershelp 1988)."""
    return round(difflib.SequenceMatcher(None, one.key, other.key, autojunk=False).ratio(), 3)


def is_called(one: Named, name: str) -> bool:
    """Whether a person who wrote this name, or id, means it."""
    return name == one.id or titled(name) in {titled(form) for form in (one.name, *one.names)}


def _are_likely(ones: Sequence[Named], others: Sequence[Named]) -> bool:
    """Whether those who bear two names may be one, by the first of each.

    Not where one document has both names: who read it as a whole took them for two.
    """
    if {one.document for one in ones} & {other.document for other in others}:
        return False
    return may_be_one(ones[0], others[0]) and ones[0].type == others[0].type


def _misspelt(by_key: Mapping[str, Sequence[Named]]) -> Iterator[tuple[str, str, str]]:
    """Names of which one word differs in a letter or two, but for its first.

    Such words are the same when as many letters are left out of each (Mor and Fraenkel 1982), so
    that few pairs have to be compared.
    """
    blocks: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in sorted(by_key):
        words = name.split()
        for at, word in enumerate(words):
            for rest in _with_letters_left_out(word[1:], most_letters(word)):
                blocks[(*words[:at], f"{word[0]}{rest}*", *words[at + 1 :])].append(name)
    for one, other in {pair for block in blocks.values() for pair in combinations(block, 2)}:
        if misspelt_by(one, other, ()):
            yield SPELLING, one, other


def _with_letters_left_out(word: str, most: int) -> set[str]:
    """What is left of a word without any so many of its letters, or fewer; none for none."""
    sizes = range(max(0, len(word) - most), len(word) + 1) if most else ()
    return {"".join(left) for size in sizes for left in combinations(word, size)}


def _initials(by_key: Mapping[str, Sequence[Named]]) -> Iterator[tuple[str, str, str]]:
    """E. Scrooge and Ebenezer Scrooge."""
    for names in _people(by_key, last=True).values():
        for short in (name for name in names if len(name.split()[0]) == 1):
            full = [name for name in names if name[0] == short[0] and name != short]
            if len(full) == 1 and len(full[0].split()) == len(short.split()):
                yield INITIAL, short, full[0]


def _aliases(by_key: Mapping[str, Sequence[Named]]) -> Iterator[tuple[str, str, str]]:
    """What one document calls someone, too, is the name of another's."""
    claims: dict[str, set[str]] = defaultdict(set)
    for name, some in by_key.items():
        for form in {key(form) for one in some for form in one.names}:
            if form != name and form in by_key:
                claims[form].add(name)
    for form in sorted(claims):
        # What several are called is no one's.
        if len(claims[form]) == 1:
            yield ALIAS, form, min(claims[form])


def _short(by_key: Mapping[str, Sequence[Named]]) -> Iterator[tuple[str, str, str]]:
    """A family name or a first name alone, where one person alone bears it."""
    for why, full in ((FAMILY, _people(by_key, last=True)), (FIRST, _people(by_key, last=False))):
        for word in sorted(full.keys() & by_key.keys()):
            if len(full[word]) == 1 and kind(by_key[word][0].type) == PERSON:
                yield why, word, full[word][0]


def _people(by_key: Mapping[str, Sequence[Named]], *, last: bool) -> Mapping[str, list[str]]:
    """Persons' names of several words, by their last or their first one."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(by_key):
        words = name.split()
        if len(words) > 1 and kind(by_key[name][0].type) == PERSON:
            found[words[-1 if last else 0]].append(name)
    return found


def _is_long(one: str, other: str) -> bool:
    return " " in one or min(len(one), len(other)) >= SURE_LETTERS
