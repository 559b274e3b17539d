"""Build the page of a document's summary trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabula.graph.hits import Hit
from fabula.graphs.aspects.values import Detail, Summary
from fabula.text.document import Chunk
from fabula.text.sections import shorten_paths
from fabula_scholar.pictures.shared.page import build_page
from fabula_scholar.pictures.trees.layout import GUTTER, HEAD, LENGTH, RISE, STRIP, Band
from fabula_scholar.pictures.trees.svg import DrawnPassage, TreePicture, draw_trees, name_passage


def to_tree_page(picture: TreePicture, hits: Sequence[Hit], mode: str) -> str:
    """Return the page as HTML; `hits` are what `mode` found for the picture's question."""
    return build_page(
        Path(__file__).parent,
        "trees.js",
        styles=(),
        title=picture.title,
        author=picture.author,
        counts=_describe_counts(picture),
        picture=draw_trees(picture, alone=False),
        data=_page_data(picture, hits, mode),
        search=("Search the texts (/)", "Search the texts; Enter goes to the next match"),
        reset="Show the whole text, and the levels that fit (0)",
    )


def _describe_counts(picture: TreePicture) -> str:
    layout = picture.layout
    summaries = sum(len(band.summaries) for band in layout.bands)
    return (
        f"{len(layout.chunks):,} passages, {summaries:,} summaries of {len(layout.bands)} aspects, "
        f"{len(layout.details):,} details"
    )


def _page_data(picture: TreePicture, hits: Sequence[Hit], mode: str) -> dict[str, Any]:
    """Return what trees.js reads; its first comment describes the format."""
    layout = picture.layout
    passages = picture.passages()
    numbers = {passage.id: number for number, passage in enumerate(passages)}
    bands = {band.aspect: number for number, band in enumerate(layout.bands)}
    details: dict[str, list[tuple[int, None]]] = {}
    for detail, _ in layout.details:
        details.setdefault(detail.chunk, []).append((numbers[detail.id], None))
    return {
        "question": picture.question,
        "mode": mode,
        "across": (GUTTER, LENGTH),
        "sections": [
            (section.title, round(section.x, 2), round(section.width, 2), name)
            for section, name in zip(
                layout.sections,
                shorten_paths(section.title for section in layout.sections),
                strict=True,
            )
        ],
        "bands": [_band_data(band) for band in layout.bands],
        "hits": [(numbers[hit.id], hit.score) for hit in hits if hit.id in numbers],
        "nodes": [
            {
                "what": name_passage(passage),
                "where": passage.section,
                "text": passage.text,
                **_position_data(passage, bands, numbers, details),
            }
            for passage in passages
        ],
    }


def _band_data(band: Band) -> dict[str, Any]:
    """List levels from the top down; floors are the y of the strip by how many are open."""
    levels = sorted(band.levels, key=lambda level: -level.number)
    floors = [HEAD - STRIP, *(level.foot + RISE for level in levels)]
    counts = Counter(placed.summary.level for placed in band.summaries)
    return {
        "name": band.aspect,
        "floors": [round(floor, 2) for floor in floors],
        "levels": [
            {
                "number": level.number,
                "count": counts[level.number],
                "middle": round(level.middle, 2),
            }
            for level in levels
        ],
    }


def _position_data(
    passage: DrawnPassage,
    bands: dict[str, int],
    numbers: dict[str, int],
    details: dict[str, list[tuple[int, None]]],
) -> dict[str, Any]:
    match passage:
        case Summary(aspect=aspect, level=level, members=members):
            existing = [member for member in members if member.id in numbers]
            over = [(numbers[member.id], round(member.weight, 3)) for member in existing]
            return {"kind": "summary", "band": bands[aspect], "level": level, "over": over}
        case Chunk(id=id):
            return {"kind": "chunk", "band": -1, "level": 0, "over": details.get(id, [])}
        case Detail():
            return {"kind": "detail", "band": -1, "level": 0, "over": []}
