"""MiniRAG: paths from whom a question names to whom an answer may be, and the chunks along them.

Fan et al. 2025 (arXiv 2501.06713), section 3.3; HKUDS/MiniRAG, read at 4fe2fba. Its code takes half
a novel for the answer where it asks for a person, counts a relation only in the direction in which
it is stored, ranks chunks by the last path alone, and raises all after the first that is near; here
the nearest of a type may be the answer, relations have no direction, and all paths count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fabula.ask.fusion import by_ranks
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graphs.entities.finding import (
    are_read,
    best_chunks,
    embed,
    entity_hits,
    fall_back,
    nearest_entities,
    passages,
    read_network,
    together,
)
from fabula.graphs.entities.network import Network, columns_of, within
from fabula.graphs.entities.reading import Sought, read_question, rows_of
from fabula.text.document import Vector
from fabula.text.ranking import Scores

NAMES = 5
"""Names of a question that paths begin at."""
AT_ONCE = 64
"""Names and answers whose surroundings are in memory at once."""
TIE = 1e-9
"""What each of a path's entities and relations in a chunk adds, where paths make no difference."""


class Knobs(BaseModel):
    """Where paths begin and end, and what counts on them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: int = Field(5, ge=1, le=1000, description="entities near to a name of the question")
    least: float = Field(0.5, ge=-1, le=1, description="least cosine of these with the name")
    answers: int = Field(
        60, ge=0, le=1_000_000, description="entities of the answer's types that may be it"
    )
    relations: int = Field(60, ge=1, le=1_000_000, description="relations that count on a path")
    hops: int = Field(2, ge=0, le=4, description="how far from a relation names and answers count")
    paths: int = Field(30, ge=1, le=10_000, description="paths that chunks are ranked by")
    chunks: int = Field(30, ge=1, le=1000, description="most chunks")
    entity_share: float = Field(0.1, ge=0, le=1, description="share of entities' records")


class Way(NamedTuple):
    """A path: its entities from the start on, the relations between them, as rows, its score."""

    entities: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    score: float


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Chunks along the paths from the question's names to what its answer may be."""
    network = read_network(filters, tools)
    if network is None:
        return []
    knobs, offline = tools.knobs, tools.models.offline
    sought = read_question(question, network, tools)
    *vectors, vector = embed([*sought.named[:NAMES], question], tools)
    with tools.path.step("starts") as step:
        starts = _starts(sought, vectors, network, filters, tools)
        step.note = _told(starts, network)
        step.walked = network.ids(starts)
    if not starts:
        return fall_back(question, "nobody is named", (), network, filters, tools)
    with tools.path.step("answers") as step:
        answers = _answers(vector, sought.answer_types, network, filters, tools)
        names = [network.name(row) for row in answers[:NAMES]]
        step.note = ", ".join(names) + _more(answers)
    with tools.path.step("paths") as step:
        edges = weigh_edges(starts, answers, network, knobs.relations, knobs.hops)
        ways = rank_paths(starts, answers, edges, network, knobs.paths)
        step.note = "; ".join(" - ".join(map(network.name, way.entities)) for way in ways[:5])
        step.walked = network.ids(row for way in ways for row in way.entities)
    if not ways:
        return fall_back(question, "there is no path", starts, network, filters, tools)
    most = min(knobs.chunks, tools.k)
    alone = passages(question, vector, filters, tools, knobs.chunks)
    with tools.path.step("chunks", f"along {len(ways)} paths") as step:
        scores = rank_chunks(ways, network)
        along = best_chunks(scores, network, filters, tools, knobs.chunks, alone)
        step.found(along)
    with tools.path.step("fuse", "by ranks") as step:
        chunks = by_ranks([along, alone], most) if along else []
        step.found(chunks)
    met = dict.fromkeys((row for way in ways for row in way.entities), 0.0)
    for way in ways:
        for row in way.entities:
            met[row] = max(met[row], way.score)
    # Without a model a record quotes a sentence of a chunk, and the chunk is here.
    share = 0.0 if offline else knobs.entity_share
    records: list[Hit] = []
    if are_read([share], filters):
        ordered = dict(sorted(met.items(), key=lambda one: (-one[1], one[0])))
        records = entity_hits(ordered, network, filters, tools)
    return together([(records, share)], chunks, filters, tools) or fall_back(
        question, "the paths have no chunks", starts, network, filters, tools
    )


