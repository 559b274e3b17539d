"""The network of a document's figures as SVG: on its own a picture, in the page what is moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fabula.plot.network.communities import Community, groups_of
from fabula.plot.network.figures import Bond, Figure, Sociogram, first_types
from fabula.plot.network.spread import LETTER, LINE, Spot, label
from fabula.plot.trees.svg import EDGE, STYLE, clean, heading, rounded, text_at

OWN_STYLE = Path(__file__).with_name("sociogram_picture.css")
FIRST = 50
"""Figures that a picture shows, and a page at first."""
HUES: Mapping[str, int] = {"person": 0, "group": 1, "place": 2}
"""Of the types that all know, so that two books have the same; others take what is left."""
GREY = 7
NAMELESS = "name"
"""The type of what rules could not tell."""
KEY = 22.0
HEADING: Mapping[str, float] = {"title": 13.0, "said": 7.6}
"""Width of a letter of the heading, about, by its class."""


def draw_sociogram(sociogram: Sociogram, spots: Sequence[Spot], *, alone: bool) -> str:
    """The network as SVG: the FIRST figures and those that were walked; or all, for the page."""
    figures = sociogram.figures
    rows = _first_rows(sociogram) if alone else list(range(len(figures)))
    walked = set(sociogram.walked)
    colours = hues(figures)
    groups = groups_of(sociogram.communities, 0, len(figures))
    svg = Element("svg", {"class": "picture network", "xmlns": "http://www.w3.org/2000/svg"})
    svg.set("role", "group")
    svg.set("aria-label", clean(f"{sociogram.title}: who is in it, and who meets whom"))
    SubElement(svg, "style").text = "\n".join(
        file.read_text(encoding="utf-8") for file in (STYLE, OWN_STYLE)
    )
    paper = SubElement(svg, "rect", {"class": "paper"})
    left, right, top, foot = _frame([spots[row] for row in rows], [figures[row] for row in rows])
    head, wide = 0.0, right - left + EDGE
    if alone:
        head = heading(svg, sociogram.title, sociogram.author, sociogram.question, EDGE)
        lines = [(len(one.text or ""), HEADING[one.get("class", "")]) for one in svg.iter("text")]
        if sociogram.communities:
            head, end = _community_key(svg, sociogram, {groups[row] for row in rows}, head)
        else:
            head, end = _key(svg, [figures[row].type for row in rows], colours, head)
        wide = max(wide, end, *(EDGE + letters * each for letters, each in lines))
    view = SubElement(svg, "g", id="view")
    view.set("transform", f"translate({rounded(EDGE - left)} {rounded(head + EDGE - top)})")
    bonds = SubElement(view, "g", {"class": "bonds"})
    shown = set(rows)
    for place, bond in enumerate(sociogram.bonds):
        if shown.issuperset(bond.ends):
            lit = walked.issuperset(bond.ends)
            _bond(bonds, bond, place, figures, spots, lit=lit, alone=alone)
    for row in reversed(rows):
        own = sociogram.communities[groups[row]] if groups[row] >= 0 else None
        hue = own.hues[0] if own else GREY if sociogram.communities else colours[figures[row].type]
        group = SubElement(view, "g", {"class": f"figure hue{hue}", "id": f"f{row}"})
        if row in walked or (own and own.found):
            group.set("class", f"figure hue{hue} walked")
        _figure(group, figures[row], spots[row], own, alone)
    size = {"width": wide + EDGE, "height": head + foot - top + 2 * EDGE}
    size["width"] = max(size["width"], 360.0)
    svg.set("viewBox", f"0 0 {rounded(size['width'])} {rounded(size['height'])}")
    for name, value in size.items():
        svg.set(name, rounded(value))
        paper.set(name, rounded(value))
    return ElementTree.tostring(svg, encoding="unicode")


def _first_rows(sociogram: Sociogram) -> list[int]:
    types = first_types(sociogram.figures)
    rows = [row for row, figure in enumerate(sociogram.figures) if figure.type in types]
    return sorted({*rows[:FIRST], *sociogram.walked})


def hues(figures: Sequence[Figure]) -> dict[str, int]:
    """The hue of each type, those with most mentions first."""
    counts: Counter[str] = Counter()
    for figure in figures:
        counts[figure.type] += figure.weight
    free = [hue for hue in range(GREY) if hue not in HUES.values()]
    found = {}
    for type in sorted(counts, key=lambda count: (-counts[count], count)):
        known = GREY if type == NAMELESS else HUES.get(type.casefold())
        found[type] = (free.pop(0) if free else GREY) if known is None else known
    return found


def _bond(
    parent: Element,
    bond: Bond,
    place: int,
    figures: Sequence[Figure],
    spots: Sequence[Spot],
    *,
    lit: bool,
    alone: bool,
) -> None:
    group = SubElement(parent, "g", {"class": "bond walked" if lit else "bond", "id": f"b{place}"})
    one, other = (spots[row] for row in bond.ends)
    ends = {"x1": one.x, "y1": one.y, "x2": other.x, "y2": other.y}
    drawn = SubElement(group, "line", {"class": "drawn"})
    drawn.set("stroke-width", rounded(0.8 + 1.3 * log(bond.weight)))
    lines = [drawn] if alone else [drawn, SubElement(group, "line", {"class": "grip"})]
    for line in lines:
        for name, value in ends.items():
            line.set(name, rounded(value))
    if alone:
        names = " and ".join(figures[row].name for row in bond.ends)
        SubElement(group, "title").text = clean(f"{names}: {chunks(bond.weight)}\n{bond.text}")


def _figure(group: Element, figure: Figure, spot: Spot, own: Community | None, alone: bool) -> None:
    circle = SubElement(group, "circle", {"r": rounded(spot.radius)})
    circle.set("cx", rounded(spot.x))
    circle.set("cy", rounded(spot.y))
    text = text_at(group, "", spot.x, spot.y + spot.radius + LINE - 3, label(figure.name))
    if own:
        SubElement(text, "tspan", {"class": "of", "dx": "4"}).text = str(own.numbers[0])
    if alone:
        said = f"{figure.name}, {figure.type}: {mentions(figure.weight)}\n{figure.text}"
        SubElement(group, "title").text = clean(said)


def chunks(count: int) -> str:
    """How many chunks, in words."""
    return "1 chunk" if count == 1 else f"{count:,} chunks"


def mentions(count: int) -> str:
    """How many mentions, in words."""
    return "1 mention" if count == 1 else f"{count:,} mentions"


def _community_key(
    svg: Element, sociogram: Sociogram, groups: Collection[int], y: float
) -> tuple[float, float]:
    """What the numbers and colours mean, a line each; returns where it ends."""
    end = EDGE
    there = [community for place, community in enumerate(sociogram.communities) if place in groups]
    for one in there:
        group = SubElement(svg, "g", {"class": f"key hue{one.hues[0]}"})
        SubElement(group, "circle", {"cx": rounded(EDGE + 5), "cy": rounded(y), "r": "5"})
        said = f"{one.numbers[0]} {one.title} ({one.size:,})"
        text_at(group, "", EDGE + 14, y + 4, said)
        end = max(end, EDGE + 14 + len(said) * LETTER)
        y += LINE + 1
    return y, end


def _frame(spots: Sequence[Spot], figures: Sequence[Figure]) -> tuple[float, float, float, float]:
    """Left, right, top and foot of some figures with their names."""
    if not spots:
        return 0.0, 0.0, 0.0, 0.0
    wide = [
        max(spot.radius, len(label(who.name)) * LETTER / 2)
        for spot, who in zip(spots, figures, strict=True)
    ]
    return (
        min(spot.x - half for spot, half in zip(spots, wide, strict=True)),
        max(spot.x + half for spot, half in zip(spots, wide, strict=True)),
        min(spot.y - spot.radius for spot in spots),
        max(spot.y + spot.radius + LINE for spot in spots),
    )


def _key(
    svg: Element, types: Sequence[str], colours: Mapping[str, int], y: float
) -> tuple[float, float]:
    """What the colours mean, in a row; returns where it ends, downwards and to the right."""
    x = EDGE
    for type in sorted(set(types), key=lambda type_: (colours[type_], type_)):
        group = SubElement(svg, "g", {"class": f"key hue{colours[type]}"})
        SubElement(group, "circle", {"cx": rounded(x + 5), "cy": rounded(y), "r": "5"})
        text_at(group, "", x + 14, y + 4, type)
        x += KEY + len(type) * LETTER + 8
    return y + KEY / 2, x
