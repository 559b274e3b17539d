"""From the top summaries of each aspect to their best members, level by level."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.options import FrozenOptions
from fabula.graph.queries import read_statement
from fabula.text.document import Vector

MIN_REACH, MAX_REACH = 16, 20_000
"""How many summaries of an aspect the index is asked for at first, for each top that is wanted, and
at most. Of eight summaries about one is a top."""


class Options(FrozenOptions):
    """The table `[top-down]`."""

    width: int = Field(5, ge=1, le=100, description="passages that a traversal keeps at each step")
    depth: int = Field(6, ge=1, le=20, description="steps that the traversal goes down")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the best passages on a way down the trees.

    The tree traversal of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059, section 3). It starts at the
    best `width` top summaries of each aspect; RAPTOR starts at those of the whole top layer. Then,
    `depth` times, it goes on to the best `width` members of the passages that it has. The best of
    all passages on the way are returned.

    In one document all top summaries are compared with the question. In a collection the vector
    index finds them, as there may be a hundred thousand summaries to look at.
    """
    width, depth = tools.options.width, tools.options.depth
    vector = tools.embed(question)
    with tools.trace.step("top-down", f"width {width}, depth {depth}") as step:
        if filters.document:
            hits = tools.find_hits(
                read_statement("aspects/find_top_down"), vector, filters, width=width, depth=depth
            )
        else:
            tops = _find_tops(vector, filters, tools)
            hits = tools.find_hits(
                read_statement("aspects/find_down"),
                vector,
                filters,
                tops=tops,
                width=width,
                depth=depth,
            )
        step.record(hits, hits[: tools.k])
    return hits[: tools.k]


def _find_tops(vector: Vector, filters: Filters, tools: Tools) -> list[str]:
    """Return the ids of the best top summaries of each aspect, by the vector index."""
    width = tools.options.width
    reach = MIN_REACH * width
    # The index does not know what is above a summary: it is asked for more until there are enough.
    while True:
        rows = tools.find_rows(
            read_statement("aspects/find_tops"), vector, filters, width=width, reach=reach
        )
        missing = [row for row in rows if len(row["tops"]) < width and row["seen"] >= reach]
        if not missing or reach >= MAX_REACH:
            return [id for row in rows for id in row["tops"]]
        reach *= 4


MODE = Mode(
    retrieve,
    "from the top summaries of each aspect to their best members, level by level",
    options=Options,
    graph="aspects",
    sentence="Goes from the summaries of the whole book down to the passages that "
    "fit; suits broad questions.",
)
