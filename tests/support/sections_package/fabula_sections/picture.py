"""A picture of the sections of a document: a line for each."""

from __future__ import annotations

from html import escape

from fabula.graph.entries import Entry
from fabula.library.drawing import Drawing, Picture, Search
from fabula.store import Store
from fabula.store.part_reader import read_parts
from fabula_scholar.pictures.shared.png import svg_or_png

LINE_HEIGHT = 20


def draw(store: Store, entry: Entry, search: Search, format: str) -> Drawing:
    """Draw the headings, one below the other."""
    part = read_parts(store, entry, ["sections"])["sections"]
    sections = sorted(
        (node.properties["start"], node.properties["section"])
        for node in part.nodes
        if node.label == "Section"
    )
    lines = "".join(
        f'<text x="10" y="{LINE_HEIGHT * number}">{escape(heading)}</text>'
        for number, (_, heading) in enumerate(sections, start=1)
    )
    height = LINE_HEIGHT * (len(sections) + 1)
    size = f'width="400" height="{height}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{lines}</svg>'
    if format == ".html":
        return Drawing(f"<!doctype html><title>Sections</title>{svg}".encode(), search.hits)
    return Drawing(svg_or_png(format, svg), search.hits, passages=len(sections))


PICTURE = Picture("sections", "its sections, one below the other", ("sections",), draw)
