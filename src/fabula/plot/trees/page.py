"""The page: the picture, and every passage's text as JSON, in one file that asks no network."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from fabula.graph.hits import Hit
from fabula.graphs.aspects.values import Detail, Summary
from fabula.plot.placed import Band
from fabula.plot.trees.layout import GUTTER, HEAD, LENGTH, RISE, STRIP
from fabula.plot.trees.svg import Drawn, Picture, clean, draw, named
from fabula.text.document import Chunk

HERE = Path(__file__).parent
SCRIPTS = ("page.js", "stage.js", "view.js", "passages.js")
"""In this order: each uses what those before it name."""
UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
"""What could end a script, or a line of it; JSON can say it otherwise."""


def to_page(picture: Picture, hits: Sequence[Hit], mode: str) -> str:
    """The whole page as HTML; `hits` are what `mode` found for the picture's question."""
    template = Template((HERE / "page.html").read_text(encoding="utf-8"))
    by = f", by {picture.author}" if picture.author else ""
    return template.substitute(
        title=html.escape(clean(f"{picture.title}{by}")),
        counts=_counts(picture),
        picture=draw(picture, alone=False),
        graph=to_json(_graph(picture, hits, mode)),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        script="\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    )


def _counts(picture: Picture) -> str:
    layout = picture.layout
    summaries = sum(len(band.summaries) for band in layout.bands)
    return (
        f"{len(layout.chunks):,} chunks, {summaries:,} summaries of {len(layout.bands)} aspects, "
        f"{len(layout.details):,} details"
    )


def to_json(value: Any) -> str:
    """JSON that may stand in a script element, whatever a book says."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(UNSAFE)


def _graph(picture: Picture, hits: Sequence[Hit], mode: str) -> dict[str, Any]:
    """What view.js reads, and describes."""
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
        "parts": [(part.title, round(part.x, 2), round(part.width, 2)) for part in layout.parts],
        "bands": [_band(band) for band in layout.bands],
        "hits": [(numbers[hit.id], hit.score) for hit in hits if hit.id in numbers],
        "nodes": [
            {
                "what": named(passage),
                "where": passage.section,
                "text": passage.text,
                **_standing(passage, bands, numbers, details),
            }
            for passage in passages
        ],
    }


def _band(band: Band) -> dict[str, Any]:
    """From the top level down; a floor is where the band's strip lies while so many are open."""
    levels = sorted(band.levels, key=lambda level: -level.number)
    floors = [HEAD - STRIP, *(level.foot + RISE for level in levels)]
    counts = Counter(summary.summary.level for summary in band.summaries)
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


def _standing(
    passage: Drawn,
    bands: dict[str, int],
    numbers: dict[str, int],
    details: dict[str, list[tuple[int, None]]],
) -> dict[str, Any]:
    match passage:
        case Summary(aspect=aspect, level=level, members=members):
            held = [
                (numbers[member.id], round(member.weight, 3))
                for member in members
                if member.id in numbers
            ]
            return {"kind": "summary", "band": bands[aspect], "level": level, "over": held}
        case Chunk(id=id):
            return {"kind": "chunk", "band": -1, "level": 0, "over": details.get(id, [])}
        case Detail():
            return {"kind": "detail", "band": -1, "level": 0, "over": []}
