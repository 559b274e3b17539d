"""What every reader hands over, and how it becomes a Document."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING

from fabula.errors import LoadError
from fabula.load import languages
from fabula.load.clean import one_line
from fabula.load.plays import join_speakers
from fabula.text.ids import document_id
from fabula.text.names import LONGEST_LINE, problem, quoted

if TYPE_CHECKING:
    from fabula.text.document import Document, Section
from fabula.load.blocks import Block, Draft

_SAMPLE = 60_000
"""Characters that are enough to know a language by."""
_LONGEST_NAME = 300
"""Characters of a title: a page marked up as a heading is cut, or every chunk would carry it."""


def document(draft: Draft, source: str, collection: str) -> Document:
    """The draft as a document: blocks parted by blank lines. LoadError if it holds no words."""
    # It brings numpy, which a reader in its box has no need of.
    from fabula.load.paratext import without_paratext
    from fabula.text.document import Document

    # Speakers first: a play's hero would count as its running head.
    speeches = list(join_speakers(draft.blocks))
    text, sections = _assemble(without_paratext(speeches, draft.title))
    if wrong := problem(source, LONGEST_LINE):
        raise LoadError(f"The source {quoted(source)} {wrong}: give it another name.")
    if not any(map(str.isalnum, text)):
        raise LoadError(f"{source} has no words in it: nothing to ingest.")
    told = _name(draft.title)
    author = _name(draft.author)
    language = languages.code(draft.language) or languages.detect(_sample(text))
    return Document(
        id=document_id(collection, source),
        collection=collection,
        source=source,
        title=told or _name(readable(source)),
        author=author,
        language=language,
        text=text,
        sections=sections,
        # A title that is only the file's name is no content: a copy says the same.
        sha256=_fingerprint(text, sections, (told, author, language)),
    )


def readable(source: str) -> str:
    """A title out of a file's name: `a-christmas-carol.txt` is 'A Christmas Carol'."""
    stem = one_line(PurePath(source).stem)
    if not re.search(r"[^\W\d_]", stem):
        return stem or source
    words = re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", stem).strip()
    return words.title() if words == words.lower() else words


def _assemble(blocks: Iterable[Block]) -> tuple[str, tuple[Section, ...]]:
    from fabula.text.document import Section

    texts: list[str] = []
    sections: list[Section] = []
    start = 0
    for block in blocks:
        if not block.text:
            continue
        if block.heading:
            sections.append(Section(_name(block.heading), start))
        texts.append(block.text)
        start += len(block.text) + 2
    return "\n\n".join(texts), tuple(sections)


def _name(text: str) -> str:
    line = one_line(text)
    if len(line) <= _LONGEST_NAME:
        return line
    return f"{line[:_LONGEST_NAME].rsplit(' ', 1)[0]} …"


def _sample(text: str) -> str:
    """The middle: a book in one language may begin with a page in another."""
    start = max(0, (len(text) - _SAMPLE) // 2)
    return text[start : start + _SAMPLE]


def _fingerprint(text: str, sections: Iterable[Section], facts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in (*facts, *(f"{section.start} {section.title}" for section in sections)):
        digest.update(part.encode("utf-8") + b"\x1f")
    digest.update(text.encode("utf-8"))
    return digest.hexdigest()
