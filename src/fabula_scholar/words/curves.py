"""Curves along a text, as SVG that needs no style: it is read on light and on dark paper."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fabula_scholar.pictures.shared.svg import clean, format_number, shorten

COLOURS = ("#2f6fd6", "#d1495b", "#2d8a4e", "#8a5cc4", "#c27d12", "#5b7083")
"""Of the first curves; those after them are left out, as nobody could tell them apart."""
WIDTH, HEIGHT = 720, 200
LEFT, TOP, LINE = 34, 14, 18
"""Space for the numbers, above the curves, and for each line of text below them."""
GREY = "#808080"
MAX_NAME = 90


def draw_curves(curves: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Return a picture with a curve for each name and its counts in equal parts of a text."""
    shown = curves[: len(COLOURS)]
    height = TOP + HEIGHT + LINE * (len(shown) + 2)
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    svg.set("viewBox", f"0 0 {LEFT + WIDTH + LEFT} {height}")
    svg.set("font-family", "sans-serif")
    svg.set("font-size", "12")
    SubElement(svg, "title").text = clean("; ".join(name for name, _ in shown))
    most = max((max(counts) for _, counts in shown), default=0) or 1
    for count in (0, most):
        y = TOP + HEIGHT * (1 - count / most)
        place = {"x1": str(LEFT), "x2": str(LEFT + WIDTH), "y1": str(y), "y2": str(y)}
        SubElement(svg, "line", {**place, "stroke": GREY, "stroke-width": "0.5"})
        _write(svg, LEFT - 6, y + 4, f"{count:,}", "end")
    _write(svg, LEFT, TOP + HEIGHT + LINE, "beginning")
    _write(svg, LEFT + WIDTH, TOP + HEIGHT + LINE, "end", "end")
    for number, ((name, counts), colour) in enumerate(zip(shown, COLOURS, strict=False)):
        points = [
            (LEFT + WIDTH * (part + 0.5) / len(counts), TOP + HEIGHT * (1 - count / most))
            for part, count in enumerate(counts)
        ]
        line = " ".join(f"{format_number(x)},{format_number(y)}" for x, y in points)
        look = {"fill": "none", "stroke": colour, "stroke-width": "2"}
        SubElement(svg, "polyline", {"points": line, **look})
        text = f"{shorten(name, MAX_NAME)}: {sum(counts):,}"
        _write(svg, LEFT, TOP + HEIGHT + LINE * (number + 2), text, colour=colour)
    return ElementTree.tostring(svg, encoding="unicode")


def _write(
    svg: Element, x: float, y: float, text: str, anchor: str = "start", colour: str = GREY
) -> None:
    place = {"x": format_number(x), "y": format_number(y), "text-anchor": anchor, "fill": colour}
    SubElement(svg, "text", place).text = clean(text)
