"""From the best chunks and details up to the summaries that cover them."""

from __future__ import annotations

from fabula.model import Filters, Hit
from fabula.queries import query
from fabula.retrieve.modes import Tools

STARTS = 4
"""Times `width` passages are begun with."""
COVERING = 0.1
"""What covering counts against cosine. Measured on SQuALITY and QuALITY: level with more and less
within a story, and a point better than 0.3 over 25 of them."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The `k` best of the starts and of all above them, by cosine and share of starts below.

    One statement. A passage covers the starts that it rests on, itself, and a chunk its details.
    """
    vector = tools.embed(question)
    with tools.path.step("bottom-up", f"from {STARTS * tools.width} chunks and details") as step:
        hits = tools.found(
            query("find_bottom_up"), vector, filters, starts=STARTS * tools.width, covering=COVERING
        )
        step.found(hits, hits[: tools.k])
    return hits[: tools.k]
