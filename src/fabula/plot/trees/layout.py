"""Where each passage of a document is drawn: pure, from passages to placed marks.

The chunks stand in one line, each as wide as any other. Over it stands a band an aspect, in which
each level is a block above the one below it. A summary is a span, from the first chunk under it to
the last, and a mark on that span, where the weight of its members lies. Clusters are of meaning,
not of place, so the spans of a level overlap: each lies in a lane of its block where no other is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from fabula.graphs.aspects.values import Detail, Earlier, Summary
from fabula.plot.placed import Band, Box, Layout, Level, Line, Part, PlacedSummary
from fabula.text.document import Chunk

GUTTER = 170.0
LENGTH = 1400.0
"""Of the line of chunks, in the picture's own units; aspects and levels are named beside it."""
STRIP = 8.0
"""Height of the line of chunks at the foot of a band."""
BLOCK = 300.0
"""What a level's lanes share, as long as one is not lower than the lowest."""
LANE = (2.6, 10.0)
FULL = 0.85
"""The share of a lane that its summaries take."""
RISE = 30.0
"""Between two blocks, where the lines are seen."""
HEAD = 22.0
"""Over the highest block of a band."""
MARK = 1.5
"""Width of a mark, by its height."""
DETAIL = 9.0


def lay_out(known: Earlier, order: Sequence[str] = ()) -> Layout:
    """Places a document's passages; bands in the `order` of aspects, others after it by name."""
    chunks = sorted(known.chunks, key=lambda chunk: (chunk.index, chunk.id))
    cell = LENGTH / max(len(chunks), 1)
    places = {chunk.id: place for place, chunk in enumerate(chunks)}
    gap = min(cell * 0.15, 1.0)
    boxes = [Box(GUTTER + place * cell, 0, cell - gap, STRIP * 2) for place in range(len(chunks))]
    aspects = sorted(
        {summary.aspect for summary in known.summaries},
        key=lambda name: (order.index(name) if name in order else len(order), name),
    )
    spans = _spans(known.summaries, places)
    return Layout(
        chunks=tuple(zip(chunks, boxes, strict=True)),
        details=tuple(_details(known.details, places, cell)),
        bands=tuple(
            _band(
                aspect,
                [summary for summary in known.summaries if summary.aspect == aspect],
                spans,
                places,
            )
            for aspect in aspects
        ),
        parts=tuple(_parts(chunks, cell)),
    )


def lanes(extents: Sequence[tuple[float, float]]) -> list[int]:
    """The lane of each extent, the lowest in which it meets no other; the first one first.

    Beside each other in a lane they may touch.
    """
    taken: list[list[tuple[float, float]]] = []
    found = []
    for left, right in extents:
        free = (
            lane
            for lane, others in enumerate(taken)
            if all(right <= start or end <= left for start, end in others)
        )
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((left, right))
        found.append(lane)
    return found


