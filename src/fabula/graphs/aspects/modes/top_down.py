"""From the top summaries of each aspect to their best members, level by level."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.queries import query


class Knobs(BaseModel):
    """How far to look."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(5, ge=1, le=100, description="passages a traversal keeps or opens at once")
    depth: int = Field(6, ge=1, le=20, description="steps that top-down goes down")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The tree traversal of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059), section 3.

    One statement: the best `width` tops of each aspect, then `depth` times the best `width` of
    what those at hand rest on. The best `k` of all that was kept on the way.
    """
    width, depth = tools.knobs.width, tools.knobs.depth
    vector = tools.embed(question)
    with tools.path.step("top-down", f"width {width}, depth {depth}") as step:
        hits = tools.found(
            query("aspects/find_top_down"), vector, filters, width=width, depth=depth
        )
        step.found(hits, hits[: tools.k])
    return hits[: tools.k]


MODE = Mode(
    retrieve,
    "from the top summaries of each aspect to their best members, level by level",
    knobs=Knobs,
    graph="aspects",
)
