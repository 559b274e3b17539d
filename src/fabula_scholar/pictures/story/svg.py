"""Draw a document's events along its text as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from fabula.text.sections import shorten_paths
from fabula_scholar.pictures.network.spread import label
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
from fabula_scholar.pictures.story.events import DrawnEvent, DrawnLink, StoryPicture

STORY_STYLE = Path(__file__).with_name("picture.css")
GUTTER, LENGTH = 160.0, 1200.0
"""Width of the column with the names of rows, and of the text."""
ROW_HEIGHT = 20.0
HEAD_HEIGHT = 22.0
"""Height of the row with the titles of sections."""
DOT_RADIUS = 4.0
LETTER_WIDTH = 6.2
"""Approximate width of a letter of a caption."""
CAPTIONS = ("when", "what")
LINK_ROWS = {"cause": "cause", "time": "time", "contrast": "contrast", "more": "goes on"}
"""Names of the rows of links, by their kind."""

Row = tuple[str, str, int]
"""The kind and the name of a row, and how many events or links it has."""


def list_rows(story: StoryPicture) -> list[Row]:
    """Return the rows that aren't empty, from the top down."""
    rows = [("when", "when", sum("when" in event.slots for event in story.events))]
    rows.append(("what", "what happens", len(story.events)))
    rows += [(lane.slot, lane.name, lane.events) for lane in story.lanes]
    rows.append(("why", "told why", sum("why" in event.slots for event in story.events)))
    counts = Counter(link.kind for link in story.links)
    rows += [(kind, name, counts[kind]) for kind, name in LINK_ROWS.items()]
    return [row for row in rows if row[2]]


def draw_story(story: StoryPicture, *, alone: bool) -> str:
    """Return the events as SVG.

    Args:
        story: What to draw.
        alone: Draw a file of its own, with a heading, titles, captions and tooltips. The page has
            these elsewhere.
    """
    rows = list_rows(story)
    svg, background = start_picture(
        "picture story", f"{story.title}: what happens, in the order told", [STYLE, STORY_STYLE]
    )
    y = add_heading(svg, story.title, story.author, story.question, MARGIN) if alone else 0.0
    view = SubElement(svg, "g", id="view")
    origin = f"{format_number(MARGIN + GUTTER)} {format_number(y + HEAD_HEIGHT)}"
    view.set("transform", f"translate({origin})")
    height = ROW_HEIGHT * len(rows)
    _draw_background(view, story, rows, height, alone)
    middles = {row[:2]: ROW_HEIGHT * (place + 0.5) for place, row in enumerate(rows)}
    lanes = [middles[lane.slot, lane.name] for lane in story.lanes]
    links = SubElement(view, "g", {"class": "links"})
    for number, link in enumerate(story.links):
        _draw_link(links, link, number, story, middles[link.kind, LINK_ROWS[link.kind]], alone)
    events = SubElement(view, "g", {"class": "events"})
    why = middles.get(("why", "told why"), 0.0)
    for number, event in enumerate(story.events):
        is_hit = event.chunk in story.hits
        group = SubElement(events, "g", {"class": "event found" if is_hit else "event"})
        group.set("id", f"e{number}")
        group.set("transform", f"translate({format_number(event.at * LENGTH)} 0)")
        _draw_event(group, event, [lanes[lane] for lane in event.lanes], why, story, alone)
    if alone:
        for slot in CAPTIONS:
            if middle := next((middles[row[:2]] for row in rows if row[0] == slot), None):
                _draw_captions(view, slot, story.events, middle)
    return finish_picture(
        svg, background, 2 * MARGIN + GUTTER + LENGTH, y + HEAD_HEIGHT + height + MARGIN
    )


def caption(event: DrawnEvent, slot: str) -> str:
    """Return the caption of an event in the row of a slot; "what" includes the predicate."""
    if slot != "what":
        return event.slots.get(slot, "")
    return " ".join(event.slots[name] for name in ("predicate", "what") if name in event.slots)


def link_shape(link: DrawnLink) -> str:
    """Return the outline of a link's sign, as a path.

    Each kind has a shape, so that no colour is needed; a cause's points to the effect.
    """
    if link.kind == "cause" and link.cause >= 0:
        way = 1 if link.cause == link.chunks[0] else -1
        return f"M{-4 * way} -5L{6 * way} 0L{-4 * way} 5z"
    shapes = {
        "cause": "M-4 -4h8v8h-8z",
        "time": "M-1.5 -5h3v10h-3z",
        "contrast": "M0 -5l5 5l-5 5l-5 -5z",
        "more": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    }
    return shapes[link.kind]


