"""Retrieval: a mode's hits for a question, and what may be done to any mode's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Literal

from fabula.ask.diversity import diverse
from fabula.ask.fusion import by_ranks
from fabula.graph.hits import Filters, Hit
from fabula.graph.installed import graphs
from fabula.graph.mode import Mode, Tools, Way
from fabula.graph.queries import query, read

Rewrite = Literal["none", "queries", "answer"]
Expand = Literal["none", "parents", "neighbours"]
WIDER = 4
"""Times as many hits are asked of a mode where some of them will be passed over."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found, best first: the hits that are shown, and those that come after them.

    `chunks` are those of hits that rest on one alone, as details do, by the ids of such hits; only
    where they were looked for.
    """

    hits: tuple[Hit, ...] = ()
    further: tuple[Hit, ...] = ()
    chunks: Mapping[str, Hit] = field(default_factory=dict)


def retrieve(
    question: str,
    filters: Filters,
    ways: Sequence[Way],
    *,
    shown: int,
    rewrite: Rewrite,
    rerank: bool,
    diversity: float,
    expand: Expand,
) -> Found:
    """The hits of a mode, `tools.k` of them, and what the `shown` ones are expanded by.

    Those of several modes are fused by their ranks: each finds as many as it would alone, by its
    own knobs. What is done to any mode's, in this order: `rewrite`: other wordings are asked too,
    or a made-up answer instead; `rerank`: a model ranks, four times as many as are shown;
    `diversity`: 0 to 1, how much likeness with better hits counts against one; `expand`: the
    summaries above a hit that is shown, or the chunks beside it, come after it. Where more are
    found than are shown, details come with their chunks.
    """
    let_in = {way.name: _kinds(filters, way.mode) for way in ways}
    ways = [way for way in ways if let_in[way.name] or not way.mode.kinds]
    if not ways:
        return Found()
    tools = ways[0].tools
    wide = replace(tools, k=WIDER * tools.k) if rerank or diversity > 0 else tools
    asked = _questions(question, tools, rewrite)
    rankings: list[list[Hit]] = []
    for way in ways:
        own, told = replace(way.tools, k=wide.k), replace(filters, kinds=let_in[way.name])
        with tools.path.step("mode", way.name) if len(ways) > 1 else nullcontext():
            rankings += [way.mode.retrieve(one, told, own) for one in asked]
    hits = rankings[0] if len(rankings) == 1 else _fused(rankings, wide)
    if rerank and hits:
        hits = _reranked(question, hits[: WIDER * shown], tools)
    if diversity:
        hits = _diverse(hits, tools, diversity, filters.collection)
    first, further = hits[:shown], hits[shown : tools.k]
    if expand != "none":
        first = _expanded(first, tools, expand, filters.collection)
    known = {hit.id for hit in first}
    further = [hit for hit in further if hit.id not in known]
    if all(let_in[way.name] for way in ways):
        kinds = dict.fromkeys(kind for way in ways for kind in let_in[way.name])
        filters = replace(filters, kinds=tuple(kinds))
    chunks = _chunks([*first, *further], filters, tools) if tools.k > shown else {}
    return Found(tuple(first), tuple(further), chunks)


def _kinds(filters: Filters, mode: Mode) -> tuple[str, ...]:
    """The kinds that the filters let through, of those that the mode finds."""
    if not mode.kinds:
        return filters.kinds
    return tuple(kind for kind in mode.kinds if not filters.kinds or kind in filters.kinds)


def _chunks(hits: Sequence[Hit], filters: Filters, tools: Tools) -> dict[str, Hit]:
    """The chunks of the details among the hits, by the details' ids, if the filters let them in."""
    allowed = (
        (not filters.kinds or "chunk" in filters.kinds)
        and (not filters.aspects or "" in filters.aspects)
        and filters.lowest == 0
    )
    ids = [hit.id for hit in hits if hit.level == 0 and hit.kind != "chunk"]
    details = list(dict.fromkeys(ids))  # a mode may find a passage twice
    if not (allowed and details):
        return {}
    with tools.path.step("chunks", "of details") as step:
        rows = tools.store.related(query("core/find_chunks"), filters.collection, details)
        found = {of: chunks[0] for of, chunks in rows.items()}
        step.found(list({chunk.id: chunk for chunk in found.values()}.values()))
    return found


def _questions(question: str, tools: Tools, rewrite: Rewrite) -> list[str]:
    if rewrite == "none":
        return [question]
    with tools.path.step("rewrite") as step:
        written = tools.guide.rewrite(question, rewrite)
        step.note = " | ".join(written)
    # A made-up answer stands for its question; other wordings stand beside it.
    return written if rewrite == "answer" else [question, *written]


def _fused(rankings: Sequence[Sequence[Hit]], tools: Tools) -> list[Hit]:
    with tools.path.step("fuse", "by ranks") as step:
        hits = by_ranks(rankings, tools.k)
        step.found(hits)
    return hits


def _reranked(question: str, hits: Sequence[Hit], tools: Tools) -> list[Hit]:
    with tools.path.step("rerank") as step:
        scores = tools.guide.rank(question, [hit.text for hit in hits])
        ranked = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
        ranked.sort(key=lambda hit: (-hit.score, hit.id))
        step.found(ranked, ranked[: tools.k])
    return ranked


def _diverse(hits: Sequence[Hit], tools: Tools, diversity: float, collection: str) -> list[Hit]:
    with tools.path.step("diversify", f"{diversity:g}") as step:
        found = tools.store.vectors(collection, [hit.id for hit in hits])
        # One that was just taken out has none.
        hits = [hit for hit in hits if hit.id in found]
        kept = diverse(hits, found, diversity, tools.k)
        step.found(hits, kept)
    return kept


def _expanded(hits: Sequence[Hit], tools: Tools, expand: Expand, collection: str) -> list[Hit]:
    """Each hit with what belongs to it after it, nothing twice."""
    with tools.path.step("expand", expand) as step:
        beside: dict[str, list[Hit]] = {}
        for statement in _ties(expand):
            found = tools.store.related(statement, collection, [hit.id for hit in hits])
            for id, others in found.items():
                beside.setdefault(id, []).extend(others)
        all_of_them: dict[str, Hit] = {}
        for hit in hits:
            all_of_them.setdefault(hit.id, hit)
            for other in beside.get(hit.id, ()):
                all_of_them.setdefault(other.id, replace(other, score=hit.score))
        step.found(list(all_of_them.values()))
    return list(all_of_them.values())


def _ties(expand: Expand) -> list[str]:
    """The statements that find what belongs to a hit."""
    if expand == "neighbours":
        return [query("core/find_neighbours")]
    return [
        read(graph.cypher / "find_parents.cypher")
        for graph in graphs().values()
        if graph.cypher and (graph.cypher / "find_parents.cypher").is_file()
    ]
