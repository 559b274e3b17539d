"""Plain text: its front block or its library's header, then paragraphs and chapters."""

from __future__ import annotations

import re

from fabula.load import gutenberg
from fabula.load.blocks import Draft
from fabula.load.clean import prose, tidy
from fabula.load.encoding import decode
from fabula.load.headings import mark

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


def read(data: bytes, source: str) -> Draft:
    """A text file's content. LoadError, naming `source`, if it isn't text."""
    return plain(decode(data, source))


def plain(text: str) -> Draft:
    """A text. A first block of `Title:`, `Author:`, `Language:` lines is read, and left out."""
    book = gutenberg.bare(tidy(text))
    facts, body = front(book.text)
    return Draft(
        blocks=mark(prose(body)),
        title=facts.get("title", book.title),
        author=facts.get("author", book.author),
        language=facts.get("language", book.language),
    )


def front(text: str) -> tuple[dict[str, str], str]:
    """The facts in a text's first block, if it holds nothing else, and the text below it."""
    facts: dict[str, str] = {}
    start = len(text) - len(text.lstrip())
    end = start
    for line in text[start : start + 2000].split("\n"):
        found = _FIELD.fullmatch(line.strip())
        if not found:
            break
        facts[_FIELDS[found[1].casefold()]] = found[2]
        end += len(line) + 1
    else:
        line = ""
    if line.strip() or not facts:
        return {}, text
    return facts, text[end:]
