"""Tell what a book has told up to a place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fabula.errors import NotFound, SettingsError
from fabula.graph.entries import Entry
from fabula.graph.extraction import RULES
from fabula.graph.hits import Filters
from fabula.graph.structure import TextStructure
from fabula.graphs.episodes.recap import (
    USUAL_TOKENS,
    By,
    RecapPart,
    StoredEpisode,
    choose_episodes,
    drop_unmatched_marks,
    extract,
    find_untold,
    fit,
    read_episodes,
)
from fabula.store import Store
from fabula.text import tokens
from fabula.text.names import quote_name
from fabula.text.sections import span_of_sections

GRAPH = "episodes"
BY_CHOICES = ("", "chapter")


@dataclass(frozen=True, slots=True)
class Recap:
    """What a book has told up to a place, in order.

    Attributes:
        document: The book.
        until: The character up to which it was read; the length of the text for all of it.
        parts: The paragraphs. Their stretches do not overlap, follow each other, and end by
            `until`.

    """

    document: Entry
    until: int
    parts: tuple[RecapPart, ...]

    @property
    def text(self) -> str:
        """All paragraphs, with an empty line between them."""
        return "\n\n".join(part.text for part in self.parts)

    def __repr__(self) -> str:
        title = quote_name(self.document.title)
        return f"<Recap of {title} up to character {self.until}: {len(self.parts)} paragraphs>"


def recap(store: Store, document: Entry, by: str, level: int, limit: int | None) -> Recap:
    """Return what a document has told up to the reader's place; see `Collection.recap`.

    Raises:
        NotFound: The document has no episodes.
        SettingsError: An argument has a bad value.

    """
    if by not in BY_CHOICES:
        raise SettingsError(f"A recap can be by 'chapter', not by {quote_name(by)}.")
    if level < 0 or (limit or 0) < 0:
        raise SettingsError("A recap's level and its tokens are whole numbers of 0 or more.")
    if GRAPH not in document.graphs:
        raise NotFound(
            f"{document.title} has no episodes yet: build the graph {GRAPH!r} for recaps.",
            advice=f"Run `fabula build {GRAPH} {document.id}` "
            f"(with --dry-run to see what that costs).",
        )
    end = store.length_of(document)
    if limit is None:
        limit = 0 if by or level else USUAL_TOKENS
    episodes = read_episodes(store.read, Filters(document.collection, document.id))
    chosen = choose_episodes(episodes, end, by=_by(by), level=level, limit=limit)
    parts = [_part(episode) for episode in chosen]
    for start, stop in find_untold(chosen, end):
        # The last stretch has no episode yet, and a gap has none: sentences of the text stand in.
        if part := _extract(store, document, start, stop):
            parts.append(part)
    parts.sort(key=lambda part: part.start)
    structure = store.structure(document)
    numbered = [
        _locate(_tidy(replace(part, number=number)), structure)
        for number, part in enumerate(fit(parts, limit, document.language), 1)
    ]
    return Recap(document, end, tuple(numbered))


def _by(by: str) -> By:
    return "chapter" if by == "chapter" else ""


def _part(episode: StoredEpisode) -> RecapPart:
    names = ("id", "level", "section", "start", "end", "text", "tokens", "by")
    return RecapPart(0, **{name: getattr(episode, name) for name in names})


def _extract(store: Store, document: Entry, start: int, end: int) -> RecapPart | None:
    """Return sentences of the whole chunks between two characters; None without any."""
    rows = [
        row
        for row in store.whole.find_chunks(document, start, end)
        if row["start"] >= start and row["end"] <= end
    ]
    text = extract(rows, document.language) if rows else ""
    if not text:
        return None
    section = span_of_sections(rows[0]["section"], rows[-1]["section"])
    first, last = rows[0]["start"], rows[-1]["end"]
    return RecapPart(0, "", 0, section, first, last, text, tokens.count(text), RULES)


def _tidy(part: RecapPart) -> RecapPart:
    """Return a part without quotation marks of speeches that its extract has only a piece of."""
    return replace(part, text=drop_unmatched_marks(part.text)) if part.is_extract else part


def _locate(part: RecapPart, structure: TextStructure) -> RecapPart:
    """Return a part with the labels of its printed pages and numbered lines."""
    span = [(part.start, part.end)]
    return replace(part, pages=structure.pages.range(span), lines=structure.lines.range(span))
