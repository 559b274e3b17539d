"""LightRAG: entities by a question's details, relations by its themes, and the chunks of both.

Guo et al. 2024 (arXiv 2410.05779); LightRAG 1.5.7. Its code embeds all keywords as one text, in
which common ones drown the rare, ranks relations by how well tied their ends are, and takes all of
a hub's. Here each keyword has a vector and counts by how rare it is, names that the text has come
first, relations are ranked by the question and by what their ends tell of each other, and no entity
brings more than ten. The preset `light-published` does as the code does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graphs.entities.finding import (
    allows,
    chunk_hits,
    embed,
    entity_hits,
    fall_back,
    fit,
    link_hits,
    nearest_entities,
    nearest_links,
    passages,
    read_network,
    together,
)
from fabula.graphs.entities.network import Network, columns_of
from fabula.graphs.entities.reading import Sought, rarity, read_question, rows_of, with_low
from fabula.text.document import Vector, Vectors
from fabula.text.ranking import Scores, maximal_marginal_relevance, scaled

COMPARED = 400
"""Relations whose vectors are compared with the question, those first that tell most."""
READ = 200
"""Passages that chunks are ranked by; those of entities that are none of them come after."""
RELATED = 5
"""Chunks of an entity or a relation, as the code has them."""


class Knobs(BaseModel):
    """What is looked for, and how it is ranked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    search: Literal["low", "high", "both", "mix"] = Field(
        "mix", description="by details, by themes, by both, or by both and passages of the question"
    )
    keywords: Literal["each", "together"] = Field(
        "each", description="whether keywords are compared one by one, or as one text"
    )
    ranking: Literal["question", "degree"] = Field(
        "question", description="what relations are ranked by: the question, or how tied ends are"
    )
    picking: Literal["vector", "weight"] = Field(
        "vector", description="what chunks are picked by: the question, or how many entities share"
    )
    entities: int = Field(40, ge=1, le=1000, description="entities that details are near to")
    relations: int = Field(40, ge=1, le=1000, description="relations that themes are near to")
    least: float = Field(0.2, ge=-1, le=1, description="least cosine of both")
    most_relations: int = Field(10, ge=1, le=100_000, description="relations that an entity brings")
    diversity: float = Field(
        0.3, ge=0, le=1, description="how much likeness to better relations counts against one"
    )
    chunks: int = Field(20, ge=1, le=1000, description="most chunks")
    entity_share: float = Field(0.2, ge=0, le=1, description="share of entities' records")
    relation_share: float = Field(0.25, ge=0, le=1, description="share of relations' records")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Entities, relations and chunks by the details and the themes of the question."""
    network = read_network(filters, tools)
    if network is None:
        return []
    knobs = tools.knobs
    sought = with_low(read_question(question, network, tools), question)
    low = sought.low if knobs.search != "high" else ()
    high = sought.high if knobs.search != "low" else ()
    low_vectors, high_vectors, [vector] = _vectors([low, high, [question]], knobs, tools)
    entities = _entities(sought, low, low_vectors, network, filters, tools)
    relations = _relations(high, high_vectors, network, filters, tools)
    around = _around(entities, vector, network, filters, tools)
    # Low's first, then high's: entities with their relations, relations with their ends.
    entities = by_turns([entities, _ends(relations, network)])
    relations = by_turns([around, relations])
    whole = replace(filters, kinds=(), aspects=(), lowest=0)
    told = [
        entity_hits(_by_rank(entities), network, whole, tools),
        link_hits(_by_rank(relations), network.relations, "relation", whole, tools),
    ]
    shares = (knobs.entity_share, knobs.relation_share)
    budgets = [int(share * tools.tokens) for share in shares]
    kept = fit([[hit.tokens for hit in block] for block in told], budgets)
    with tools.path.step("records", ", ".join(low) + " | " + ", ".join(high)) as step:
        blocks = [[some[at] for at in rows] for some, rows in zip(told, kept, strict=True)]
        step.found([hit for some in told for hit in some], [hit for one in blocks for hit in one])
    alone = passages(question, vector, filters, tools, max(READ, tools.k))
    with tools.path.step("chunks", f"by {knobs.picking}") as step:
        rows = _chunks(
            [network.row[hit.id] for hit in blocks[0]],
            [network.relations.row[hit.id] for hit in blocks[1]],
            alone,
            network,
            tools,
        )
        chunks = chunk_hits({network.chunks[row]: one for row, one in rows.items()}, filters, tools)
        step.found(chunks)
    shown = [[hit for hit in block if allows(filters, hit.kind)] for block in blocks]
    # Without a model a record quotes a sentence of a chunk, and the chunk is here.
    shares = (0.0, 0.0) if tools.models.offline else shares
    hits = together(list(zip(shown, shares, strict=True)), chunks, filters, tools)
    return hits or fall_back(question, "nothing is near", entities, network, filters, tools)


def _vectors(
    texts: Sequence[Sequence[str]], knobs: Knobs, tools: Tools
) -> tuple[list[Vector], list[Vector], list[Vector]]:
    """The embeddings of low keywords, of high ones, and of the question, in one request."""
    if knobs.keywords == "together":
        texts = [[", ".join(some)] if some else [] for some in texts]
    vectors = iter(embed([text for some in texts for text in some], tools))
    low, high, whole = ([next(vectors) for _ in some] for some in texts)
    return low, high, whole


def _entities(
    sought: Sought,
    low: Sequence[str],
    vectors: Sequence[Vector],
    network: Network,
    filters: Filters,
    tools: Tools,
) -> list[int]:
    """The entities of details: those that are called so, then the nearest."""
    knobs = tools.knobs
    if not low:
        return []
    found = [
        nearest_entities(vector, network, filters, tools, knobs.entities, knobs.least, word)
        for word, vector in zip(low, vectors, strict=False)
    ]
    if knobs.keywords == "together":
        return list(found[0])
    called = rows_of([*sought.named, *low], network)
    near = weigh(found, [rarity(word, network) for word in low])
    return list(dict.fromkeys([*called, *near]))[: knobs.entities]


def _relations(
    high: Sequence[str], vectors: Sequence[Vector], network: Network, filters: Filters, tools: Tools
) -> list[int]:
    """The relations of themes."""
    knobs = tools.knobs
    found = [
        nearest_links(vector, network.relations, "relation", filters, tools, knobs.relations, word)
        for word, vector in zip(high, vectors, strict=False)
    ]
    near = [
        {row: cosine for row, cosine in some.items() if cosine >= knobs.least} for some in found
    ]
    weights = [1.0] * len(near)
    if knobs.keywords == "each":
        weights = [rarity(word, network) for word in high]
    return weigh(near, weights)[: knobs.relations]


def _around(
    entities: Sequence[int], vector: Vector, network: Network, filters: Filters, tools: Tools
) -> list[int]:
    """The relations of the entities of details, ranked."""
    knobs = tools.knobs
    own = [columns_of(network.incident, row) for row in entities]
    if knobs.ranking == "degree":
        return by_degree(own, network)
    telling = tell_apart(network)
    rows = list(dict.fromkeys(row for some in own for row in some))
    rows = sorted(rows, key=lambda row: (-telling[row], row))[:COMPARED]
    ids = [network.relations.ids[row] for row in rows]
    vectors = tools.store.vectors(filters.collection, ids)
    there = {row: vectors[id] for row, id in zip(rows, ids, strict=True) if id in vectors}
    scores = {row: float(one @ vector) * telling[row] for row, one in there.items()}
    chosen = limit_each(own, scores, knobs.most_relations)
    if not chosen:
        return []
    return diversify(chosen, scores, np.stack([there[row] for row in chosen]), knobs.diversity)


def _chunks(
    entities: Sequence[int],
    relations: Sequence[int],
    alone: Sequence[Hit],
    network: Network,
    tools: Tools,
) -> dict[int, float]:
    """The rows of chunks by turns: the question's own, entities', relations'; scored by rank."""
    knobs = tools.knobs
    place = {
        network.chunk_row[hit.id]: n for n, hit in enumerate(alone) if hit.id in network.chunk_row
    }
    order = pick_by_weight if knobs.picking == "weight" else pick_by_place
    of_entities = order([columns_of(network.mentions, row) for row in entities], place)
    of_relations = order([columns_of(network.relations.chunks, row) for row in relations], place)
    given = set(of_entities)
    own = list(place)[: knobs.chunks] if knobs.search == "mix" else []
    turns = by_turns([own, of_entities, [row for row in of_relations if row not in given]])
    return _by_rank(turns[: min(knobs.chunks, tools.k)])


