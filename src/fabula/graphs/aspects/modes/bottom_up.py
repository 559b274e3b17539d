"""From the best chunks and details up to the summaries that cover them."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.options import FrozenOptions
from fabula.graph.queries import read_statement

STARTS_PER_WIDTH = 4
"""The search starts from this multiple of `width` chunks and details."""
COVERAGE_WEIGHT = 0.1
"""The weight of coverage against cosine. Measured on SQuALITY and QuALITY: within one story more
and less do as well; over 25 stories it is a point better than 0.3."""


class Options(FrozenOptions):
    """The table `[bottom-up]`."""

    width: int = Field(5, ge=1, le=100, description="passages that a traversal keeps at each step")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the best of the starting passages and of all summaries above them.

    They are ranked by cosine, and by the share of the starting passages that they cover. A passage
    covers itself and what is below it, and a chunk its details. One round trip.
    """
    starts = STARTS_PER_WIDTH * tools.options.width
    vector = tools.embed(question)
    with tools.trace.step("bottom-up", f"from {starts} chunks and details") as step:
        hits = tools.find_hits(
            read_statement("aspects/find_bottom_up"),
            vector,
            filters,
            limit=starts,
            depth=starts,
            covering=COVERAGE_WEIGHT,
        )
        step.record(hits, hits[: tools.k])
    return hits[: tools.k]


MODE = Mode(
    retrieve,
    "from the best chunks and details up to the summaries that cover them",
    options=Options,
    graph="aspects",
    sentence="Goes from the best passages up to the summaries of what surrounds them.",
)
