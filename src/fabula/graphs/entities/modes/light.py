"""LightRAG: entities by a question's details, relations by its themes, and the chunks of both.

Guo et al. 2024 (arXiv 2410.05779); LightRAG 1.5.7. Its code embeds all keywords as one text, in
which common ones hide the rare, ranks relations by how many others their ends have, and takes all
relations of an entity that has very many. Here each keyword has a vector and counts by how rare it
is, names that the text has come first, relations are ranked by the question and by how particular
they are to their ends, and no entity brings more than ten. The preset `light-published` does as the
code does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from fabula.ask import hybrid
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graphs.entities.modes.options import LightOptions
from fabula.graphs.entities.network import Network, columns_of
from fabula.graphs.entities.questions import (
    Sought,
    rarity,
    read_question,
    reading_of,
    rows_of,
    with_low,
)
from fabula.graphs.entities.retrieval import (
    chunk_hits,
    embed,
    entity_hits,
    fit_budgets,
    join_hits,
    link_hits,
    nearest_entities,
    nearest_links,
    passages,
    read_network,
)
from fabula.text.document import Vector
from fabula.text.ranking import Scores, score_by_rank

MAX_COMPARED = 400
"""How many relations' vectors are compared with the question: those most particular to their
ends."""
MAX_PASSAGES = 200
"""How many passages chunks are ranked by; chunks that are none of these come after them."""
RELATED_CHUNKS = 5
"""Chunks of an entity or a relation, as in the published code."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return what the details and the themes of the question are near to.

    Returns:
        Records of entities and relations, where they are wanted, and chunks.
    """
    network = read_network(filters, tools)
    if network is None:
        return []
    options = tools.options
    reading = reading_of("light", tools.options)
    sought = with_low(read_question(question, network, tools, reading), question)
    low = sought.low if options.search != "high" else ()
    high = sought.high if options.search != "low" else ()
    low_vectors, high_vectors, [vector] = _embed_each([low, high, [question]], options, tools)
    entities = _find_entities(sought, low, low_vectors, network, filters, tools)
    relations = _find_relations(high, high_vectors, network, filters, tools)
    of_entities = _relations_of(entities, vector, network, filters, tools)
    # By turns what details found and what themes found: entities with the relations that they
    # have, relations with the entities that they tie.
    entities = by_turns([entities, _ends(relations, network)])
    relations = by_turns([of_entities, relations])
    unfiltered = replace(filters, kinds=(), aspects=(), lowest=0)
    candidates = [
        entity_hits(score_by_rank(entities), network, unfiltered, tools),
        link_hits(score_by_rank(relations), network.relations, "relation", unfiltered, tools),
    ]
    shares = (options.entity_share, options.relation_share)
    budgets = [int(share * tools.tokens) for share in shares]
    fitting = fit_budgets([[hit.tokens for hit in block] for block in candidates], budgets)
    with tools.trace.step("records", ", ".join(low) + " | " + ", ".join(high)) as step:
        entity_records, relation_records = (
            [block[position] for position in positions]
            for block, positions in zip(candidates, fitting, strict=True)
        )
        step.record([*chain.from_iterable(candidates)], [*entity_records, *relation_records])
    alone = passages(question, vector, filters, tools, max(MAX_PASSAGES, tools.k))
    with tools.trace.step("chunks") as step:
        rows = _pick_chunks(
            [network.row[hit.id] for hit in entity_records],
            [network.relations.row[hit.id] for hit in relation_records],
            alone,
            network,
            tools,
        )
        scored = {network.chunks[row]: score for row, score in rows.items()}
        chunks = chunk_hits(scored, filters, tools)
        step.record(chunks)
    records = [
        [hit for hit in block if filters.allows(hit.kind)]
        for block in (entity_records, relation_records)
    ]
    # Without a model a record only quotes a sentence of a chunk that is among the hits.
    shares = (0.0, 0.0) if tools.models.offline else shares
    hits = join_hits(list(zip(records, shares, strict=True)), chunks, filters, tools)
    return hits or hybrid.fall_back(question, "no entity and no relation is near", filters, tools)


def _embed_each(
    lists: Sequence[Sequence[str]], options: LightOptions, tools: Tools
) -> tuple[list[Vector], list[Vector], list[Vector]]:
    """The embeddings of low keywords, of high ones, and of the question, in one request."""
    if options.keywords == "together":
        lists = [[", ".join(texts)] if texts else [] for texts in lists]
    vectors = iter(embed([*chain.from_iterable(lists)], tools))
    low, high, whole = ([next(vectors) for _ in texts] for texts in lists)
    return low, high, whole


def _find_entities(
    sought: Sought,
    low: Sequence[str],
    vectors: Sequence[Vector],
    network: Network,
    filters: Filters,
    tools: Tools,
) -> list[int]:
    """The entities of details: those that have such a name, then the nearest."""
    options = tools.options
    if not low:
        return []
    near = [
        nearest_entities(vector, network, filters, tools, options.entities, options.least, keyword)
        for keyword, vector in zip(low, vectors, strict=False)
    ]
    if options.keywords == "together":
        return list(near[0])
    named = rows_of([*sought.named, *low], network)
    nearest = weigh(near, [rarity(keyword, network) for keyword in low])
    return list(dict.fromkeys([*named, *nearest]))[: options.entities]


def _find_relations(
    high: Sequence[str], vectors: Sequence[Vector], network: Network, filters: Filters, tools: Tools
) -> list[int]:
    """The relations of themes."""
    options = tools.options
    links, limit = network.relations, options.relations
    near = [
        nearest_links(vector, links, "relation", filters, tools, limit, keyword, options.least)
        for keyword, vector in zip(high, vectors, strict=False)
    ]
    weights = [1.0] * len(near)
    if options.keywords == "each":
        weights = [rarity(keyword, network) for keyword in high]
    return weigh(near, weights)[:limit]


def _relations_of(
    entities: Sequence[int], vector: Vector, network: Network, filters: Filters, tools: Tools
) -> list[int]:
    """The relations of the entities of details, ranked."""
    options = tools.options
    of_entities = [columns_of(network.incident, row) for row in entities]
    if options.ranking == "degree":
        return by_degree(of_entities, network)
    particular = particularity(network)
    rows = set(chain.from_iterable(of_entities))
    compared = sorted(rows, key=lambda row: (-particular[row], row))[:MAX_COMPARED]
    ids = [network.relations.ids[row] for row in compared]
    vectors = tools.store.vectors(filters.collection, ids)
    scores = {
        row: float(vectors[id] @ vector) * particular[row]
        for row, id in zip(compared, ids, strict=True)
        if id in vectors
    }
    return limit_each(of_entities, scores, options.most_relations)


def _pick_chunks(
    entities: Sequence[int],
    relations: Sequence[int],
    alone: Sequence[Hit],
    network: Network,
    tools: Tools,
) -> dict[int, float]:
    """Chunks by turns of the question's own, the entities' and the relations'; scored by rank."""
    options = tools.options
    place = {
        network.chunk_row[hit.id]: number
        for number, hit in enumerate(alone)
        if hit.id in network.chunk_row
    }
    of_entities = pick_chunks([columns_of(network.mentions, row) for row in entities], place)
    of_relations = pick_chunks(
        [columns_of(network.relations.chunks, row) for row in relations], place
    )
    of_question = list(place)[: options.chunks] if options.search == "mix" else []
    picked = set(of_entities)
    others = [row for row in of_relations if row not in picked]
    rows = by_turns([of_question, of_entities, others])
    return score_by_rank(rows[: min(options.chunks, tools.k)])


