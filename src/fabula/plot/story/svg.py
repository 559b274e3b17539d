"""A document's events along its text as SVG: on its own a picture, in the page what is moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fabula.plot.network.spread import label
from fabula.plot.story.events import Happening, Story, Tie
from fabula.plot.trees.svg import EDGE, STYLE, clean, heading, rounded, text_at

OWN_STYLE = Path(__file__).with_name("story_picture.css")
GUTTER, LENGTH = 160.0, 1200.0
"""For the names of rows, and along the text."""
ROW = 20.0
HEAD = 22.0
"""Of the sections' titles."""
RADIUS = 4.0
LETTER = 6.2
"""Width of a letter of a caption, about."""
CAPTIONS = ("when", "what")
KINDS = {"cause": "cause", "time": "time", "contrast": "contrast", "more": "goes on"}
"""What passages' ties are called in the picture: a row each, of those that there are."""


def rows_of(story: Story) -> list[tuple[str, str, int]]:
    """The rows from the top down: of what kind, how each is called, and how many are in it."""
    found = [("when", "when", sum("when" in event.told for event in story.events))]
    found.append(("what", "what happens", len(story.events)))
    found += [(lane.slot, lane.name, lane.events) for lane in story.lanes]
    found.append(("why", "told why", sum("why" in event.told for event in story.events)))
    counts = Counter(tie.kind for tie in story.ties)
    found += [(kind, name, counts[kind]) for kind, name in KINDS.items()]
    return [row for row in found if row[2]]


def draw_story(story: Story, *, alone: bool) -> str:
    """The events as SVG; where it stands `alone` with a heading, titles and captions."""
    rows = rows_of(story)
    svg = Element("svg", {"class": "picture story", "xmlns": "http://www.w3.org/2000/svg"})
    svg.set("role", "group")
    svg.set("aria-label", clean(f"{story.title}: what happens, in the order told"))
    SubElement(svg, "style").text = "\n".join(
        file.read_text(encoding="utf-8") for file in (STYLE, OWN_STYLE)
    )
    paper = SubElement(svg, "rect", {"class": "paper"})
    y = heading(svg, story.title, story.author, story.question, EDGE) if alone else 0.0
    view = SubElement(svg, "g", id="view")
    view.set("transform", f"translate({rounded(EDGE + GUTTER)} {rounded(y + HEAD)})")
    height = ROW * len(rows)
    _ground(view, story, rows, height, alone)
    middles = {row[:2]: ROW * (place + 0.5) for place, row in enumerate(rows)}
    lanes = [middles[lane.slot, lane.name] for lane in story.lanes]
    ties = SubElement(view, "g", {"class": "links"})
    for number, tie in enumerate(story.ties):
        _tie(ties, tie, number, story, middles[tie.kind, KINDS[tie.kind]], alone)
    events = SubElement(view, "g", {"class": "events"})
    why = middles.get(("why", "told why"), 0.0)
    for number, event in enumerate(story.events):
        found = event.chunk in story.found
        group = SubElement(events, "g", {"class": "event found" if found else "event"})
        group.set("id", f"e{number}")
        group.set("transform", f"translate({rounded(event.at * LENGTH)} 0)")
        _event(group, event, [lanes[lane] for lane in event.lanes], why, story, alone)
    if alone:
        for slot in CAPTIONS:
            if middle := next((middles[row[:2]] for row in rows if row[0] == slot), None):
                _captions(view, slot, story.events, middle)
    size = {"width": 2 * EDGE + GUTTER + LENGTH, "height": y + HEAD + height + EDGE}
    svg.set("viewBox", f"0 0 {rounded(size['width'])} {rounded(size['height'])}")
    for name, value in size.items():
        svg.set(name, rounded(value))
        paper.set(name, rounded(value))
    return ElementTree.tostring(svg, encoding="unicode")


def caption(event: Happening, slot: str) -> str:
    """What stands in the row of a slot: of what happens, the predicate too."""
    if slot != "what":
        return event.told.get(slot, "")
    return " ".join(event.told[one] for one in ("predicate", "what") if one in event.told)


