"""Tell what a book has told up to a place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.errors import NotFound
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
    extract,
    find_untold,
    fit,
    read_episodes,
)
from fabula.operations.kit import operation
from fabula.operations.parameters import NamedDocument
from fabula.text import tokens
from fabula.text.locator import name_labels
from fabula.text.sections import span_of_sections

if TYPE_CHECKING:
    from fabula.library.collection import Collection
    from fabula.store import Store

GRAPH = "episodes"


@dataclass(frozen=True)
class Recap:
    """What a book has told up to a place, in order.

    Attributes:
        document: The id of the book.
        title: Its title.
        until: The character up to which it was read; the length of the text for all of it.
        total: How many paragraphs there are.
        rows: The paragraphs. Their stretches do not overlap, follow each other, and end by `until`.
    """

    document: str
    title: str
    until: int
    total: int
    rows: tuple[RecapPart, ...]

    def to_text(self) -> str:
        """Return all paragraphs, each after its number and its place."""
        paragraphs = [f"{self.title}, up to character {self.until:,}"]
        paragraphs += [f"{_heading(part)}\n{part.text.strip()}" for part in self.rows]
        if not self.rows:
            paragraphs.append("It tells nothing before this place.")
        return "\n\n".join(paragraphs)


def _heading(part: RecapPart) -> str:
    labels = (name_labels("page", part.pages), name_labels("line", part.lines))
    where = f"characters {part.start}-{part.end}"
    names = (part.section, *labels, where, "extract" if part.is_extract else "")
    return f"[{part.number}] " + " · ".join(name for name in names if name)


@operation(
    "/collections/{collection}/documents/{document}/recap",
    group="People",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    has_screen=False,
    examples=(
        'recap "A Christmas Carol"',
        'recap "A Christmas Carol" --until "Stave Two"',
        'recap "A Christmas Carol" --until 40% --tokens 500',
        'recap "A Christmas Carol" --by chapter --json',
    ),
)
def recap(
    collection: Collection,
    document: NamedDocument,
    by: Annotated[
        By, Field(description="'chapter' for a paragraph of each chapter, or of its read part")
    ] = "",
    level: Annotated[int, Field(ge=0, le=99, description="highest level; 0 for any")] = 0,
    tokens: Annotated[
        int | None,
        Field(
            ge=0,
            le=1_000_000,
            description="maximum tokens of all paragraphs; 0 for any number. Without it 1,500, and "
            "any number with a level or by chapters",
        ),
    ] = None,
) -> Recap:
    """Tell what a book has told up to a place, in order.

    Nothing that is told rests on text after the place. Each paragraph is an episode, which rests on
    one stretch of the text; what lies between the last episode and the place is told by sentences
    of the text. No model is asked. `fabula read 3` shows the text that paragraph 3 rests on, and
    `fabula build episodes` builds the graph that this reads.

    Raises:
        NotFound: The document has no episodes, or there is no such document.
    """
    store, entry, limit = collection.open_store(), collection.document(document), tokens
    if GRAPH not in entry.graphs:
        raise NotFound(
            f"{entry.title} has no episodes yet: build the graph {GRAPH!r} for recaps.",
            advice=f"Run `fabula build {GRAPH} {entry.id}` "
            f"(with --dry-run to see what that costs).",
        )
    end = store.length_of(entry)
    if limit is None:
        limit = 0 if by or level else USUAL_TOKENS
    episodes = read_episodes(store.read, Filters(entry.collection, entry.id))
    chosen = choose_episodes(episodes, end, by=by, level=level, limit=limit)
    parts = [_part(episode) for episode in chosen]
    for start, stop in find_untold(chosen, end):
        # The last stretch has no episode yet, and a gap has none: sentences of the text stand in.
        if part := _extract(store, entry, start, stop):
            parts.append(part)
    parts.sort(key=lambda part: part.start)
    structure = store.structure(entry)
    numbered = tuple(
        _locate(replace(part, number=number), structure)
        for number, part in enumerate(fit(parts, limit, entry.language), 1)
    )
    return Recap(entry.id, entry.title, end, len(numbered), numbered)


def _part(episode: StoredEpisode) -> RecapPart:
    names = ("id", "level", "section", "start", "end", "text", "tokens", "by", "document")
    return RecapPart(0, **{name: getattr(episode, name) for name in names})


def _extract(store: Store, document: Entry, start: int, end: int) -> RecapPart | None:
    """Return sentences of the whole chunks between two characters; None without any."""
    rows = [
        row
        for row in store.whole.find_chunks(document, start, end)
        if row["start"] >= start and row["end"] <= end
    ]
    text = extract([row["text"] for row in rows], document.language)
    if not text:
        return None
    section = span_of_sections(rows[0]["section"], rows[-1]["section"])
    first, last = rows[0]["start"], rows[-1]["end"]
    return RecapPart(
        0, "", 0, section, first, last, text, tokens.count(text), RULES, document=document.id
    )


def _locate(part: RecapPart, structure: TextStructure) -> RecapPart:
    """Return a part with the labels of its printed pages and numbered lines."""
    span = [(part.start, part.end)]
    return replace(part, pages=structure.pages.range(span), lines=structure.lines.range(span))
