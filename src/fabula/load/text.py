"""Read plain text: metadata in a front block or a library's header, paragraphs and chapters."""

from __future__ import annotations

import re

from fabula.load import aozora, gutenberg
from fabula.load.blocks import Block, Draft
from fabula.load.clean import prose, tidy
from fabula.load.encoding import decode
from fabula.load.headings import confirm, join_title, mark

_FIELDS = {
    "title": "title",
    "author": "author",
    "language": "language",
    "tytuł": "title",
    "autor": "author",
    "język": "language",
    "titel": "title",
    "sprache": "language",
    "titre": "title",
    "auteur": "author",
    "langue": "language",
}
_FIELD = re.compile(rf"({'|'.join(_FIELDS)}) ?: ?(\S.*)", re.IGNORECASE)


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read a text file. Raises LoadError if it is not text."""
    return plain(decode(data, source))


def plain(text: str) -> Draft:
    """Return the draft of a text.

    A first block of `Title:`, `Author:` and `Language:` lines becomes the metadata.
    """
    book = gutenberg.strip_library_text(tidy(text))
    fields, body = read_front_block(book.text)
    return Draft(
        blocks=mark(prose(body)),
        title=fields.get("title", book.title),
        author=fields.get("author", book.author),
        language=fields.get("language", book.language),
    )


def read_front_block(text: str) -> tuple[dict[str, str], str]:
    """Return the fields in a text's first block, if it has nothing else, and the text below it."""
    fields: dict[str, str] = {}
    start = len(text) - len(text.lstrip())
    end = start
    for line in text[start : start + 2000].split("\n"):
        match = _FIELD.fullmatch(line.strip())
        if not match:
            break
        fields[_FIELDS[match[1].casefold()]] = match[2]
        end += len(line) + 1
    else:
        line = ""
    if line.strip() or not fields:
        return {}, text
    return fields, text[end:]
