"""MiniRAG: paths from what a question names to what its answer may be, and the chunks along them.

Fan et al. 2025 (arXiv 2501.06713), section 3.3; HKUDS/MiniRAG, read at 4fe2fba. For a question that
asks for a person its code takes half of a novel's entities for possible answers, it counts a
relation only in the direction in which it is stored, ranks chunks by the last path alone, and
raises all chunks after the first that is near. Here only the nearest entities of a type may be the
answer, relations have no direction, and all paths count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from fabula.ask import hybrid
from fabula.ask.fusion import fuse_by_ranks
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graphs.entities.network import Network, columns_of, within
from fabula.graphs.entities.questions import Sought, read_question, reading_of, rows_of
from fabula.graphs.entities.retrieval import (
    best_chunks,
    embed,
    entity_hits,
    join_hits,
    nearest_entities,
    needs_records,
    passages,
    read_network,
)
from fabula.text.document import Vector
from fabula.text.ranking import Scores

MAX_NAMES = 5
"""How many names of a question paths begin at."""
BATCH = 64
"""How many starts and answers have their neighbourhoods in memory at once."""
TIE_BREAK = 1e-9
"""What each entity and relation of a path adds to a chunk, so that it orders equal chunks only."""


class EntityPath(NamedTuple):
    """A path over entities.

    `entities` are their rows from the start on, `pairs` the rows of every two that follow each
    other, the smaller one first.
    """

    entities: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    score: float


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return chunks along the paths from the question's names to what its answer may be."""
    network = read_network(filters, tools)
    if network is None:
        return []
    options, offline = tools.options, tools.models.offline
    sought = read_question(question, network, tools, reading_of("mini", tools.options))
    *vectors, vector = embed([*sought.named[:MAX_NAMES], question], tools)
    with tools.trace.step("starts") as step:
        starts = _find_starts(sought, vectors, network, filters, tools)
        step.note = _describe(starts, network)
        step.walked = network.ids(starts)
    if not starts:
        return hybrid.fall_back(question, "the question names no entity", filters, tools)
    with tools.trace.step("answers") as step:
        answers = _find_answers(vector, sought.answer_types, network, filters, tools)
        names = [network.name(row) for row in answers[:MAX_NAMES]]
        step.note = ", ".join(names) + _and_more(answers)
    with tools.trace.step("paths") as step:
        edges = weigh_edges(starts, answers, network, options.relations, options.hops)
        paths = rank_paths(starts, answers, edges, network, options.paths)
        step.note = "; ".join(" - ".join(map(network.name, path.entities)) for path in paths[:5])
        step.walked = network.ids(row for path in paths for row in path.entities)
    if not paths:
        return hybrid.fall_back(question, "there is no path", filters, tools)
    most = min(options.chunks, tools.k)
    alone = passages(question, vector, filters, tools, options.chunks)
    with tools.trace.step("chunks", f"along {len(paths)} paths") as step:
        scores = rank_chunks(paths, network)
        along = best_chunks(scores, network, filters, tools, options.chunks, alone)
        step.record(along)
    with tools.trace.step("fuse", "by ranks") as step:
        chunks = fuse_by_ranks([along, alone], most) if along else []
        step.record(chunks)
    # Without a model a record only quotes a sentence of a chunk that is among the hits.
    share = 0.0 if offline else options.entity_share
    records: list[Hit] = []
    if needs_records([share], filters):
        records = entity_hits(_score_entities(paths), network, filters, tools)
    return join_hits([(records, share)], chunks, filters, tools) or hybrid.fall_back(
        question, "the paths have no chunks", filters, tools
    )


def _score_entities(paths: Sequence[EntityPath]) -> dict[int, float]:
    """The entities of paths by the best score of their paths, best first."""
    scores: dict[int, float] = {}
    for path in paths:
        for row in path.entities:
            scores[row] = max(scores.get(row, 0.0), path.score)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _find_starts(
    sought: Sought,
    vectors: Sequence[Vector],
    network: Network,
    filters: Filters,
    tools: Tools,
) -> dict[int, float]:
    """The entities that are named, best first, with their likeness to the name."""
    starts: dict[int, float] = {}
    for name, vector in zip(sought.named, vectors, strict=False):
        # It is 1 for one that has the name; where none has it, the cosine of the nearest.
        near = dict.fromkeys(rows_of([name], network), 1.0) or nearest_entities(
            vector, network, filters, tools, tools.options.names, tools.options.least
        )
        for row, likeness in near.items():
            starts[row] = max(starts.get(row, -1.0), likeness)
    return dict(sorted(starts.items(), key=lambda item: (-item[1], item[0])))


