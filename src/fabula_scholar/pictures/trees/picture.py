"""The picture `trees`: a document's aspect trees over its line of chunks."""

from __future__ import annotations

from fabula.graph.entries import Entry
from fabula.graphs.aspects import GRAPH
from fabula.library.drawing import Drawing, Picture, Search
from fabula.store import Store
from fabula_scholar.pictures.shared.png import svg_or_png
from fabula_scholar.pictures.trees.layout import lay_out
from fabula_scholar.pictures.trees.page import to_tree_page
from fabula_scholar.pictures.trees.passages import read_passages
from fabula_scholar.pictures.trees.svg import TreePicture, draw_trees


def draw(store: Store, entry: Entry, search: Search, format: str) -> Drawing:
    """Draw the trees of a document; without aspects there is the line of chunks alone."""
    aspects = entry.graphs.get(GRAPH.name)
    picture = TreePicture(
        title=entry.title,
        author=entry.author,
        layout=lay_out(read_passages(store, entry), aspects.facts["aspects"] if aspects else []),
        question=search.question,
        ranks={hit.id: rank for rank, hit in enumerate(search.hits, start=1)},
    )
    if format == ".html":
        content = to_tree_page(picture, list(search.hits), search.mode).encode()
    else:
        content = svg_or_png(format, draw_trees(picture, alone=True))
    return Drawing(content, search.hits, passages=len(picture.passages()))


PICTURE = Picture("trees", "its aspect trees over its line of chunks", (), draw)
