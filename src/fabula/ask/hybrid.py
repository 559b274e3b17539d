"""The mode `hybrid`: a ranking by cosine and one by BM25, over all levels at once, fused.

Without a chat model it searches the chunks alone, unless the question names kinds, aspects or
levels: the tree is of extracts then, which repeat the chunks. On four novels that were not used to
choose it, chunks had 55.7, 69.1 and 76.6 % of the evidence at 500, 1,000 and 1,700 tokens, and
chunks with extracts 54.2, 66.2 and 76.0 %.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import Field

from fabula.ask.fusion import fuse_by_scores
from fabula.graph.hits import Filters, Hit
from fabula.graph.options import FrozenOptions

if TYPE_CHECKING:
    from fabula.graph.mode import Tools

MIN_DEPTH = 100
"""Hits of each ranking that count at least; a hit further down scores 0 in that ranking."""
WORD_WEIGHT = 0.7
"""The weight of BM25 with static vectors; cosine has the rest. Measured on seven novels: as good as
a weighted sum over all passages, and 7 to 9 points more of the evidence than cosine alone."""
ENCODER_WORD_WEIGHT = 0.5
"""The weight of BM25 with the vectors of an encoder, which know more of a text than static ones."""


class Options(FrozenOptions):
    """The settings of the mode: how the two rankings are fused."""

    word_weight: float | None = Field(
        None,
        ge=0,
        le=1,
        description="weight of words in hybrid, 0 to 1, cosine has the rest; without it 0.7 with "
        "static vectors and 0.5 with others",
    )


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the `k` passages that do best in both rankings, found in one round trip."""
    if tools.models.offline and filters == filters.open:
        filters = replace(filters, kinds=("chunk",))
    depth = max(MIN_DEPTH, tools.k)
    vector = tools.embed(question)
    with tools.trace.step("nearest", "cosine, from the vector index, with the next") as step:
        near, alike = tools.store.search_hybrid(
            vector, question, depth, filters, tools.embedder.model
        )
        step.record(near)
    with tools.trace.step("matching", "BM25, from the full-text index") as step:
        step.record(alike)
    weight = weigh_words(tools, tools.options.word_weight)
    with tools.trace.step("fuse", f"by scores, words {weight:g}") as step:
        fused = fuse_by_scores([(alike, weight), (near, 1 - weight)], depth)
        step.record(fused, fused[: tools.k])
    return fused[: tools.k]


def fall_back(question: str, why: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return what this mode finds in the place of another one; `why`, the trace says."""
    with tools.trace.step("fall back", f"{why}: passages as hybrid finds them") as step:
        hits = retrieve(question, filters, replace(tools, options=Options()))
        step.record(hits)
    return hits


def weigh_words(tools: Tools, weight: float | None = None) -> float:
    """Return the weight of words beside cosine: the one given, or that for the vectors at hand."""
    if weight is not None:
        return weight
    is_static = tools.embedder.model == tools.models.static.model
    return WORD_WEIGHT if is_static else ENCODER_WORD_WEIGHT
