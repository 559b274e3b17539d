"""Convert a picture to PNG with resvg, which the extra `png` installs."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from fabula_scholar.pictures.shared.svg import STYLE

PIXELS_PER_UNIT = 2


def svg_or_png(format: str, svg: str) -> bytes:
    """Return the content of a file with an SVG, as .svg or as .png."""
    return to_png(svg) if format == ".png" else svg.encode()


def to_png(svg: str) -> bytes:
    """Return an SVG as the bytes of a PNG on white."""
    import resvg_py

    return resvg_py.svg_to_bytes(svg_string=svg, zoom=PIXELS_PER_UNIT, background="#ffffff")


def has_fonts() -> bool:
    """Say whether resvg can draw letters here.

    It silently leaves out text whose font families aren't installed, as in a bare container, and
    has no way to ask which it knows. So a letter is drawn and compared with an empty picture.
    """
    return to_png(_picture_of("M")) != to_png(_picture_of(""))


def _picture_of(letters: str) -> str:
    """Draw letters in the font families of all pictures."""
    size = {"xmlns": "http://www.w3.org/2000/svg", "width": "20", "height": "20"}
    svg = Element("svg", size | {"class": "picture"})
    SubElement(svg, "style").text = STYLE.read_text(encoding="utf-8")
    SubElement(svg, "text", y="15").text = letters
    return tostring(svg, encoding="unicode")