# The rankings


def weigh(found: Sequence[Mapping[int, float]], weights: Sequence[float]) -> list[int]:
    """Rows by the largest of their cosines, each times its keyword's weight; best first."""
    top = max(weights, default=0.0) or 1.0
    scores: dict[int, float] = {}
    for near, weight in zip(found, weights, strict=True):
        for row, cosine in near.items():
            scores[row] = max(scores.get(row, -1.0), weight * cosine / top)
    return sorted(scores, key=lambda row: (-scores[row], row))


def by_turns(lists: Sequence[Sequence[int]]) -> list[int]:
    """The first of each list, then the second of each, and so on; each row once."""
    turns = range(max(map(len, lists), default=0))
    return list(dict.fromkeys(some[turn] for turn in turns for some in lists if turn < len(some)))


def by_degree(own: Sequence[Sequence[int]], network: Network) -> list[int]:
    """Relations by the degrees of their ends together, then by their counts, as the code does."""
    rows = dict.fromkeys(row for some in own for row in some)
    degrees = network.degrees[network.relations.ends].sum(axis=1)
    counts = network.relations.counts
    return sorted(rows, key=lambda row: (-degrees[row], -counts[row], row))


def tell_apart(network: Network) -> Scores:
    """What relations tell beside the question, shape (relations,).

    The more often they are told of, the more; the more others both ends are tied to, the less:
    log(1 + count) / log(2 + the smaller degree).
    """
    smaller = network.degrees[network.relations.ends].min(axis=1)
    return np.asarray(np.log1p(network.relations.counts) / np.log(2 + smaller))


