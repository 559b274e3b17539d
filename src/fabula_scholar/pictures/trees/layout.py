"""Calculate where each passage of a document is drawn.

The chunks form one line, all of the same width. Above it is one band for each aspect, in which each
level is a block above the next lower level. A summary has a span, from the first chunk under it to
the last, and on that span a mark at the mean position of its members. Clusters group passages by
meaning and not by place, so the spans of a level overlap: each gets a lane of its block in which it
meets no other span.

All sizes and positions are in the picture's own units, x to the right and y downwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from fabula.graphs.aspects.values import Detail, StoredAspects, Summary
from fabula.text.document import Chunk
from fabula_scholar.pictures.shared.picture_parts import sort_chunks

GUTTER = 170.0
"""Width of the column at the left with the names of aspects and levels."""
LENGTH = 1400.0
"""Width of the line of chunks."""
STRIP = 8.0
"""Height of the line of chunks at the foot of a band."""
BLOCK = 300.0
"""Height of a level's block, which its lanes divide, within MIN_LANE and MAX_LANE."""
MIN_LANE, MAX_LANE = 2.6, 10.0
SPAN_SHARE = 0.85
"""The share of a lane's height that its spans fill."""
RISE = 30.0
"""Space between two blocks, where the lines to members are drawn."""
HEAD = 22.0
"""Space above the highest block of a band."""
MARK_RATIO = 1.5
"""Width of a mark divided by its height."""
DETAIL_HEIGHT = 9.0
MAX_DETAIL_WIDTH = 10.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: the position of its upper left corner, and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of the lower edge."""
        return self.y + self.height

    @property
    def centre(self) -> float:
        """The x of the middle."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class PlacedSummary:
    """A summary with the span of its chunks and its mark; y counts from the top of its band."""

    summary: Summary
    span: Box
    mark: Box


@dataclass(frozen=True, slots=True)
class MemberLine:
    """A line from a summary's mark down to one of its members; y counts from the band's top."""

    x: float
    y: float
    to_x: float
    to_y: float
    weight: float
    """The membership probability, 0 to 1."""
    level: int
    """The level of the member; 0 is a chunk."""


@dataclass(frozen=True, slots=True)
class BandLevel:
    """The block of one level in a band; `middle` and `foot` count from the top of the band."""

    number: int
    middle: float
    foot: float