def _ground(
    view: Element, story: Story, rows: Sequence[tuple[str, str, int]], height: float, alone: bool
) -> None:
    """The rows with their names, and the sections' beginnings with theirs."""
    for place, (kind, name, count) in enumerate(rows):
        group = SubElement(view, "g", {"class": f"row {kind}", "id": f"r{place}"})
        box = {"x": -GUTTER, "y": ROW * place, "width": GUTTER + LENGTH, "height": ROW}
        ground = SubElement(group, "rect", {"class": "even" if place % 2 else "odd"})
        for key, value in box.items():
            ground.set(key, rounded(value))
        if alone:
            said = text_at(group, "name", -8, ROW * (place + 0.5) + 4, label(name))
            SubElement(said, "title").text = clean(f"{name}: {count:,}")
    ends = [start for _, start in story.sections[1:]] + [len(story.texts)]
    for (title, start), end in zip(story.sections, ends, strict=True):
        x, wide = (LENGTH * one / max(len(story.texts), 1) for one in (start, end - start))
        if start:
            SubElement(view, "path", {"class": "seams", "d": f"M{rounded(x)} 0V{rounded(height)}"})
        letters = int((wide - 6) / LETTER)
        if alone and letters >= 3:
            short = title if len(title) <= letters else f"{title[: letters - 1]}…"
            SubElement(text_at(view, "part", x + 3, -7, short), "title").text = clean(title)


def _event(
    group: Element,
    event: Happening,
    lanes: Sequence[float],
    why: float,
    story: Story,
    alone: bool,
) -> None:
    told = [*lanes, why] if "why" in event.told and why else list(lanes)
    stem = {"y1": min(told), "y2": max(told)}
    line = SubElement(group, "line", {"class": "stem"})
    for name, value in stem.items():
        line.set(name, rounded(value))
    for lane, y in zip(event.lanes, lanes, strict=True):
        dot = SubElement(group, "circle", {"class": story.lanes[lane].slot, "cy": rounded(y)})
        dot.set("r", rounded(RADIUS))
    if len(told) > len(lanes):
        top = rounded(why - RADIUS)
        SubElement(group, "path", {"class": "why", "d": f"M0 {top}l4 4l-4 4l-4 -4z"})
    if alone:
        said = [f"{slot}: {value}" for slot, value in event.told.items()]
        SubElement(group, "title").text = clean("\n".join(said))


def _tie(parent: Element, tie: Tie, number: int, story: Story, y: float, alone: bool) -> None:
    """From chunk to chunk, for a cause with an arrow to what comes of it."""
    one, other = (LENGTH * (chunk + 0.5) / len(story.texts) for chunk in tie.chunks)
    group = SubElement(parent, "g", {"class": f"link {tie.kind}", "id": f"t{number}"})
    SubElement(group, "line", {"class": "reach", "y1": rounded(y), "y2": rounded(y)})
    line = group[0]
    line.set("x1", rounded(one))
    line.set("x2", rounded(other))
    mark = SubElement(group, "path", {"class": "sign", "d": sign(tie)})
    mark.set("transform", f"translate({rounded((one + other) / 2)} {rounded(y)})")
    if alone:
        connective = f" ({tie.connective})" if tie.connective else ""
        SubElement(group, "title").text = clean(f"{tie.sense}{connective}")


def sign(tie: Tie) -> str:
    """A shape a kind, so that they are told apart without colour; of a cause it points onwards."""
    if tie.kind == "cause" and tie.cause >= 0:
        way = 1 if tie.cause == tie.chunks[0] else -1
        return f"M{-4 * way} -5L{6 * way} 0L{-4 * way} 5z"
    shapes = {
        "cause": "M-4 -4h8v8h-8z",
        "time": "M-1.5 -5h3v10h-3z",
        "contrast": "M0 -5l5 5l-5 5l-5 -5z",
        "more": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    }
    return shapes[tie.kind]


def _captions(view: Element, slot: str, events: Sequence[Happening], y: float) -> None:
    for x, said in fitting((event.at * LENGTH, caption(event, slot)) for event in events):
        text_at(view, "caption", x, y + 4, said)


def fitting(captions: Iterator[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Those captions for which there is room, from the left to the right."""
    free = 0.0
    for x, said in captions:
        end = x + len(said) * LETTER
        if said and x >= free and end <= LENGTH:
            free = end + LETTER
            yield x, said
