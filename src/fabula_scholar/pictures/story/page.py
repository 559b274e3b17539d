"""Build the page of a story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabula.text.sections import shorten_paths
from fabula_scholar.pictures.shared.page import build_page
from fabula_scholar.pictures.story.events import StoryPicture
from fabula_scholar.pictures.story.svg import (
    HEAD_HEIGHT,
    ROW_HEIGHT,
    caption,
    draw_story,
    list_rows,
)


def to_story_page(story: StoryPicture) -> str:
    """Return the page as HTML."""
    return build_page(
        Path(__file__).parent,
        "story.js",
        styles=("story.css",),
        title=story.title,
        author=story.author,
        counts=_describe_counts(story),
        picture=draw_story(story, alone=False),
        data=_page_data(story),
        search=(
            "Search events (/)",
            "Search what is told of events; Enter selects the first match",
        ),
        reset="Show everything again (0)",
    )


def _describe_counts(story: StoryPicture) -> str:
    causes = sum(link.kind == "cause" for link in story.links)
    return (
        f"{len(story.events):,} events; {len(story.links):,} links of neighbouring passages, "
        f"{causes:,} of cause"
    )


def _page_data(story: StoryPicture) -> dict[str, Any]:
    """Return what story.js reads; its first comment describes the format."""
    needed = {event.chunk for event in story.events}
    needed |= {chunk for link in story.links for chunk in link.chunks}
    return {
        "question": story.question,
        "mode": story.mode,
        "hits": story.hits,
        "sizes": (HEAD_HEIGHT, ROW_HEIGHT),
        "sections": [
            (title, start, name)
            for (title, start), name in zip(
                story.sections, shorten_paths(title for title, _ in story.sections), strict=True
            )
        ],
        "chunks": len(story.texts),
        "texts": [text if place in needed else "" for place, text in enumerate(story.texts)],
        "rows": list_rows(story),
        "lanes": [(lane.slot, lane.name) for lane in story.lanes],
        "events": [
            {
                "at": round(event.at, 6),
                "chunk": event.chunk,
                "lanes": event.lanes,
                "slots": event.slots,
                "what": caption(event, "what"),
            }
            for event in story.events
        ],
        "links": [
            (link.chunks, link.kind, link.sense, link.connective, link.cause)
            for link in story.links
        ],
    }
