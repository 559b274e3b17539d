"""The tool that this graph brings for the mode `agent`: what was annotated."""

from __future__ import annotations

from fabula.ask.element_search import ElementSearch
from fabula.graph.reading_tools import ReadingTool, SearchArguments


def make_tools() -> tuple[ReadingTool, ...]:
    """Return the tool `annotations`."""
    return (
        ReadingTool(
            "annotations",
            "Find what scholars and readers annotated or noted, by the words of a note, its tag or "
            "the words that it marks",
            SearchArguments,
            ElementSearch(("annotation",)),
        ),
    )
