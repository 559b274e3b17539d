"""Fast GraphRAG: a walk over entities alone, from those that a question names or is near to.

circlemind-ai/fast-graphrag, read at 23b3a1b. Its code keeps no chunks of an entity, so that one
without relations leads nowhere, and takes entities above a fixed 0.005, which all are in a small
graph and few in a large one; here chunks count for whom they mention, too, and an entity has to be
met more often than by a walk that begins anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fabula.ask.fusion import by_scores
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graphs.entities.finding import (
    are_read,
    best_chunks,
    embed,
    entity_hits,
    fall_back,
    link_hits,
    nearest_entities,
    passages,
    read_network,
    together,
)
from fabula.graphs.entities.network import Network, best, pagerank, per_chunk
from fabula.graphs.entities.reading import Sought, find_names, read_question, rows_of
from fabula.text.ranking import Scores

NAMED = 0.4
"""Cosine from which on the nearest entity is taken for one that is named; its code says 0.7, of
scores from 0 to 1."""
NEAR = 20
"""Entities near to what has no name, of cosine 0 at least."""
DEPTH = 100
"""How far down a ranking of chunks counts, where it is put together with another."""
WORDS = 0.7
"""What passages count beside the walk where there is no model: alone it loses much."""


class Knobs(BaseModel):
    """How a walk over entities goes, and what is read of where it comes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    damping: float = Field(0.85, gt=0, lt=1, description="how likely a walk goes on")
    entities: int = Field(128, ge=1, le=10_000, description="entities that chunks are ranked by")
    relations: int = Field(64, ge=1, le=10_000, description="relations that chunks are ranked by")
    least: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of a walk's steps that an entity must have; unless set, its share of "
        "all relations' ends",
    )
    mentions: bool = Field(True, description="a chunk counts for whom it mentions, too")
    passages: float | None = Field(
        None,
        ge=0,
        le=1,
        description="what passages that the question alone finds count beside the walk; unless "
        "set, 0 with a model and 0.7 without",
    )
    chunks: int = Field(1000, ge=1, le=1000, description="most chunks")
    entity_share: float = Field(0.1, ge=0, le=1, description="share of entities' records")
    relation_share: float = Field(0.1, ge=0, le=1, description="share of relations' records")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The entities, relations and chunks of a walk from what the question names or is near to."""
    network = read_network(filters, tools)
    if network is None:
        return []
    knobs, offline = tools.knobs, tools.models.offline
    sought = (
        Sought(named=find_names(question, network))
        if offline
        else read_question(question, network, tools)
    )
    rows = _rows(question, sought, network, filters, tools)
    seeds = seed(rows, len(network.entities))
    if not seeds.any():
        return fall_back(question, "nobody is named or near", (), network, filters, tools)
    with tools.path.step("walk", f"damping {knobs.damping}, from {_told(seeds, network)}") as step:
        ranks = pagerank(network.ties, seeds, knobs.damping)
        entities = keep(ranks, network, knobs.entities, knobs.least)
        relations = relate(entities, network, knobs.relations)
        scores = rank_chunks(entities, relations, network, mentions=knobs.mentions)
        chunks = best_chunks(scores, network, filters, tools, max(DEPTH, tools.k))
        step.note += f", {len(entities)} entities, {len(relations)} relations"
        step.walked = network.ids(entities)
        step.found(chunks)
    share = knobs.passages if knobs.passages is not None else (WORDS if offline else 0.0)
    if share and chunks:
        vector = tools.embed(question)
        alone = passages(question, vector, filters, tools, max(DEPTH, tools.k))
        with tools.path.step("fuse", f"by scores, passages {share}") as step:
            chunks = by_scores([(chunks, 1 - share), (alone, share)], DEPTH + tools.k)
            step.found(chunks, chunks[: tools.k])
    # Without a model a record quotes a sentence of a chunk, and the chunk is here.
    shares = (0.0, 0.0) if offline else (knobs.entity_share, knobs.relation_share)
    records: list[Sequence[Hit]] = [(), ()]
    if are_read(shares, filters):
        links = network.relations
        records = [
            entity_hits(entities, network, filters, tools),
            link_hits(relations, links, "relation", filters, tools),
        ]
    chunks = chunks[: knobs.chunks]
    hits = together(list(zip(records, shares, strict=True)), chunks, filters, tools)
    return hits or fall_back(
        question, "the walk leads to no chunk", entities, network, filters, tools
    )


def _rows(
    question: str, sought: Sought, network: Network, filters: Filters, tools: Tools
) -> list[dict[int, float]]:
    """What each name, and each of the rest, is near to; a name that the text has is itself."""
    known = {name: rows_of([name], network) for name in sought.named}
    unknown = [name for name, rows in known.items() if not rows]
    vectors = embed([*unknown, *sought.generic, question], tools)
    found = [{rows[0]: 1.0} for rows in known.values() if rows]
    for place, vector in enumerate(vectors):
        limit, least = (1, NAMED) if place < len(unknown) else (NEAR, 0.0)
        found.append(nearest_entities(vector, network, filters, tools, limit, least))
    return found


# The ranking


def seed(rows: Sequence[Mapping[int, float]], entities: int) -> Scores:
    """What a walk begins at: each row of scores divided by its sum, and of these the largest."""
    seeds = np.zeros(entities)
    for scores in rows:
        total = sum(scores.values())
        for row, score in scores.items():
            seeds[row] = max(seeds[row], score / total if total > 0 else 0.0)
    return seeds


def keep(ranks: Scores, network: Network, most: int, least: float | None) -> dict[int, float]:
    """The entities that are met most, if at least as often as `least` says.

    Unless that is set, more often than by a walk from anywhere, which meets each by its share of
    all ties; one without ties, if at all.
    """
    weights = np.asarray(network.ties.sum(axis=1)).ravel()
    usual = weights / max(1.0, float(weights.sum()))
    kept = best(ranks, len(ranks))
    if least is None:
        kept = [row for row in kept if ranks[row] > usual[row]]
    else:
        kept = [row for row in kept if ranks[row] >= least]
    return {row: float(ranks[row]) for row in kept[:most]}


def relate(entities: Mapping[int, float], network: Network, most: int) -> dict[int, float]:
    """The relations whose ends are met most, of the entities that are kept."""
    met = np.zeros(len(network.entities))
    met[list(entities)] = list(entities.values())
    scores = met[network.relations.ends].sum(axis=1)
    return {row: float(scores[row]) for row in best(scores, most)}


def rank_chunks(
    entities: Mapping[int, float],
    relations: Mapping[int, float],
    network: Network,
    *,
    mentions: bool,
) -> Scores:
    """The sum of a chunk's relations and, with `mentions`, its entities' shares; shape (chunks,).

    An entity shares its score among the chunks that mention it.
    """
    related = np.zeros(len(network.relations.ids))
    related[list(relations)] = list(relations.values())
    scores = per_chunk(network.relations.chunks, related)
    if mentions:
        met = np.zeros(len(network.entities))
        met[list(entities)] = list(entities.values())
        scores = scores + per_chunk(network.mentions, met, shared=True)
    return scores


def _told(seeds: Scores, network: Network) -> str:
    return ", ".join(f"{network.name(row)} {seeds[row]:.2g}" for row in best(seeds, 8))


MODE = Mode(
    retrieve,
    "a walk over entities from those that a question names or is near to (Fast GraphRAG)",
    knobs=Knobs,
    graph="entities",
    # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy.
    serves={"fact": 56.95, "reasoning": 48.55, "overview": 56.41, "creative": 46.18},
    # `python -m bench choosing`: ahead of hybrid on facts of novels, level on stories.
    serves_offline={"fact": 67.2},
)
