"""The picture as SVG: every text goes through an XML writer, none is put into markup by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fabula.export.files import FORBIDDEN
from fabula.graphs.aspects.values import Detail, Summary
from fabula.plot.placed import Band, Box, Layout, Line, Part
from fabula.plot.trees.layout import DETAIL, GUTTER, LENGTH, STRIP, lanes
from fabula.text.document import Chunk

STYLE = Path(__file__).with_name("picture.css")
HUES = 7
EDGE = 24.0
"""Around all."""
BETWEEN = 14.0
LETTER = 6.6
"""Width of a letter of a section's title, about."""
UPRIGHT = 130.0
"""Height of titles that stand on end."""
BADGE = 7.5

Drawn = Chunk | Summary | Detail


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn: a document's layout, and the ranks, from 1, of what a question found."""

    title: str
    author: str
    layout: Layout
    question: str
    ranks: Mapping[str, int]

    def passages(self) -> list[Drawn]:
        """All that is drawn; the element of each has its place in this list for its id."""
        layout = self.layout
        return [
            *(chunk for chunk, _ in layout.chunks),
            *(placed.summary for band in layout.bands for placed in band.summaries),
            *(detail for detail, _ in layout.details),
        ]


def draw(picture: Picture, *, alone: bool) -> str:
    """The picture as SVG. Where it stands `alone` it has a heading, and tells nodes as titles."""
    layout = picture.layout
    numbers = {passage.id: number for number, passage in enumerate(picture.passages())}
    svg = Element("svg", {"class": "picture", "xmlns": "http://www.w3.org/2000/svg"})
    svg.set("role", "group")
    svg.set("aria-label", clean(f"{picture.title}: its aspects over its line of chunks"))
    SubElement(svg, "style").text = STYLE.read_text(encoding="utf-8")
    paper = SubElement(svg, "rect", {"class": "paper"})
    view = SubElement(svg, "g", id="view")
    y = EDGE
    if alone:
        y = heading(view, picture.title, picture.author, picture.question, y)
    y = _parts(view, layout.parts, y, "top") + 4
    for number, band in enumerate(layout.bands):
        group = SubElement(view, "g", {"class": f"band hue{number % HUES}", "id": f"b{number}"})
        group.set("transform", f"translate(0 {rounded(y)})")
        _band(group, band, picture, numbers)
        y += band.height + BETWEEN
    book = SubElement(svg, "g", id="book", transform=f"translate(0 {rounded(y)})")
    y += _book(book, picture, numbers) + EDGE
    size = {"width": rounded(EDGE + GUTTER + LENGTH), "height": rounded(y)}
    svg.set("viewBox", f"0 0 {size['width']} {size['height']}")
    for name, value in size.items():
        svg.set(name, value)
        paper.set(name, value)
    if alone:
        _tell(svg, picture)
    return ElementTree.tostring(svg, encoding="unicode")


def named(passage: Drawn) -> str:
    """What a passage is."""
    match passage:
        case Summary():
            return f"{passage.aspect}, level {passage.level}"
        case Detail():
            return "detail"
        case Chunk():
            return f"chunk {passage.index + 1}"


def clean(text: str) -> str:
    """Without the characters that XML can't hold."""
    return FORBIDDEN.sub("", text)


def heading(view: Element, title: str, author: str, question: str, y: float) -> float:
    """A document's title and what was asked of it; returns where that ends."""
    by = f", by {author}" if author else ""
    text_at(view, "title", EDGE, y + 16, f"{title}{by}")
    if question:
        text_at(view, "said", EDGE, y + 40, question)
        y += 24
    return y + 36


def text_at(group: Element, words: str, x: float, y: float, said: str) -> Element:
    """A line of text, of some classes."""
    element = SubElement(group, "text", {"class": words, "x": rounded(x), "y": rounded(y)})
    element.text = clean(said)
    return element


