"""The tool that this graph brings for the mode `agent`: what a name stands for."""

from __future__ import annotations

from fabula.ask.element_search import find_elements
from fabula.errors import NotFound
from fabula.graph.hits import Filters
from fabula.graph.mode import Tools
from fabula.graph.reading_tools import NameArguments, ReadingResult, ReadingTool
from fabula.graphs.entities.modes.local import rank_chunks, rank_relations
from fabula.graphs.entities.questions import find_names, rows_of
from fabula.graphs.entities.retrieval import (
    chunk_hits,
    entity_hits,
    link_hits,
    read_network,
    record_hits,
)
from fabula.text.names import quote_name

RELATIONS, CHUNKS = 12, 3
"""How many relations of an entity are read, and how many chunks that state most of them."""
NAMESAKES = 3
"""How many entities of one name are read."""


def read_card(arguments: NameArguments, filters: Filters, tools: Tools) -> ReadingResult:
    """Return an entity's record, its relations, and the chunks that state most of them.

    Raises:
        NotFound: There is nothing of this name, nor of one like it.
    """
    network = read_network(filters, tools)
    if network is None:
        raise NotFound("There are no entities here.")
    # The names of a sentence are told from its other words by their capitals.
    rows = rows_of([arguments.name.casefold()], network) or rows_of(
        find_names(arguments.name, network), network
    )
    if not rows:
        found = find_elements(arguments.name, ("entity",), filters, tools)
        # Read as records, which a reader's place restricts: a stored text is of the whole book.
        near = record_hits({hit.id: hit.score for hit in found}, filters, tools)
        if not near:
            raise NotFound(f"There is nothing named {quote_name(arguments.name)}.")
        note = f"Nothing is named {quote_name(arguments.name)}. The nearest are:"
        return ReadingResult(tuple(near), note)
    rows = rows[:NAMESAKES]
    entities = entity_hits(
        {row: 1 / place for place, row in enumerate(rows, 1)}, network, filters, tools
    )
    ranked = rank_relations(rows, network, RELATIONS)[:RELATIONS]
    scored = {row: 1 / place for place, row in enumerate(ranked, 1)}
    relations = link_hits(scored, network.relations, "relation", filters, tools)
    chunks = [network.chunks[row] for row in rank_chunks(rows, {}, network)[:CHUNKS]]
    text = chunk_hits({id: 1 / place for place, id in enumerate(chunks, 1)}, filters, tools)
    return ReadingResult((*entities, *relations, *text))


def make_tools() -> tuple[ReadingTool, ...]:
    """Return the tool `entity`."""
    return (
        ReadingTool(
            "entity",
            "Read who or what a name stands for, its relations to others, and where the text has "
            "most of them",
            NameArguments,
            read_card,
        ),
    )
