"""Small words that tell names apart, one TOML file a language."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Words:
    """What a language puts before, after and between names; all in lower case.

    `titles` say of each whether it is a man's ("m"), a woman's ("f") or either's ("").
    """

    titles: dict[str, str]
    articles: frozenset[str]


def words_of(language: str) -> Words:
    """Those of a language, by ISO 639-1; none for a language that has no file."""
    return _read(language.lower().replace("_", "-").split("-")[0])


@functools.cache
def all_words() -> Words:
    """Those of all languages together."""
    read = [_read(language) for language in _languages()]
    titles = {title: sex for words in read for title, sex in words.titles.items()}
    return Words(titles, frozenset().union(*(words.articles for words in read)))


@functools.cache
def _languages() -> tuple[str, ...]:
    names = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@functools.cache
def _read(language: str) -> Words:
    if language not in _languages():
        return Words({}, frozenset())
    text = (resources.files(__name__) / f"{language}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    titles = {
        word: sex
        for sex, name in (("m", "men"), ("f", "women"), ("", "either"))
        for word in table["titles"][name].split()
    }
    return Words(titles, frozenset(table["articles"].split()))
