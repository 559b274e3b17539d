"""The picture `story`: a document's events in the order told."""

from __future__ import annotations

from fabula.graph.entries import Entry
from fabula.library.drawing import Drawing, Picture, Search
from fabula.store import Store
from fabula_scholar.pictures.shared.picture_parts import DISCOURSE
from fabula_scholar.pictures.shared.png import svg_or_png
from fabula_scholar.pictures.story.events import read_document_story
from fabula_scholar.pictures.story.page import to_story_page
from fabula_scholar.pictures.story.svg import draw_story


def draw(store: Store, entry: Entry, search: Search, format: str) -> Drawing:
    """Draw the events of a document along its text, and how they are linked."""
    picture = read_document_story(store, entry, search.question, search.mode, search.hits)
    if format == ".html":
        content = to_story_page(picture).encode()
    else:
        content = svg_or_png(format, draw_story(picture, alone=True))
    return Drawing(content, search.hits, events=len(picture.events))


PICTURE = Picture("story", "its events in the order told", (DISCOURSE,), draw)
