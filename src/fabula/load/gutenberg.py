"""Remove what public libraries put around plain texts, and read the metadata in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fabula.load.left_out import count_characters
from fabula.load.library_pages import COLOPHON, find_library_pages

_RULE = re.compile(r"\s*[-*_]{3,}\s*")
_MAX_AUTHOR_CHARACTERS = 45


class Book(NamedTuple):
    """A text without its library's header and footer.

    Attributes:
        text: The text.
        left_out: The characters that belong to the library, by kind.
        metadata: The title, author and so on that the library states.
        books: How many books of the library were joined in the text.
    """

    text: str
    left_out: Counter[str]
    metadata: Mapping[str, str]
    books: int


def strip_library_text(text: str) -> Book:
    """Return the text of the book alone; a text that is not from a library is not changed."""
    lines = text.split("\n")
    paragraphs = _paragraphs(lines)
    pages = find_library_pages([lines[start:end] for start, end in paragraphs])
    cut: dict[int, str] = {}
    for (start, _), kinds in zip(paragraphs, pages.kinds, strict=True):
        cut |= {start + index: kind for index, kind in enumerate(kinds) if kind}
    left_out: Counter[str] = Counter()
    for index, kind in cut.items():
        left_out[kind] += count_characters(lines[index])
    body = [line for index, line in enumerate(lines) if index not in cut]
    facts: Mapping[str, str] = pages.metadata
    if any(COLOPHON.match(lines[index].strip()) for index in cut):
        body, facts = _read_colophon(body, facts)
    return Book("\n".join(body), left_out, facts, pages.books)


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The first line of each paragraph and the one after it."""
    paragraphs: list[tuple[int, int]] = []
    start = -1
    for index, line in enumerate([*lines, ""]):
        if line.strip():
            start = index if start < 0 else start
        elif start >= 0:
            paragraphs.append((start, index))
            start = -1
    return paragraphs


def _read_colophon(
    body: list[str], metadata: Mapping[str, str]
) -> tuple[list[str], Mapping[str, str]]:
    """The text without the rule above the colophon of Wolne Lektury, and its metadata."""
    while body and (not body[-1].strip() or _RULE.fullmatch(body[-1])):
        body.pop()
    # There the author is in the first line, and the title in the next one.
    author, title = [*(line.strip() for line in body if line.strip()), "", ""][:2]
    short = len(author) < _MAX_AUTHOR_CHARACTERS and len(title) < 2 * _MAX_AUTHOR_CHARACTERS
    facts = {"title": title, "author": author} if short else {}
    return body, {**facts, **metadata, "language": "pl"}
