"""The tool that this graph brings for the mode `agent`: what happens, by whom, when and why."""

from __future__ import annotations

from fabula.ask.element_search import ElementSearch
from fabula.graph.reading_tools import ReadingTool, SearchArguments
from fabula_graphs.discourse.labels import EVENT


def make_tools() -> tuple[ReadingTool, ...]:
    """Return the tool `events`."""
    return (
        ReadingTool(
            "events",
            "Find events, told by who, what, when, where and why, in the order of the text. Ask "
            "for somebody by name, or for what happens",
            SearchArguments,
            ElementSearch((EVENT.lower(),), in_order=True),
        ),
    )
