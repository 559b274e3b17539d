"""The tools of the text itself: search it, read on beside a passage, and read its chapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pydantic import Field

from fabula.errors import NotFound
from fabula.graph.hits import Filters, Hit, read_hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graph.reading_tools import (
    MAX_ARGUMENT_CHARACTERS,
    ReadingResult,
    ReadingTool,
    SearchArguments,
    ToolArguments,
)
from fabula.text.folding import fold
from fabula.text.names import quote_name

FOUND = 12
"""How many passages a search finds."""
MAX_BESIDE = 3
"""How many chunks are read before and after a passage at most."""
PART_TOKENS = 3_000
"""Tokens of the part of a chapter that a call reads."""
MAX_CHAPTERS = 300
"""How many chapters the table of contents lists."""
MAX_NAMED = 20
"""How many chapters a message names, if there is none of the name that was asked for."""


class ReadArguments(ToolArguments):
    """Which passage to read, and how much beside it."""

    passage: int = Field(ge=1, le=1_000_000, description="the number of a passage")
    before: int = Field(0, ge=0, le=MAX_BESIDE, description="how many stretches before it as well")
    after: int = Field(0, ge=0, le=MAX_BESIDE, description="how many stretches after it as well")


class ChapterArguments(ToolArguments):
    """Which chapter to read, and which part of it."""

    chapter: str = Field(
        min_length=1,
        max_length=MAX_ARGUMENT_CHARACTERS,
        description="the chapter's title, as `contents` lists it",
    )
    part: int = Field(1, ge=1, le=10_000, description="a long chapter is read in parts: 1, 2, ...")


@dataclass(frozen=True, slots=True)
class Chapter:
    """A section of a document: its place in characters, and its length in tokens."""

    document: str
    title: str
    section: str
    start: int
    end: int
    tokens: int


def search_words(arguments: SearchArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """Find passages by their words (BM25 over folded words)."""
    # One statement ranks by words and by meaning, so the vector costs no further round trip.
    _, alike = _rank(arguments.query, filters, tools)
    return ReadingResult(tuple(alike))


def search_meaning(arguments: SearchArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """Find passages by the cosine of their embeddings."""
    near, _ = _rank(arguments.query, filters, tools)
    return ReadingResult(tuple(near))


def _rank(query: str, filters: Filters, tools: Tools) -> tuple[list[Hit], list[Hit]]:
    kinds = filters.kinds or ("chunk",)
    vector = tools.embed(query)
    return tools.store.search_hybrid(
        vector, query, FOUND, replace(filters, kinds=kinds), tools.embedder.model
    )


def read_around(hit: Hit, before: int, after: int, filters: Filters, tools: Tools) -> ReadingResult:
    """Return the chunks that a hit stands in, with some before and after them, in text order."""
    rows = tools.store.read(
        read_statement("core/find_stretch"),
        filters,
        document=hit.document,
        first=hit.start,
        last=max(hit.end, hit.start + 1),
        chunks_before=before,
        chunks_after=after,
    )
    return ReadingResult(tuple(map(read_hit, rows)))


def list_contents(arguments: ToolArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """List the chapters of the documents, with their lengths."""
    del arguments
    chapters = _read_chapters(filters, tools)
    lines = []
    for title, group in groupby(chapters[:MAX_CHAPTERS], key=lambda chapter: chapter.title):
        lines.append(quote_name(title))
        lines += [
            f"- {chapter.section or '(without a title)'}: about {chapter.tokens:,} tokens"
            for chapter in group
        ]
    if len(chapters) > MAX_CHAPTERS:
        lines.append(f"and {len(chapters) - MAX_CHAPTERS:,} more")
    return ReadingResult(note="\n".join(lines))


def read_chapter(arguments: ChapterArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """Read one part of a chapter in text order. Raises NotFound if there is no such chapter."""
    chapter = _find_chapter(arguments.chapter, _read_chapters(filters, tools))
    rows = tools.store.read(
        read_statement("core/find_stretch"),
        filters,
        document=chapter.document,
        first=chapter.start,
        last=chapter.end,
        chunks_before=0,
        chunks_after=0,
    )
    parts = _in_parts([read_hit(row) for row in rows])
    if arguments.part > len(parts):
        raise NotFound(f"{quote_name(chapter.section)} has {len(parts)} parts.")
    note = f"Part {arguments.part} of {len(parts)} of {quote_name(chapter.section)}."
    return ReadingResult(tuple(parts[arguments.part - 1]), note)


def _in_parts(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Split hits into runs of at most PART_TOKENS, each with at least one."""
    parts: list[list[Hit]] = []
    length = 0
    for hit in hits:
        if not parts or length + hit.tokens > PART_TOKENS:
            parts.append([])
            length = 0
        parts[-1].append(hit)
        length += hit.tokens
    return parts


def _read_chapters(filters: Filters, tools: Tools) -> list[Chapter]:
    rows: list[dict[str, Any]] = tools.store.read(read_statement("core/find_chapters"), filters)
    return [Chapter(**row) for row in rows]


def _find_chapter(name: str, chapters: Sequence[Chapter]) -> Chapter:
    """Return the chapter of this name, or the first whose name has its words."""
    wanted = fold(name).split()
    names: Mapping[Chapter, list[str]] = {
        chapter: fold(chapter.section).split() for chapter in chapters
    }
    for chapter, words in names.items():
        if words == wanted:
            return chapter
    for chapter, words in names.items():
        if wanted and _is_within(wanted, words):
            return chapter
    known = [chapter.section for chapter in chapters if chapter.section][:MAX_NAMED]
    listed = f"There are: {'; '.join(known)}." if known else "The text has no titles of chapters."
    raise NotFound(f"There is no chapter {quote_name(name)}. {listed}")


def _is_within(words: Sequence[str], all_words: Sequence[str]) -> bool:
    """Whether words stand in a row within others."""
    size = len(words)
    return any(all_words[at : at + size] == words for at in range(len(all_words) - size + 1))


TOOLS = (
    ReadingTool(
        "search_words",
        "Find passages that have these words, as the book prints them; those with most come first",
        SearchArguments,
        search_words,
    ),
    ReadingTool(
        "search_meaning",
        "Find passages that are close in meaning to a sentence, whatever their words",
        SearchArguments,
        search_meaning,
    ),
    ReadingTool(
        "contents",
        "List the chapters in their order, with their lengths",
        ToolArguments,
        list_contents,
    ),
    ReadingTool(
        "read_chapter",
        "Read a chapter from its beginning, or one of its parts",
        ChapterArguments,
        read_chapter,
    ),
)
