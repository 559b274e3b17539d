"""Read a document's own text around a place, and what its graphs say about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.ask.notebook import show_text
from fabula.errors import NotFound, did_you_mean
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.load.chapters import chapter_number
from fabula.store import Store
from fabula.text.names import quote_name

MARGIN_CHARACTERS = 1200
"""Characters before and after the place at least; whole chunks are shown."""
MAX_RELATED = 20
"""Summaries and details that are shown beside the text."""
CHUNK = re.compile(r"\d{1,9}")
SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")
CHARACTERS = re.compile(rf"{SPAN.pattern}(?:, *{SPAN.pattern})*")
"""One span or several, as citations print them."""
END = 10**9
"""A character after the end of any text."""
MAX_PLACE = 2000
"""Characters of what names a place: enough for a hundred spans of a long book, or any heading."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A part of a document's text in one section.

    Attributes:
        section: The heading of the section.
        start: The character of the document where `text` begins.
        text: The text.
        lit: The spans of `text`, in characters, that were asked for.

    """

    section: str
    start: int
    text: str
    lit: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        """The character of the document after the last one."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Reading:
    """The text at a place of a document, and what the graphs say about it.

    Attributes:
        document: The document.
        lines: The text, by section. Where two parts do not touch, text is left out.
        related: Summaries and details that rest on the text.
        of: The summary or the detail that was asked for, which rests on the lit spans.

    """

    document: Entry
    lines: tuple[Lines, ...]
    related: tuple[Hit, ...]
    of: Hit | None = None

    @property
    def said(self) -> tuple[Hit, ...]:
        """The former name of `related`, for programs that use it."""
        return self.related

    def __repr__(self) -> str:
        where = ", ".join(f"{lines.start}-{lines.end}" for lines in self.lines)
        return f"<Reading of {quote_name(self.document.title)}, characters {where}>"

    def _repr_html_(self) -> str:
        title = self.document.title
        return "".join(
            show_text(f"{title} · {lines.section}".rstrip(" ·"), lines.text, lines.lit)
            for lines in self.lines
        )


def read(store: Store, document: Entry, at: str = "") -> Reading:
    """Return the text around a place of a document.

    Args:
        store: The graph.
        document: The document.
        at: Characters as 120-340 or 120-150, 300-340, a chunk's number, the heading of a section or
            a part of it, or the id of a passage; '' is the beginning.

    Raises:
        NotFound: There is no such place.

    """
    at = at.strip()
    if len(at) > MAX_PLACE:
        raise NotFound(
            f"{quote_name(at)} does not name a place of {document.title}: it has {len(at):,} "
            f"characters, and {MAX_PLACE:,} are the most."
        )
    if not at:
        return _read_around(store, document, [(0, 0)])
    if CHARACTERS.fullmatch(at):
        spans = [(int(start), int(end)) for start, end in SPAN.findall(at)]
        rows = store.find_chunks_of_spans(document, spans)
        if all(any(_overlaps(span, row) for row in rows) for span in spans):
            return _read_around(store, document, sorted(spans))
        end = max((row["end"] for row in store.find_chunks(document, 0, END)), default=0)
        raise NotFound(f"{document.title} has no characters {at}: it ends at {end}.")
    place = store.find_place(document, at, int(at) if CHUNK.fullmatch(at) else -1)
    if place is None and (section := _numbered_section(store, document, at)):
        place = store.find_place(document, section, -1)
    if place is None:
        raise NotFound(_explain_unknown(store, document, at))
    if place.kind == "chunk":
        return _read_around(store, document, [(place.start, place.end)])
    sources = store.sources(document.collection, [place.id])[place.id]
    spans = [(source.start, source.end) for source in sources]
    return _read_around(store, document, spans, place)


def _numbered_section(store: Store, document: Entry, at: str) -> str:
    """Return the first section with the number that `at` gives in words or figures, or ''.

    'Stave Two' means 'STAVE II: THE FIRST OF THE THREE SPIRITS'. A number with a title is not
    looked for here, as titles are compared as they are printed.
    """
    number = chapter_number(at)
    if number is None or number.titled:
        return ""
    sections = (row["section"] for row in store.find_chunks(document, 0, END))
    return next((section for section in sections if chapter_number(section) == number), "")


def _read_around(
    store: Store, document: Entry, lit: Sequence[tuple[int, int]], of: Hit | None = None
) -> Reading:
    # The text that a summary rests on is long enough without a margin.
    margin = 0 if of else MARGIN_CHARACTERS
    lines: list[Lines] = []
    chunks: list[str] = []
    for row in store.find_chunks_of_spans(document, _widen(lit, margin)):
        start, end, text = row["start"], row["end"], row["text"]
        marks = [(max(a, start) - start, min(b, end) - start) for a, b in lit]
        marks = [(a, b) for a, b in marks if a < b]
        if marks:
            chunks.append(row["id"])
        previous = lines[-1] if lines else None
        if previous and previous.section == row["section"] and previous.end == start:
            shift = len(previous.text)
            marks = [*previous.lit, *((a + shift, b + shift) for a, b in marks)]
            joined = previous.text + text
            lines[-1] = Lines(previous.section, previous.start, joined, _merge(marks))
        else:
            lines.append(Lines(row["section"], start, text, _merge(marks)))
    related = store.find_passages_on(document, chunks, MAX_RELATED)
    return Reading(document, tuple(lines), tuple(related), of)


def _overlaps(span: tuple[int, int], row: Mapping[str, Any]) -> bool:
    """Return whether a chunk holds any character of a span; an empty span has none."""
    start, end = span
    return start < end and bool(row["start"] < end and start < row["end"])


def _widen(lit: Sequence[tuple[int, int]], margin: int) -> list[tuple[int, int]]:
    """Return the spans with a margin around them, in text order, those that touch as one."""
    return list(_merge([(max(0, a - margin), b + margin) for a, b in sorted(lit)]))


def _merge(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _explain_unknown(store: Store, document: Entry, at: str) -> str:
    sections = dict.fromkeys(row["section"] for row in store.find_chunks(document, 0, END))
    hint = did_you_mean(
        at,
        filter(None, sections),
        "Name characters as 120-340, a chunk's number, a section's heading or a passage's id.",
    )
    return f"{document.title} has no chunk, section or passage {quote_name(at)}. {hint}"