def _starts(
    sought: Sought,
    vectors: Sequence[Vector],
    network: Network,
    filters: Filters,
    tools: Tools,
) -> dict[int, float]:
    """Those that are named, best first, each with its likeness to the name: 1 where it is one."""
    found: dict[int, float] = {}
    for name, vector in zip(sought.named, vectors, strict=False):
        near = dict.fromkeys(rows_of([name], network), 1.0) or nearest_entities(
            vector, network, filters, tools, tools.knobs.names, tools.knobs.least
        )
        for row, likeness in near.items():
            found[row] = max(found.get(row, -1.0), likeness)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _answers(
    vector: Vector, types: Collection[str], network: Network, filters: Filters, tools: Tools
) -> list[int]:
    """The entities of these types that are nearest to the question; all, where they are few."""
    most = tools.knobs.answers
    if not types or not most:
        return []
    rows = [row for row, type in enumerate(network.types) if type in types]
    if len(rows) <= most:
        return rows
    # There is no filter by type in the index: many are asked for, of which some are of it.
    share = max(1, len(network.types) // len(rows))
    near = nearest_entities(vector, network, filters, tools, min(2 * share * most, 2000), -1.0)
    wanted = set(rows)
    return [row for row in near if row in wanted][:most]


# The ranking


def weigh_edges(
    starts: Collection[int],
    answers: Collection[int],
    network: Network,
    most: int,
    hops: int,
) -> dict[tuple[int, int], float]:
    """The pairs of related entities that most names and answers are near to, and how many.

    How many starts, and how many answers, are at most so many hops from an end, of pairs with a
    start or an answer in them; the `most` best, over the largest. The paper prints the second sum
    with a plus inside, where a comma is meant.
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
    one, other = np.array(pairs).T
    votes = np.zeros(len(pairs))
    for begin in range(0, len(near), AT_ONCE):
        rows = list(near)[begin : begin + AT_ONCE]
        reached = within(network.ties, rows, hops)
        times = np.array([near[row] for row in rows], np.float64)
        votes += times @ (reached[:, one] | reached[:, other])
    order = np.lexsort((np.arange(len(pairs)), -votes))[:most].tolist()
    top = float(votes.max())
    return {pairs[row]: float(votes[row]) / top for row in order}


def rank_paths(
    starts: Mapping[int, float],
    answers: Collection[int],
    edges: Mapping[tuple[int, int], float],
    network: Network,
    most: int,
) -> list[Way]:
    """The best paths of one relation or two from a start to what may be the answer.

    A path's score is its start's likeness times 1 + its answers + its edges that count. The paper
    prints a sum for the first times; its code multiplies. Where nothing is known of the answer,
    paths lead anywhere along edges that count.
    """
    answers = frozenset(answers)
    # The same path from either end is one: the better start's.
    found: dict[tuple[int, ...], Way] = {}
    for start, likeness in starts.items():
        for entities in _paths(start, answers, edges, network):
            pairs = tuple((min(two), max(two)) for two in pairwise(entities))
            reached = sum(row in answers for row in entities)
            score = likeness * (1 + reached + sum(edges.get(pair, 0.0) for pair in pairs))
            key = min(entities, entities[::-1])
            if key not in found or found[key].score < score:
                found[key] = Way(entities, pairs, score)
    return sorted(found.values(), key=lambda way: (-way.score, way.entities))[:most]


def _paths(
    start: int,
    answers: frozenset[int],
    edges: Mapping[tuple[int, int], float],
    network: Network,
) -> Iterator[tuple[int, ...]]:
    """The simple paths of at most two relations from a start to an answer."""
    if not answers:
        tied = _tied(edges)
        for middle in tied.get(start, ()):
            yield (start, middle)
            yield from ((start, middle, end) for end in tied[middle] if end != start)
        return
    for middle in columns_of(network.ties, start):
        if middle in answers:
            yield (start, middle)
        ends = answers.intersection(columns_of(network.ties, middle))
        yield from ((start, middle, end) for end in sorted(ends) if end != start)


def _tied(edges: Collection[tuple[int, int]]) -> dict[int, list[int]]:
    tied: dict[int, list[int]] = {}
    for one, other in sorted(edges):
        tied.setdefault(one, []).append(other)
        tied.setdefault(other, []).append(one)
    return tied


def rank_chunks(ways: Sequence[Way], network: Network) -> Scores:
    """The sum over the paths through each chunk of their scores over their lengths.

    A path leads through the chunks of its entities and of its relations. Where that is the same,
    chunks with more of these are before others.
    """
    scores = np.zeros(len(network.chunks))
    for way in ways:
        through = [columns_of(network.mentions, row) for row in way.entities]
        for pair in way.pairs:
            rows = _relations(pair, network)
            through += [columns_of(network.relations.chunks, row) for row in rows]
        scores[list({row for rows in through for row in rows})] += way.score / len(way.pairs)
        for rows in through:
            scores[rows] += TIE
    return scores


def _told(scores: Mapping[int, float], network: Network) -> str:
    most = list(scores.items())[:NAMES]
    return ", ".join(f"{network.name(row)} {one:.2f}" for row, one in most) + _more(scores)


def _more(rows: Collection[int]) -> str:
    return f" and {len(rows) - NAMES} more" if len(rows) > NAMES else ""


def _relations(pair: tuple[int, int], network: Network) -> list[int]:
    """The relations of two entities: one in each document that has both."""
    one, other = (columns_of(network.incident, row) for row in pair)
    return sorted(set(one).intersection(other))


MODE = Mode(
    retrieve,
    "paths from whom a question names to whom an answer may be, and their chunks (MiniRAG)",
    knobs=Knobs,
    graph="entities",
)
