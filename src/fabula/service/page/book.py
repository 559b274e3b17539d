"""A book as the page reads it: whole sections with what is lit, and what its graphs say of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice

from fabula.app.reading import CHARACTERS, SPAN
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.graph.queries import query
from fabula.store import Store
from fabula.text.names import quoted

MOST = 600_000
"""Characters that one page holds, of whole sections: most novels. A longer book is several."""
LONGEST = 120_000
"""Characters of a section; what is longer, as a text without headings, goes on in another."""
MOST_SAID = 60
"""Summaries and details that the margin tells of a place."""
MAX_NOTES = 100
"""Stretches of one kind, cited or cited besides, that an address may name."""
BETWEEN = re.compile(r"\n\s*\n")
WORD = re.compile(r"\w+")
MOST_OF_HEADING = 4
"""Paragraphs that a heading is looked for in."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of the book under one heading; `number` is its place among all."""

    number: int
    title: str
    start: int
    end: int
    goes_on: bool = False

    @property
    def name(self) -> str:
        """What a list of sections calls it."""
        name = self.title or ("The text" if self.number or self.goes_on else "The beginning")
        return f"{name}, continued" if self.goes_on else name


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words of a paragraph. `note` is the number of the citation that it is of, 0 of none;
    `is_last` marks where that ends.
    """

    text: str
    note: int = 0
    is_meant: bool = False
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph or a stanza, from character `start` on."""

    start: int
    pieces: tuple[Piece, ...]
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A citation: where it is, whether it is the one that was asked for, and what is said of it."""

    number: int
    span: Span
    section: str
    is_meant: bool
    said: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """A section with its paragraphs."""

    section: Section
    paragraphs: tuple[Paragraph, ...]

    @property
    def has_heading(self) -> bool:
        """Whether the book prints the heading itself."""
        return bool(self.paragraphs) and self.paragraphs[0].is_heading


@dataclass(frozen=True, slots=True)
class Margin:
    """What graphs say of a stretch of the book: trees by aspect, from the closest up; details."""

    start: int
    end: int
    aspects: tuple[tuple[str, tuple[Hit, ...]], ...] = ()
    details: tuple[Hit, ...] = ()
    others: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What one page of a book shows."""

    document: Entry
    sections: tuple[Section, ...]
    printed: tuple[Printed, ...]
    notes: tuple[Note, ...]
    margin: Margin
    of: Hit | None = None
    is_there: frozenset[int] = field(default=frozenset())
    """Numbers of the sections that are on this page."""

    @property
    def before(self) -> Section | None:
        """The section that ends where this page begins."""
        first = self.printed[0].section.number if self.printed else 0
        return self.sections[first - 1] if first else None

    @property
    def after(self) -> Section | None:
        """The section that begins where this page ends."""
        last = self.printed[-1].section.number + 1 if self.printed else 0
        return self.sections[last] if last < len(self.sections) else None


def read_page(
    store: Store,
    entry: Entry,
    *,
    chars: str = "",
    also: str = "",
    passage: str = "",
    section: int | None = None,
) -> Page:
    """The page of a book that a place is on: `chars` as 120-340, a passage's id, or a section.

    `also` are further citations, as `chars`. Raises NotFound where there is no such place.
    """
    sections = read_sections(store, entry)
    meant, of, others = read_spans(chars), None, read_spans(also)
    if (most := max(len(meant), len(others))) > MAX_NOTES:
        raise NotFound(
            f"This address names {most} stretches of the text; {MAX_NOTES} are the most."
        )
    if chars and not meant:
        raise NotFound(f"{quoted(chars)} names no characters: write 1200-1388.")
    if passage:
        of = store.place(entry, passage.lower(), -1)
        if of is None or of.id != passage.lower():
            raise NotFound(f"{entry.title} has no passage {quoted(passage)}.")
        meant = [(of.start, of.end)]
        if of.kind != "chunk":
            rests_on = store.sources(entry.collection, [of.id]).get(of.id, [])
            meant = merge([(one.start, one.end) for one in rests_on])
    ends = sections[-1].end if sections else 0
    if any(end > ends for _, end in meant):
        raise NotFound(f"{entry.title} has no characters {chars}: it ends at {ends}.")
    if section is not None and not 0 <= section < len(sections):
        raise NotFound(f"{entry.title} has {len(sections)} sections: there is none of {section}.")
    at = meant[0][0] if meant else sections[section].start if section and sections else 0
    shown = choose(sections, at)
    notes = make_notes(meant, others, sections)
    return Page(
        entry,
        tuple(sections),
        tuple(_read_printed(store, entry, shown, notes)),
        tuple(_add_summaries(store, entry, notes)),
        read_margin(store, entry, at, at + 1),
        of,
        frozenset(one.number for one in shown),
    )


def read_spans(written: str) -> list[Span]:
    """The stretches of a text as 120-150,300-340; none where it is not written so."""
    if not CHARACTERS.fullmatch(written.strip()):
        return []
    found = [(int(start), int(end)) for start, end in SPAN.findall(written)]
    return merge([one for one in found if one[0] < one[1]])


def write_spans(spans: Sequence[Span]) -> str:
    """Stretches as an address writes them."""
    return ",".join(f"{start}-{end}" for start, end in spans)


