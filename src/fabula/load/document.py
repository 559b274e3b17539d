"""Turn the draft of a reader into a document."""

from __future__ import annotations

import hashlib
import html
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from fabula.errors import LoadError
from fabula.load import languages
from fabula.load.blocks import Block, Draft
from fabula.load.clean import one_line
from fabula.load.left_out import warn
from fabula.load.library_pages import books_warning
from fabula.load.locators import take_marks, without_marks
from fabula.load.plays import join_speakers
from fabula.load.version import READING_VERSION
from fabula.text.ids import document_id
from fabula.text.locator import number_lines
from fabula.text.names import MAX_LINE_BYTES, REORDERING, name_problem, quote_name

if TYPE_CHECKING:
    from fabula.text.document import Document, Section
    from fabula.text.locator import Locator

_SAMPLE_CHARACTERS = 60_000
"""How much text is enough to detect its language."""
_REFERENCE = re.compile(
    r"&(?:#\d{2,6}|quot|apos|amp|lt|gt|nbsp|[mn]dash|hellip|[lr][sd]quo|[lr]aquo"
    r"|[a-zA-Z](?:acute|grave|circ|uml|tilde|cedil));"
)
_MIN_REFERENCES = 3
"""So many references to characters make a text one that was escaped twice."""
_MAX_TITLE_CHARACTERS = 300
"""A longer title is cut: a page that is marked up as a heading would be repeated in every chunk."""


def document(draft: Draft, source: str, collection: str) -> Document:
    """Return a draft as a document, with blank lines between its blocks.

    Raises:
        LoadError: It has no words, or its source is too long.
    """
    # Imported here, as they import numpy, which a reader in the sandbox does not need.
    from fabula.load.paratext import remove_paratext
    from fabula.text.document import Document

    blocks, warnings = _unescape(draft.blocks)
    # Speakers are joined first: otherwise a play's main character looks like a running head.
    speeches = list(join_speakers(blocks))
    body = remove_paratext(speeches, draft.title)
    text, sections, locators = _join_blocks(body.blocks)
    if wrong := name_problem(source, MAX_LINE_BYTES):
        raise LoadError(f"The source {quote_name(source)} {wrong}: give it another name.")
    if not any(map(str.isalnum, text)):
        raise LoadError(f"{source} has no words in it: there is nothing to ingest.")
    facts = body.metadata
    title = _shorten(draft.title or facts.get("title", ""))
    author = _shorten(draft.author or facts.get("author", ""))
    language = languages.code(draft.language or facts.get("language", "")) or languages.detect(
        _sample(text)
    )
    left_out = Counter(draft.left_out) + body.left_out
    return Document(
        id=document_id(collection, source),
        collection=collection,
        source=source,
        title=title or _shorten(title_of_file(source)),
        author=author,
        language=language,
        text=text,
        sections=sections,
        # Without a title that is only the file's name: copies of a file have the same content.
        sha256=fingerprint(text, sections, (title, author, language), locators),
        published=_shorten(draft.published or facts.get("published", "")),
        edition=_shorten(draft.edition or facts.get("edition", "")),
        locators=number_lines(text, locators, {section.start for section in sections}),
        left_out=left_out,
        warnings=(
            *draft.warnings,
            *(f"{source} {what}" for what in warnings),
            *filter(None, [books_warning(body.books), warn(left_out, text)]),
        ),
        reading=READING_VERSION,
        metadata=draft.metadata,
    )


def _unescape(blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], list[str]]:
    """Read the references of a text that was escaped twice, as `&quot;`, which no text prints."""
    count = sum(len(_REFERENCE.findall(block.text)) for block in blocks if "&" in block.text)
    if count < _MIN_REFERENCES:
        return blocks, []

    def read(text: str) -> str:
        return _REFERENCE.sub(lambda match: html.unescape(match[0]).replace("\xa0", " "), text)

    unescaped = tuple(
        replace(block, text=read(block.text), heading=read(block.heading)) for block in blocks
    )
    return unescaped, [f"was escaped twice: {count:,} references as &quot; were read."]


def title_of_file(source: str) -> str:
    """Return a title made from a file name: `a-christmas-carol.txt` is 'A Christmas Carol'."""
    stem = one_line(PurePath(source).stem)
    if not re.search(r"[^\W\d_]", stem):
        return stem or source
    words = re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", stem).strip()
    return words.title() if words == words.lower() else words


def _join_blocks(
    blocks: Iterable[Block],
) -> tuple[str, tuple[Section, ...], tuple[Locator, ...]]:
    from fabula.text.document import Section

    texts: list[str] = []
    sections: list[Section] = []
    locators: list[Locator] = []
    start = 0
    for block in blocks:
        text, marks = take_marks(block.text)
        # A mark without text is that of a page without text, or of what was removed.
        locators += (replace(mark, start=start + mark.start) for mark in marks)
        if not text:
            continue
        if block.heading:
            sections.append(Section(_shorten(without_marks(block.heading)), start, block.level))
        texts.append(text)
        start += len(text) + 2
    return "\n\n".join(texts), tuple(sections), tuple(locators)


def _shorten(text: str) -> str:
    line = one_line(REORDERING.sub("", text))
    if len(line) <= _MAX_TITLE_CHARACTERS:
        return line
    return f"{line[:_MAX_TITLE_CHARACTERS].rsplit(' ', 1)[0]} …"


def _sample(text: str) -> str:
    """The middle of a text, as a book may begin with a page in another language."""
    start = max(0, (len(text) - _SAMPLE_CHARACTERS) // 2)
    return text[start : start + _SAMPLE_CHARACTERS]


def fingerprint(
    text: str,
    sections: Iterable[Section],
    facts: Iterable[str],
    locators: Iterable[Locator],
) -> str:
    """Return the hash of all that graphs are built from; the facts: title, author, language."""
    digest = hashlib.sha256()
    if speakers := [str(each.start) for each in locators if each.kind == "speaker"]:
        digest.update(" ".join(speakers).encode("utf-8") + b"\x1f")
    for part in (*facts, *(f"{section.start} {section.title}" for section in sections)):
        digest.update(part.encode("utf-8") + b"\x1f")
    digest.update(text.encode("utf-8"))
    return digest.hexdigest()
