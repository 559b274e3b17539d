"""Draw the summary trees of a document, over its line of chunks, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from fabula.graphs.aspects.labels import RULES
from fabula.graphs.aspects.values import Detail, Summary
from fabula.text.document import Chunk
from fabula.text.sections import shorten_paths
from fabula_scholar.pictures.shared.svg import (
    MARGIN,
    STYLE,
    add_heading,
    add_text,
    add_tooltip,
    finish_picture,
    format_number,
    shorten,
    start_picture,
)
from fabula_scholar.pictures.trees.layout import (
    DETAIL_HEIGHT,
    GUTTER,
    LENGTH,
    STRIP,
    Band,
    Box,
    Layout,
    MemberLine,
    SectionSpan,
    assign_lanes,
)

HUES = 7
BETWEEN_BANDS = 14.0
LETTER_WIDTH = 6.6
"""Approximate width of a letter in the title of a section."""
UPRIGHT_HEIGHT = 130.0
"""Height of the row of section titles where they are rotated."""
BADGE_RADIUS = 7.5
BADGE_ROW = 18.0

DrawnPassage = Chunk | Summary | Detail


@dataclass(frozen=True, slots=True)
class TreePicture:
    """What is drawn of a document, and what a question found in it."""

    title: str
    author: str
    layout: Layout
    question: str
    ranks: Mapping[str, int]
    """Ranks of the passages that the question found, from 1, by id."""

    def passages(self) -> list[DrawnPassage]:
        """Return all passages; the position of each is the number in its element's id."""
        layout = self.layout
        return [
            *(chunk for chunk, _ in layout.chunks),
            *(placed.summary for band in layout.bands for placed in band.summaries),
            *(detail for detail, _ in layout.details),
        ]


def draw_trees(picture: TreePicture, *, alone: bool) -> str:
    """Return the picture as SVG.

    Args:
        picture: What to draw.
        alone: Draw a file of its own, with a heading and the texts of passages as tooltips. The
            page has these elsewhere.
    """
    layout = picture.layout
    numbers = {passage.id: number for number, passage in enumerate(picture.passages())}
    label = f"{picture.title}: its aspects over its line of chunks"
    svg, background = start_picture("picture", label, [STYLE])
    view = SubElement(svg, "g", id="view")
    y = MARGIN
    if alone:
        y = add_heading(view, picture.title, picture.author, picture.question, y)
    y = _draw_titles(view, layout.sections, y, "top") + 4
    for number, band in enumerate(layout.bands):
        group = SubElement(view, "g", {"class": f"band hue{number % HUES}", "id": f"b{number}"})
        group.set("transform", f"translate(0 {format_number(y)})")
        _draw_band(group, band, picture, numbers)
        y += band.height + BETWEEN_BANDS
    book = SubElement(svg, "g", id="book", transform=f"translate(0 {format_number(y)})")
    y += _draw_book(book, picture, numbers) + MARGIN
    if alone:
        _add_tooltips(svg, picture)
    return finish_picture(svg, background, MARGIN + GUTTER + LENGTH, y)


def name_passage(passage: DrawnPassage) -> str:
    """Return a short name of a passage, such as "plot, level 2" or "chunk 12".

    What no model wrote is called an extract.
    """
    match passage:
        case Summary():
            return f"{passage.aspect}, level {passage.level}{_mark(passage)}"
        case Detail():
            return f"detail{_mark(passage)}"
        case Chunk():
            return f"chunk {passage.index + 1}"


def _mark(passage: Summary | Detail) -> str:
    return ", extract" if passage.by == RULES else ""


def _add_tooltips(svg: Element, picture: TreePicture) -> None:
    passages = picture.passages()
    for element in svg.iter():
        if "node" in element.get("class", "").split():
            passage = passages[int(element.attrib["id"].removeprefix("n"))]
            add_tooltip(element, "\n".join((name_passage(passage), passage.section, passage.text)))
            # A title has to be the first child.
            element.insert(0, element[-1])
            del element[-1]


