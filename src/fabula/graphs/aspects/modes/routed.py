"""The question's aspects are found first, and their trees count for more."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graphs.aspects.replies import read_aspects as read_names
from fabula.graphs.aspects.schemas import aspects_reply
from fabula.graphs.aspects.sets import read_aspects
from fabula.graphs.aspects.values import Aspect
from fabula.models import Chat, Embedder, Prompt
from fabula.models.prompts import filled
from fabula.models.replies import ask
from fabula.text import tokens

PROMPTS = Path(__file__).parent / "prompts"
"""Apart from those that a graph is built with, which make it stale where they change."""
AHEAD = 0.05
"""How much cosine a summary of the question's aspects is ahead of the others."""
DEPTH = 4
"""Times `k` passages are looked at."""
MOST_NEAREST = 2
"""Aspects that a question is taken to ask about where no model says."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The `k` best by cosine, summaries of the question's aspects some way ahead."""
    with tools.path.step("route") as step:
        chosen = _aspects_of(question, tools)
        step.note = ", ".join(sorted(chosen)) or "no aspect"
    hits = tools.nearest(question, filters, DEPTH * tools.k)
    with tools.path.step("weigh", f"{AHEAD} ahead") as step:
        weighed = [
            replace(hit, score=hit.score + AHEAD) if hit.aspect in chosen else hit for hit in hits
        ]
        weighed.sort(key=lambda hit: (-hit.score, hit.id))
        step.found(weighed, weighed[: tools.k])
    return weighed[: tools.k]


def _aspects_of(question: str, tools: Tools) -> Collection[str]:
    aspects = read_aspects(tools.method.set)
    if tools.models.offline:
        return nearest_aspects(question, aspects, tools.models.static)
    return ask_aspects(question, aspects, tools.models.chat("aspect_model", "route"))


def ask_aspects(question: str, aspects: Sequence[Aspect], chat: Chat) -> Collection[str]:
    """The names of the aspects that the question asks about, as a model says; maybe none."""
    names = tuple(aspect.name for aspect in aspects)
    listed = "\n".join(f"- {aspect.name}: {aspect.description}" for aspect in aspects)
    asked = Prompt(
        system=filled(PROMPTS / "route_system.txt"),
        user=filled(PROMPTS / "route.txt", aspects=listed, question=question),
        max_tokens=100 + 2 * tokens.count(", ".join(names)),
        temperature=0,
        schema=aspects_reply(names),
    )
    return ask(chat, asked, lambda reply: read_names(reply, names))


def nearest_aspects(
    question: str, aspects: Sequence[Aspect], embedder: Embedder
) -> Collection[str]:
    """The two aspects whose descriptions are nearest to the question."""
    described = [f"{aspect.name}. {aspect.description}" for aspect in aspects]
    vector, *wanted = embedder.embed([question, *described]).vectors
    nearest = np.argsort(-(np.stack(wanted) @ vector), kind="stable")[:MOST_NEAREST]
    return frozenset(aspects[one].name for one in nearest.tolist())


MODE = Mode(
    retrieve, "the question's aspects are found first, and their trees count more", graph="aspects"
)