def rounded(value: float) -> str:
    """A number as short as a hundredth of a unit allows."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _tell(svg: Element, picture: Picture) -> None:
    """Every node's text as its title, which browsers show where the pointer is."""
    passages = picture.passages()
    for element in svg.iter():
        if "node" in element.get("class", "").split():
            passage = passages[int(element.attrib["id"].removeprefix("n"))]
            title = Element("title")
            title.text = clean("\n".join((named(passage), passage.section, passage.text)))
            element.insert(0, title)


def _parts(view: Element, parts: Sequence[Part], y: float, side: str) -> float:
    """The sections' titles in a row; on end, where most of them are too narrow for theirs.

    Returns where the row ends.
    """
    titled = [part for part in parts if part.title]
    narrow = sum(part.width < LETTER * 9 for part in titled) * 2 > len(titled)
    for part in titled:
        room = UPRIGHT if narrow else part.width - 6
        letters = int(room / LETTER)
        if letters < 2 or (narrow and part.width < 9):
            continue
        short = _within(part.title, letters)
        if narrow:
            x, end = part.x + min(part.width / 2 + 4, 14), side == "top"
            foot = y + UPRIGHT if end else y
            element = text_at(view, "part", x, foot, short)
            element.set("transform", f"rotate(-90 {rounded(x)} {rounded(foot)})")
            if not end:
                element.set("text-anchor", "end")
        else:
            element = text_at(view, "part", part.x + 3, y + 11, short)
        SubElement(element, "title").text = clean(part.title)
    return y + (UPRIGHT if narrow else 16) + 2


def _band(group: Element, band: Band, picture: Picture, numbers: Mapping[str, int]) -> None:
    """Level by level, so that the page can close one: its lines by what they lead to, its nodes."""
    ground = Box(EDGE / 2, 0, GUTTER + LENGTH, band.height + 4)
    _rect(group, "ground", ground).set("rx", "6")
    rules = SubElement(group, "g", {"class": "rules"})
    seams = [part.x for part in picture.layout.parts[1:]]
    _path(rules, "seams", (f"M{rounded(x)} 0V{rounded(band.height)}" for x in seams))
    found = [box.centre for chunk, box in picture.layout.chunks if chunk.id in picture.ranks]
    _path(rules, "guides", (f"M{rounded(x)} 4V{rounded(band.height)}" for x in found))
    text_at(group, "aspect", EDGE, 20, _within(band.aspect, 16))
    for level in band.levels:
        text_at(group, "level", EDGE, max(level.middle + 4, 36), f"level {level.number}")
    for to in sorted({line.level for line in band.lines}):
        lines = SubElement(group, "g", {"class": "lines", "data-to": str(to)})
        _lines(lines, (line for line in band.lines if line.level == to))
    foot = SubElement(group, "g", {"class": "foot"})
    _rect(foot, "strip", Box(GUTTER, band.strip, LENGTH, STRIP))
    _cover(foot, band, picture.layout)
    SubElement(group, "g", {"class": "trace"})
    for level in band.levels:
        tier = SubElement(group, "g", {"class": "tier", "data-level": str(level.number)})
        block = [summary for summary in band.summaries if summary.summary.level == level.number]
        for placed in block:
            summary = placed.summary
            node = _node(tier, "g", "summary", numbers[summary.id], summary.id in picture.ranks)
            _rect(node, "span", placed.span)
            _rect(node, "mark", placed.mark).set("rx", rounded(placed.mark.height / 2.5))
        for placed in block:
            if rank := picture.ranks.get(placed.summary.id):
                _badge(tier, placed.mark.centre, placed.mark.y - BADGE - 1, rank)


def _lines(group: Element, lines: Iterable[Line]) -> None:
    """One path for all lines of a node of about one weight, as thousands of elements are slow."""
    together: dict[tuple[float, float, int], list[str]] = {}
    for line in lines:
        x, y, bend, to_x, to_y = map(
            rounded, (line.x, line.y, (line.y + line.to_y) / 2, line.to_x, line.to_y)
        )
        key = line.x, line.y, _grade(line.weight)
        drawn = f"M{x} {y}C{x} {bend} {to_x} {bend} {to_x} {to_y}"
        together.setdefault(key, []).append(drawn)
    for (_, _, grade), drawn_lines in together.items():
        _path(group, f"line w{grade}", drawn_lines)


