"""How values of slots are compared: by their stems, in whatever order, without articles."""

from __future__ import annotations

import functools
import re

from fabula.graphs.entities.names import key
from fabula.graphs.entities.words import words_of
from fabula.text.stems import stemmer_of, words

_REMEMBERED = 65_536
_AND = re.compile(r",|;|&|\b(?:and|und|et|y|i|oraz|и)\b", re.IGNORECASE)


@functools.lru_cache(_REMEMBERED)
def normal(text: str, language: str) -> str:
    """A value in lower case, as sorted stems without articles; '' where nothing is left."""
    stem = stemmer_of(language).stems
    small = words_of(language).articles
    return " ".join(sorted(one for word in words(text) if word not in small for one in stem(word)))


def normal_forms(name: str, language: str) -> tuple[str, ...]:
    """How a name may be compared: as it is, and without its titles."""
    found = (normal(name, language), normal(key(name), language))
    return tuple(dict.fromkeys(filter(None, found)))


def listed(value: str) -> tuple[str, ...]:
    """The value, and the names that it lists, as Holmes and Watson."""
    parts = [part.strip() for part in _AND.split(value)]
    return tuple(dict.fromkeys(part for part in (value, *parts) if part))
