"""Draw the network of a document's figures as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from fabula.text.nouns import count_noun
from fabula_scholar.pictures.network.communities import DrawnCommunity, find_groups
from fabula_scholar.pictures.network.figures import (
    DrawnRelation,
    Figure,
    NetworkPicture,
    first_types,
)
from fabula_scholar.pictures.network.spread import LETTER_WIDTH, LINE_HEIGHT, Spot, label
from fabula_scholar.pictures.shared.svg import (
    MARGIN,
    STYLE,
    add_heading,
    add_text,
    add_tooltip,
    finish_picture,
    format_number,
    start_picture,
)

NETWORK_STYLE = Path(__file__).with_name("picture.css")
FIRST_FIGURES = 50
"""How many figures a picture shows, and a page at first."""
TYPE_HUES: Mapping[str, int] = {"person": 0, "group": 1, "place": 2}
"""Hues of common types, so that they are the same for all books; other types get the rest."""
GREY = 7
UNKNOWN_TYPE = "name"
"""The type of an entity whose type the rules could not find out."""
KEY_HEIGHT = 22.0
MIN_WIDTH = 360.0
HEADING_LETTERS: Mapping[str, float] = {"title": 13.0, "said": 7.6}
"""The approximate width of a letter of the heading, by its CSS class."""


def draw_network(picture: NetworkPicture, spots: Sequence[Spot], *, alone: bool) -> str:
    """Return the network as SVG.

    Args:
        picture: What to draw.
        spots: The spot of each figure.
        alone: Draw a file of its own: the first figures and those that were walked, with a heading,
            a key and tooltips. The page gets all figures, and hides some.
    """
    figures = picture.figures
    rows = _first_rows(picture) if alone else list(range(len(figures)))
    walked = set(picture.walked)
    colours = type_hues(figures)
    groups = find_groups(picture.communities, 0, len(figures))
    svg, background = start_picture(
        "picture network",
        f"{picture.title}: who is in it, and who meets whom",
        [STYLE, NETWORK_STYLE],
    )
    left, right, top, foot = _frame([spots[row] for row in rows], [figures[row] for row in rows])
    head, width = 0.0, right - left + MARGIN
    if alone:
        head = add_heading(svg, picture.title, picture.author, picture.question, MARGIN)
        widths = [
            len(element.text or "") * HEADING_LETTERS[element.get("class", "")]
            for element in svg.iter("text")
        ]
        if picture.communities:
            head, end = _draw_community_key(svg, picture, {groups[row] for row in rows}, head)
        else:
            head, end = _draw_type_key(svg, [figures[row].type for row in rows], colours, head)
        width = max(width, end, *(MARGIN + heading_width for heading_width in widths))
    view = SubElement(svg, "g", id="view")
    across, down = format_number(MARGIN - left), format_number(head + MARGIN - top)
    view.set("transform", f"translate({across} {down})")
    lines = SubElement(view, "g", {"class": "relations"})
    shown = set(rows)
    for place, relation in enumerate(picture.relations):
        if shown.issuperset(relation.ends):
            is_walked = walked.issuperset(relation.ends)
            _draw_relation(lines, relation, place, figures, spots, is_walked=is_walked, alone=alone)
    # The most mentioned figures are drawn last, above the others.
    for row in reversed(rows):
        community = picture.communities[groups[row]] if groups[row] >= 0 else None
        if community:
            hue = community.hues[0]
        else:
            hue = GREY if picture.communities else colours[figures[row].type]
        group = SubElement(view, "g", {"class": f"figure hue{hue}", "id": f"f{row}"})
        if row in walked or (community and community.rank):
            group.set("class", f"figure hue{hue} walked")
        _draw_figure(group, figures[row], spots[row], community, alone)
    height = head + foot - top + 2 * MARGIN
    return finish_picture(svg, background, max(width + MARGIN, MIN_WIDTH), height)


def type_hues(figures: Sequence[Figure]) -> dict[str, int]:
    """Return the hue of each type, the types with most mentions first."""
    counts: Counter[str] = Counter()
    for figure in figures:
        counts[figure.type] += figure.weight
    free = [hue for hue in range(GREY) if hue not in TYPE_HUES.values()]
    hues = {}
    for type in sorted(counts, key=lambda type: (-counts[type], type)):
        fixed = GREY if type == UNKNOWN_TYPE else TYPE_HUES.get(type.casefold())
        hues[type] = (free.pop(0) if free else GREY) if fixed is None else fixed
    return hues


def _first_rows(picture: NetworkPicture) -> list[int]:
    types = first_types(picture.figures)
    rows = [row for row, figure in enumerate(picture.figures) if figure.type in types]
    return sorted({*rows[:FIRST_FIGURES], *picture.walked})


def _draw_relation(
    parent: Element,
    relation: DrawnRelation,
    place: int,
    figures: Sequence[Figure],
    spots: Sequence[Spot],
    *,
    is_walked: bool,
    alone: bool,
) -> None:
    said = sum(relation.quotations.values())
    marks = [name for name, holds in (("speaks", said), ("walked", is_walked)) if holds]
    css_class = " ".join(("relation", *marks))
    group = SubElement(parent, "g", {"class": css_class, "id": f"b{place}"})
    start, end = (spots[row] for row in relation.ends)
    ends = {"x1": start.x, "y1": start.y, "x2": end.x, "y2": end.y}
    line = SubElement(group, "line", {"class": "drawn"})
    line.set("stroke-width", format_number(0.8 + 1.3 * log(relation.weight)))
    # In the page a wide invisible line makes the thin one easy to point at.
    lines = [line] if alone else [line, SubElement(group, "line", {"class": "grip"})]
    for element in lines:
        for name, value in ends.items():
            element.set(name, format_number(value))
    if alone:
        names = " and ".join(figures[row].name for row in relation.ends)
        spoken = f", {count_noun(said, 'quotation')} from one to the other" if said else ""
        met = count_noun(relation.weight, "chunk")
        add_tooltip(group, f"{names}: {met}{spoken}\n{relation.text}")


def _draw_figure(
    group: Element, figure: Figure, spot: Spot, community: DrawnCommunity | None, alone: bool
) -> None:
    circle = SubElement(group, "circle", {"r": format_number(spot.radius)})
    circle.set("cx", format_number(spot.x))
    circle.set("cy", format_number(spot.y))
    below = spot.y + spot.radius + LINE_HEIGHT - 3
    text = add_text(group, "", spot.x, below, label(figure.name))
    if community:
        SubElement(text, "tspan", {"class": "of", "dx": "4"}).text = str(community.numbers[0])
    if alone:
        head = f"{figure.name}, {figure.type}: {count_noun(figure.weight, 'mention')}"
        add_tooltip(group, f"{head}\n{figure.text}")


def _draw_community_key(
    svg: Element, picture: NetworkPicture, groups: Collection[int], y: float
) -> tuple[float, float]:
    """Draw what numbers and colours mean, a line each, and return the y and x where it ends."""
    end = MARGIN
    for place, community in enumerate(picture.communities):
        if place not in groups:
            continue
        group = SubElement(svg, "g", {"class": f"key hue{community.hues[0]}"})
        dot = {"cx": format_number(MARGIN + 5), "cy": format_number(y), "r": "5"}
        SubElement(group, "circle", dot)
        text = f"{community.numbers[0]} {community.title} ({community.size:,})"
        add_text(group, "", MARGIN + 14, y + 4, text)
        end = max(end, MARGIN + 14 + len(text) * LETTER_WIDTH)
        y += LINE_HEIGHT + 1
    return y, end


def _draw_type_key(
    svg: Element, types: Sequence[str], colours: Mapping[str, int], y: float
) -> tuple[float, float]:
    """Draw what the colours mean, in a row, and return the y and the x where it ends."""
    x = MARGIN
    for type in sorted(set(types), key=lambda type: (colours[type], type)):
        group = SubElement(svg, "g", {"class": f"key hue{colours[type]}"})
        SubElement(group, "circle", {"cx": format_number(x + 5), "cy": format_number(y), "r": "5"})
        add_text(group, "", x + 14, y + 4, type)
        x += KEY_HEIGHT + len(type) * LETTER_WIDTH + 8
    return y + KEY_HEIGHT / 2, x


def _frame(spots: Sequence[Spot], figures: Sequence[Figure]) -> tuple[float, float, float, float]:
    """Return left, right, top and foot of figures with their names."""
    if not spots:
        return 0.0, 0.0, 0.0, 0.0
    halves = [
        max(spot.radius, len(label(figure.name)) * LETTER_WIDTH / 2)
        for spot, figure in zip(spots, figures, strict=True)
    ]
    return (
        min(spot.x - half for spot, half in zip(spots, halves, strict=True)),
        max(spot.x + half for spot, half in zip(spots, halves, strict=True)),
        min(spot.y - spot.radius for spot in spots),
        max(spot.y + spot.radius + LINE_HEIGHT for spot in spots),
    )
