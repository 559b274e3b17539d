"""The picture as PNG, drawn by resvg, which the extra `png` installs."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from fabula.errors import FabulaError
from fabula.plot.trees.svg import STYLE

SCALE = 2
"""Pixels a unit of the picture."""


def refuse_missing() -> None:
    """Raises FabulaError where resvg isn't installed."""
    try:
        import resvg_py  # noqa: F401
    except ImportError as error:
        raise FabulaError(
            "PNG is drawn by resvg-py, which isn't installed: run `pip install 'fabula[png]'`, or "
            "name a file that ends in .svg or .html."
        ) from error


def to_png(svg: str) -> bytes:
    """An SVG as the bytes of a PNG, two pixels a unit."""
    import resvg_py

    return resvg_py.svg_to_bytes(svg_string=svg, zoom=SCALE, background="#ffffff")


def has_fonts() -> bool:
    """Whether letters are drawn: resvg leaves out those of families that the machine lacks."""
    return to_png(_probe("M")) != to_png(_probe(""))


def _probe(letters: str) -> str:
    """Letters in the picture's own families."""
    space = {"xmlns": "http://www.w3.org/2000/svg", "width": "20", "height": "20"}
    svg = Element("svg", space | {"class": "picture"})
    SubElement(svg, "style").text = STYLE.read_text(encoding="utf-8")
    SubElement(svg, "text", y="15").text = letters
    return tostring(svg, encoding="unicode")
