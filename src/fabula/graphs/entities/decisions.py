"""Which names are one name, and what a person has decided of them."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.errors import SettingsError
from fabula.graphs.entities.words import all_words

_QUOTES = "\"'“”„‟«»‹›‘’‚‛` "
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")


@dataclass(frozen=True, slots=True)
class Decisions:
    """Pairs of printed names that are never taken for one, and pairs that always are.

    Where both are asked of a pair, it is kept apart.
    """

    keep_apart: tuple[tuple[str, str], ...] = ()
    join: tuple[tuple[str, str], ...] = ()


def read_decisions(keep_apart: Sequence[str], join: Sequence[str]) -> Decisions:
    """Decisions as settings have them: each is "one name = another name".

    Raises SettingsError, which says what is wrong with which.
    """
    return Decisions(
        tuple(_pair("keep_apart", line) for line in keep_apart),
        tuple(_pair("join", line) for line in join),
    )


@functools.lru_cache(65_536)
def key(name: str) -> str:
    """A name as names are compared: in lower case, without quotes, article, title, possessive.

    "Mr. Holmes", "Holmes’s" and "HOLMES" have the key "holmes". A title or an article with nothing
    behind it is a name of its own.
    """
    words = _words(name)
    small = all_words()
    for at, word in enumerate(words):
        if word not in small.articles and word not in small.titles:
            return " ".join(words[at:])
    return words[-1] if words else ""


@functools.lru_cache(65_536)
def title(name: str) -> str:
    """The titles before a name, in lower case and without full stops; '' for none."""
    small = all_words()
    words = [word for word in _words(name) if word not in small.articles]
    length = next((at for at, word in enumerate(words) if word not in small.titles), 0)
    return " ".join(words[:length])


def sex(name: str) -> str:
    """What the title of a name says of who bears it: "m", "f", or '' where it says nothing."""
    titles = all_words().titles
    return next((titles[word] for word in title(name).split() if titles[word]), "")


def _words(name: str) -> list[str]:
    """The words of a name in lower case, without quotes around it, possessive and full stops."""
    plain = unicodedata.normalize("NFKC", name).translate(_APOSTROPHES).casefold()
    plain = plain.strip(_QUOTES).removesuffix("'s").strip(_QUOTES)
    words = (word.strip(".,;:!?") for word in plain.split())
    return [word for word in words if word]


def _pair(setting: str, line: str) -> tuple[str, str]:
    first, equals, second = (part.strip() for part in line.partition("="))
    if not (first and equals and second):
        raise SettingsError(f"{setting}: {line!r} is no pair of names; write 'Holmes = Sherlock'.")
    return first, second
