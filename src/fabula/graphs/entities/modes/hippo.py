"""HippoRAG 2: a random walk over entities and chunks from the facts and passages of a question.

Gutiérrez et al. 2025 (arXiv 2502.14802), section 3. Its code makes one node of all names in other
alphabets than the Latin, keeps ties of what was deleted, and takes a fact that the model invents
for the nearest one there is. Here names of all alphabets are compared, ties are counted anew as
they are read, and a number that was not in the prompt is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from fabula.ask import hybrid
from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graphs.entities.modes.options import MAX_NEAR_FACTS
from fabula.graphs.entities.network import Network, best, pagerank
from fabula.graphs.entities.questions import PROMPTS, find_names, rows_of
from fabula.graphs.entities.retrieval import (
    best_chunks,
    entity_hits,
    join_hits,
    link_hits,
    nearest_links,
    needs_records,
    passages,
    read_network,
)
from fabula.models import Chat, Prompt
from fabula.models.prompts import fill_template, number_texts
from fabula.models.replies import ask, read_lists
from fabula.models.schemas import ReplyShape
from fabula.text.ranking import Scores, scale

MAX_PASSAGES = 200
"""How many passages the walk may begin at."""
WEIGHT_WITH_FACTS, WEIGHT_WITH_NAMES = 0.05, 1.0
"""The weight of passages: as published, and where names stand for facts, as there is no model.
Measured without a model on seven novels (GraphRAG-Bench): 0.05 is 7 points below the passages' own
ranking, 1 is level."""


USUALLY_KEPT = 5
"""How many facts a dry run assumes that the model keeps."""


class FactsReply(ReplyShape):
    """Numbers of facts that help to answer a question."""

    keep: list[int]


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the `k` chunks that a walk from the question's facts and passages is at most often."""
    network = read_network(filters, tools)
    if network is None:
        return []
    vector = tools.embed(question)
    if tools.models.offline:
        named = _find_named(question, network, tools)
        phrases = name_weights(named, network, tools.options.phrases)
    else:
        kind = "triple" if network.facts.ids else "relation"
        near = nearest_links(vector, network.linked, kind, filters, tools, MAX_NEAR_FACTS)
        nearest = choose(near, tools.options.facts)
        helpful = _filter(question, nearest, kind, network, filters, tools)
        phrases = fact_weights(helpful, network, tools.options.phrases)
    if not phrases:
        why = "the question names no entity" if tools.models.offline else "no fact helps"
        return hybrid.fall_back(question, why, filters, tools)
    alone = passages(question, vector, filters, tools, max(MAX_PASSAGES, tools.k))
    weight = tools.options.passage_weight
    if weight is None:
        weight = WEIGHT_WITH_NAMES if tools.models.offline else WEIGHT_WITH_FACTS
    note = f"damping {tools.options.damping}, passages {weight}, from {_describe(phrases, network)}"
    with tools.trace.step("walk", note) as step:
        ranks = walk(phrases, alone, weight, tools.options.damping, network)
        entities, chunks = np.split(ranks, [len(network.entities)])
        hits = best_chunks(chunks, network, filters, tools, tools.k)
        step.walked = network.ids([*phrases, *best(entities, tools.k)])
        step.record(hits)
    if needs_records((), filters):
        shares = {row: float(entities[row]) for row in best(entities, tools.k)}
        hits = join_hits([(entity_hits(shares, network, filters, tools), 1.0)], (), filters, tools)
    return hits or hybrid.fall_back(question, "the walk reaches no chunk", filters, tools)


# Where a walk begins


def choose(near: Mapping[int, float], most: int) -> dict[int, float]:
    """Return the `most` nearest facts, their cosines scaled to 0..1 among all that are near.

    Where all are equal, each is 1. The published code stops at a fact of score 0, which the last of
    a small graph has.
    """
    shares = scale(np.array(list(near.values())))
    if not shares.any():
        shares = np.ones(len(near))
    scored = dict(zip(near, shares.tolist(), strict=True))
    return dict(islice(sorted(scored.items(), key=lambda item: (-item[1], item[0])), most))


def fact_weights(facts: Mapping[int, float], network: Network, most: int) -> dict[int, float]:
    """Return the weights of the entities of facts.

    The weight of an entity is the mean score of its facts, divided by the number of its chunks.
    """
    scores: dict[int, list[float]] = {}
    for fact, score in facts.items():
        for end in dict.fromkeys(network.linked.ends[fact].tolist()):
            scores.setdefault(end, []).append(score)
    counts = network.chunk_counts
    weights = {
        row: sum(of_row) / len(of_row) / counts[row]
        for row, of_row in scores.items()
        if counts[row]
    }
    return _largest(weights, most)


