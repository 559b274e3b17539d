"""Normal forms, by which values of slots are compared: stems in their order, without articles.

Scripts without spaces (Chinese, Japanese, Thai and others) have no words to stem: there each two
letters that follow each other are one, so that 会社 (company) and 社会 (society) differ.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import pairwise

from fabula.graphs.entities.names import name_key
from fabula.graphs.entities.words import words_of
from fabula.text.folding import SOLID, clusters
from fabula.text.stems import stemmer_of, words

_CACHED = 65_536
_AND = re.compile(r",|;|&|、|，|\b(?:and|und|et|y|i|oraz|и)\b", re.IGNORECASE)
_SOLID_RUN = re.compile(f"({SOLID}+)")


@functools.lru_cache(_CACHED)
def normal(text: str, language: str) -> str:
    """Return the stems of a value in their order, without articles; '' if none is left."""
    return " ".join(stems_of(text, language))


def stems_of(text: str, language: str) -> Iterator[str]:
    """Yield the stems of a text as values have them; of a long text, which is not remembered."""
    stem = stemmer_of(language).stems
    articles = words_of(language).articles
    for place, piece in enumerate(_SOLID_RUN.split(text)):
        if place % 2:
            letters = clusters(piece)
            yield from map("".join, pairwise(letters)) if len(letters) > 1 else letters
        else:
            for word in words(piece):
                if word not in articles:
                    yield from stem(word)


def normal_forms(name: str, language: str) -> tuple[str, ...]:
    """Return the normal forms of a name: as it is, and without its titles."""
    forms = (normal(name, language), normal(name_key(name), language))
    return tuple(dict.fromkeys(filter(None, forms)))


def split_list(value: str) -> tuple[str, ...]:
    """Return a value and the names that it lists, such as "Holmes and Watson"."""
    parts = [part.strip() for part in _AND.split(value)]
    return tuple(dict.fromkeys(part for part in (value, *parts) if part))
