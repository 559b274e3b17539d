"""The mode `annotations`: the chunks whose annotations are nearest to a question.

Annotations are found by their words (BM25 over tags, notes and the marked words), notes by meaning
as well, and both rankings are joined by ranks. The chunks that have the best of them are the
passages. If nothing is found, or the graph was not built, passages are found as `hybrid` does.
"""

from __future__ import annotations

from fabula.ask import hybrid
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graphs.entities.retrieval import chunk_hits

KIND = "annotation"
RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
MEANING_WEIGHT = 0.5
"""What the ranking by meaning counts beside that by words: some note is always the nearest, but
only a question that names a tag or a word of a note has one by words."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the `k` chunks whose annotations are nearest to a question."""
    limit = tools.options.found
    scores: dict[str, float] = {}
    if filters.allows("chunk"):
        with tools.trace.step("annotations", "by words, and notes by meaning") as step:
            open_filters = filters.open
            near = tools.elements(tools.embed(question), open_filters, limit, (KIND,))
            by_words = tools.store.search_elements(question, KIND, limit, open_filters)
            rankings = (([hit.id for hit in near], MEANING_WEIGHT), (list(by_words), 1.0))
            for ranking, weight in rankings:
                for rank, id in enumerate(ranking, 1):
                    scores[id] = scores.get(id, 0.0) + weight / (RANK_CONSTANT + rank)
            step.note += f": {len(scores):,}"
    chunks = _best_chunks(scores, filters, tools)
    if not chunks:
        return hybrid.fall_back(question, "nothing is annotated", filters, tools)
    with tools.trace.step("chunks", "those that have the nearest annotations") as step:
        hits = chunk_hits(dict(list(chunks.items())[: tools.k]), filters, tools)
        step.record(hits)
    return hits


def _best_chunks(scores: dict[str, float], filters: Filters, tools: Tools) -> dict[str, float]:
    """The chunks in which the best annotations begin, each with the score of its best one."""
    if not scores:
        return {}
    rows = tools.store.read(
        read_statement("annotations/find_chunks"), filters.open, ids=list(scores)
    )
    chunk_of = {row["id"]: row["chunk"] for row in rows}
    best: dict[str, float] = {}
    for id in sorted(scores, key=lambda id: (-scores[id], id)):
        if id in chunk_of:
            best.setdefault(chunk_of[id], scores[id])
    return best
