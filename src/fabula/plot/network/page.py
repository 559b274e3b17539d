"""The page of a network: the picture and all that is told in it, in one file, as page.py's is."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from fabula.plot.network.communities import Community
from fabula.plot.network.figures import Bond, Figure, Meeting, Sociogram, first_types
from fabula.plot.network.spread import Spot
from fabula.plot.network.svg import FIRST, draw_sociogram, hues
from fabula.plot.trees.page import HERE, to_json
from fabula.plot.trees.svg import clean

SCRIPTS = ("page.js", "stage.js", "sociogram.js")
STYLES = ("page.css", "sociogram.css")


def to_sociogram_page(sociogram: Sociogram, spots: Sequence[Spot]) -> str:
    """The whole page as HTML."""
    template = Template((HERE / "sociogram.html").read_text(encoding="utf-8"))
    by = f", by {sociogram.author}" if sociogram.author else ""
    return template.substitute(
        title=html.escape(clean(f"{sociogram.title}{by}")),
        counts=html.escape(_counts(sociogram)),
        picture=draw_sociogram(sociogram, spots, alone=False),
        graph=to_json(_graph(sociogram, spots)),
        style=_read(STYLES),
        script=_read(SCRIPTS),
    )


def _read(names: Sequence[str]) -> str:
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)


def _counts(sociogram: Sociogram) -> str:
    drawn, there = len(sociogram.figures), sociogram.entities
    of = f"{drawn:,} of {there:,} entities" if drawn < there else f"{there:,} entities"
    told = f"{of}, {len(sociogram.bonds):,} ties, {len(sociogram.sections):,} sections"
    together = len(sociogram.communities)
    return f"{told}, {together:,} communities" if together else told


def _graph(sociogram: Sociogram, spots: Sequence[Spot]) -> dict[str, Any]:
    """What sociogram.js reads, and describes."""
    colours = hues(sociogram.figures)
    counts = Counter(figure.type for figure in sociogram.figures)
    first = first_types(sociogram.figures)
    return {
        "question": sociogram.question,
        "mode": sociogram.mode,
        "walked": sociogram.walked,
        "first": FIRST,
        "sections": sociogram.sections,
        "types": [(type, hue, counts[type], type in first) for type, hue in colours.items()],
        "figures": [
            _figure(figure, spot) for figure, spot in zip(sociogram.figures, spots, strict=True)
        ],
        "bonds": [_bond(bond) for bond in sociogram.bonds],
        "communities": [_community(community) for community in sociogram.communities],
        "passages": sociogram.passages,
    }


def _figure(figure: Figure, spot: Spot) -> dict[str, Any]:
    return {
        "name": figure.name,
        "type": figure.type,
        "text": figure.text,
        "names": figure.names,
        "mentions": _by_section(figure.mentions),
        "at": (round(spot.x, 1), round(spot.y, 1), round(spot.radius, 1)),
    }


def _bond(bond: Bond) -> dict[str, Any]:
    return {
        "ends": bond.ends,
        "text": bond.text,
        "keywords": bond.keywords,
        "chunks": _by_section(bond.chunks),
        "first": _meeting(bond.first),
        "last": _meeting(bond.last),
    }


def _community(one: Community) -> dict[str, Any]:
    return {
        "level": one.level,
        "numbers": one.numbers,
        "hues": one.hues,
        "parent": one.parent,
        "title": one.title,
        "size": one.size,
        "members": one.members,
        "importance": one.importance,
        "summary": one.summary,
        "findings": [(found.summary, found.explanation, found.chunks) for found in one.findings],
        "found": one.found,
    }


def _by_section(counts: Mapping[int, int]) -> list[tuple[int, int]]:
    return sorted(counts.items())


def _meeting(meeting: Meeting) -> tuple[int, str]:
    return meeting.section, meeting.said
