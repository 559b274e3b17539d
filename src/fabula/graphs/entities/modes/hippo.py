"""HippoRAG 2: a walk over entities and chunks that begins at the facts and passages of a question.

Gutiérrez et al. 2025 (arXiv 2502.14802), section 3. Its code makes one node of all names in other
alphabets than the Latin, lets ties of what was deleted stand, and takes what its filter invents for
the nearest fact there is; here names are compared whole, ties are counted as they are read, and an
unknown number is dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graphs.entities.finding import (
    are_read,
    best_chunks,
    entity_hits,
    fall_back,
    link_hits,
    nearest_links,
    passages,
    read_network,
    together,
)
from fabula.graphs.entities.network import Network, best, pagerank
from fabula.graphs.entities.reading import PROMPTS, find_names, rows_of
from fabula.models import Chat, Prompt
from fabula.models.prompts import filled
from fabula.models.replies import ask, read_lists
from fabula.text.ranking import Scores, scaled

ASKED = 100
"""Facts that the index is asked for; their cosines are scaled among themselves."""
READ = 200
"""Passages that the walk may begin at; all others have no weight of their own."""
WITH_FACTS, WITHOUT = 0.05, 1.0
"""The weight of passages, as published, and where names stand for facts. Measured without a model
on seven novels (GraphRAG-Bench): 0.05 is 7 points below the passages' own ranking, 1 is level."""


class Knobs(BaseModel):
    """What a walk begins at."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    facts: int = Field(5, ge=1, le=ASKED, description="facts that a model is shown to choose from")
    phrases: int = Field(5, ge=1, le=100, description="entities that a walk begins at")
    passage_weight: float | None = Field(
        None,
        ge=0,
        le=100,
        description="what passages weigh beside facts where a walk begins; unless set, 0.05 with a "
        "model and 1 without",
    )
    damping: float = Field(0.5, gt=0, lt=1, description="how likely a walk goes on")


class FactsReply(BaseModel):
    """Numbers of facts that help to answer a question."""

    model_config = ConfigDict(extra="forbid")

    keep: list[int]


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The `k` chunks that a walk from the question's facts and passages meets most often."""
    network = read_network(filters, tools)
    if network is None:
        return []
    vector = tools.embed(question)
    if tools.models.offline:
        phrases = name_weights(_named(question, network, tools), network, tools.knobs.phrases)
    else:
        kind = "triple" if network.facts.ids else "relation"
        near = nearest_links(vector, network.linked, kind, filters, tools, ASKED)
        kept = _filter(question, choose(near, tools.knobs.facts), kind, network, filters, tools)
        phrases = fact_weights(kept, network, tools.knobs.phrases)
    if not phrases:
        why = "nobody is named" if tools.models.offline else "no fact helps"
        return fall_back(question, why, (), network, filters, tools)
    found = passages(question, vector, filters, tools, max(READ, tools.k))
    weight = tools.knobs.passage_weight
    if weight is None:
        weight = WITHOUT if tools.models.offline else WITH_FACTS
    note = f"damping {tools.knobs.damping}, passages {weight}, from {_told(phrases, network)}"
    with tools.path.step("walk", note) as step:
        ranks = walk(phrases, found, weight, tools.knobs.damping, network)
        entities, chunks = np.split(ranks, [len(network.entities)])
        hits = best_chunks(chunks, network, filters, tools, tools.k)
        step.walked = network.ids([*phrases, *best(entities, tools.k)])
        step.found(hits)
    if are_read((), filters):
        met = {row: float(entities[row]) for row in best(entities, tools.k)}
        hits = together([(entity_hits(met, network, filters, tools), 1.0)], (), filters, tools)
    return hits or fall_back(question, "the walk meets nothing", (), network, filters, tools)


# Where a walk begins


def choose(near: Mapping[int, float], most: int) -> dict[int, float]:
    """The `most` nearest facts, their cosines scaled to 0..1 among all that were found.

    Where all are equal, each is the best. The code stops at a fact of score 0, as the last of a
    small graph has.
    """
    shares = scaled(np.array(list(near.values())))
    if not shares.any():
        shares = np.ones(len(near))
    scored = dict(zip(near, shares.tolist(), strict=True))
    return dict(islice(sorted(scored.items(), key=lambda one: (-one[1], one[0])), most))