def _draw_titles(parent: Element, sections: Sequence[SectionSpan], y: float, side: str) -> float:
    """Draw section titles in a row, rotated if most don't fit, and return the y where it ends."""
    names = shorten_paths(section.title for section in sections)
    titled = [
        (section, name) for section, name in zip(sections, names, strict=True) if section.title
    ]
    is_upright = sum(section.width < LETTER_WIDTH * 9 for section, _ in titled) * 2 > len(titled)
    for section, name in titled:
        room = UPRIGHT_HEIGHT if is_upright else section.width - 6
        letters = int(room / LETTER_WIDTH)
        if letters < 2 or (is_upright and section.width < 9):
            continue
        title = shorten(name, letters)
        if is_upright:
            x, is_top = section.x + min(section.width / 2 + 4, 14), side == "top"
            foot = y + UPRIGHT_HEIGHT if is_top else y
            element = add_text(parent, "part", x, foot, title)
            element.set("transform", f"rotate(-90 {format_number(x)} {format_number(foot)})")
            if not is_top:
                element.set("text-anchor", "end")
        else:
            element = add_text(parent, "part", section.x + 3, y + 11, title)
        add_tooltip(element, section.title)
    return y + (UPRIGHT_HEIGHT if is_upright else 16) + 2


def _draw_band(
    group: Element, band: Band, picture: TreePicture, numbers: Mapping[str, int]
) -> None:
    """Draw a band by level, so that the page can close a level: lines by target, then nodes."""
    ground = Box(MARGIN / 2, 0, GUTTER + LENGTH, band.height + 4)
    _add_rect(group, "ground", ground).set("rx", "6")
    rules = SubElement(group, "g", {"class": "rules"})
    height = format_number(band.height)
    seams = [section.x for section in picture.layout.sections[1:]]
    _add_path(rules, "seams", (f"M{format_number(x)} 0V{height}" for x in seams))
    hits = [box.centre for chunk, box in picture.layout.chunks if chunk.id in picture.ranks]
    _add_path(rules, "guides", (f"M{format_number(x)} 4V{height}" for x in hits))
    add_text(group, "aspect", MARGIN, 20, shorten(band.aspect, 16))
    for level in band.levels:
        add_text(group, "level", MARGIN, max(level.middle + 4, 36), f"level {level.number}")
    for to_level in sorted({line.level for line in band.lines}):
        lines = SubElement(group, "g", {"class": "lines", "data-to": str(to_level)})
        _draw_lines(lines, (line for line in band.lines if line.level == to_level))
    foot = SubElement(group, "g", {"class": "foot"})
    _add_rect(foot, "strip", Box(GUTTER, band.strip, LENGTH, STRIP))
    _draw_cover(foot, band, picture.layout)
    SubElement(group, "g", {"class": "trace"})
    for level in band.levels:
        tier = SubElement(group, "g", {"class": "tier", "data-level": str(level.number)})
        block = [placed for placed in band.summaries if placed.summary.level == level.number]
        for placed in block:
            id = placed.summary.id
            node = _add_node(tier, "g", "summary", numbers[id], id in picture.ranks)
            _add_rect(node, "span", placed.span)
            mark = _add_rect(node, "mark", placed.mark)
            mark.set("rx", format_number(placed.mark.height / 2.5))
        for placed in block:
            if rank := picture.ranks.get(placed.summary.id):
                _draw_badge(tier, placed.mark.centre, placed.mark.y - BADGE_RADIUS - 1, rank)


def _draw_lines(group: Element, lines: Iterable[MemberLine]) -> None:
    """Draw one path for all lines of a node of about one weight: thousands of elements are slow."""
    paths: dict[tuple[float, float, int], list[str]] = {}
    for line in lines:
        x, y, bend, to_x, to_y = map(
            format_number, (line.x, line.y, (line.y + line.to_y) / 2, line.to_x, line.to_y)
        )
        key = line.x, line.y, _grade(line.weight)
        curve = f"M{x} {y}C{x} {bend} {to_x} {bend} {to_x} {to_y}"
        paths.setdefault(key, []).append(curve)
    for (_, _, grade), curves in paths.items():
        _add_path(group, f"line w{grade}", curves)