def name_weights(named: Sequence[int], network: Network, most: int) -> dict[int, float]:
    """Return the weights of named entities where there are no facts: 1 over their chunks."""
    counts = network.chunk_counts
    return _largest({row: 1 / counts[row] for row in named if counts[row]}, most)


def walk(
    phrases: Mapping[int, float],
    passages: Sequence[Hit],
    weight: float,
    damping: float,
    network: Network,
) -> Scores:
    """Return how often a walk is at each entity and each chunk.

    Args:
        phrases: How likely the walk begins at each entity.
        passages: Chunks at which it may begin, by their scores, scaled to 0..1 times `weight`.
        weight: The weight of the best passage.
        damping: The probability of going on.
        network: The network.

    Returns:
        Shares, shape (entities + chunks,).
    """
    seeds = np.zeros(len(network.entities) + len(network.chunks))
    for row, phrase_weight in phrases.items():
        seeds[row] = phrase_weight
    shares = scale(np.array([hit.score for hit in passages])).tolist()
    for hit, share in zip(passages, shares, strict=True):
        if hit.id in network.chunk_row:
            seeds[len(network.entities) + network.chunk_row[hit.id]] = weight * share
    if not seeds.any():
        return seeds
    return pagerank(network.walk, seeds, damping)


def _largest(weights: Mapping[int, float], most: int) -> dict[int, float]:
    largest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:most]
    return {row: float(weight) for row, weight in largest if weight > 0}


# Facts and names


def _find_named(question: str, network: Network, tools: Tools) -> list[int]:
    with tools.trace.step("names") as step:
        names = find_names(question, network)
        step.note = ", ".join(names) or "none"
    return rows_of(names, network)


def _filter(
    question: str,
    near: Mapping[int, float],
    kind: str,
    network: Network,
    filters: Filters,
    tools: Tools,
) -> dict[int, float]:
    """The facts that a model calls helpful; all, where none of its replies can be used."""
    unfiltered = replace(filters, kinds=(), aspects=(), lowest=0)
    facts = link_hits(near, network.linked, kind, unfiltered, tools)
    if not facts:
        return {}
    with tools.trace.step("facts", f"which of {len(facts)} help") as step:
        try:
            chat = tools.models.chat("model", "facts")
            numbers = ask_which_help(question, [hit.text for hit in facts], chat)
        except BadReply as error:
            step.note = f"all, as no reply of the model could be used: {error}"
            numbers = set(range(1, len(facts) + 1))
        helpful = [hit for number, hit in enumerate(facts, 1) if number in numbers]
        step.record(facts, helpful)
    rows = [network.linked.row[hit.id] for hit in helpful]
    return {row: near[row] for row in rows}


def ask_which_help(question: str, facts: Sequence[str], chat: Chat) -> Collection[int]:
    """Ask a model which facts help to answer a question: a paid call.

    Returns:
        The numbers of the facts, from 1 on; there may be none.

    Raises:
        BadReply: None of the replies can be used.
    """
    numbered = "\n".join(number_texts(facts))
    request = Prompt(
        system=fill_template(PROMPTS / "facts_system.txt"),
        user=fill_template(PROMPTS / "facts.txt", facts=numbered, question=question),
        max_tokens=100 + 6 * len(facts),
        temperature=0,
        schema=FactsReply,
        placeholder=lambda: json.dumps({"keep": [*range(1, len(facts) + 1)][:USUALLY_KEPT]}),
    )
    return ask(chat, request, lambda reply: read_fact_numbers(reply, len(facts)))


def read_fact_numbers(reply: str, facts: int) -> frozenset[int]:
    """Read the numbers of facts from 1 to `facts`; others are dropped.

    Raises:
        BadReply: The reply is not of this shape.
    """
    texts = map(str, read_lists(reply, ["keep"])["keep"])
    numbers = (int(text) for text in texts if text.isdecimal() and len(text) < 10)
    return frozenset(number for number in numbers if 1 <= number <= facts)


def _describe(phrases: Mapping[int, float], network: Network) -> str:
    return ", ".join(f"{network.name(row)} {weight:.3g}" for row, weight in phrases.items())
