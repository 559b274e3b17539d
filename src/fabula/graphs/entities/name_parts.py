"""The parts of a person's name: what is no part of it, its titles, its key, and its sex.

"good-natured Miss Jemima Pinkerton" is Miss Jemima Pinkerton, "Dearest Meg" is Meg, and "Hang
Kurtz", where the text has "hang" as a word, is Kurtz.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from fabula.graphs.entities.forenames import forename_sex, is_forename
from fabula.graphs.entities.names import has_capital, name_key, name_titles, title_sex
from fabula.graphs.entities.words import all_words
from fabula.text.folding import fold

MAX_EPITHETS = 4
"""How many words before a name are no part of it; what is longer is a description."""
_WORDS_OF_DESCRIPTIONS = frozenset(
    "and or with without in on at to from by for who another other second third younger elder".split()
)


@dataclass(frozen=True, slots=True)
class NameParts:
    """The parts of a name.

    Attributes:
        rest: The name without the words that are no part of it.
        key: `name_key` of it, without accents.
        epithets: The words before it that are no part of it, in lower case.
    """

    rest: str
    key: str
    epithets: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The words of the key."""
        return self.key.split()

    @property
    def sex(self) -> str:
        """Whether what is before its key, or its forename, is a man's ("m") or a woman's ("f").

        A name of one word may be a family name, and says nothing.
        """
        if (sex := title_sex(self.rest)) not in ("", "o"):
            return "m" if sex == "m" else "f"
        words = all_words()
        for nouns, sex in ((words.male, "m"), (words.female, "f")):
            if not nouns.isdisjoint(self.epithets):
                return sex
        return forename_sex(self.words[0]) if len(self.words) > 1 else ""


@functools.lru_cache(65_536)
def name_parts(name: str) -> NameParts:
    """Return the parts of a person's name, by its words alone."""
    epithets, rest = _split_epithets(name)
    return NameParts(rest, fold(name_key(rest)), epithets)


def parts_of_names(
    counts: Mapping[str, int], ordinary: Collection[str]
) -> Mapping[str, NameParts]:
    """Return the parts of persons' names, as all names of a text show them.

    Args:
        counts: How often each name occurs.
        ordinary: Words that the text has in lower case.
    """
    parts = {name: name_parts(name) for name in counts}
    by_key: Counter[str] = Counter()
    for name, of_name in parts.items():
        by_key[of_name.key] += counts[name]
    told_apart = _told_apart(parts.values())
    read: dict[str, NameParts] = {}
    for name, of_name in parts.items():
        if of_name.key in told_apart and told_apart[of_name.key] & set(of_name.epithets):
            read[name] = NameParts(name, fold(name_key(name)))
            continue
        read[name] = _without_ordinary_word(of_name, counts[name], by_key, ordinary)
    return read


def _split_epithets(name: str) -> tuple[tuple[str, ...], str]:
    """The words before a name that are no part of it, and the name."""
    words = all_words()
    tokens = name.split()
    if not has_capital(name):
        return (), name
    cut = 0
    for token in tokens[:-1]:
        word = token.casefold().strip(".,")
        if word in words.titles or word in words.particles:
            break
        if word in words.connectives or word in _WORDS_OF_DESCRIPTIONS:
            return (), name
        if not (token.islower() or word in words.articles or word in words.epithets):
            break
        cut += 1
    before = tuple(token.casefold() for token in tokens[:cut])
    epithets = tuple(word for word in before if word not in words.articles)
    end = len(tokens)
    while end > cut + 1 and tokens[end - 1].islower() and tokens[end - 1] in words.epithets:
        end -= 1
    if end < len(tokens):
        return (*epithets, *tokens[end:]), " ".join(tokens[cut:end])
    rest = " ".join(tokens[cut:])
    if cut < len(tokens) - 3 and title_sex(rest) and " of " in rest:
        # Mr. Waymarsh of Milrose; but the Duke of York is the duke of nothing else.
        bearer, _, place = rest.partition(" of ")
        if name_titles(bearer):
            return (*epithets, "of", *place.casefold().split()), bearer
    if not epithets or len(epithets) > MAX_EPITHETS or not has_capital(rest):
        return (), name
    return epithets, rest


def _told_apart(parts: Iterable[NameParts]) -> dict[str, set[str]]:
    """The words that tell two bearers of a key apart: old Jolyon, young Jolyon."""
    epithets: dict[str, set[str]] = defaultdict(set)
    for of_name in parts:
        epithets[of_name.key].update(of_name.epithets)
    opposites = [set(pair) for pair in all_words().opposites]
    return {
        key: set().union(*pairs)
        for key, words in epithets.items()
        if (pairs := [pair for pair in opposites if pair <= words])
    }


def _without_ordinary_word(
    parts: NameParts, count: int, by_key: Mapping[str, int], ordinary: Collection[str]
) -> NameParts:
    """Parts without a first word that is a word of the text: an imperative, an interjection.

    It is part of a name where it is a forename, or where the rest of the name is not the commoner
    one: the White Rabbit is not often the Rabbit.
    """
    words = parts.words
    tokens = parts.rest.split()
    if len(words) < 2 or len(tokens) != len(words) or name_titles(parts.rest):
        return parts
    rest = " ".join(words[1:])
    first_word = words[0].split("-")[-1]
    is_word = first_word in ordinary or first_word in all_words().imperatives
    if not is_word or is_forename(words[0]) or by_key[rest] < 2 * count:
        return parts
    return NameParts(" ".join(tokens[1:]), rest, (*parts.epithets, words[0]))