def _draw_cover(group: Element, band: Band, layout: Layout) -> None:
    """Draw on the strip which chunks are members of the band's summaries."""
    y, height = format_number(band.strip), format_number(STRIP)
    for grade in range(1, 5):
        boxes = [
            layout.chunks[place][1]
            for place, weight in sorted(band.covered.items())
            if _grade(weight) == grade
        ]
        rectangles = []
        for box in boxes:
            width = format_number(box.width)
            rectangles.append(f"M{format_number(box.x)} {y}h{width}v{height}h-{width}z")
        _add_path(group, f"cover c{grade}", rectangles)


def _draw_book(group: Element, picture: TreePicture, numbers: Mapping[str, int]) -> float:
    """Draw the line of chunks and details, ranks of hits, and titles, and return its height."""
    layout, ranks = picture.layout, picture.ranks
    desk = SubElement(group, "rect", {"class": "desk"})
    add_text(group, "aspect", MARGIN, 14, "the text")
    seams = (f"M{format_number(section.x)} -6V30" for section in layout.sections[1:])
    _add_path(group, "seams", seams)
    if layout.details:
        add_text(group, "level", MARGIN, 28, "details")
    low = STRIP * 2 + 4
    ticks: list[tuple[Chunk | Detail, str, Box]] = [
        *((chunk, "chunk", box) for chunk, box in layout.chunks),
        *(
            (detail, "detail", Box(box.x, low, box.width, box.height))
            for detail, box in layout.details
        ),
    ]
    for passage, kind, box in ticks:
        _set_box(_add_node(group, "rect", kind, numbers[passage.id], passage.id in ranks), box)
    hits = sorted(
        (box.centre, ranks[passage.id]) for passage, _, box in ticks if passage.id in ranks
    )
    y = low + DETAIL_HEIGHT + 6
    lanes = assign_lanes([(x - BADGE_RADIUS - 1, x + BADGE_RADIUS + 1) for x, _ in hits])
    for (x, rank), lane in zip(hits, lanes, strict=True):
        top = format_number(y + lane * BADGE_ROW)
        _add_path(group, "lead", [f"M{format_number(x)} {format_number(low)}V{top}"])
        _draw_badge(group, x, y + BADGE_RADIUS + lane * BADGE_ROW, rank)
    untitled = y + BADGE_ROW * (max(lanes, default=-1) + 1)
    # For the page, which has the titles elsewhere.
    group.set("data-height", format_number(untitled))
    height = _draw_titles(group, layout.sections, untitled, "foot")
    _set_box(desk, Box(0, -8, MARGIN + GUTTER + LENGTH, height + 8 + MARGIN))
    return height


def _draw_badge(group: Element, x: float, y: float, rank: int) -> None:
    position = {"cx": format_number(x), "cy": format_number(y)}
    circle = {"class": "badge", **position, "r": format_number(BADGE_RADIUS)}
    SubElement(group, "circle", circle)
    add_text(group, "rank", x, y + 3.2, str(rank))


def _add_node(group: Element, tag: str, kind: str, number: int, is_hit: bool) -> Element:
    css_class = f"node {kind} hit" if is_hit else f"node {kind}"
    return SubElement(group, tag, {"class": css_class, "id": f"n{number}"})


def _add_rect(group: Element, css_class: str, box: Box) -> Element:
    return _set_box(SubElement(group, "rect", {"class": css_class}), box)


def _set_box(element: Element, box: Box) -> Element:
    sizes = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    for name, value in sizes.items():
        element.set(name, format_number(value))
    return element


def _add_path(group: Element, css_class: str, pieces: Iterable[str]) -> None:
    if data := "".join(pieces):
        SubElement(group, "path", {"class": css_class, "d": data})


def _grade(weight: float) -> int:
    """Return a class from 1 to 4 for a membership weight from 0 to 1."""
    return min(max(int(weight * 4 - 1e-9) + 1, 1), 4)
