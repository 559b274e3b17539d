"""What a reader has not read yet: names that are printed only after the reader's place.

Statements leave out what rests on later text (`$until`). This is the second check, of the words of
what they return: a summary or a report must not print a name that the text up to the place does not
have, wherever its writer has it from. A model may know the book, and a name may have been chosen
from all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

IsUnread = Callable[[str], bool]
"""Says whether a text prints a name that was not read yet."""
NameIndex = Mapping[str, int]
"""The end of the first place where a text prints each of its names, by the name in lower case.

A name is a word that the text never prints in lower case."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s$", re.I)
TITLES = ("title", "language", "document", "kind", "id", "of", "revision", "words")
"""Columns that say nothing of the text: a document's title was on its cover."""


def index_names(chunks: Iterable[tuple[int, str]]) -> NameIndex:
    """Return where each name is first printed.

    Args:
        chunks: The chunks of a text in their order, each with its first character.
    """
    first: dict[str, int] = {}
    ordinary: set[str] = set()
    for start, text in chunks:
        for match in _WORD.finditer(text):
            for word in _words(match[0]):
                if word[0].isupper():
                    first.setdefault(word.casefold(), start + match.end())
                else:
                    ordinary.add(word.casefold())
    return {word: place for word, place in first.items() if word not in ordinary}


def make_check(names: NameIndex, end: int) -> IsUnread:
    """Return a function that says whether a text prints a name of the text after a character."""
    later = frozenset(word for word, place in names.items() if place > end)

    def is_unread(text: str) -> bool:
        return any(
            word[0].isupper() and word.casefold() in later
            for match in _WORD.findall(text)
            for word in _words(match)
        )

    return is_unread


def _words(printed: str) -> Sequence[str]:
    """Return a printed word without the possessive, and the parts that hyphens join."""
    return [part for part in _POSSESSIVE.sub("", printed).split("-") if part]


def hide_unread(rows: list[dict[str, Any]], is_unread: IsUnread | None) -> list[dict[str, Any]]:
    """Return the rows of a statement that print no name which the reader has not read.

    The text of a chunk is the book's own, and needs no check. Lists are not looked at: what has
    names in lists chooses them by the reader's place.
    """
    if is_unread is None:
        return rows
    return [row for row in rows if not _prints_unread(row, is_unread)]


def _prints_unread(row: Mapping[str, Any], is_unread: IsUnread) -> bool:
    hit = row.get("hit")
    values = hit if isinstance(hit, Mapping) else row
    if values.get("kind") == "chunk":
        return False
    return any(
        isinstance(value, str) and is_unread(value)
        for name, value in values.items()
        if name not in TITLES
    )
