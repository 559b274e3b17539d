"""Small words that tell names apart, one TOML file a language."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

SEXES = {"men": "m", "women": "f", "wives": "w", "maidens": "g", "either": ""}
"""Tables of titles, and what they say of who bears them."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a language puts before, after, between and instead of names; all in lower case.

    `titles` say of each whose it is, as SEXES has it; `before_first` are those that stand before a
    first name. `particles` join the parts of a person's name, `connectives` those of others.
    `speech` are verbs whose subject is a person, before it or behind; `acts` those behind it; `kin`
    is what persons have, `who` begins what is told of them, `fond` are adjectives for them.
    `inside` stands before places, `near` before persons as well, `kinds_of_place` ends the name of
    a place, `kinds_of_thing` that of something else. `never` are no names though they have a
    capital. `paradigms` are sets of case endings that one noun takes, the nominative's first. Where
    `nouns_have_capitals`, a capital alone says nothing.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    before_first: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    particles: frozenset[str] = frozenset()
    connectives: frozenset[str] = frozenset()
    speech: frozenset[str] = frozenset()
    kin: frozenset[str] = frozenset()
    who: frozenset[str] = frozenset()
    acts: frozenset[str] = frozenset()
    fond: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    kinds_of_place: frozenset[str] = frozenset()
    kinds_of_thing: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    paradigms: tuple[tuple[str, ...], ...] = ()
    nouns_have_capitals: bool = False


@functools.cache
def words_of(language: str) -> Words:
    """Those of a language, by ISO 639-1; none for a language that has no file."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _read(code) if code in _languages() else Words()


@functools.cache
def all_words() -> Words:
    """The titles, articles and particles of all languages together."""
    read = [_read(language) for language in _languages()]
    return Words(
        titles={title: sex for words in read for title, sex in words.titles.items()},
        before_first=frozenset().union(*(words.before_first for words in read)),
        articles=frozenset().union(*(words.articles for words in read)),
        particles=frozenset().union(*(words.particles for words in read)),
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
    return Words(
        titles={word: sex for name, sex in SEXES.items() for word in titles.get(name, "").split()},
        # A leading space stands for the bare stem.
        paradigms=tuple(tuple(one.split(" ")) for one in paradigms),
        nouns_have_capitals=table.pop("nouns_have_capitals", False),
        **{name: frozenset(words.split()) for name, words in table.items()},
    )