# The rankings


def weigh(near: Sequence[Mapping[int, float]], weights: Sequence[float]) -> list[int]:
    """Rank what is near to keywords, best first.

    Args:
        near: The rows that are near to each keyword, with their cosines.
        weights: The weight of each keyword. A row has its largest cosine times weight.
    """
    top = max(weights, default=0.0) or 1.0
    scores: dict[int, float] = {}
    for of_keyword, weight in zip(near, weights, strict=True):
        for row, cosine in of_keyword.items():
            scores[row] = max(scores.get(row, -1.0), weight * cosine / top)
    return sorted(scores, key=lambda row: (-scores[row], row))


def by_turns(lists: Sequence[Sequence[int]]) -> list[int]:
    """Return the first of each list, then the second of each, and so on; each row once."""
    turns = range(max(map(len, lists), default=0))
    return list(dict.fromkeys(rows[turn] for turn in turns for rows in lists if turn < len(rows)))


def by_degree(of_entities: Sequence[Sequence[int]], network: Network) -> list[int]:
    """Rank relations by the degrees of both ends, then by their counts, as the code does."""
    rows = dict.fromkeys(chain.from_iterable(of_entities))
    degrees = network.degrees[network.relations.ends].sum(axis=1)
    counts = network.relations.counts
    return sorted(rows, key=lambda row: (-degrees[row], -counts[row], row))


def particularity(network: Network) -> Scores:
    """Return how particular each relation is to its ends, shape (relations,).

    It grows with the number of its chunks and falls with the number of entities that both ends are
    related to: log(1 + count) / log(2 + the smaller degree).
    """
    smaller = network.degrees[network.relations.ends].min(axis=1)
    return np.asarray(np.log1p(network.relations.counts) / np.log(2 + smaller))


def limit_each(lists: Sequence[Sequence[int]], scores: Mapping[int, float], most: int) -> list[int]:
    """Return the `most` best of each list, together, best first; rows without a score are none."""

    def rank(row: int) -> tuple[float, int]:
        return (-scores[row], row)

    chosen: set[int] = set()
    for rows in lists:
        chosen.update(sorted((row for row in rows if row in scores), key=rank)[:most])
    return sorted(chosen, key=rank)


def pick_chunks(lists: Sequence[Sequence[int]], place: Mapping[int, int]) -> list[int]:
    """Pick chunks by their places in a ranking, then by how many lists share them.

    They are half of five for each list. The published code compares all chunks with the question,
    which for a hero are the whole book.
    """
    shared = Counter(chain.from_iterable(lists))
    last = len(place)
    best_first = sorted(shared, key=lambda row: (place.get(row, last), -shared[row], row))
    return best_first[: RELATED_CHUNKS * len(lists) // 2]


def _ends(relations: Sequence[int], network: Network) -> list[int]:
    """The entities that relations tie, in the order of the relations."""
    return list(dict.fromkeys(network.relations.ends[list(relations)].ravel().tolist()))
