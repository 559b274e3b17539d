"""The mode `triples`: the facts nearest to a question, and the passages that state them.

Facts are searched as the triples of Wikontic are (Chepurova et al. 2025), by the cosine of their
words; but the result is the book's own passages, with the facts beside them if records are wanted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabula.ask import hybrid
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graphs.entities.retrieval import (
    chunk_hits,
    join_hits,
    passages,
    read_network,
    record_hits,
)


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the nearest facts, if records are wanted, and the `k` chunks that state them."""
    if read_network(filters, tools) is None:
        return []
    vector = tools.embed(question)
    everywhere = filters.open
    near = {
        hit.id: hit.score
        for hit in tools.elements(vector, everywhere, tools.options.facts, ("fact",))
        if hit.score >= tools.options.least
    }
    if not near:
        return hybrid.fall_back(question, "no fact is near", filters, tools)
    with tools.trace.step("facts", f"{len(near)}, and the chunks that state them") as step:
        sources = tools.store.read(
            read_statement("fabula_graphs/facts/find_sources"), filters, nodes=list(near)
        )
        chunks = chunk_hits(_best(rank(near, sources), tools.k), filters, tools)
        step.record(chunks)
    if len(chunks) < tools.k:
        # Few facts, such as rules find, lead to few chunks.
        chunks = fill_up(chunks, passages(question, vector, filters, tools, tools.k), tools.k)
    facts = record_hits(near, filters, tools)
    hits = join_hits([(facts, tools.options.fact_share)], chunks, filters, tools)
    if hits:
        return hits
    return hybrid.fall_back(question, "what states the facts is gone", filters, tools)


def rank(near: Mapping[str, float], sources: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the score of each chunk: the cosines of its facts, each shared by all that state it.

    Args:
        near: The cosine of each fact, by id.
        sources: The ids of the chunks that state each fact: rows of `id` and `sources`.
    """
    shares: dict[str, list[float]] = {}
    for row in sources:
        for chunk in row["sources"]:
            shares.setdefault(chunk, []).append(near[row["id"]] / len(row["sources"]))
    return {chunk: math.fsum(parts) for chunk, parts in shares.items()}


def fill_up(chunks: Sequence[Hit], others: Sequence[Hit], limit: int) -> list[Hit]:
    """Return the chunks that state facts, then others in their order; scores follow that order."""
    ids = {hit.id for hit in chunks}
    both = [*chunks, *(hit for hit in others if hit.id not in ids)][:limit]
    return [replace(hit, score=1 / place) for place, hit in enumerate(both, start=1)]


def _best(scores: Mapping[str, float], limit: int) -> dict[str, float]:
    order = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
    return {chunk: scores[chunk] for chunk in order[:limit]}
