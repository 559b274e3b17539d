"""The mode `speech`: the chunks in which those whom a question names speak of what it asks.

The quotations of the named speakers are ranked by the cosine to the question and by its words; the
chunks that have the best of them are the passages. A question that names no speaker, or of a text
without this graph, gets passages as `hybrid` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fabula.ask import hybrid
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graphs.entities.names import name_words
from fabula.graphs.entities.retrieval import chunk_hits
from fabula.text.ranking import bm25
from fabula.text.stems import stemmer_of, words

NO_GRAPH, NOBODY = "there is no graph of speech", "the question names nobody who speaks"


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the `k` chunks with the words of the named speakers that are nearest to a question."""
    speakers = read_speakers(filters, tools)
    if speakers is None or not filters.allows("chunk"):
        return _fall_back(NO_GRAPH, question, filters, tools)
    named = find_speakers(question, speakers)
    if not named:
        return _fall_back(NOBODY, question, filters, tools)
    with tools.trace.step("said", ", ".join(sorted(named))) as step:
        whole = filters.open
        rows = tools.store.read(
            read_statement("fabula_graphs/speech/find_quotations"),
            whole,
            speakers=[id for name in named for id in named[name]],
        )
        step.note += f": {len(rows):,} quotations"
    if not rows:
        return _fall_back(NOBODY, question, filters, tools)
    scored = rank(question, rows, tools, filters.collection)
    with tools.trace.step("chunks", "those that have the nearest quotations") as step:
        hits = chunk_hits(dict(list(scored.items())[: tools.k]), filters, tools)
        step.record(hits)
    return hits


def read_speakers(filters: Filters, tools: Tools) -> Mapping[str, Sequence[str]] | None:
    """Return the ways to name speakers, each with names that their quotations have; None if the
    graph was not built.
    """
    whole = filters.open

    def read() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in tools.store.read(read_statement("fabula_graphs/speech/find_speakers"), whole):
            for name in set(row["names"]):
                speakers = found.setdefault(name, [])
                if row["speaker"] not in speakers:
                    speakers.append(row["speaker"])
        return found

    with tools.trace.step("speakers") as step:
        speakers = tools.store.cached(
            "speakers", whole, ("text", "speech"), read, uses=("entities",)
        )
        step.note = f"{len(speakers):,} names" if speakers is not None else NO_GRAPH
    return speakers


def find_speakers(question: str, speakers: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return the speakers whom a question names, the first who is named alone.

    In "What does Scrooge say about Marley?" Scrooge speaks, and Marley is what he speaks of.
    """
    asked = name_words(question)
    places: dict[int, tuple[int, str]] = {}
    for name in speakers:
        parts = name_words(name)
        if not parts:
            continue
        for at in range(len(asked) - len(parts) + 1):
            if asked[at : at + len(parts)] == parts and len(parts) > places.get(at, (0, ""))[0]:
                places[at] = (len(parts), name)
    if not places:
        return {}
    _, name = places[min(places)]
    return {name: speakers[name]}


def rank(
    question: str, rows: Sequence[Mapping[str, Any]], tools: Tools, collection: str
) -> dict[str, float]:
    """Return the score of each chunk, best first: that of its best quotation, by both rankings."""
    vector = tools.embed(question)
    vectors = tools.store.vectors(collection, [row["id"] for row in rows])
    near = {
        row["id"]: float(np.dot(vectors[row["id"]], vector)) for row in rows if row["id"] in vectors
    }
    stem = stemmer_of(rows[0]["language"])
    query = {term for word in words(question) for term in stem.terms(word)}
    texts = [[term for word in words(row["text"]) for term in stem.terms(word)] for row in rows]
    by_words = bm25(query, texts)
    order_near = sorted(near, key=lambda id: (-near[id], id))
    order_words = [
        rows[row]["id"]
        for row in sorted(range(len(rows)), key=lambda row: (-by_words[row], rows[row]["id"]))
        if by_words[row] > 0
    ]
    limit = tools.options.said
    fused = fuse_ranks([order_near[:limit], order_words[:limit]])
    chunk_of = {row["id"]: row["chunk"] for row in rows}
    scored: dict[str, float] = {}
    for id, score in sorted(fused.items(), key=lambda item: (-item[1], item[0])):
        scored.setdefault(chunk_of[id], score)
    return scored


def fuse_ranks(orders: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the scores of ids by their places in several orders (reciprocal rank fusion)."""
    scores: dict[str, float] = {}
    for order in orders:
        for place, id in enumerate(order, 1):
            scores[id] = scores.get(id, 0.0) + 1 / (60 + place)
    return scores


def _fall_back(why: str, question: str, filters: Filters, tools: Tools) -> list[Hit]:
    with tools.trace.step("fall back", f"{why}: passages as hybrid finds them") as step:
        hits = hybrid.retrieve(question, filters, replace(tools, options=hybrid.Options()))
        step.record(hits)
    return hits
