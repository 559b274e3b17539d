"""A document as chunks of whole sentences, which tile its text and never cross a heading."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabula.text import ids, tokens
from fabula.text.anchors import Anchors
from fabula.text.document import Chunk, Document
from fabula.text.sentences import spans

LONGEST_TOKEN = 4
"""Characters a token is seldom longer than: where to begin cutting text without sentences."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a part of one that is too long: offsets in the document, and its tokens."""

    start: int
    end: int
    tokens: int


def split(document: Document, limit: int, known: Sequence[str] = ()) -> tuple[Chunk, ...]:
    """The document's chunks in text order, of at most `limit` tokens each.

    Every character of the text is in exactly one chunk: `text[start:end]`, white space included.
    Chunks end at sentence ends; only a sentence of more than `limit` tokens is cut, at a space
    where it has one. After Sarthi et al. 2024 (RAPTOR, arXiv 2401.18059), section 3.

    `known` are the chunks of an earlier version of the text: where one of them stands whole, it
    is a chunk again, so that an edit moves no boundary but those next to it.
    """
    chunks: list[Chunk] = []
    seen: Counter[str] = Counter()
    anchors = Anchors(known, limit)
    for start, end, section in _stretches(document):
        pieces = _pieces(document, start, end, limit)
        for first, last in _runs(pieces, document.text, limit, anchors):
            text = document.text[first:last]
            identity = ids.chunk_id(document.id, text, seen[text])
            seen[text] += 1
            count = tokens.count(text)
            chunks.append(Chunk(identity, len(chunks), section, first, last, text, count))
    return tuple(chunks)


def _stretches(document: Document) -> Iterator[tuple[int, int, str]]:
    """The text between headings: start, end and the section's title."""
    starts = [(0, ""), *((section.start, section.title) for section in document.sections)]
    ends = [start for start, _ in starts[1:]] + [len(document.text)]
    for (start, title), end in zip(starts, ends, strict=True):
        if start < end:
            yield start, end, title


def _pieces(document: Document, start: int, end: int, limit: int) -> list[_Piece]:
    """The sentences between two offsets, those over the limit cut."""
    text = document.text
    offsets = [(start + a, start + b) for a, b in spans(text[start:end], document.language)]
    # White space between sentences becomes part of the tokens after it.
    counts = tokens.count_all([text[a:b].rstrip() for a, b in offsets])
    pieces: list[_Piece] = []
    for (a, b), count in zip(offsets, counts, strict=True):
        # Of the last sentence of a chunk, it is not.
        fits = count < limit or tokens.count(text[a:b]) <= limit
        pieces.extend([_Piece(a, b, count)] if fits else _cut(text, a, b, limit))
    return pieces


def _cut(text: str, start: int, end: int, limit: int) -> list[_Piece]:
    """A long sentence in parts of at most `limit` tokens, each but the last near that long."""
    bounds = [start]
    while end - bounds[-1] > limit * LONGEST_TOKEN:
        bounds.append(_break(text, bounds[-1], bounds[-1] + limit * LONGEST_TOKEN))
    bounds.append(end)
    waiting = list(itertools.pairwise(bounds))[::-1]
    pieces: list[_Piece] = []
    while waiting:
        a, b = waiting.pop()
        count = tokens.count(text[a:b])
        if count <= limit or b - a == 1:
            pieces.append(_Piece(a, b, count))
        else:
            middle = _break(text, a, a + max(1, (b - a) // 2))
            waiting += [(middle, b), (a, middle)]
    return pieces


def _break(text: str, start: int, near: int) -> int:
    """An offset at or before `near` after a space, in the second half; else `near` itself."""
    for position in range(near, start + (near - start) // 2, -1):
        if text[position - 1].isspace():
            return position
    # Within a run of letters, at least keep combining marks with their letter.
    position = near
    while position > start + 1 and unicodedata.combining(text[position]):
        position -= 1
    return position


def _runs(
    pieces: Sequence[_Piece], text: str, limit: int, anchors: Anchors
) -> Iterator[tuple[int, int]]:
    """Where each chunk of a stretch begins and ends: the known ones, and what lies between."""
    ends = {piece.end: number + 1 for number, piece in enumerate(pieces)}
    new: list[_Piece] = []
    number = 0
    while number < len(pieces):
        start = pieces[number].start
        if (found := anchors.at(text, start, ends)) is None:
            new.append(pieces[number])
            number += 1
        else:
            yield from _packed(new, text, limit)
            yield start, found
            new, number = [], ends[found]
    yield from _packed(new, text, limit)


def _packed(pieces: Sequence[_Piece], text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Runs of pieces that fit the limit together: start and end of each."""

    def length(first: int, last: int) -> int:
        return tokens.count(text[pieces[first].start : pieces[last].end])

    begin = 0
    while begin < len(pieces):
        end, total = begin + 1, pieces[begin].tokens
        while end < len(pieces) and total + pieces[end].tokens <= limit:
            total += pieces[end].tokens
            end += 1
        # A text may take more tokens than its sentences do one by one, if seldom.
        fewer = 1
        while end > begin + 1 and length(begin, end - 1) > limit:
            end, fewer = max(begin + 1, end - fewer), 2 * fewer
        yield pieces[begin].start, pieces[end - 1].end
        begin = end