def merge(spans: Sequence[Span]) -> list[Span]:
    """Stretches in text order, those that meet as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def read_sections(store: Store, entry: Entry) -> list[Section]:
    """The sections of a book in text order; a heading that comes twice is of two."""
    asked = {"collection": entry.collection, "document": entry.id}
    rows = store.rows("core/find_sections", **asked)
    found: list[Section] = []
    for title, run in groupby(rows, key=lambda row: str(row["section"])):
        start = end = -1
        goes_on = False
        for row in run:
            start = row["start"] if start < 0 else start
            if row["end"] - start > LONGEST and end > start:
                found.append(Section(len(found), title, start, end, goes_on))
                start, goes_on = row["start"], True
            end = row["end"]
        found.append(Section(len(found), title, start, end, goes_on))
    return found


def choose(sections: Sequence[Section], at: int) -> list[Section]:
    """The sections of one page: all, or as many as it holds, from the one before a place on."""
    if not sections or sections[-1].end <= MOST:
        return [*sections]
    place = next((one.number for one in sections if at < one.end), len(sections) - 1)
    first = max(place - 1, 0)
    shown = [one for one in sections[first:] if one.end - sections[first].start <= MOST]
    return shown or [sections[first]]


def make_notes(
    meant: Sequence[Span], also: Sequence[Span], sections: Sequence[Section]
) -> list[Note]:
    """The citations in text order, numbered; of two that share characters the one that is meant."""
    others = [one for one in also if not any(one[0] < b and a < one[1] for a, b in meant)]
    every = sorted([(one, True) for one in meant] + [(one, False) for one in others])
    return [
        Note(number, span, _section_at(sections, span[0]), is_meant)
        for number, (span, is_meant) in enumerate(every, start=1)
    ]


def read_margin(store: Store, entry: Entry, start: int, end: int) -> Margin:
    """What graphs say of the chunks that hold any of these characters."""
    rows = store.text(entry, start, end)
    if not rows:
        return Margin(start, end)
    said = store.said(entry, [row["id"] for row in rows], MOST_SAID)
    trees: dict[str, list[Hit]] = {}
    for hit in said:
        if hit.kind == "summary":
            trees.setdefault(hit.aspect, []).append(hit)
    return Margin(
        rows[0]["start"],
        rows[-1]["end"],
        tuple((aspect, tuple(hits)) for aspect, hits in trees.items()),
        tuple(hit for hit in said if hit.kind == "detail"),
        tuple(hit for hit in said if hit.kind not in ("summary", "detail")),
    )


def _add_summaries(store: Store, entry: Entry, notes: Sequence[Note]) -> Iterator[Note]:
    """Yield notes with the closest summary of each aspect, of the chunk where each begins.

    Two statements for all of them together, however many there are.
    """
    starts = [one.span[0] for one in notes]
    rows = store.texts(entry, [(at, at + 1) for at in starts]) if notes else []
    statement = query("aspects/find_parents")
    above = store.related(statement, entry.collection, [row["id"] for row in rows]) if rows else {}
    firsts = [row["start"] for row in rows]
    for note in notes:
        place = bisect_right(firsts, note.span[0]) - 1
        closest: dict[str, Hit] = {}
        for hit in above.get(rows[place]["id"], ()) if place >= 0 else ():
            closest.setdefault(hit.aspect, hit)
        yield replace(note, said=tuple(closest[aspect] for aspect in sorted(closest)))


def _section_at(sections: Sequence[Section], at: int) -> str:
    return next((one.name for one in sections if at < one.end), "")


def _read_printed(
    store: Store, entry: Entry, shown: Sequence[Section], notes: Sequence[Note]
) -> Iterator[Printed]:
    if not shown:
        return
    rows = store.text(entry, shown[0].start, shown[-1].end)
    text = "".join(row["text"] for row in rows)
    start = rows[0]["start"] if rows else 0
    for section in shown:
        own = text[section.start - start : section.end - start]
        yield Printed(section, tuple(_paragraphs(section, own, notes)))


def _paragraphs(section: Section, text: str, notes: Sequence[Note]) -> Iterator[Paragraph]:
    """The paragraphs of a section; the first of them are its heading where they say the same."""
    within = [one for one in notes if one.span[0] < section.end and section.start < one.span[1]]
    edges = [0, *(edge for one in BETWEEN.finditer(text) for edge in one.span()), len(text)]
    printed = [
        (section.start + at, words)
        for at, end in zip(edges[::2], edges[1::2], strict=True)
        if (words := text[at:end].rstrip())
    ]
    first = [words for _, words in printed[:MOST_OF_HEADING]]
    of_heading = 0 if section.goes_on else count_heading(first, section.title)
    first_note = 0
    for number, (start, words) in enumerate(printed):
        # Notes and paragraphs are in text order: those before this one are not looked at again.
        while first_note < len(within) and within[first_note].span[1] <= start:
            first_note += 1
        pieces = _pieces(words, start, islice(within, first_note, None))
        yield Paragraph(start, tuple(pieces), number < of_heading)


def count_heading(paragraphs: Sequence[str], title: str) -> int:
    """How many of a section's first paragraphs are its title, or the last part of it.

    A book may print "STAVE ONE", an empty line and "MARLEY'S GHOST"; the title is both.
    """
    told, said, found = _words(title), [], 0
    for number, paragraph in enumerate(paragraphs, start=1):
        said += _words(paragraph)
        if told[-len(said) :] == said:
            found = number
    return found


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold()) or text.split()


def _pieces(words: str, start: int, notes: Iterable[Note]) -> Iterator[Piece]:
    at = 0
    for note in notes:
        if note.span[0] >= start + len(words):
            break
        first, last = note.span[0] - start, note.span[1] - start
        low, high = max(first, at), min(last, len(words))
        if low >= high:
            continue
        if low > at:
            yield Piece(words[at:low])
        yield Piece(words[low:high], note.number, note.is_meant, last <= len(words))
        at = high
    if at < len(words):
        yield Piece(words[at:])
