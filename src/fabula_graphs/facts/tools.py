"""The tool that this graph brings for the mode `agent`: facts about somebody or something."""

from __future__ import annotations

from pydantic import Field

from fabula.ask.element_search import find_elements
from fabula.errors import NotFound
from fabula.graph.hits import Filters, make_hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graph.reading_tools import (
    MAX_ARGUMENT_CHARACTERS,
    ReadingResult,
    ReadingTool,
    ToolArguments,
)

FACTS = 30
"""How many facts a call finds."""


class FactsArguments(ToolArguments):
    """Of whom or what, or about what, to find facts."""

    name: str = Field(
        "", max_length=MAX_ARGUMENT_CHARACTERS, description="of whom or what; empty for all"
    )
    query: str = Field(
        "", max_length=MAX_ARGUMENT_CHARACTERS, description="what the facts are about"
    )


def find_facts(arguments: FactsArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """Return the facts of an entity, those stated most first; or those that a query is about.

    Raises:
        NotFound: Neither a name nor a query is given.
    """
    if not arguments.name:
        if not arguments.query:
            raise NotFound("Give a name or a query.")
        return ReadingResult(tuple(find_elements(arguments.query, ("fact",), filters, tools)))
    rows = tools.store.read(
        read_statement("fabula_graphs/facts/find_facts"),
        filters,
        document=filters.document,
        name=arguments.name.lower(),
        relation="",
        limit=FACTS,
    )
    hits = (make_hit(row, row["text"], float(row["chunks"]), kind="fact") for row in rows)
    return ReadingResult(tuple(hits))


def make_tools() -> tuple[ReadingTool, ...]:
    """Return the tool `facts`."""
    return (
        ReadingTool(
            "facts",
            "Find facts, such as who is whose kin, who lives where and who owns what",
            FactsArguments,
            find_facts,
        ),
    )