def _cover(group: Element, band: Band, layout: Layout) -> None:
    """On the strip, the chunks that the band's summaries have for members."""
    for grade in range(1, 5):
        boxes = [
            layout.chunks[place][1]
            for place, weight in sorted(band.covered.items())
            if _grade(weight) == grade
        ]
        _path(
            group,
            f"cover c{grade}",
            (
                f"M{rounded(box.x)} {rounded(band.strip)}h{rounded(box.width)}v{rounded(STRIP)}"
                f"h-{rounded(box.width)}z"
                for box in boxes
            ),
        )


def _book(group: Element, picture: Picture, numbers: Mapping[str, int]) -> float:
    """The line of chunks, with details under it, then the ranks of hits, then titles."""
    layout, ranks = picture.layout, picture.ranks
    desk = SubElement(group, "rect", {"class": "desk"})
    text_at(group, "aspect", EDGE, 14, "the text")
    _path(group, "seams", (f"M{rounded(part.x)} -6V30" for part in layout.parts[1:]))
    if layout.details:
        text_at(group, "level", EDGE, 28, "details")
    low = STRIP * 2 + 4
    ticks: list[tuple[Chunk | Detail, str, Box]] = [
        *((chunk, "chunk", box) for chunk, box in layout.chunks),
        *((one, "detail", Box(box.x, low, box.width, box.height)) for one, box in layout.details),
    ]
    for passage, kind, box in ticks:
        _boxed(_node(group, "rect", kind, numbers[passage.id], passage.id in ranks), box)
    found = sorted((box.centre, ranks[one.id]) for one, _, box in ticks if one.id in ranks)
    y = low + DETAIL + 6
    rows = lanes([(x - BADGE - 1, x + BADGE + 1) for x, _ in found])
    for (x, rank), row in zip(found, rows, strict=True):
        _path(group, "lead", [f"M{rounded(x)} {rounded(low)}V{rounded(y + row * 18)}"])
        _badge(group, x, y + BADGE + row * 18, rank)
    untitled = y + 18 * (max(rows, default=-1) + 1)
    group.set("data-height", rounded(untitled))  # in the page, which has the titles elsewhere
    height = _parts(group, layout.parts, untitled, "foot")
    _boxed(desk, Box(0, -8, EDGE + GUTTER + LENGTH, height + 8 + EDGE))
    return height


def _badge(group: Element, x: float, y: float, rank: int) -> None:
    SubElement(
        group, "circle", {"class": "badge", "cx": rounded(x), "cy": rounded(y), "r": rounded(BADGE)}
    )
    text_at(group, "rank", x, y + 3.2, str(rank))


def _node(group: Element, tag: str, kind: str, number: int, hit: bool) -> Element:
    words = f"node {kind} hit" if hit else f"node {kind}"
    return SubElement(group, tag, {"class": words, "id": f"n{number}"})


def _rect(group: Element, words: str, box: Box) -> Element:
    return _boxed(SubElement(group, "rect", {"class": words}), box)


def _boxed(element: Element, box: Box) -> Element:
    sizes = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    for name, value in sizes.items():
        element.set(name, rounded(value))
    return element


def _path(group: Element, words: str, pieces: Iterable[str]) -> None:
    if drawn := "".join(pieces):
        SubElement(group, "path", {"class": words, "d": drawn})


def _within(said: str, letters: int) -> str:
    return said if len(said) <= letters else said[: letters - 1] + "…"


def _grade(weight: float) -> int:
    """1 to 4: how much of a member a summary has."""
    return min(max(int(weight * 4 - 1e-9) + 1, 1), 4)