def limit_each(own: Sequence[Sequence[int]], scores: Mapping[int, float], most: int) -> list[int]:
    """The `most` best of each list, together, best first."""
    kept: set[int] = set()
    for rows in own:
        known = [row for row in rows if row in scores]
        kept.update(sorted(known, key=lambda row: (-scores[row], row))[:most])
    return sorted(kept, key=lambda row: (-scores[row], row))


def diversify(
    rows: Sequence[int], scores: Mapping[int, float], vectors: Vectors, diversity: float
) -> list[int]:
    """The rows by maximal marginal relevance; `vectors` are unit rows in their order."""
    relevance = scaled(np.array([scores[row] for row in rows]))
    ones = [1] * len(rows)
    picked = maximal_marginal_relevance(relevance, vectors, ones, len(rows), 1 - diversity)
    return [rows[one] for one in picked]


def pick_by_place(lists: Sequence[Sequence[int]], place: Mapping[int, int]) -> list[int]:
    """Half of five chunks for each list: by their places in a ranking, then by how many share them.

    The code compares all of them with the question, which for a hero is the whole book.
    """
    shared = Counter(row for rows in lists for row in rows)
    last = len(place)
    best_first = sorted(shared, key=lambda row: (place.get(row, last), -shared[row], row))
    return best_first[: RELATED * len(lists) // 2]


def pick_by_weight(lists: Sequence[Sequence[int]], place: Mapping[int, int]) -> list[int]:
    """From five chunks of the first list down to one of the last, those that most lists share.

    A chunk is the first list's that has it. What one leaves of its part goes to the first that has
    chunks left.
    """
    shared = Counter(row for rows in lists for row in rows)
    seen: set[int] = set()
    own: list[list[int]] = []
    for rows in lists:
        fresh = [row for row in dict.fromkeys(rows) if row not in seen]
        seen.update(fresh)
        own.append(sorted(fresh, key=lambda row: (-shared[row], row)))
    quotas = share_out([len(rows) for rows in own])
    return [row for rows, quota in zip(own, quotas, strict=True) for row in rows[:quota]]


def share_out(sizes: Sequence[int]) -> list[int]:
    """How many of each are taken: from five down to one, leftovers to the first that has more."""
    steps = max(1, len(sizes) - 1)
    quotas = [round(RELATED - (RELATED - 1) * place / steps) for place in range(len(sizes))]
    taken = [min(size, quota) for size, quota in zip(sizes, quotas, strict=True)]
    left = sum(quotas) - sum(taken)
    for place, size in enumerate(sizes):
        more = min(left, size - taken[place])
        taken[place] += more
        left -= more
    return taken


def _ends(relations: Sequence[int], network: Network) -> list[int]:
    """The ends of relations in the order in which they appear."""
    return list(dict.fromkeys(network.relations.ends[list(relations)].ravel().tolist()))


def _by_rank(rows: Sequence[int]) -> dict[int, float]:
    return {row: 1 / place for place, row in enumerate(rows, 1)}


MODE = Mode(
    retrieve,
    "entities by a question's details, relations by its themes, and their chunks (LightRAG)",
    knobs=Knobs,
    graph="entities",
    # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy.
    serves={"fact": 58.62, "reasoning": 49.07, "overview": 48.85, "creative": 23.80},
)
