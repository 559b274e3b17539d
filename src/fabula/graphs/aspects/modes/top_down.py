"""From the top summaries of each aspect to their best members, level by level."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.options import FlatOptions
from fabula.graph.queries import read_statement


class Options(FlatOptions):
    """The table `[top-down]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(5, ge=1, le=100, description="passages that a traversal keeps at each step")
    depth: int = Field(6, ge=1, le=20, description="steps that the traversal goes down")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the best passages on a way down the trees; one round trip.

    The tree traversal of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059, section 3). It starts at the
    best `width` top summaries of each aspect; RAPTOR starts at those of the whole top layer. Then,
    `depth` times, it goes on to the best `width` members of the passages that it has. The best of
    all passages on the way are returned.
    """
    width, depth = tools.options.width, tools.options.depth
    vector = tools.embed(question)
    with tools.trace.step("top-down", f"width {width}, depth {depth}") as step:
        hits = tools.find_hits(
            read_statement("aspects/find_top_down"), vector, filters, width=width, depth=depth
        )
        step.record(hits, hits[: tools.k])
    return hits[: tools.k]


MODE = Mode(
    retrieve,
    "from the top summaries of each aspect to their best members, level by level",
    options=Options,
    graph="aspects",
)