def _find_answers(
    vector: Vector, types: Collection[str], network: Network, filters: Filters, tools: Tools
) -> list[int]:
    """The entities of these types that are nearest to the question; all, where they are few."""
    most = tools.options.answers
    if not types or not most:
        return []
    rows = [row for row, type in enumerate(network.types) if type in types]
    if len(rows) <= most:
        return rows
    # The index has no filter by type, so more are asked for: enough of the type may be among them.
    share = max(1, len(network.types) // len(rows))
    near = nearest_entities(vector, network, filters, tools, min(2 * share * most, 2000), -1.0)
    of_types = set(rows)
    return [row for row in near if row in of_types][:most]


# The ranking


def weigh_edges(
    starts: Collection[int],
    answers: Collection[int],
    network: Network,
    most: int,
    hops: int,
) -> dict[tuple[int, int], float]:
    """Return the pairs of related entities that most starts and answers are near to.

    A pair with a start or an answer in it is weighed by how many starts and answers are at most
    `hops` from one of its ends, divided by the largest of these numbers; the `most` best are
    returned. The paper prints the second sum with a plus inside, where a comma is meant.
    """
    near = Counter([*dict.fromkeys(starts), *dict.fromkeys(answers)])
    pairs = sorted(
        {
            (min(row, other), max(row, other))
            for row in near
            for other in columns_of(network.ties, row)
        }
    )
    if not pairs:
        return {}
    first, second = np.array(pairs).T
    votes = np.zeros(len(pairs))
    for begin in range(0, len(near), BATCH):
        rows = list(near)[begin : begin + BATCH]
        reached = within(network.ties, rows, hops)
        # 2 for what is a start and an answer.
        counts = np.array([near[row] for row in rows], np.float64)
        votes += counts @ (reached[:, first] | reached[:, second])
    order = np.lexsort((np.arange(len(pairs)), -votes))[:most].tolist()
    top = float(votes.max())
    return {pairs[row]: float(votes[row]) / top for row in order}


def rank_paths(
    starts: Mapping[int, float],
    answers: Collection[int],
    edges: Mapping[tuple[int, int], float],
    network: Network,
    most: int,
) -> list[EntityPath]:
    """Return the best paths of one relation or two from a start to what may be the answer.

    The score of a path is its start's likeness times (1 + its answers + the weights of its edges).
    The paper prints a sum for the first product; its code multiplies. Where nothing is known of the
    answer, paths lead anywhere along weighed edges.
    """
    answers = frozenset(answers)
    # The same path from either end is one path: that of the better start.
    paths: dict[tuple[int, ...], EntityPath] = {}
    for start, likeness in starts.items():
        for entities in _paths_from(start, answers, edges, network):
            pairs = tuple((min(pair), max(pair)) for pair in pairwise(entities))
            answers_met = sum(row in answers for row in entities)
            score = likeness * (1 + answers_met + sum(edges.get(pair, 0.0) for pair in pairs))
            key = min(entities, entities[::-1])
            if key not in paths or paths[key].score < score:
                paths[key] = EntityPath(entities, pairs, score)
    return sorted(paths.values(), key=lambda path: (-path.score, path.entities))[:most]


def _paths_from(
    start: int,
    answers: frozenset[int],
    edges: Mapping[tuple[int, int], float],
    network: Network,
) -> Iterator[tuple[int, ...]]:
    """The simple paths of at most two relations from a start to an answer."""
    if not answers:
        neighbours = _neighbours(edges)
        for middle in neighbours.get(start, ()):
            yield (start, middle)
            yield from ((start, middle, end) for end in neighbours[middle] if end != start)
        return
    for middle in columns_of(network.ties, start):
        if middle in answers:
            yield (start, middle)
        ends = answers.intersection(columns_of(network.ties, middle))
        yield from ((start, middle, end) for end in sorted(ends) if end != start)


def _neighbours(edges: Collection[tuple[int, int]]) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = {}
    for first, second in sorted(edges):
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    return neighbours


def rank_chunks(paths: Sequence[EntityPath], network: Network) -> Scores:
    """Return the score of each chunk, shape (chunks,).

    It is the sum over all paths through the chunk of their scores, each divided by the path's
    length. A path leads through the chunks of its entities and of its relations; of equal chunks
    those with more of them are first.
    """
    scores = np.zeros(len(network.chunks))
    for path in paths:
        through = [columns_of(network.mentions, row) for row in path.entities]
        for pair in path.pairs:
            relations = _relations_between(pair, network)
            through += [columns_of(network.relations.chunks, row) for row in relations]
        scores[list(set(chain.from_iterable(through)))] += path.score / len(path.pairs)
        for chunks in through:
            scores[chunks] += TIE_BREAK
    return scores


def _describe(scores: Mapping[int, float], network: Network) -> str:
    first = list(scores.items())[:MAX_NAMES]
    names = [f"{network.name(row)} {score:.2f}" for row, score in first]
    return ", ".join(names) + _and_more(scores)


def _and_more(rows: Collection[int]) -> str:
    return f" and {len(rows) - MAX_NAMES} more" if len(rows) > MAX_NAMES else ""


def _relations_between(pair: tuple[int, int], network: Network) -> list[int]:
    """The relations of two entities: one in each document that has both."""
    first, second = (columns_of(network.incident, row) for row in pair)
    return sorted(set(first).intersection(second))