@dataclass(frozen=True, slots=True)
class Band:
    """The summary trees of one aspect."""

    aspect: str
    height: float
    levels: tuple[BandLevel, ...]
    summaries: tuple[PlacedSummary, ...]
    lines: tuple[MemberLine, ...]
    covered: Mapping[int, float]
    """Positions of the chunks that are members of summaries, with their highest weight."""
    strip: float
    """The y of the line of chunks at the foot of the band."""


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """A section: its title and the part of the line of chunks that it covers."""

    title: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole document. Boxes of chunks and details have y 0: the row they are in has its y."""

    chunks: tuple[tuple[Chunk, Box], ...]
    details: tuple[tuple[Detail, Box], ...]
    bands: tuple[Band, ...]
    sections: tuple[SectionSpan, ...]


def lay_out(passages: StoredAspects, order: Sequence[str] = ()) -> Layout:
    """Place the passages of a document.

    Args:
        passages: The chunks, summaries and details of the document, in any order.
        order: Aspects in the order of their bands; aspects that it lacks follow by name.
    """
    chunks = sort_chunks(passages.chunks)
    cell = LENGTH / max(len(chunks), 1)
    places = {chunk.id: place for place, chunk in enumerate(chunks)}
    gap = min(cell * 0.15, 1.0)
    boxes = [Box(GUTTER + place * cell, 0, cell - gap, STRIP * 2) for place in range(len(chunks))]
    aspects = sorted(
        {summary.aspect for summary in passages.summaries},
        key=lambda name: (order.index(name) if name in order else len(order), name),
    )
    spans = _find_spans(passages.summaries, places)
    bands = []
    for aspect in aspects:
        summaries = [summary for summary in passages.summaries if summary.aspect == aspect]
        bands.append(_place_band(aspect, summaries, spans, places))
    return Layout(
        chunks=tuple(zip(chunks, boxes, strict=True)),
        details=tuple(_place_details(passages.details, places, cell)),
        bands=tuple(bands),
        sections=tuple(_place_sections(chunks, cell)),
    )


def assign_lanes(extents: Sequence[tuple[float, float]]) -> list[int]:
    """Return the lane of each extent: the lowest in which it overlaps no earlier extent.

    Extents are (left, right); in one lane they may touch.
    """
    taken: list[list[tuple[float, float]]] = []
    lanes = []
    for left, right in extents:
        free = (
            lane
            for lane, extents_in_lane in enumerate(taken)
            if all(right <= start or end <= left for start, end in extents_in_lane)
        )
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((left, right))
        lanes.append(lane)
    return lanes


def _find_spans(
    summaries: Iterable[Summary], places: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """Return the first and the last chunk under each summary, by id."""
    spans = {id: (place, place) for id, place in places.items()}
    for summary in sorted(summaries, key=lambda summary: summary.level):
        below = [spans[member.id] for member in summary.members if member.id in spans]
        # A summary whose members are all gone spans the whole line.
        first = min((span[0] for span in below), default=0)
        last = max((span[1] for span in below), default=max(len(places) - 1, 0))
        spans[summary.id] = first, last
    return spans


def _place_band(
    aspect: str,
    summaries: Sequence[Summary],
    spans: Mapping[str, tuple[int, int]],
    places: Mapping[str, int],
) -> Band:
    """Place one aspect, upwards from the strip at y 0, then moved down so that its top is 0."""
    cell = LENGTH / max(len(places), 1)
    centres = {id: GUTTER + (place + 0.5) * cell for id, place in places.items()}
    tops = dict.fromkeys(places, 0.0)
    placed: list[PlacedSummary] = []
    levels: list[BandLevel] = []
    y = 0.0
    by_level = sorted(summaries, key=lambda summary: (summary.level, summary.id))
    for number, group in groupby(by_level, key=lambda summary: summary.level):
        block, height = _place_block(list(group), spans, centres, cell, y - RISE)
        levels.append(BandLevel(number, y - RISE - height / 2, y - RISE))
        y -= RISE + height
        placed += block
        for entry in block:
            centres[entry.summary.id] = entry.mark.centre
            tops[entry.summary.id] = entry.mark.y
    down = HEAD - y
    member_levels = dict.fromkeys(places, 0)
    member_levels |= {entry.summary.id: entry.summary.level for entry in placed}
    lines = [
        MemberLine(
            x=entry.mark.centre,
            y=entry.mark.bottom + down,
            to_x=centres[member.id],
            to_y=tops[member.id] + down,
            weight=member.weight,
            level=member_levels[member.id],
        )
        for entry in placed
        for member in entry.summary.members
        if member.id in tops
    ]
    return Band(
        aspect=aspect,
        height=down + STRIP,
        levels=tuple(
            BandLevel(level.number, level.middle + down, level.foot + down) for level in levels
        ),
        summaries=tuple(_move_down(entry, down) for entry in placed),
        lines=tuple(lines),
        covered=_find_covered(summaries, places),
        strip=down,
    )


def _find_covered(summaries: Iterable[Summary], places: Mapping[str, int]) -> dict[int, float]:
    covered: dict[int, float] = {}
    for summary in summaries:
        for member in summary.members:
            if (place := places.get(member.id)) is not None:
                covered[place] = max(member.weight, covered.get(place, 0.0))
    return covered


def _place_block(
    summaries: Sequence[Summary],
    spans: Mapping[str, tuple[int, int]],
    centres: Mapping[str, float],
    cell: float,
    bottom: float,
) -> tuple[list[PlacedSummary], float]:
    """Place one level, the narrowest summaries in the lowest lane, and return its height too."""
    ranked = sorted(
        summaries,
        key=lambda s: (spans[s.id][1] - spans[s.id][0], spans[s.id], s.id),
    )
    widest_mark = MAX_LANE * MARK_RATIO
    extents = []
    for summary in ranked:
        first, last = spans[summary.id]
        left, right = GUTTER + first * cell, GUTTER + (last + 1) * cell
        # A mark may be wider than the span of few chunks in a long book.
        spare = max(widest_mark - (right - left), 0) / 2
        extents.append((left - spare, right + spare))
    lanes = assign_lanes(extents)
    count = max(lanes) + 1
    pitch = min(max(BLOCK / count, MIN_LANE), MAX_LANE)
    block = []
    for summary, lane in zip(ranked, lanes, strict=True):
        first, last = spans[summary.id]
        span = Box(
            x=GUTTER + first * cell,
            y=bottom - (lane + 1) * pitch,
            width=(last - first + 1) * cell,
            height=pitch * SPAN_SHARE,
        )
        block.append(PlacedSummary(summary, span, _place_mark(summary, span, centres)))
    return block, count * pitch


def _place_mark(summary: Summary, span: Box, centres: Mapping[str, float]) -> Box:
    """Place the mark on the span, at the weighted mean of the members' centres."""
    members = [
        (centres[member.id], member.weight) for member in summary.members if member.id in centres
    ]
    total = sum(weight for _, weight in members)
    centre = sum(x * weight for x, weight in members) / total if total else span.centre
    height = span.height
    width = height * MARK_RATIO
    if span.width > width:
        centre = min(max(centre, span.x + width / 2), span.right - width / 2)
    return Box(centre - width / 2, span.y, width, height)


def _move_down(placed: PlacedSummary, down: float) -> PlacedSummary:
    span, mark = (replace(box, y=box.y + down) for box in (placed.span, placed.mark))
    return PlacedSummary(placed.summary, span, mark)


def _place_details(
    details: Iterable[Detail], places: Mapping[str, int], cell: float
) -> Iterable[tuple[Detail, Box]]:
    """Place details as ticks under their chunk, side by side."""
    placed = [detail for detail in details if detail.chunk in places]
    placed.sort(key=lambda detail: (places[detail.chunk], detail.ordinal, detail.id))
    for chunk, group in groupby(placed, key=lambda detail: detail.chunk):
        ticks = list(group)
        share = cell * 0.9 / len(ticks)
        width = min(share * 0.75, MAX_DETAIL_WIDTH)
        for number, detail in enumerate(ticks):
            x = GUTTER + places[chunk] * cell + number * share
            yield detail, Box(x, 0, width, DETAIL_HEIGHT)


def _place_sections(chunks: Sequence[Chunk], cell: float) -> Iterable[SectionSpan]:
    place = 0
    for title, group in groupby(chunks, key=lambda chunk: chunk.section):
        count = len(list(group))
        yield SectionSpan(title, GUTTER + place * cell, count * cell)
        place += count
