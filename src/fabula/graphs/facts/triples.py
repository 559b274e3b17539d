"""The facts nearest to a question, and the passages that state them.

As the triples of Wikontic (Chepurova et al. 2025) are searched, by the cosine of their words; but
what is found are the book's own passages, the facts beside them where records are wanted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.queries import query
from fabula.graphs.entities.finding import (
    chunk_hits,
    fall_back,
    passages,
    read_network,
    record_hits,
    together,
)
from fabula.graphs.entities.reading import find_names, rows_of

FACT = "fact"


class Knobs(BaseModel):
    """What is looked for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    facts: int = Field(50, ge=1, le=1000, description="facts that are near to the question")
    least: float = Field(0.2, ge=-1, le=1, description="least cosine of a fact")
    fact_share: float = Field(0.25, ge=0, le=1, description="share of facts' records")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The nearest facts, as far as they are wanted, and the `k` chunks that they rest on."""
    network = read_network(filters, tools)
    if network is None:
        return []
    vector = tools.embed(question)
    everywhere = Filters(filters.collection, filters.document)
    near = {
        hit.id: hit.score
        for hit in tools.elements(vector, everywhere, tools.knobs.facts, (FACT,))
        if hit.score >= tools.knobs.least
    }
    if not near:
        rows = rows_of(find_names(question, network), network)
        return fall_back(question, "no fact is near", rows, network, filters, tools)
    with tools.path.step("facts", f"{len(near)}, and the chunks that state them") as step:
        rested = tools.read(query("facts/find_sources"), filters, nodes=list(near))
        chunks = chunk_hits(_best(rank(near, rested), tools.k), filters, tools)
        step.found(chunks)
    if len(chunks) < tools.k:
        # Few facts, as rules find them, lead to few chunks.
        chunks = filled_up(chunks, passages(question, vector, filters, tools, tools.k), tools.k)
    facts = record_hits(near, filters, tools)
    hits = together([(facts, tools.knobs.fact_share)], chunks, filters, tools)
    if hits:
        return hits
    return fall_back(question, "what states the facts is gone", (), network, filters, tools)


def rank(near: Mapping[str, float], rested: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What each chunk scores: the cosines of its facts, each shared among all that state it."""
    scored: dict[str, list[float]] = {}
    for row in rested:
        for chunk in row["sources"]:
            share = near[row["id"]] / len(row["sources"])
            scored.setdefault(chunk, []).append(share)
    return {chunk: math.fsum(shares) for chunk, shares in scored.items()}


def filled_up(chunks: Sequence[Hit], others: Sequence[Hit], limit: int) -> list[Hit]:
    """The chunks that state facts, then others in their order; scores tell that order."""
    there = {hit.id for hit in chunks}
    both = [*chunks, *(hit for hit in others if hit.id not in there)][:limit]
    return [replace(hit, score=1 / place) for place, hit in enumerate(both, start=1)]


def _best(scored: Mapping[str, float], limit: int) -> dict[str, float]:
    order = sorted(scored, key=lambda chunk: (-scored[chunk], chunk))
    return {chunk: scored[chunk] for chunk in order[:limit]}


MODE = Mode(
    retrieve,
    "the facts nearest to the question, and the passages that state them",
    knobs=Knobs,
    graph="facts",
)
