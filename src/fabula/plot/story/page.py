"""The page of a story: its events and all that is told of them, in one file, as page.py's is."""

from __future__ import annotations

import html
from string import Template
from typing import Any

from fabula.plot.story.events import Story
from fabula.plot.story.svg import HEAD, ROW, caption, draw_story, rows_of
from fabula.plot.trees.page import HERE, to_json
from fabula.plot.trees.svg import clean

SCRIPTS = ("page.js", "stage.js", "story.js")
STYLES = ("page.css", "story.css")


def to_story_page(story: Story) -> str:
    """The whole page as HTML."""
    template = Template((HERE / "story.html").read_text(encoding="utf-8"))
    by = f", by {story.author}" if story.author else ""
    return template.substitute(
        title=html.escape(clean(f"{story.title}{by}")),
        counts=html.escape(_counts(story)),
        picture=draw_story(story, alone=False),
        graph=to_json(_graph(story)),
        style="\n".join((HERE / name).read_text(encoding="utf-8") for name in STYLES),
        script="\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    )


def _counts(story: Story) -> str:
    causes = sum(tie.kind == "cause" for tie in story.ties)
    read = {"rules": ", read by rules", "model": ", read by a model"}.get(story.by, "")
    return (
        f"{len(story.events):,} events{read}; {len(story.ties):,} links of neighbouring passages, "
        f"{causes:,} of cause"
    )


def _graph(story: Story) -> dict[str, Any]:
    """What story.js reads, and describes."""
    told = {event.chunk for event in story.events} | {
        end for tie in story.ties for end in tie.chunks
    }
    return {
        "question": story.question,
        "mode": story.mode,
        "found": story.found,
        "sizes": (HEAD, ROW),
        "sections": story.sections,
        "chunks": len(story.texts),
        "texts": [text if place in told else "" for place, text in enumerate(story.texts)],
        "rows": [(kind, name, count) for kind, name, count in rows_of(story)],
        "lanes": [(lane.slot, lane.name) for lane in story.lanes],
        "events": [
            {
                "at": round(event.at, 6),
                "chunk": event.chunk,
                "lanes": event.lanes,
                "told": event.told,
                "what": caption(event, "what"),
            }
            for event in story.events
        ],
        "ties": [
            (tie.chunks, tie.kind, tie.sense, tie.connective, tie.cause) for tie in story.ties
        ],
    }
