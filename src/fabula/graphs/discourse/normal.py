"""Normal forms, by which values of slots are compared: stems in any order, without articles."""

from __future__ import annotations

import functools
import re

from fabula.graphs.entities.names import name_key
from fabula.graphs.entities.words import words_of
from fabula.text.stems import stemmer_of, words

_CACHED = 65_536
_AND = re.compile(r",|;|&|\b(?:and|und|et|y|i|oraz|и)\b", re.IGNORECASE)


@functools.lru_cache(_CACHED)
def normal(text: str, language: str) -> str:
    """Return the sorted stems of a value without articles, in lower case; '' if none is left."""
    stem = stemmer_of(language).stems
    articles = words_of(language).articles
    stems = (found for word in words(text) if word not in articles for found in stem(word))
    return " ".join(sorted(stems))


def normal_forms(name: str, language: str) -> tuple[str, ...]:
    """Return the normal forms of a name: as it is, and without its titles."""
    forms = (normal(name, language), normal(name_key(name), language))
    return tuple(dict.fromkeys(filter(None, forms)))


def listed(value: str) -> tuple[str, ...]:
    """Return a value and the names that it lists, such as "Holmes and Watson"."""
    parts = [part.strip() for part in _AND.split(value)]
    return tuple(dict.fromkeys(part for part in (value, *parts) if part))
