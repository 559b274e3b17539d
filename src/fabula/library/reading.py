"""Read a document's own text around a place, and what its graphs say about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabula.ask.notebook import show_text
from fabula.errors import NotFound, did_you_mean
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit, locate
from fabula.graph.installed import graphs
from fabula.graph.reading_place import MAX_PLACE
from fabula.graph.structure import TextStructure
from fabula.load.chapters import chapter_number
from fabula.store import Store
from fabula.text.locator import parse_labels
from fabula.text.names import quote_name
from fabula.text.sections import find_named_sections

MARGIN_CHARACTERS = 1200
"""Characters before and after the place at least; whole chunks are shown."""
MAX_RELATED = 20
"""Summaries and details that are shown beside the text."""
CHUNK = re.compile(r"\d{1,9}")
SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")
CHARACTERS = re.compile(rf"{SPAN.pattern}(?:, *{SPAN.pattern})*")
"""One span or several, as citations print them."""
MAX_NAMED_PLACES = 30
"""How many of several places of one name are listed."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A part of a document's text in one section.

    Attributes:
        section: The path of the section, as "BOOK NINE · CHAPTER XI".
        start: The character of the document where `text` begins.
        text: The text.
        lit: The spans of `text`, in characters, that were asked for.
        pages: The labels of the printed pages of what was asked for, or else of the text, as
            "113-114"; '' where the document has none.
        lines: The same of numbered lines.
    """

    section: str
    start: int
    text: str
    lit: tuple[tuple[int, int], ...]
    pages: str = ""
    lines: str = ""

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
        store: The graph; for a reader with a place, nothing of what comes later is shown.
        document: The document.
        at: Characters as 120-340 or 120-150, 300-340, a chunk's number, the path of a section or
            its end, as "BOOK NINE CHAPTER XI", a part of a heading, a page as "p. 113" or lines as
            "ll. 340-352", or the id of a passage; '' is the beginning.

    Raises:
        NotFound: There is no such place, it is the name of several, or it was not read yet.
    """
    at = at.strip()
    if len(at) > MAX_PLACE:
        raise NotFound(
            f"{quote_name(at)} does not name a place of {document.title}: it has {len(at):,} "
            f"characters, and at most {MAX_PLACE:,} are allowed."
        )
    if not at:
        return _read_around(store, document, [(0, 0)])
    # What is named is looked for in the whole text: there may be such a place that was not read.
    whole = store.whole
    if CHARACTERS.fullmatch(at):
        spans = [(int(start), int(end)) for start, end in SPAN.findall(at)]
        rows = whole.find_chunks_of_spans(document, spans)
        if all(any(_overlaps(span, row) for row in rows) for span in spans):
            return _read_around(store, document, sorted(spans))
        end = max((row["end"] for row in whole.find_chunks(document)), default=0)
        raise NotFound(f"{document.title} has no characters {at}: it ends at {end}.")
    place = store.find_place(document, at, int(at) if CHUNK.fullmatch(at) else -1)
    if place is None:
        return _read_around(store, document, [find_span(store, document, at)])
    if place.kind == "chunk":
        return _read_around(store, document, [(place.start, place.end)])
    sources = whole.sources(document.collection, [place.id])[place.id]
    growing = {label.lower() for each in graphs().values() for label in each.growing}
    was_read = [source for source in sources if source.end <= store.until]
    if place.kind in growing and was_read and len(was_read) < len(sources):
        # Its description is of the whole text: only the passages that were read are shown.
        return _read_around(store, document, [(each.start, each.end) for each in was_read])
    spans = [(source.start, source.end) for source in sources]
    return _read_around(store, document, spans, place)


def find_span(store: Store, document: Entry, at: str) -> tuple[int, int]:
    """Return the characters that a page, a line or a section's path names.

    Of a section it is the first chunk. An error names no heading after a reader's place.

    Raises:
        NotFound: There is no such place, or it is the name of several.
    """
    structure = store.whole.structure(document)
    rows = store.whole.find_chunks(document)
    spans = find_labelled(structure, at, rows[-1]["end"] if rows else 0)
    if len(spans) > 1:
        raise _several(at, document, [f"characters {start}-{end}" for start, end in spans])
    if spans:
        return spans[0]
    numbers = find_sections(structure, at)
    if not numbers:
        raise NotFound(_explain_unknown(structure.up_to(store.until).paths, document, at))
    sections = structure.outline.sections
    numbers = [each for each in numbers if sections[each].start < store.until] or numbers[:1]
    starts = [structure.outline.sections[number].start for number in numbers]
    spans = [(start, _chunk_end(rows, start)) for start in starts]
    if len(spans) > 1:
        paths = [structure.paths[number] for number in numbers]
        # Sections of one path are told apart by their characters.
        names = [
            f"{path} (characters {start}-{end})" if paths.count(path) > 1 else path
            for path, (start, end) in zip(paths, spans, strict=True)
        ]
        raise _several(at, document, names)
    return spans[0]