def _spans(summaries: Iterable[Summary], places: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The first and the last chunk under each summary; one over nothing has the whole line."""
    spans = {id: (place, place) for id, place in places.items()}
    for summary in sorted(summaries, key=lambda summary: summary.level):
        below = [spans[member.id] for member in summary.members if member.id in spans]
        first = min((span[0] for span in below), default=0)
        last = max((span[1] for span in below), default=max(len(places) - 1, 0))
        spans[summary.id] = first, last
    return spans


def _band(
    aspect: str,
    summaries: Sequence[Summary],
    spans: Mapping[str, tuple[int, int]],
    places: Mapping[str, int],
) -> Band:
    """Built upwards from the strip, whose y is 0; then moved down by the height that is above."""
    cell = LENGTH / max(len(places), 1)
    centres = {id: GUTTER + (place + 0.5) * cell for id, place in places.items()}
    tops = dict.fromkeys(places, 0.0)
    placed: list[PlacedSummary] = []
    levels: list[Level] = []
    y = 0.0
    by_level = sorted(summaries, key=lambda summary: (summary.level, summary.id))
    for number, group in groupby(by_level, key=lambda one: one.level):
        block, height = _block(list(group), spans, centres, cell, y - RISE)
        levels.append(Level(number, y - RISE - height / 2, y - RISE))
        y -= RISE + height
        placed += block
        for one in block:
            centres[one.summary.id] = one.mark.centre
            tops[one.summary.id] = one.mark.y
    down = HEAD - y
    heights = dict.fromkeys(places, 0) | {one.summary.id: one.summary.level for one in placed}
    lines = [
        Line(
            x=one.mark.centre,
            y=one.mark.bottom + down,
            to_x=centres[to.id],
            to_y=tops[to.id] + down,
            weight=to.weight,
            level=heights[to.id],
        )
        for one in placed
        for to in one.summary.members
        if to.id in tops
    ]
    return Band(
        aspect=aspect,
        height=down + STRIP,
        levels=tuple(
            Level(level.number, level.middle + down, level.foot + down) for level in levels
        ),
        summaries=tuple(_moved(one, down) for one in placed),
        lines=tuple(lines),
        covered=_covered(summaries, places),
        strip=down,
    )


def _covered(summaries: Iterable[Summary], places: Mapping[str, int]) -> dict[int, float]:
    """The places of the chunks that summaries have for members, with the highest weight."""
    covered: dict[int, float] = {}
    for summary in summaries:
        for member in summary.members:
            if (place := places.get(member.id)) is not None:
                covered[place] = max(member.weight, covered.get(place, 0.0))
    return covered


def _block(
    summaries: Sequence[Summary],
    spans: Mapping[str, tuple[int, int]],
    centres: Mapping[str, float],
    cell: float,
    bottom: float,
) -> tuple[list[PlacedSummary], float]:
    """One level, its lanes from `bottom` upwards, the narrowest summaries lowest; and its height.

    All summaries of a level have their members' centres among `centres`.
    """
    ranked = sorted(
        summaries,
        key=lambda summary: (
            spans[summary.id][1] - spans[summary.id][0],
            spans[summary.id],
            summary.id,
        ),
    )
    widest = LANE[1] * MARK
    extents = []
    for summary in ranked:
        first, last = spans[summary.id]
        left, right = GUTTER + first * cell, GUTTER + (last + 1) * cell
        spare = max(widest - (right - left), 0) / 2
        extents.append((left - spare, right + spare))
    rows = lanes(extents)
    count = max(rows) + 1
    pitch = min(max(BLOCK / count, LANE[0]), LANE[1])
    block = []
    for summary, row in zip(ranked, rows, strict=True):
        first, last = spans[summary.id]
        span = Box(
            x=GUTTER + first * cell,
            y=bottom - (row + 1) * pitch,
            width=(last - first + 1) * cell,
            height=pitch * FULL,
        )
        block.append(PlacedSummary(summary, span, _mark(summary, span, centres)))
    return block, count * pitch


def _mark(summary: Summary, span: Box, centres: Mapping[str, float]) -> Box:
    """On the span, at the mean of the members' centres by weight."""
    held = [
        (centres[member.id], member.weight) for member in summary.members if member.id in centres
    ]
    weight = sum(weight for _, weight in held)
    centre = sum(x * weight for x, weight in held) / weight if weight else span.centre
    height = span.height
    width = height * MARK
    if span.width > width:
        centre = min(max(centre, span.x + width / 2), span.right - width / 2)
    return Box(centre - width / 2, span.y, width, height)


def _moved(one: PlacedSummary, down: float) -> PlacedSummary:
    span, mark = (replace(box, y=box.y + down) for box in (one.span, one.mark))
    return PlacedSummary(one.summary, span, mark)


def _details(
    details: Iterable[Detail], places: Mapping[str, int], cell: float
) -> Iterable[tuple[Detail, Box]]:
    """Ticks under their chunk, side by side."""
    known = [detail for detail in details if detail.chunk in places]
    ranked = sorted(known, key=lambda one: (places[one.chunk], one.ordinal, one.id))
    for chunk, group in groupby(ranked, key=lambda one: one.chunk):
        ticks = list(group)
        share = cell * 0.9 / len(ticks)
        for number, detail in enumerate(ticks):
            x = GUTTER + places[chunk] * cell + number * share
            yield detail, Box(x, 0, min(share * 0.75, 10.0), DETAIL)


def _parts(chunks: Sequence[Chunk], cell: float) -> Iterable[Part]:
    place = 0
    for title, group in groupby(chunks, key=lambda chunk: chunk.section):
        count = len(list(group))
        yield Part(title, GUTTER + place * cell, count * cell)
        place += count
