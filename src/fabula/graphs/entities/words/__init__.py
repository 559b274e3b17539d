"""Words that stand beside names or in them, one TOML file for each language."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

SEXES = {"men": "m", "women": "f", "wives": "w", "maidens": "g", "offices": "o", "either": ""}
"""The tables of titles in a file, and what each says of the bearer of a title."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words of one language that help to find names and to say what they are; in lower case.

    Attributes:
        titles: Titles, and what each says of its bearer, as a value of SEXES.
        ranks: Titles of birth or reign, and the rank of each: nobody is a prince and a count.
        before_first: Titles that stand before a first name.
        articles: Articles.
        particles: Words that join the parts of a person's name: de, von.
        connectives: Words that join the parts of other names: of.
        speech: Verbs whose subject is a person, before or after them.
        who: Words that begin a clause about a person.
        acts: Verbs whose subject is a person, before them.
        fond: Adjectives for persons.
        epithets: Words before a person's name that are no part of it, also with a capital: old.
        inside: Words before places alone: in.
        near: Words before places and persons: to.
        kinds_of_place: Last words of the names of places: Hall.
        kinds_of_thing: Last words of the names of other things.
        never: Words that are no names though they have a capital.
        paradigms: Sets of case endings that one noun takes, that of the nominative first.
        nouns_have_capitals: Whether all nouns have capitals, so that a capital says nothing.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    ranks: Mapping[str, str] = field(default_factory=dict)
    before_first: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    particles: frozenset[str] = frozenset()
    connectives: frozenset[str] = frozenset()
    speech: frozenset[str] = frozenset()
    who: frozenset[str] = frozenset()
    acts: frozenset[str] = frozenset()
    fond: frozenset[str] = frozenset()
    epithets: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    kinds_of_place: frozenset[str] = frozenset()
    kinds_of_thing: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    paradigms: tuple[tuple[str, ...], ...] = ()
    nouns_have_capitals: bool = False


@functools.cache
def words_of(language: str) -> Words:
    """Return the words of a language (ISO 639-1); none for a language that has no file."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _read(code) if code in _languages() else Words()


@functools.cache
def all_words() -> Words:
    """Return what may be before or in a name in any language, of all languages together."""
    by_language = [_read(language) for language in _languages()]
    return Words(
        titles={title: sex for words in by_language for title, sex in words.titles.items()},
        ranks={title: rank for words in by_language for title, rank in words.ranks.items()},
        before_first=frozenset().union(*(words.before_first for words in by_language)),
        articles=frozenset().union(*(words.articles for words in by_language)),
        particles=frozenset().union(*(words.particles for words in by_language)),
        connectives=frozenset().union(*(words.connectives for words in by_language)),
        epithets=frozenset().union(*(words.epithets for words in by_language)),
    )


@functools.cache
def _languages() -> tuple[str, ...]:
    names = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@functools.cache
def _read(language: str) -> Words:
    text = (resources.files(__name__) / f"{language}.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)
    titles = table.pop("titles")
    paradigms = table.pop("paradigms", ())
    ranks = [row.split() for row in table.pop("ranks", ())]
    return Words(
        titles={word: sex for name, sex in SEXES.items() for word in titles.get(name, "").split()},
        ranks={title: row[0] for row in ranks for title in row},
        # A leading space stands for the bare stem.
        paradigms=tuple(tuple(endings.split(" ")) for endings in paradigms),
        nouns_have_capitals=table.pop("nouns_have_capitals", False),
        **{name: frozenset(words.split()) for name, words in table.items()},
    )
