"""Fast GraphRAG: a random walk over entities, from those that a question names or is near to.

circlemind-ai/fast-graphrag, read at 23b3a1b. Its code keeps no chunks of an entity, so that an
entity without relations leads nowhere. It takes entities with a share above 0.005, which in a small
graph are all and in a large one few. Here chunks also count for the entities that they mention, and
an entity needs a larger share than a walk that begins anywhere gives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabula.ask import hybrid
from fabula.ask.fusion import fuse_by_scores
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graphs.entities.network import Network, best, pagerank, per_chunk
from fabula.graphs.entities.questions import Sought, find_names, read_question, reading_of, rows_of
from fabula.graphs.entities.retrieval import (
    best_chunks,
    embed,
    entity_hits,
    join_hits,
    link_hits,
    nearest_entities,
    needs_records,
    passages,
    read_network,
)
from fabula.text.ranking import Scores

MIN_NAME_COSINE = 0.4
"""From this cosine on the nearest entity is taken for a name that the text does not have. The
published code says 0.7, of scores from 0 to 1."""
MAX_NEAR = 20
"""The most entities near to what has no name, with a cosine of 0 or more."""
DEPTH = 100
"""How many chunks of a ranking count where it is fused with another."""
PASSAGES_WEIGHT = 0.7
"""What passages count beside the walk where there is no model: the walk alone loses much."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return what a walk meets that begins at what the question names or is near to.

    Returns:
        Records of entities and relations, where they are wanted, and chunks.
    """
    network = read_network(filters, tools)
    if network is None:
        return []
    options, offline = tools.options, tools.models.offline
    sought = (
        Sought(named=find_names(question, network))
        if offline
        else read_question(question, network, tools, reading_of("fast", options))
    )
    scores_of_names = _find_seeds(question, sought, network, filters, tools)
    seeds = seed(scores_of_names, len(network.entities))
    if not seeds.any():
        return hybrid.fall_back(
            question, "the question names no entity and is near to none", filters, tools
        )
    note = f"damping {options.damping}, from {_describe(seeds, network)}"
    with tools.trace.step("walk", note) as step:
        ranks = pagerank(network.ties, seeds, options.damping)
        entities = select_entities(ranks, network, options.entities, options.least)
        relations = select_relations(entities, network, options.relations)
        scores = rank_chunks(entities, relations, network, mentions=options.mentions)
        chunks = best_chunks(scores, network, filters, tools, max(DEPTH, tools.k))
        step.note += f", {len(entities)} entities, {len(relations)} relations"
        step.walked = network.ids(entities)
        step.record(chunks)
    share = options.passages
    if share is None:
        share = PASSAGES_WEIGHT if offline else 0.0
    if share and chunks:
        vector = tools.embed(question)
        alone = passages(question, vector, filters, tools, max(DEPTH, tools.k))
        with tools.trace.step("fuse", f"by scores, passages {share}") as step:
            chunks = fuse_by_scores([(chunks, 1 - share), (alone, share)], DEPTH + tools.k)
            step.record(chunks, chunks[: tools.k])
    # Without a model a record only quotes a sentence of a chunk that is among the hits.
    shares = (0.0, 0.0) if offline else (options.entity_share, options.relation_share)
    records: list[Sequence[Hit]] = [(), ()]
    if needs_records(shares, filters):
        links = network.relations
        records = [
            entity_hits(entities, network, filters, tools),
            link_hits(relations, links, "relation", filters, tools),
        ]
    chunks = chunks[: options.chunks]
    hits = join_hits(list(zip(records, shares, strict=True)), chunks, filters, tools)
    return hits or hybrid.fall_back(question, "the walk reaches no chunk", filters, tools)


def _find_seeds(
    question: str, sought: Sought, network: Network, filters: Filters, tools: Tools
) -> list[dict[int, float]]:
    """The entities of each name, of each description without a name, and of the question."""
    rows_by_name = {name: rows_of([name], network) for name in sought.named}
    unknown = [name for name, rows in rows_by_name.items() if not rows]
    vectors = embed([*unknown, *sought.generic, question], tools)
    # A name that the text has stands for its entity; all others for the nearest entities.
    scores = [{rows[0]: 1.0} for rows in rows_by_name.values() if rows]
    for place, vector in enumerate(vectors):
        limit, least = (1, MIN_NAME_COSINE) if place < len(unknown) else (MAX_NEAR, 0.0)
        scores.append(nearest_entities(vector, network, filters, tools, limit, least))
    return scores


# The ranking


def seed(rows: Sequence[Mapping[int, float]], entities: int) -> Scores:
    """Return how likely a walk begins at each entity, shape (entities,).

    The scores of each name are divided by their sum; an entity has the largest of its shares.
    """
    seeds = np.zeros(entities)
    for scores in rows:
        total = sum(scores.values())
        for row, score in scores.items():
            seeds[row] = max(seeds[row], score / total if total > 0 else 0.0)
    return seeds


def select_entities(
    ranks: Scores, network: Network, most: int, least: float | None
) -> dict[int, float]:
    """Return the entities that the walk is at most often, with their shares; best first.

    Args:
        ranks: The share of each entity, shape (entities,).
        network: The network.
        most: The most entities.
        least: The least share. If it is None, an entity needs more than its share of all ties,
            which is how often a walk that begins anywhere is at it.
    """
    weights = np.asarray(network.ties.sum(axis=1)).ravel()
    usual = weights / max(1.0, float(weights.sum()))
    rows = best(ranks, len(ranks))
    if least is None:
        rows = [row for row in rows if ranks[row] > usual[row]]
    else:
        rows = [row for row in rows if ranks[row] >= least]
    return {row: float(ranks[row]) for row in rows[:most]}


def select_relations(
    entities: Mapping[int, float], network: Network, most: int
) -> dict[int, float]:
    """Return the relations of the selected entities, by the sums of their ends' shares."""
    shares = np.zeros(len(network.entities))
    shares[list(entities)] = list(entities.values())
    scores = shares[network.relations.ends].sum(axis=1)
    return {row: float(scores[row]) for row in best(scores, most)}


def rank_chunks(
    entities: Mapping[int, float],
    relations: Mapping[int, float],
    network: Network,
    *,
    mentions: bool,
) -> Scores:
    """Return the sum of the scores of each chunk's relations, shape (chunks,).

    With `mentions` those of its entities are added; an entity's score is divided among its chunks.
    """
    of_relations = np.zeros(len(network.relations.ids))
    of_relations[list(relations)] = list(relations.values())
    scores = per_chunk(network.relations.chunks, of_relations)
    if mentions:
        of_entities = np.zeros(len(network.entities))
        of_entities[list(entities)] = list(entities.values())
        scores = scores + per_chunk(network.mentions, of_entities, shared=True)
    return scores


def _describe(seeds: Scores, network: Network) -> str:
    return ", ".join(f"{network.name(row)} {seeds[row]:.2g}" for row in best(seeds, 8))