def select_captions(captions: Iterator[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Yield the captions that fit, from left to right, each with its x."""
    free = 0.0
    for x, text in captions:
        end = x + len(text) * LETTER_WIDTH
        if text and x >= free and end <= LENGTH:
            free = end + LETTER_WIDTH
            yield x, text


def _draw_background(
    view: Element, story: StoryPicture, rows: Sequence[Row], height: float, alone: bool
) -> None:
    """Draw the rows with their names, and the beginnings of the sections with their titles."""
    for place, (kind, name, count) in enumerate(rows):
        group = SubElement(view, "g", {"class": f"row {kind}", "id": f"r{place}"})
        y = ROW_HEIGHT * place
        box = {"x": -GUTTER, "y": y, "width": GUTTER + LENGTH, "height": ROW_HEIGHT}
        ground = SubElement(group, "rect", {"class": "even" if place % 2 else "odd"})
        for key, value in box.items():
            ground.set(key, format_number(value))
        if alone:
            text = add_text(group, "name", -8, ROW_HEIGHT * (place + 0.5) + 4, label(name))
            add_tooltip(text, f"{name}: {count:,}")
    ends = [start for _, start in story.sections[1:]] + [len(story.texts)]
    names = shorten_paths(title for title, _ in story.sections)
    for (title, start), end, name in zip(story.sections, ends, names, strict=True):
        x, width = (LENGTH * chunks / max(len(story.texts), 1) for chunks in (start, end - start))
        if start:
            seam = f"M{format_number(x)} 0V{format_number(height)}"
            SubElement(view, "path", {"class": "seams", "d": seam})
        letters = int((width - 6) / LETTER_WIDTH)
        if alone and letters >= 3:
            add_tooltip(add_text(view, "part", x + 3, -7, shorten(name, letters)), title)


def _draw_event(
    group: Element,
    event: DrawnEvent,
    lanes: Sequence[float],
    why: float,
    story: StoryPicture,
    alone: bool,
) -> None:
    has_reason = bool("why" in event.slots and why)
    middles = [*lanes, why] if has_reason else list(lanes)
    stem = {"y1": min(middles), "y2": max(middles)}
    line = SubElement(group, "line", {"class": "stem"})
    for name, value in stem.items():
        line.set(name, format_number(value))
    for lane, y in zip(event.lanes, lanes, strict=True):
        dot = {"class": story.lanes[lane].slot, "cy": format_number(y)}
        SubElement(group, "circle", {**dot, "r": format_number(DOT_RADIUS)})
    if has_reason:
        top = format_number(why - DOT_RADIUS)
        SubElement(group, "path", {"class": "why", "d": f"M0 {top}l4 4l-4 4l-4 -4z"})
    if alone:
        add_tooltip(group, "\n".join(f"{slot}: {value}" for slot, value in event.slots.items()))


def _draw_link(
    parent: Element, link: DrawnLink, number: int, story: StoryPicture, y: float, alone: bool
) -> None:
    """Draw a line from chunk to chunk with a sign in the middle."""
    x, to_x = (LENGTH * (chunk + 0.5) / len(story.texts) for chunk in link.chunks)
    height = format_number(y)
    group = SubElement(parent, "g", {"class": f"link {link.kind}", "id": f"t{number}"})
    line = {"class": "reach", "y1": height, "y2": height}
    SubElement(group, "line", {**line, "x1": format_number(x), "x2": format_number(to_x)})
    sign = SubElement(group, "path", {"class": "sign", "d": link_shape(link)})
    sign.set("transform", f"translate({format_number((x + to_x) / 2)} {height})")
    if alone:
        connective = f" ({link.connective})" if link.connective else ""
        add_tooltip(group, f"{link.sense}{connective}")


def _draw_captions(view: Element, slot: str, events: Sequence[DrawnEvent], y: float) -> None:
    captions = ((event.at * LENGTH, caption(event, slot)) for event in events)
    for x, text in select_captions(captions):
        add_text(view, "caption", x, y + 4, text)
