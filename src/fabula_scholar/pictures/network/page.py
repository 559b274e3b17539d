"""Build the page of a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabula_scholar.pictures.network.communities import DrawnCommunity
from fabula_scholar.pictures.network.figures import (
    DrawnRelation,
    Figure,
    Meeting,
    NetworkPicture,
    first_types,
)
from fabula_scholar.pictures.network.spread import Spot
from fabula_scholar.pictures.network.svg import FIRST_FIGURES, draw_network, type_hues
from fabula_scholar.pictures.shared.page import build_page


def to_network_page(picture: NetworkPicture, spots: Sequence[Spot]) -> str:
    """Return the page as HTML; `spots` has the spot of each figure."""
    return build_page(
        Path(__file__).parent,
        "network.js",
        styles=("network.css",),
        title=picture.title,
        author=picture.author,
        counts=_describe_counts(picture),
        picture=draw_network(picture, spots, alone=False),
        data=_page_data(picture, spots),
        search=("Search names (/)", "Search names and descriptions; Enter selects the first match"),
        reset="Show everything again (0)",
    )


def _describe_counts(picture: NetworkPicture) -> str:
    drawn, total = len(picture.figures), picture.entities
    number = f"{drawn:,} of {total:,}" if drawn < total else f"{total:,}"
    entities = f"{number} people, places and things"
    counts = [entities, f"{len(picture.relations):,} ties", f"{len(picture.sections):,} sections"]
    if picture.communities:
        counts.append(f"{len(picture.communities):,} communities")
    return ", ".join(counts)


def _page_data(picture: NetworkPicture, spots: Sequence[Spot]) -> dict[str, Any]:
    """Return what network.js reads; its first comment describes the format."""
    colours = type_hues(picture.figures)
    counts = Counter(figure.type for figure in picture.figures)
    first = first_types(picture.figures)
    return {
        "question": picture.question,
        "mode": picture.mode,
        "walked": picture.walked,
        "first": FIRST_FIGURES,
        "sections": picture.sections,
        "types": [(type, hue, counts[type], type in first) for type, hue in colours.items()],
        "figures": [
            _figure_data(figure, spot) for figure, spot in zip(picture.figures, spots, strict=True)
        ],
        "relations": [_relation_data(relation) for relation in picture.relations],
        "communities": [_community_data(community) for community in picture.communities],
        "passages": picture.passages,
    }


def _figure_data(figure: Figure, spot: Spot) -> dict[str, Any]:
    return {
        "name": figure.name,
        "type": figure.type,
        "text": figure.text,
        "names": figure.names,
        "mentions": _by_section(figure.mentions),
        "at": (round(spot.x, 1), round(spot.y, 1), round(spot.radius, 1)),
    }


def _relation_data(relation: DrawnRelation) -> dict[str, Any]:
    return {
        "ends": relation.ends,
        "text": relation.text,
        "keywords": relation.keywords,
        "chunks": _by_section(relation.chunks),
        "quotations": _by_section(relation.quotations),
        "first": _meeting_data(relation.first),
        "last": _meeting_data(relation.last),
    }


def _community_data(community: DrawnCommunity) -> dict[str, Any]:
    return {
        "level": community.level,
        "numbers": community.numbers,
        "hues": community.hues,
        "parent": community.parent,
        "title": community.title,
        "size": community.size,
        "members": community.members,
        "importance": community.importance,
        "summary": community.summary,
        "findings": [
            (finding.summary, finding.explanation, finding.chunks) for finding in community.findings
        ],
        "rank": community.rank,
    }


def _by_section(counts: Mapping[int, int]) -> list[tuple[int, int]]:
    return sorted(counts.items())


def _meeting_data(meeting: Meeting) -> tuple[int, str]:
    return meeting.section, meeting.text