def fact_weights(kept: Mapping[int, float], network: Network, most: int) -> dict[int, float]:
    """What the ends of facts weigh: the mean score of its facts over the number of its chunks."""
    scores: dict[int, list[float]] = {}
    for fact, score in kept.items():
        for end in dict.fromkeys(network.linked.ends[fact].tolist()):
            scores.setdefault(end, []).append(score)
    counts = network.chunk_counts
    weights = {
        row: sum(some) / len(some) / counts[row] for row, some in scores.items() if counts[row]
    }
    return _largest(weights, most)


def name_weights(named: Sequence[int], network: Network, most: int) -> dict[int, float]:
    """What named entities weigh where there are no facts: less, the more chunks mention them."""
    counts = network.chunk_counts
    return _largest({row: 1 / counts[row] for row in named if counts[row]}, most)


def walk(
    phrases: Mapping[int, float],
    found: Sequence[Hit],
    weight: float,
    damping: float,
    network: Network,
) -> Scores:
    """How often a walk meets each entity and, after them, each chunk, shape (both,).

    It begins at the phrases, and at passages by their scores, scaled to 0..1 and times `weight`.
    """
    seeds = np.zeros(len(network.entities) + len(network.chunks))
    for row, one in phrases.items():
        seeds[row] = one
    shares = scaled(np.array([hit.score for hit in found])).tolist()
    for hit, share in zip(found, shares, strict=True):
        if hit.id in network.chunk_row:
            seeds[len(network.entities) + network.chunk_row[hit.id]] = weight * share
    if not seeds.any():
        return seeds
    return pagerank(network.walk, seeds, damping)


def _largest(weights: Mapping[int, float], most: int) -> dict[int, float]:
    kept = sorted(weights.items(), key=lambda one: (-one[1], one[0]))[:most]
    return {row: float(one) for row, one in kept if one > 0}


# Facts and names


def _named(question: str, network: Network, tools: Tools) -> list[int]:
    with tools.path.step("names") as step:
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
    """Those of the facts that help, as a model says; all, where none of its replies is of use."""
    unfiltered = replace(filters, kinds=(), aspects=(), lowest=0)
    shown = link_hits(near, network.linked, kind, unfiltered, tools)
    if not shown:
        return {}
    with tools.path.step("facts", f"which of {len(shown)} help") as step:
        try:
            chat = tools.models.chat("model", "facts")
            numbers = ask_facts(question, [hit.text for hit in shown], chat)
        except BadReply as error:
            step.note = f"all, as the model's replies are of no use: {error}"
            numbers = set(range(1, len(shown) + 1))
        kept = [hit for number, hit in enumerate(shown, 1) if number in numbers]
        step.found(shown, kept)
    return {network.linked.row[hit.id]: near[network.linked.row[hit.id]] for hit in kept}


def ask_facts(question: str, facts: Sequence[str], chat: Chat) -> Collection[int]:
    """The numbers of those facts that help to answer, as a model says; maybe none."""
    numbered = "\n".join(f"[{number}] {fact}" for number, fact in enumerate(facts, 1))
    asked = Prompt(
        system=filled(PROMPTS / "facts_system.txt"),
        user=filled(PROMPTS / "facts.txt", facts=numbered, question=question),
        max_tokens=100 + 6 * len(facts),
        temperature=0,
        schema=FactsReply,
    )
    return ask(chat, asked, lambda reply: read_facts(reply, len(facts)))


def read_facts(reply: str, facts: int) -> frozenset[int]:
    """Numbers from 1 to `facts`; others are dropped. Raises BadReply for what is no such list."""
    told = read_lists(reply, ["keep"])["keep"]
    numbers = (int(one) for one in told if str(one).isdecimal() and len(str(one)) < 10)
    return frozenset(number for number in numbers if 1 <= number <= facts)


def _told(phrases: Mapping[int, float], network: Network) -> str:
    return ", ".join(f"{network.name(row)} {weight:.3g}" for row, weight in phrases.items())


MODE = Mode(
    retrieve,
    "a walk over entities and chunks from the question's facts and passages (HippoRAG 2)",
    knobs=Knobs,
    graph="entities",
    # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy; with facts.
    serves={"fact": 60.14, "reasoning": 53.38, "overview": 64.10, "creative": 48.28},
)
