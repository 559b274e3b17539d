"""Microsoft's local search: the entities nearest to a question, what ties them, and their chunks.

Edge et al. 2024 (arXiv 2404.16130); microsoft/graphrag, read at 6dad6d2. Its code asks for twice as
many entities as it is set to and keeps all, does not use what a part of its context leaves over,
and drops all relations of the entity at which the context is full. Here there are as many entities
as are set, first those that the question names; what is left over goes to the next part, and only
the relation that does not fit is left out. Where the text has communities, reports of those that
the entities are in come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabula.ask import hybrid
from fabula.ask.fusion import fuse_by_scores
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graphs.entities.network import Network, columns_of
from fabula.graphs.entities.questions import find_names, rows_of
from fabula.graphs.entities.retrieval import (
    chunk_hits,
    entity_hits,
    join_hits,
    link_hits,
    nearest_entities,
    passages,
    read_network,
    reports_of_entities,
)
from fabula.text.ranking import Scores, score_by_rank

MAX_PASSAGES = 200
"""How many passages of the question's own ranking order chunks that are otherwise equal."""
REPORT_SHARE = 0.15
"""Share of reports, where a model wrote them: without one they quote sentences of the chunks."""
PASSAGES_WEIGHT = 0.7
"""What passages count beside the entities' chunks where there is no model, as in `fast`: all chunks
of one entity come before those of the next, whatever they say."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the entities nearest to the question, what ties them, and their chunks.

    Returns:
        Reports, and records of entities and relations, where they are wanted, and chunks.
    """
    network = read_network(filters, tools)
    if network is None:
        return []
    options = tools.options
    named = rows_of(find_names(question, network), network) if options.named else []
    vector = tools.embed(question)
    near = nearest_entities(vector, network, filters, tools, options.entities, -1.0, question)
    selected = list(dict.fromkeys([*named, *near]))[: max(options.entities, len(named))]
    if not selected:
        return hybrid.fall_back(question, "there is no entity", filters, tools)
    with tools.trace.step("entities", f"{len(named)} named, the rest by cosine") as step:
        entities = entity_hits(score_by_rank(selected), network, filters, tools)
        step.record(entities)
    with tools.trace.step("relations", "among them, then outwards") as step:
        rows = rank_relations(selected, network, options.relations)
        relations = link_hits(score_by_rank(rows), network.relations, "relation", filters, tools)
        step.record(relations)
    alone = passages(question, vector, filters, tools, max(MAX_PASSAGES, tools.k))
    with tools.trace.step("chunks", "of the entities, those with most of their relations") as step:
        place = {hit.id: place for place, hit in enumerate(alone)}
        ranked = rank_chunks(selected, place, network)[: tools.k]
        scored = {network.chunks[row]: score for row, score in score_by_rank(ranked).items()}
        chunks = chunk_hits(scored, filters, tools)
        step.record(chunks)
    if tools.models.offline and chunks:
        with tools.trace.step("fuse", f"by scores, passages {PASSAGES_WEIGHT}") as step:
            weighted = [(chunks, 1 - PASSAGES_WEIGHT), (alone, PASSAGES_WEIGHT)]
            chunks = fuse_by_scores(weighted, MAX_PASSAGES + tools.k)
            step.record(chunks, chunks[: tools.k])
    # Without a model a record only quotes a sentence of a chunk that is among the hits.
    shares = (options.entity_share, options.relation_share)
    if tools.models.offline:
        shares = (0.0, 0.0)
    records = list(zip((entities, relations), shares, strict=True))
    share = options.report_share
    if share is None:
        share = 0.0 if tools.models.offline else REPORT_SHARE
    if share and (reports := _reports(selected, network, filters, tools)):
        records.insert(0, (reports, share))
    return join_hits(records, chunks, filters, tools) or hybrid.fall_back(
        question, "the entities have no chunks", filters, tools
    )


def _reports(
    selected: Sequence[int], network: Network, filters: Filters, tools: Tools
) -> list[Hit]:
    with tools.trace.step("reports", "of communities with most of the entities inside") as step:
        hits = reports_of_entities(score_by_rank(selected), network, filters, tools)
        step.record(hits)
    return hits


def rank_relations(selected: Sequence[int], network: Network, most: int) -> list[int]:
    """Return the relations among the selected entities, then those to others.

    Those among them are ranked by the degrees of both ends. Those to others are ranked by how many
    of the selected entities are related to the other end, then by the degrees of both ends; there
    are at most `most` for each entity that is selected.
    """
    ends = network.relations.ends
    if not len(ends):
        return []
    chosen = np.zeros(len(network.entities), np.bool_)
    chosen[list(selected)] = True
    inside = chosen[ends]
    degrees = network.degrees[ends].sum(axis=1)
    among = np.flatnonzero(inside.all(axis=1))
    outwards = np.flatnonzero(inside.any(axis=1) & ~inside.all(axis=1))
    is_first = inside[outwards, 0]
    inner = np.where(is_first, ends[outwards, 0], ends[outwards, 1])
    outer = np.where(is_first, ends[outwards, 1], ends[outwards, 0])
    reached: Scores = np.zeros(len(network.entities))
    np.add.at(reached, np.unique(np.stack([outer, inner]), axis=1)[0], 1)
    first = among[np.lexsort((among, -degrees[among]))]
    then = outwards[np.lexsort((outwards, -degrees[outwards], -reached[outer]))]
    return [*first.tolist(), *then.tolist()[: most * len(selected)]]


def rank_chunks(selected: Sequence[int], place: Mapping[str, int], network: Network) -> list[int]:
    """Return the chunks of each entity in turn, those that state most of its relations first.

    Chunks that state equally many, as most chunks of a hero do, come by their places in the
    question's own ranking.
    """
    last = len(place)
    ranked: dict[int, None] = {}
    for row in selected:
        relations = columns_of(network.incident, row)
        stated = np.asarray(network.relations.chunks[relations].sum(axis=0)).ravel()
        order = sorted(
            (-stated[chunk], place.get(network.chunks[chunk], last), chunk)
            for chunk in columns_of(network.mentions, row)
        )
        ranked |= dict.fromkeys(chunk for *_, chunk in order)
    return list(ranked)
