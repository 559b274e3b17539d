"""Read plain text: metadata in a front block or a library's header, paragraphs and chapters."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fabula.load import aozora, gutenberg, screenplays, subtitles, transcripts
from fabula.load.blocks import Block, Draft
from fabula.load.clean import count_markers, prose, tidy
from fabula.load.encoding import decode_text
from fabula.load.front_matter import split_front_matter
from fabula.load.headings import confirm, join_title, mark
from fabula.load.library_pages import books_warning
from fabula.load.margins import mark_margin_numbers


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read a text file. Raises LoadError if it is not text."""
    decoded = decode_text(data, source)
    draft = plain(decoded.text)
    return replace(draft, warnings=(*decoded.warnings, *draft.warnings))


def plain(text: str) -> Draft:
    """Return the draft of a text.

    YAML, or a first block of `Title:`, `Author:` and `Language:` lines, becomes the metadata. A
    text in the notation of Aozora Bunko is read as it is printed. Screenplays, subtitles and
    transcripts are recognised by what is in them.
    """
    text = tidy(text)
    if subtitles.is_subtitles(text):
        return subtitles.draft_cues(text)
    if screenplays.is_screenplay(text):
        return screenplays.draft_fountain(text)
    if transcript := transcripts.draft_transcript(text):
        return transcript
    book = gutenberg.strip_library_text(text)
    front = split_front_matter(book.text)
    left_out = book.left_out + Counter({"front matter": front.left_out})
    body, facts = front.text, {**book.metadata, **front.fields}
    if is_aozora := aozora.is_aozora(body):
        printed = aozora.strip_notation(body)
        body, facts = printed.text, {"title": printed.title, "author": printed.author} | facts
        left_out.update(printed.left_out)
    body, left_out["line numbers"] = mark_margin_numbers(body)
    left_out["illustration marks"] += count_markers(body)
    title = facts.get("title", "")
    paragraphs = prose(body)
    return Draft(
        blocks=_with_stated_headings(paragraphs, title) if is_aozora else mark(paragraphs),
        title=title,
        author=facts.get("author", ""),
        language=facts.get("language", ""),
        published=facts.get("published", ""),
        edition=facts.get("edition", ""),
        left_out=+left_out,
        warnings=tuple(filter(None, [books_warning(book.books)])),
        metadata=front.others,
    )


def _with_stated_headings(paragraphs: list[str], title: str) -> tuple[Block, ...]:
    """The blocks of a text whose headings are marked; without any, they are found by words."""
    blocks = [
        Block(text[2:], join_title(text[2:]), int(text[1]))
        if text.startswith(aozora.HEADING_MARK)
        else Block(text)
        for text in paragraphs
    ]
    return confirm(blocks, title)
