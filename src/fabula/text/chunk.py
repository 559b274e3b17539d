"""Split a document into chunks of whole sentences, which tile its text and cross no heading."""

from __future__ import annotations

import itertools
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fabula.text import ids, tokens
from fabula.text.anchors import Anchors
from fabula.text.document import Chunk, Document
from fabula.text.sections import fold_words, outline
from fabula.text.sentences import spans

CHARACTERS_PER_TOKEN = 4
"""A token seldom has more characters; it is a first guess of where to cut an endless sentence."""
MAX_ORNAMENT_CHARACTERS = 200
"""Blank lines and ornaments that may stand around a heading without text."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a part of one that is too long: its offsets in the document and its tokens."""

    start: int
    end: int
    tokens: int


def split(document: Document, limit: int, known: Sequence[str] = ()) -> tuple[Chunk, ...]:
    """Return the chunks of a document in text order.

    Every character of the text is in exactly one chunk, white space included. Chunks end at the
    ends of sentences. Only a sentence of more than `limit` tokens is cut, at a space if it has one.
    A heading without text of its own begins the chunk of the section after it. This follows Sarthi
    et al. 2024 (RAPTOR, arXiv 2401.18059), section 3.

    Args:
        document: The document to split.
        limit: The most tokens of a chunk.
        known: The chunks of a previous version of the text. Where one of them is unchanged, it is a
            chunk again, so that an edit moves only the boundaries next to it.
    """
    chunks: list[Chunk] = []
    counts: Counter[str] = Counter()
    anchors = Anchors(known, limit)
    name_section = section_namer(document)
    for start, end, _ in section_ranges(document):
        pieces = _pieces(document, start, end, limit)
        for first, last in _chunk_ranges(pieces, document.text, limit, anchors):
            text = document.text[first:last]
            identity = ids.chunk_id(document.id, text, counts[text.strip()])
            counts[text.strip()] += 1
            count = tokens.count(text)
            section = name_section(first, last)
            chunks.append(Chunk(identity, len(chunks), section, first, last, text, count))
    return tuple(chunks)


def section_namer(document: Document) -> Callable[[int, int], str]:
    """Return what names the section of a chunk by its start and end.

    A chunk of a heading alone has the path of that heading.
    """
    paths = outline(document.sections, document.title).paths
    starts = [section.start for section in document.sections]
    ranges = section_ranges(document)
    range_starts = [start for start, *_ in ranges]

    def name(start: int, end: int) -> str:
        number = bisect_right(starts, start) - 1
        is_within = end <= (starts[number + 1] if number + 1 < len(starts) else end)
        if number >= 0 and is_within:
            return paths[number]
        return ranges[max(bisect_right(range_starts, start) - 1, 0)][2]

    return name


def section_ranges(document: Document) -> list[tuple[int, int, str]]:
    """Return the ranges that no chunk crosses: start, end and the path of the section.

    The range of a heading without text of its own is that of the section after it; the last one's
    is that of the section before it.
    """
    text = document.text
    paths = outline(document.sections, document.title).paths
    starts = [(0, "", "")]
    for section, path in zip(document.sections, paths, strict=True):
        starts.append((section.start, section.title, path))
    ends = [start for start, *_ in starts[1:]] + [len(text)]
    ranges: list[tuple[int, int, str]] = []
    first = 0
    for (start, title, path), end in zip(starts, ends, strict=True):
        if title and _is_heading(text[start:end], title):
            continue
        if first < end:
            ranges.append((first, end, path))
        first = end
    if first < len(text):
        start, _, path = ranges.pop() if ranges else (0, 0, paths[-1])
        ranges.append((start, len(text), path))
    return ranges


def _is_heading(text: str, title: str) -> bool:
    """Whether a text is nothing but a title, which may have been shortened."""
    if len(text) > 2 * len(title) + MAX_ORNAMENT_CHARACTERS:
        return False
    words, own = "".join(fold_words(text)), "".join(fold_words(title))
    return words == own != ""


def _pieces(document: Document, start: int, end: int, limit: int) -> list[_Piece]:
    """The sentences between two offsets; those over the limit are cut."""
    text = document.text
    offsets = [(start + a, start + b) for a, b in spans(text[start:end], document.language)]
    # Counted without the white space at the end, as that becomes part of the next token,
    # except at the end of a chunk; hence the second count below.
    counts = tokens.count_all([text[a:b].rstrip() for a, b in offsets])
    pieces: list[_Piece] = []
    for (a, b), count in zip(offsets, counts, strict=True):
        fits = count < limit or tokens.count(text[a:b]) <= limit
        pieces.extend([_Piece(a, b, count)] if fits else _cut(text, a, b, limit))
    return pieces


def _cut(text: str, start: int, end: int, limit: int) -> list[_Piece]:
    """Cut a long sentence into parts of at most `limit` tokens, most of them that long."""
    bounds = [start]
    while end - bounds[-1] > limit * CHARACTERS_PER_TOKEN:
        bounds.append(_find_cut(text, bounds[-1], bounds[-1] + limit * CHARACTERS_PER_TOKEN))
    bounds.append(end)
    stack = list(itertools.pairwise(bounds))[::-1]
    pieces: list[_Piece] = []
    while stack:
        a, b = stack.pop()
        count = tokens.count(text[a:b])
        if count <= limit or b - a == 1:
            pieces.append(_Piece(a, b, count))
        else:
            middle = _find_cut(text, a, a + max(1, (b - a) // 2))
            stack += [(middle, b), (a, middle)]
    return pieces


def _find_cut(text: str, start: int, near: int) -> int:
    """An offset after a space, at or a little before `near`; `near` itself if there is no space."""
    for position in range(near, start + (near - start) // 2, -1):
        if text[position - 1].isspace():
            return position
    # A cut between letters at least keeps combining marks with their letter.
    position = near
    while position > start + 1 and unicodedata.combining(text[position]):
        position -= 1
    return position


def _chunk_ranges(
    pieces: Sequence[_Piece], text: str, limit: int, anchors: Anchors
) -> Iterator[tuple[int, int]]:
    """The start and end of each chunk of a section: known chunks, and new ones between them."""
    ends = {piece.end: number + 1 for number, piece in enumerate(pieces)}
    new: list[_Piece] = []
    number = 0
    while number < len(pieces):
        start = pieces[number].start
        if (known_end := anchors.find_end(text, start, ends)) is None:
            new.append(pieces[number])
            number += 1
        else:
            yield from _pack(new, text, limit)
            yield start, known_end
            new, number = [], ends[known_end]
    yield from _pack(new, text, limit)


def _pack(pieces: Sequence[_Piece], text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Pack pieces into chunks up to the limit; yield the start and end of each."""

    def length(first: int, last: int) -> int:
        return tokens.count(text[pieces[first].start : pieces[last].end])

    begin = 0
    while begin < len(pieces):
        end, total = begin + 1, pieces[begin].tokens
        while end < len(pieces) and total + pieces[end].tokens <= limit:
            total += pieces[end].tokens
            end += 1
        # Rarely a text has more tokens than its sentences have one by one. Take sentences away,
        # each time twice as many, until it fits.
        fewer = 1
        while end > begin + 1 and length(begin, end - 1) > limit:
            end, fewer = max(begin + 1, end - fewer), 2 * fewer
        yield pieces[begin].start, pieces[end - 1].end
        begin = end
