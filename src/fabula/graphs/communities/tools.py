"""The tool that this graph brings for the mode `agent`: reports on groups that belong together."""

from __future__ import annotations

from fabula.ask.element_search import ElementSearch
from fabula.graph.reading_tools import ReadingTool, SearchArguments
from fabula.graphs.communities.labels import REPORT


def make_tools() -> tuple[ReadingTool, ...]:
    """Return the tool `reports`."""
    return (
        ReadingTool(
            "reports",
            "Find reports on groups of people, places and things that have to do with each other. "
            "They help with questions about a whole book",
            SearchArguments,
            ElementSearch((REPORT.lower(),)),
        ),
    )
