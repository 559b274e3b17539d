"""A book as the page shows it: sections with highlighted citations, and a margin of summaries."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters, Hit
from fabula.graph.installed import parent_statements
from fabula.graph.reading_place import MAX_PLACE
from fabula.graph.structure import TextStructure
from fabula.library.reading import CHARACTERS, SPAN, find_span, merge_spans
from fabula.store import Store
from fabula.text.names import quote_name

MAX_PAGE_CHARACTERS = 600_000
"""Characters on one page, which holds whole sections: enough for most novels. A longer book is
shown on several pages."""
MAX_SECTION_CHARACTERS = 120_000
"""Characters of a section; a longer one, as in a text without headings, is split into several."""
MAX_MARGIN_PASSAGES = 60
"""Summaries and details that the margin shows for a place."""
MAX_NOTES = 100
"""Ranges that an address may name as cited, and as cited elsewhere in the answer."""
PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
WORD = re.compile(r"\w+")
MAX_HEADING_PARAGRAPHS = 4
"""Paragraphs at the beginning of a section that may be its heading."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class BookSection:
    """A part of the book under one heading."""

    number: int
    """Its index among all sections of the book."""
    title: str
    start: int
    end: int
    continues: bool = False
    """Whether the previous section has the same heading and was split for its length."""
    path: str = ""
    """The titles from the outermost section to this one."""
    depth: int = 1
    """Its depth in the tree of sections, from 1."""

    @property
    def full_name(self) -> str:
        """Its name with the titles of the sections that it is in."""
        name = self.path or self.name
        return f"{name}, continued" if self.continues and self.path else name

    @property
    def name(self) -> str:
        """Its name in a list of sections, which shows what it is in."""
        name = self.title or ("The text" if self.number or self.continues else "The beginning")
        return f"{name}, continued" if self.continues else name


