"""Forenames: whether a man or a woman bears one, and which one a short form stands for.

The table is `forenames.toml` beside this module. Names that it lacks say nothing.
"""

from __future__ import annotations

import functools
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from importlib import resources
from typing import Any

from fabula.text.folding import fold

_SEX_OF_LISTS = {"men": "m", "women": "f"}
_SEX_OF_CENSUS = {"men_census": "m", "women_census": "f"}
"""The lists of the table, and the sex of those who bear the names of each. Those of a census are of
English: Jana is a woman there, and a case form of Jan in Polish."""


@functools.lru_cache(65_536)
def forename_sex(forename: str, language: str) -> str:
    """Return "m" or "f" for a forename that men alone or women alone bear, else ''.

    A short form has the sex of the forenames that it stands for, if that is one.

    Args:
        forename: The word.
        language: The language of the text, an ISO 639-1 code; '' for an unknown one.
    """
    word = fold(forename)
    listed = _sexes(is_english=language.lower()[:2] in ("", "en"))
    sexes = {sex for name in (word, *_short().get(word, ())) if (sex := listed.get(name))}
    return min(sexes) if len(sexes) == 1 else ""


def is_forename(word: str) -> bool:
    """Return whether a word is a forename of the table, or a short form of one."""
    word = fold(word)
    return word in _sexes(is_english=True) or word in _short()


def long_forms(forename: str) -> frozenset[str]:
    """Return the forenames that a short form may stand for; none for any other word."""
    return _short().get(fold(forename), frozenset())


def is_short_for(first: str, second: str) -> bool:
    """Return whether one of two forenames is a short form of the other, or both of one forename."""
    first, second = fold(first), fold(second)
    forms, other_forms = ({name, *long_forms(name)} for name in (first, second))
    return first != second and not forms.isdisjoint(other_forms)


@functools.cache
def _sexes(*, is_english: bool) -> Mapping[str, str]:
    table, lists = _table(), _SEX_OF_LISTS | (_SEX_OF_CENSUS if is_english else {})
    return {fold(name): sex for key, sex in lists.items() for name in table[key].split()}


@functools.cache
def _short() -> Mapping[str, frozenset[str]]:
    table = _table()
    short: dict[str, set[str]] = defaultdict(set)
    for word, forms in table["short"].items():
        short[fold(word)].update(map(fold, forms.split()))
    for row in table["nicknames"].split():
        name, _, words = row.partition(":")
        for word in words.split(","):
            short[fold(word)].add(fold(name))
    return {word: frozenset(forms) for word, forms in short.items()}


@functools.cache
def _table() -> dict[str, Any]:
    text = (resources.files("fabula.graphs.entities") / "forenames.toml").read_text("utf-8")
    return tomllib.loads(text)
