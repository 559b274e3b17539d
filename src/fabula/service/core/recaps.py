"""What a book has told up to a place, as the API, the page and MCP show it."""

from __future__ import annotations

from typing import Literal

from fabula.app.collection import Collection
from fabula.graph.entries import Entry
from fabula.service.core.views import View

RecapBy = Literal["", "chapter"]


class RecapPartView(View):
    """A paragraph of a recap, and the one stretch of the text that it rests on.

    `id` is that of its episode, and `level` the episode's; they are '' and 0 for sentences of the
    text between the last episode and the place. `start` and `end` are characters of the document's
    text, `pages` and `lines` the labels of its printed pages and numbered lines. `extract` is
    whether the paragraph consists of sentences of the text.
    """

    number: int
    id: str
    level: int
    section: str
    pages: str
    lines: str
    start: int
    end: int
    text: str
    tokens: int
    extract: bool


class RecapView(View):
    """What a document has told up to character `until`, in order; no part rests on later text."""

    document: str
    title: str
    until: int
    parts: list[RecapPartView]


def make_recap(
    collection: Collection,
    entry: Entry,
    by: RecapBy = "",
    level: int = 0,
    tokens: int | None = None,
) -> RecapView:
    """Return a recap of a document; `Collection.recap` describes the arguments and the errors."""
    recap = collection.recap(entry.id, by=by, level=level, tokens=tokens)
    names = (
        *("number", "id", "level", "section", "pages", "lines", "start", "end", "text", "tokens"),
    )
    parts = [
        RecapPartView(extract=part.is_extract, **{name: getattr(part, name) for name in names})
        for part in recap.parts
    ]
    return RecapView(document=entry.id, title=entry.title, until=recap.until, parts=parts)