@dataclass(frozen=True, slots=True)
class SectionNode:
    """A section in the table of contents, and the sections in it."""

    section: BookSection
    below: tuple[SectionNode, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a paragraph's text that is part of one citation, or of none."""

    text: str
    note: int = 0
    """The number of its citation, or 0."""
    is_target: bool = False
    """Whether its citation is the one that the address leads to."""
    is_last: bool = False
    """Whether its citation ends with it."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph or a stanza that begins at character `start`."""

    start: int
    pieces: tuple[Piece, ...]
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A citation, with the closest summary of each aspect."""

    number: int
    span: Span
    section: str
    """The path of the section that it begins in."""
    is_target: bool
    """Whether it is the citation that the address leads to."""
    summaries: tuple[Hit, ...] = ()
    pages: str = ""
    """The labels of its printed pages, as "113-114"."""
    lines: str = ""
    """The labels of its numbered lines."""


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section with its paragraphs."""

    section: BookSection
    paragraphs: tuple[Paragraph, ...]

    @property
    def has_heading(self) -> bool:
        """Whether the first paragraph is the heading, so that the page need not add one."""
        return bool(self.paragraphs) and self.paragraphs[0].is_heading


@dataclass(frozen=True, slots=True)
class Margin:
    """Passages of the graphs over a range of the book."""

    start: int
    end: int
    aspects: tuple[tuple[str, tuple[Hit, ...]], ...] = ()
    """For each aspect its summaries, from the lowest level up."""
    details: tuple[Hit, ...] = ()
    more: tuple[Hit, ...] = ()
    """Passages of other kinds, which graphs of plugins have."""


@dataclass(frozen=True, slots=True)
class BookPage:
    """The contents of one page of a book."""

    document: Entry
    sections: tuple[BookSection, ...]
    """All sections of the book."""
    texts: tuple[SectionText, ...]
    """The sections on this page."""
    notes: tuple[Note, ...]
    margin: Margin
    passage: Hit | None = None
    """The passage that the address leads to, if it names one."""
    on_page: frozenset[int] = field(default=frozenset())
    """Numbers of the sections that are on this page."""
    has_pages: bool = False
    """Whether the places of printed pages are known."""

    @property
    def tree(self) -> tuple[SectionNode, ...]:
        """The sections as a tree."""
        return grow_sections(self.sections)

    @property
    def before(self) -> BookSection | None:
        """The section that ends where this page begins."""
        first = self.texts[0].section.number if self.texts else 0
        return self.sections[first - 1] if first else None

    @property
    def after(self) -> BookSection | None:
        """The section that begins where this page ends."""
        last = self.texts[-1].section.number + 1 if self.texts else 0
        return self.sections[last] if last < len(self.sections) else None


def read_page(
    store: Store,
    entry: Entry,
    *,
    chars: str = "",
    also: str = "",
    passage: str = "",
    section: int | None = None,
    at: str = "",
) -> BookPage:
    """Read the page of a book that shows a place.

    Args:
        store: The graph.
        entry: The book.
        chars: Ranges of characters to highlight, such as "120-340,400-410"; the first is the place.
        also: Further citations, in the same form.
        passage: The id of a passage to highlight instead; for a summary, the chunks it is made of.
        section: The number of a section to begin at, if neither of these is given.
        at: A place to highlight instead, as `fabula read` takes it: a path of a section, or a page
            as "p. 113".

    Raises:
        NotFound: There is no such place in the book.
    """
    structure = store.structure(entry)
    sections = read_sections(store, entry, structure)
    targets, shown_passage, citations = read_spans(chars), None, read_spans(also)
    if (most := max(len(targets), len(citations))) > MAX_NOTES:
        raise NotFound(
            f"This address names {most} ranges of the text; at most {MAX_NOTES} can be shown."
        )
    if chars and not targets:
        raise NotFound(f"{quote_name(chars)} is not a range of characters: write one as 1200-1388.")
    if passage:
        shown_passage = store.find_place(entry, passage.lower(), -1)
        if shown_passage is None or shown_passage.id != passage.lower():
            raise NotFound(f"{entry.title} has no passage {quote_name(passage)}.")
        targets = [(shown_passage.start, shown_passage.end)]
        if shown_passage.kind != "chunk":
            id = shown_passage.id
            sources = store.sources(entry.collection, [id]).get(id, [])
            targets = merge_spans([(source.start, source.end) for source in sources])
    elif at.strip():
        targets = [find_span(store, entry, at.strip()[:MAX_PLACE])]
    length = sections[-1].end if sections else 0
    if any(end > length for _, end in targets):
        raise NotFound(f"{entry.title} has no characters {chars}: it ends at {length}.")
    if section is not None and not 0 <= section < len(sections):
        raise NotFound(
            f"{entry.title} has no section {section}: it has {len(sections)} sections, numbered "
            "from 0."
        )
    start = targets[0][0] if targets else sections[section].start if section and sections else 0
    on_page = choose_sections(sections, start)
    notes = [
        replace(
            note,
            pages=structure.pages.range([note.span]),
            lines=structure.lines.range([note.span]),
        )
        for note in make_notes(targets, citations, sections)
    ]
    return BookPage(
        entry,
        tuple(sections),
        tuple(_read_texts(store, entry, on_page, notes)),
        tuple(_add_summaries(store, entry, notes)),
        read_margin(store, entry, start, start + 1),
        shown_passage,
        frozenset(each.number for each in on_page),
        bool(structure.pages.labels),
    )


def read_spans(written: str) -> list[Span]:
    """Parse ranges written as "120-150,300-340"; return [] if the text has another form."""
    if not CHARACTERS.fullmatch(written.strip()):
        return []
    spans = [(int(start), int(end)) for start, end in SPAN.findall(written)]
    return merge_spans([(start, end) for start, end in spans if start < end])


def write_spans(spans: Sequence[Span]) -> str:
    """Format ranges as an address has them, such as "120-150,300-340"."""
    return ",".join(f"{start}-{end}" for start, end in spans)


def read_sections(store: Store, entry: Entry, structure: TextStructure) -> list[BookSection]:
    """Return the sections of a book in text order.

    A section of more than MAX_SECTION_CHARACTERS is split between chunks.
    """
    rows = store.rows("core/find_sections", collection=entry.collection, document=entry.id)
    length = rows[-1]["end"] if rows else 0
    breaks = [int(row["start"]) for row in rows]
    outline = structure.outline
    starts = [section.start for section in outline.sections]
    ends = [*starts[1:], length][: len(starts)]
    named = [
        BookSection(0, section.title, section.start, end, path=path, depth=depth)
        for section, end, path, depth in zip(
            outline.sections, ends, structure.paths, outline.depths, strict=True
        )
    ]
    if length and (not starts or starts[0] > 0):
        named.insert(0, BookSection(0, "", 0, starts[0] if starts else length))
    sections: list[BookSection] = []
    for whole in named:
        start, continues = whole.start, False
        for place, end in pairwise([*(at for at in breaks if start < at < whole.end), whole.end]):
            if end - start > MAX_SECTION_CHARACTERS:
                part = replace(whole, number=len(sections), start=start, end=place)
                sections.append(replace(part, continues=continues))
                start, continues = place, True
        part = replace(whole, number=len(sections), start=start, continues=continues)
        sections.append(part)
    return sections


def grow_sections(sections: Sequence[BookSection]) -> tuple[SectionNode, ...]:
    """Return the tree of sections, by their depths."""
    nodes: list[SectionNode] = []
    number = 0
    while number < len(sections):
        end = number + 1
        while end < len(sections) and sections[end].depth > sections[number].depth:
            end += 1
        nodes.append(SectionNode(sections[number], grow_sections(sections[number + 1 : end])))
        number = end
    return tuple(nodes)


def choose_sections(sections: Sequence[BookSection], at: int) -> list[BookSection]:
    """Return the sections of the page that shows character `at`.

    These are all sections if they fit on one page, or else as many as fit, from the section before
    that character on.
    """
    if not sections or sections[-1].end <= MAX_PAGE_CHARACTERS:
        return [*sections]
    place = next((each.number for each in sections if at < each.end), len(sections) - 1)
    first = max(place - 1, 0)
    end = sections[first].start + MAX_PAGE_CHARACTERS
    return [each for each in sections[first:] if each.end <= end] or [sections[first]]


def make_notes(
    targets: Sequence[Span], citations: Sequence[Span], sections: Sequence[BookSection]
) -> list[Note]:
    """Number the citations in text order.

    A further citation that overlaps a target is left out.
    """
    further = [
        (start, end)
        for start, end in citations
        if not any(start < last and first < end for first, last in targets)
    ]
    spans = sorted([(span, True) for span in targets] + [(span, False) for span in further])
    return [
        Note(number, span, _section_name(sections, span[0]), is_target)
        for number, (span, is_target) in enumerate(spans, start=1)
    ]


def read_margin(store: Store, entry: Entry, start: int, end: int) -> Margin:
    """Read the summaries and details over the chunks with any of these characters."""
    rows = store.whole.find_chunks(entry, start, end)
    if not rows:
        return Margin(start, end)
    chunks = [row["id"] for row in rows]
    hits = store.find_passages_on(entry, chunks, MAX_MARGIN_PASSAGES)
    trees: dict[str, list[Hit]] = {}
    for hit in hits:
        if hit.kind == "summary":
            trees.setdefault(hit.aspect, []).append(hit)
    return Margin(
        rows[0]["start"],
        rows[-1]["end"],
        tuple(join_equal_aspects(trees)),
        tuple(hit for hit in hits if hit.kind == "detail"),
        tuple(hit for hit in hits if hit.kind not in ("summary", "detail")),
    )


def join_equal_aspects(
    trees: Mapping[str, Sequence[Hit]],
) -> Iterator[tuple[str, tuple[Hit, ...]]]:
    """Yield the summaries of each aspect, lowest first, and no text twice.

    Without a model, nearly a third of the extracts are the same in several aspects. Aspects that
    begin with the same text are joined under their names, and what a later one repeats is left out.
    """
    joined: dict[str, list[str]] = {}
    for aspect, summaries in trees.items():
        joined.setdefault(summaries[0].text, []).append(aspect)
    shown = set(joined)
    for aspects in joined.values():
        first, *others = [hit for aspect in aspects for hit in trees[aspect]]
        above = {hit.text: hit for hit in reversed(others) if hit.text not in shown}
        shown |= set(above)
        yield ", ".join(aspects), (first, *sorted(above.values(), key=lambda hit: hit.level))


def _add_summaries(store: Store, entry: Entry, notes: Sequence[Note]) -> Iterator[Note]:
    """Yield notes with the closest summary of each aspect over the chunk where the note begins."""
    starts = [note.span[0] for note in notes]
    rows = store.find_chunks_of_spans(entry, [(at, at + 1) for at in starts]) if notes else []
    above: dict[str, list[Hit]] = {}
    # A graph has one statement for all notes together, however many there are.
    for statement in parent_statements() if rows else ():
        chunks = [row["id"] for row in rows]
        for chunk, hits in store.find_related(statement, Filters(entry.collection), chunks).items():
            above.setdefault(chunk, []).extend(hits)
    firsts = [row["start"] for row in rows]
    for note in notes:
        place = bisect_right(firsts, note.span[0]) - 1
        closest: dict[str, Hit] = {}
        for hit in above.get(rows[place]["id"], ()) if place >= 0 else ():
            closest.setdefault(hit.aspect, hit)
        once = {hit.text: hit for _, hit in sorted(closest.items())}
        yield replace(note, summaries=tuple(once.values()))


def _section_name(sections: Sequence[BookSection], at: int) -> str:
    return next((section.full_name for section in sections if at < section.end), "")


def _read_texts(
    store: Store, entry: Entry, sections: Sequence[BookSection], notes: Sequence[Note]
) -> Iterator[SectionText]:
    if not sections:
        return
    rows = store.find_chunks(entry, sections[0].start, sections[-1].end)
    text = "".join(row["text"] for row in rows)
    start = rows[0]["start"] if rows else 0
    for section in sections:
        section_text = text[section.start - start : section.end - start]
        yield SectionText(section, tuple(_paragraphs(section, section_text, notes)))


def _paragraphs(section: BookSection, text: str, notes: Sequence[Note]) -> Iterator[Paragraph]:
    """Yield the paragraphs of a section; the first ones are its heading if they say its title."""
    within = [note for note in notes if note.span[0] < section.end and section.start < note.span[1]]
    breaks = [place for match in PARAGRAPH_BREAK.finditer(text) for place in match.span()]
    edges = [0, *breaks, len(text)]
    paragraphs = [
        (section.start + at, words)
        for at, end in zip(edges[::2], edges[1::2], strict=True)
        if (words := text[at:end].rstrip())
    ]
    first = [words for _, words in paragraphs[:MAX_HEADING_PARAGRAPHS]]
    heading_count = 0 if section.continues else count_heading(first, section.title)
    first_note = 0
    for number, (start, words) in enumerate(paragraphs):
        # Notes and paragraphs are in text order, so notes before this paragraph need not be checked
        # again: otherwise the time grows with notes * paragraphs.
        while first_note < len(within) and within[first_note].span[1] <= start:
            first_note += 1
        pieces = _pieces(words, start, islice(within, first_note, None))
        yield Paragraph(start, tuple(pieces), number < heading_count)


def count_heading(paragraphs: Sequence[str], title: str) -> int:
    """Count the first paragraphs of a section that are its title, or the last part of its title.

    A book may print "STAVE ONE", an empty line and "MARLEY'S GHOST", where the title is both.
    """
    title_words, heading_words, count = _words(title), [], 0
    for number, paragraph in enumerate(paragraphs, start=1):
        heading_words += _words(paragraph)
        if title_words[-len(heading_words) :] == heading_words:
            count = number
    return count


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold()) or text.split()


def _pieces(words: str, start: int, notes: Iterable[Note]) -> Iterator[Piece]:
    """Split a paragraph that begins at character `start` where citations begin and end."""
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
        yield Piece(words[low:high], note.number, note.is_target, last <= len(words))
        at = high
    if at < len(words):
        yield Piece(words[at:])
