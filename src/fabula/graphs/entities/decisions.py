"""Which names are one name, and what a person has decided of them."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from fabula.errors import SettingsError
from fabula.graphs.entities.words import all_words

_QUOTES = "\"'“”„‟«»‹›‘’‚‛` "
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_REMEMBERED = 65_536


def _divided(value: Any) -> Any:
    """A variable and a flag hold one text: its pairs stand on lines, or between semicolons."""
    if not isinstance(value, str):
        return value
    return tuple(filter(None, (one.strip() for one in re.split(r"[;\n]", value))))


Pairs = Annotated[tuple[str, ...], BeforeValidator(_divided)]
"""Pairs of names as settings have them: each is "one name = another name"."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Pairs of printed names that are never taken for one, and pairs that always are.

    Titles tell names apart, capitals and articles don't: Mr. Holmes is not Holmes, the Spirit is
    Spirit. Where both are asked of a pair, it is kept apart.
    """

    keep_apart: tuple[tuple[str, str], ...] = ()
    join: tuple[tuple[str, str], ...] = ()


def read_decisions(keep_apart: Sequence[str], join: Sequence[str]) -> Decisions:
    """Decisions, of `Pairs`.

    Raises SettingsError, which says what is wrong with which.
    """
    return Decisions(
        tuple(_pair("keep_apart", line) for line in keep_apart),
        tuple(_pair("join", line) for line in join),
    )


@functools.lru_cache(_REMEMBERED)
def key(name: str) -> str:
    """A name as names are compared: in lower case, without quotes, article, title, possessive.

    "Mr. Holmes", "Holmes’s" and "HOLMES" have the key "holmes". A title or an article with nothing
    behind it is a name of its own.
    """
    words = lowered(name).split()
    return " ".join(words[_before(words) :])


@functools.lru_cache(_REMEMBERED)
def title(name: str) -> str:
    """The titles before a name, in lower case and without full stops; '' for none."""
    words = lowered(name).split()
    return " ".join(word for word in words[: _before(words)] if word in all_words().titles)


def titled(name: str) -> str:
    """A name as decisions mean it: its key with the titles before it, without an article."""
    return f"{title(name)} {key(name)}".strip()


@functools.lru_cache(_REMEMBERED)
def lowered(name: str) -> str:
    """A name in lower case without quotes, possessive and full stops, with article and titles."""
    text = unicodedata.normalize("NFKC", name).translate(_APOSTROPHES).casefold()
    text = text.strip(_QUOTES).removesuffix("'s").strip(_QUOTES)
    return " ".join(filter(None, (word.strip(".,;:!?") for word in text.split())))


def _before(words: Sequence[str]) -> int:
    """How many words before a name are articles and titles; the last word never is one."""
    small = all_words()
    for at, word in enumerate(words[:-1]):
        if word not in small.articles and word not in small.titles:
            return at
    return max(0, len(words) - 1)


def _pair(setting: str, line: str) -> tuple[str, str]:
    first, _, second = (part.strip() for part in line.partition("="))
    if not (first and second):
        raise SettingsError(f"{setting}: {line!r} is no pair of names; write 'Holmes = Sherlock'.")
    return first, second