def find_sections(structure: TextStructure, at: str) -> list[int]:
    """Return the numbers of the sections that a name fits, by their paths or by parts of titles."""
    return find_named_sections(structure.outline, at, _number) or _find_numbered(structure, at)


def _several(at: str, document: Entry, names: Sequence[str]) -> NotFound:
    shown = "".join(f"\n  {name}" for name in names[:MAX_NAMED_PLACES])
    left = len(names) - MAX_NAMED_PLACES
    more = f"\n  and {left} more" if left > 0 else ""
    return NotFound(
        f"{quote_name(at)} names {len(names)} places of {document.title}. Name one of them, as "
        f"it is here or by the end of it:{shown}{more}"
    )


def find_labelled(structure: TextStructure, at: str, length: int) -> list[tuple[int, int]]:
    """Return the stretches of the text that "p. 113" or "ll. 340-352" names."""
    parsed = parse_labels(at)
    if parsed is None:
        return []
    kind, first, last = parsed
    labels = structure.pages if kind == "page" else structure.lines
    return labels.find(first, last, length)


def _find_numbered(structure: TextStructure, at: str) -> list[int]:
    """Return the sections with the number that `at` gives, as "The Second Chapter" does."""
    number = chapter_number(at)
    # A number with a title is not looked for here: titles are compared as they are printed.
    if number is None or number.titled:
        return []
    sections = enumerate(structure.outline.sections)
    return [index for index, section in sections if chapter_number(section.title) == number]


def _chunk_end(rows: Sequence[Mapping[str, Any]], start: int) -> int:
    """Return the end of the chunk that holds a character."""
    ends: Iterator[int] = (row["end"] for row in rows if start < row["end"])
    return next(ends, start)


def _number(word: str) -> int:
    """Return the value of a number in words or figures, or 0."""
    number = chapter_number(f"chapter {word}")
    return number.value if number else 0


def _read_around(
    store: Store,
    document: Entry,
    lit: Sequence[tuple[int, int]],
    of: Hit | None = None,
) -> Reading:
    if any(end > store.until for _, end in lit):
        raise NotFound(f"That place of {document.title} comes after what was read.")
    # The text that a summary rests on is long enough without a margin.
    margin = 0 if of else MARGIN_CHARACTERS
    lines: list[Lines] = []
    chunks: list[str] = []
    for row in store.find_chunks_of_spans(document, _widen(lit, margin)):
        section, start, end, text = row["section"], row["start"], row["end"], row["text"]
        marks = [(max(a, start) - start, min(b, end) - start) for a, b in lit]
        marks = [(a, b) for a, b in marks if a < b]
        if marks:
            chunks.append(row["id"])
        previous = lines[-1] if lines else None
        if previous and previous.section == section and previous.end == start:
            shift = len(previous.text)
            marks = [*previous.lit, *((a + shift, b + shift) for a, b in marks)]
            joined = previous.text + text
            lines[-1] = Lines(previous.section, previous.start, joined, tuple(merge_spans(marks)))
        else:
            lines.append(Lines(section, start, text, tuple(merge_spans(marks))))
    related = store.find_passages_on(document, chunks, MAX_RELATED)
    structures = store.structures(document.collection, [document.id])
    return Reading(
        document,
        tuple(_label_lines(each, structures.get(document.id)) for each in lines),
        tuple(locate(hit, structures) for hit in related),
        of and locate(of, structures),
    )


def _label_lines(lines: Lines, structure: TextStructure | None) -> Lines:
    """Return a part of a text with the labels of its printed pages and numbered lines."""
    if structure is None:
        return lines
    spans = [(lines.start + start, lines.start + end) for start, end in lines.lit]
    meant = spans or [(lines.start, lines.end)]
    pages, numbers = structure.pages.range(meant), structure.lines.range(meant)
    return replace(lines, pages=pages, lines=numbers)


def _overlaps(span: tuple[int, int], row: Mapping[str, Any]) -> bool:
    """Return whether a chunk holds any character of a span; an empty span has none."""
    start, end = span
    return start < end and bool(row["start"] < end and start < row["end"])


def _widen(lit: Sequence[tuple[int, int]], margin: int) -> list[tuple[int, int]]:
    """Return the spans with a margin around them, in text order, those that touch as one."""
    return merge_spans([(max(0, a - margin), b + margin) for a, b in lit])


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges in text order; those that overlap or touch become one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _explain_unknown(paths: Iterable[str], document: Entry, at: str) -> str:
    hint = did_you_mean(
        at,
        dict.fromkeys(paths),
        "Name characters as 120-340, a chunk's number, a section's heading, a page as 'p. 113' or "
        "a passage's id.",
    )
    return f"{document.title} has no chunk, section or passage {quote_name(at)}. {hint}"
