"""How names are compared, and `Names`, the index that finds entities by what they are called.

The comparisons of a name, from the strictest to the loosest:

- `titled_key`: without case, quotes, possessive, full stops and articles; titles count.
- `name_key`: titles don't count either. It is kept in Neo4j as the `key` of an entity.
- `name_words`: the bare words, whatever stands between them.

Three comparisons of other texts are where those texts are made: `printed_key` (a form as a page
prints it), `phrase_key` (an end or a predicate of a fact; ids in Neo4j are digests of it) and
`normal` of the graph `discourse` (the value of a slot; kept in Neo4j).
"""

from __future__ import annotations

import functools
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from fabula.graphs.entities.words import all_words, words_of
from fabula.text.folding import search_words
from fabula.text.stems import stemmer_of, words

_QUOTES = "\"'“”„‟«»‹›‘’‚‛` "
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_REMEMBERED = 65_536
"""Names whose parts are remembered: more than a long book has."""
_CONTRADICTIONS = (("m", "f"), ("m", "w"), ("m", "g"), ("w", "g"), ("o", "w"), ("o", "g"))
"""What titles say that no one person is: a man and a woman, Mrs and Miss, General and Mrs."""


class _Ordered(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


Id = TypeVar("Id", bound=_Ordered)
"""What an index finds: an id, or the number of a row."""


@functools.lru_cache(_REMEMBERED)
def name_key(name: str) -> str:
    """Return a name in lower case, without quotes, article, title and possessive.

    "Mr. Holmes", "Holmes’s" and "HOLMES" have the key "holmes". A title or an article with nothing
    behind it is a name of its own.
    """
    parts = lower_name(name).split()
    return " ".join(parts[_count_before_name(parts) :])


@functools.lru_cache(_REMEMBERED)
def name_titles(name: str) -> str:
    """Return the titles before a name, in lower case and without full stops; '' for none."""
    parts = lower_name(name).split()
    before = parts[: _count_before_name(parts)]
    return " ".join(part for part in before if part in all_words().titles)


def titled_key(name: str) -> str:
    """Return a name as a person's decisions mean it: its titles and its key, without an article."""
    return f"{name_titles(name)} {name_key(name)}".strip()


@functools.lru_cache(_REMEMBERED)
def lower_name(name: str) -> str:
    """Return a name in lower case with its article and titles, without quotes and full stops.

    A possessive at the end goes, too.
    """
    text = unicodedata.normalize("NFKC", name).translate(_APOSTROPHES).casefold()
    text = text.strip(_QUOTES).removesuffix("'s").strip(_QUOTES)
    return " ".join(filter(None, (part.strip(".,;:!?") for part in text.split())))


def name_words(text: str) -> tuple[str, ...]:
    """Return the words of a name, or of a question, in lower case and without possessives."""
    folded = unicodedata.normalize("NFKC", text)
    return tuple([word.removesuffix("'s") for word in words(folded)])


def has_capital(text: str) -> bool:
    """Return whether any letter is a capital; a script that has no capitals has none."""
    return text != text.lower()


@functools.lru_cache(_REMEMBERED)
def title_sex(name: str) -> str:
    """Return what the titles before a name say of its bearer, as `Words.titles` has it, or ''."""
    titles = all_words().titles
    return next((titles[part] for part in name_titles(name).split() if titles[part]), "")


@functools.lru_cache(_REMEMBERED)
def title_rank(name: str) -> str:
    """Return the rank of birth or reign that the titles before a name say, or ''."""
    ranks = all_words().ranks
    return next((ranks[part] for part in name_titles(name).split() if part in ranks), "")


def titles_agree(names: Iterable[str]) -> bool:
    """Return whether the titles before these names may all be of one person.

    Nobody is a man and a woman, or Mrs and Miss, or has two ranks: a prince is no count.
    """
    names = list(names)
    sexes = {title_sex(name) for name in names}
    if any(sexes.issuperset(pair) for pair in _CONTRADICTIONS):
        return False
    return len({title_rank(name) for name in names} - {""}) < 2


class Names(Generic[Id]):
    """Finds entities by what they are called.

    `exact`, `untitled` and `stems` each compare more loosely than the one before, and `find` tries
    them in this order. Each returns the ids of all entities that have the name: first the one that
    the text calls so most often, and of equals the one of the smallest id.
    """

    def __init__(self, forms: Mapping[Id, Mapping[str, int]], language: str = "") -> None:
        """Index entities.

        Args:
            forms: The printed forms of each entity by its id, with how often each is printed.
            language: An ISO 639-1 code, for `stems`; other values leave words as they are.
        """
        self._forms = forms
        self._language = language

    def find(self, name: str) -> tuple[Id, ...]:
        """Return who is called so, by the strictest comparison that finds anybody."""
        return self.exact(name) or self.find_untitled(name) or self.stems(name)

    def exact(self, name: str) -> tuple[Id, ...]:
        """Return who is called so in these words; case, punctuation and possessives don't count.

        If nobody is, accents and the like don't count either.
        """
        return self._by_words.get(_casefold(name)) or self._by_folded.get(_fold(name), ())

    def find_untitled(self, name: str) -> tuple[Id, ...]:
        """Return who is called so, titles and articles aside.

        "Mr. Holmes" finds Holmes. It does not find who has a woman's title, and "Mrs. Cratchit"
        finds only who has such a title, too: else it would find her husband.
        """
        return self._with_fitting_titles(name, self._by_key.get(_casefold(name_key(name)), ()))

    def stems(self, name: str) -> tuple[Id, ...]:
        """Return who is called so in other inflected forms, or another order, of the same words.

        Titles and articles are treated as `untitled` does.
        """
        stems = self._stems_of(name)
        return self._with_fitting_titles(name, self._by_stems.get(stems, ())) if stems else ()

    def is_capitalised(self, name: str) -> bool:
        """Return whether the text never writes a name that is known here without a capital."""
        parts = _casefold(name)
        if parts in self._by_words:
            return parts not in self._written_small
        return self._stems_of(name) not in self._stems_written_small

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest name."""
        return max(map(len, self._by_words), default=0)

    @cached_property
    def _by_words(self) -> Mapping[tuple[str, ...], tuple[Id, ...]]:
        return self._index(_casefold)

    @cached_property
    def _by_folded(self) -> Mapping[tuple[str, ...], tuple[Id, ...]]:
        return self._index(_fold)

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, ...], tuple[Id, ...]]:
        return self._index(lambda name: _casefold(name_key(name)))

    @cached_property
    def _by_stems(self) -> Mapping[tuple[str, ...], tuple[Id, ...]]:
        return self._index(self._stems_of)

    @cached_property
    def _written_small(self) -> frozenset[tuple[str, ...]]:
        return frozenset(map(_casefold, self._small_forms()))

    @cached_property
    def _stems_written_small(self) -> frozenset[tuple[str, ...]]:
        return frozenset(map(self._stems_of, self._small_forms()))

    def _small_forms(self) -> list[str]:
        return [form for forms in self._forms.values() for form in forms if not has_capital(form)]

    def _index(
        self, compared: Callable[[str], tuple[str, ...]]
    ) -> dict[tuple[str, ...], tuple[Id, ...]]:
        counts: dict[tuple[str, ...], dict[Id, int]] = defaultdict(dict)
        for id, forms in self._forms.items():
            for form, count in forms.items():
                if parts := compared(form):
                    counts[parts][id] = counts[parts].get(id, 0) + count
        return {
            parts: tuple(called)
            # Nearly all names are of one entity alone.
            if len(called) == 1
            else tuple(id for _, id in sorted((-count, id) for id, count in called.items()))
            for parts, called in counts.items()
        }

    def _stems_of(self, name: str) -> tuple[str, ...]:
        stems = stemmer_of(self._language).stems
        articles = words_of(self._language).articles
        parts = (part for part in name_words(name_key(name)) if part not in articles)
        return tuple(sorted(stem for part in parts for stem in stems(part)))

    def _with_fitting_titles(self, name: str, ids: Sequence[Id]) -> tuple[Id, ...]:
        sex = title_sex(name)
        # Without a title of her own, whoever has a wife's family name is more likely her husband.
        needs_title = sex not in ("", "m", "o")
        return tuple(
            id
            for id in ids
            if titles_agree((name, *self._forms[id]))
            and not (needs_title and not any(map(title_sex, self._forms[id])))
        )


def _casefold(name: str) -> tuple[str, ...]:
    parts = name_words(name)
    return parts if name.isascii() else tuple(map(str.casefold, parts))


def _fold(name: str) -> tuple[str, ...]:
    return tuple(search_words(name))


def _count_before_name(parts: Sequence[str]) -> int:
    """How many words before a name are articles and titles; the last word never is one."""
    small = all_words()
    for at, part in enumerate(parts[:-1]):
        if part not in small.articles and part not in small.titles:
            return at
    return max(0, len(parts) - 1)
