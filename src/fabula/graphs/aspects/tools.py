"""The tool that this graph brings for the mode `agent`: it returns the summaries of an aspect."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from fabula.errors import NotFound
from fabula.graph.hits import Filters
from fabula.graph.mode import Tools
from fabula.graph.reading_tools import (
    MAX_ARGUMENT_CHARACTERS,
    ReadingResult,
    ReadingTool,
    SearchArguments,
)
from fabula.text.names import quote_name

SUMMARIES = 8
"""How many summaries a call finds."""


class SummariesArguments(SearchArguments):
    """What the summaries are to be about."""

    aspect: str = Field(
        "",
        max_length=MAX_ARGUMENT_CHARACTERS,
        description="one aspect, such as plot, character or setting; empty for all",
    )


def find_summaries(arguments: SummariesArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """Return the summaries nearest to a query. Raises NotFound for an aspect that has none."""
    kinds = tuple(kind for kind in ("summary",) if not filters.kinds or kind in filters.kinds)
    if not kinds:
        return ReadingResult()
    within = replace(filters, kinds=kinds)
    aspect = arguments.aspect.lower()
    if not aspect or (filters.aspects and aspect not in filters.aspects):
        return ReadingResult(tuple(tools.nearest(arguments.query, within, SUMMARIES)))
    hits = tools.nearest(arguments.query, replace(within, aspects=(aspect,)), SUMMARIES)
    if not hits:
        known = {hit.aspect for hit in tools.nearest(arguments.query, within, 10 * SUMMARIES)}
        listed = f"There are: {', '.join(sorted(known))}." if known else "There is none."
        raise NotFound(f"No summary is of the aspect {quote_name(aspect)}. {listed}")
    return ReadingResult(tuple(hits))


def make_tools() -> tuple[ReadingTool, ...]:
    """Return the tool `summaries`."""
    return (
        ReadingTool(
            "summaries",
            "Find summaries of shorter and longer stretches of the text, each of one aspect. They "
            "help with questions about a whole book",
            SummariesArguments,
            find_summaries,
        ),
    )
