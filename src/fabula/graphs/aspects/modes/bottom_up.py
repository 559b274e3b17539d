"""From the best chunks and details up to the summaries that cover them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.queries import query

STARTS = 4
"""Times `width` passages are begun with."""
COVERING = 0.1
"""What covering counts against cosine. Measured on SQuALITY and QuALITY: level with more and less
within a story, and a point better than 0.3 over 25 of them."""


class Knobs(BaseModel):
    """How far to look."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(5, ge=1, le=100, description="passages a traversal keeps or opens at once")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The `k` best of the starts and of all above them, by cosine and share of starts below.

    One statement. A passage covers the starts that it rests on, itself, and a chunk its details.
    """
    starts = STARTS * tools.knobs.width
    vector = tools.embed(question)
    with tools.path.step("bottom-up", f"from {starts} chunks and details") as step:
        hits = tools.found(
            query("aspects/find_bottom_up"),
            vector,
            filters,
            limit=starts,
            depth=starts,
            covering=COVERING,
        )
        step.found(hits, hits[: tools.k])
    return hits[: tools.k]


MODE = Mode(
    retrieve,
    "from the best chunks and details up to the summaries that cover them",
    knobs=Knobs,
    graph="aspects",
)
