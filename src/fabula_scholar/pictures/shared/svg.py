"""SVG that every picture is made of; all text goes through an XML writer, never into markup."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fabula.export.graph_xml import FORBIDDEN

STYLE = Path(__file__).with_name("picture.css")
MARGIN = 24.0
"""Space around the whole picture, in the picture's units, as all sizes here."""


def start_picture(css_class: str, label: str, styles: Sequence[Path]) -> tuple[Element, Element]:
    """Return an empty picture and its background, whose sizes `finish_picture` sets.

    Args:
        css_class: The classes of the SVG element.
        label: What a screen reader says of the picture.
        styles: CSS files that are copied into the picture, in this order.
    """
    svg = Element("svg", {"class": css_class, "xmlns": "http://www.w3.org/2000/svg"})
    svg.set("role", "group")
    svg.set("aria-label", clean(label))
    css = "\n".join(file.read_text(encoding="utf-8") for file in styles)
    SubElement(svg, "style").text = css
    return svg, SubElement(svg, "rect", {"class": "paper"})


def finish_picture(svg: Element, background: Element, width: float, height: float) -> str:
    """Set the size of a picture and return it as a string."""
    size = {"width": format_number(width), "height": format_number(height)}
    svg.set("viewBox", f"0 0 {size['width']} {size['height']}")
    for name, value in size.items():
        svg.set(name, value)
        background.set(name, value)
    return ElementTree.tostring(svg, encoding="unicode")


def add_heading(parent: Element, title: str, author: str, question: str, y: float) -> float:
    """Add a document's title and the question, and return the y where they end."""
    by = f", by {author}" if author else ""
    add_text(parent, "title", MARGIN, y + 16, f"{title}{by}")
    if question:
        add_text(parent, "said", MARGIN, y + 40, question)
        y += 24
    return y + 36


def add_text(parent: Element, css_class: str, x: float, y: float, text: str) -> Element:
    """Add one line of text."""
    position = {"x": format_number(x), "y": format_number(y)}
    element = SubElement(parent, "text", {"class": css_class, **position})
    element.text = clean(text)
    return element


def add_tooltip(element: Element, text: str) -> None:
    """Add the text that browsers show where the pointer is."""
    SubElement(element, "title").text = clean(text)


def clean(text: str) -> str:
    """Return the text without the characters that XML can't contain."""
    return FORBIDDEN.sub("", text)


def format_number(value: float) -> str:
    """Return a number with at most two decimals, as short as possible."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shorten(text: str, letters: int) -> str:
    """Return at most `letters` characters of a text; an ellipsis marks that it goes on."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"
