"""Find the passages for a question, with its modes and with what may be done to any mode's hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from fabula import tracing
from fabula.ask.fusion import fuse_by_ranks
from fabula.ask.query import Query, Rewrite
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, ModeRun, Tools
from fabula.graph.queries import read_statement as core_statement
from fabula.graph.reading_place import ReadingPlace

WIDENING = 4
"""A mode is asked for this many times as many hits if some will be passed over afterwards."""


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """What was found for a question, best first.

    `hits` are shown; `further` come after them and only fill the context. `chunks` has the chunk of
    each hit that rests on a single one, as a detail does, by the id of the hit; it is empty unless
    the context is filled with more than what is shown (`Query.fill`).
    """

    hits: tuple[Hit, ...] = ()
    further: tuple[Hit, ...] = ()
    chunks: Mapping[str, Hit] = field(default_factory=dict)


def retrieve(query: Query, filters: Filters, runs: Sequence[ModeRun]) -> RetrievalResult:
    """Return the hits of a question's modes, best first; hits of several modes are fused by rank.

    Each mode finds as many hits as it would alone. As the question says, `rewrite` searches with
    other wordings too, or with a made-up answer instead, and `rerank` has a model rank four times
    as many hits as are shown.

    Args:
        query: The question. `query.k` hits are shown.
        filters: Where to look.
        runs: The modes, each with its tools; without any, nothing is found.

    Raises:
        SettingsError: `rewrite` or `rerank` needs a chat model, and there is none.
    """
    if not runs:
        return RetrievalResult()
    names = ",".join(run.name for run in runs)
    attributes: dict[str, object] = {
        tracing.OPERATION: "retrieval",
        tracing.DATA_SOURCE: filters.collection,
        tracing.TOP_K: float(query.k),
        tracing.MODE: names,
        tracing.QUERY_TEXT: query.question if tracing.with_content() else None,
    }
    with (
        tracing.span(f"retrieval {filters.collection}", attributes),
        runs[0].tools.trace.step("retrieve", names),
    ):
        return _retrieve(query, filters, runs)


def _retrieve(query: Query, filters: Filters, runs: Sequence[ModeRun]) -> RetrievalResult:
    kinds_of = {run.name: _allowed_kinds(filters, run.mode) for run in runs}
    runs = [run for run in runs if kinds_of[run.name] or not run.mode.kinds]
    if not runs:
        return RetrievalResult()
    tools = runs[0].tools
    wide = replace(tools, k=WIDENING * tools.k) if query.rerank else tools
    place = tools.store.place
    is_unread = place is not None or bool(filters.read)
    questions = _rewrite(query.question, tools, query.rewrite, is_unread=is_unread)
    rankings: list[list[Hit]] = []
    for run in runs:
        run_tools = replace(run.tools, k=wide.k)
        run_filters = replace(filters, kinds=kinds_of[run.name])
        with tools.trace.step("mode", run.name) if len(runs) > 1 else nullcontext():
            rankings += [_find(run, text, run_filters, run_tools) for text in questions]
    if place:
        rankings = [hide_unread_hits(hits, place, filters, tools) for hits in rankings]
    hits = rankings[0] if len(rankings) == 1 else _fuse(rankings, wide)
    if query.rerank and hits:
        hits = _rerank(query.question, hits[: WIDENING * query.k], tools)
    first, further = hits[: query.k], hits[query.k : tools.k]
    if all(kinds_of[run.name] for run in runs):
        kinds = dict.fromkeys(kind for run in runs for kind in kinds_of[run.name])
        filters = replace(filters, kinds=tuple(kinds))
    # Not where the context is only what is shown: a preset "as published" reads details themselves.
    # It must not depend on `k`: who asks for more passages would be given worse contexts.
    chunks = _chunks_of_details([*first, *further], filters, tools) if query.fill else {}
    return RetrievalResult(tuple(first), tuple(further), chunks)


def _allowed_kinds(filters: Filters, mode: Mode) -> tuple[str, ...]:
    """Return the kinds that the filters allow, of those that the mode finds."""
    if not mode.kinds:
        return filters.kinds
    return tuple(kind for kind in mode.kinds if not filters.kinds or kind in filters.kinds)


def _find(run: ModeRun, question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the hits of a mode in the documents that count, whatever the mode did about them."""
    hits = run.mode.retrieve(question, filters, tools)
    return [hit for hit in hits if filters.let_through(hit.document)] if filters.documents else hits


def hide_unread_hits(
    hits: Sequence[Hit], place: ReadingPlace, filters: Filters, tools: Tools
) -> list[Hit]:
    """Return the hits that a reader with a place may see, whatever the mode has found.

    The statements of Fabula's own modes leave out what was not read. A mode of another package may
    have statements that know nothing of it. A hit that does not say since when it may be shown is
    looked up.
    """
    readable = {hit.id for hit in hits if hit.since is not None and hit.since <= place.end}
    if unsure := [hit.id for hit in hits if hit.since is None]:
        rows = tools.store.read(core_statement("core/find_readable"), filters, ids=unsure)
        readable |= {row["id"] for row in rows}
    is_unread = tools.store.is_unread or (lambda text: False)
    return [
        hit
        for hit in hits
        if hit.id in readable
        and hit.document == place.document.id
        and (hit.kind == "chunk" or not (is_unread(hit.text) or is_unread(hit.section)))
    ]


def _chunks_of_details(hits: Sequence[Hit], filters: Filters, tools: Tools) -> dict[str, Hit]:
    """Return the chunk of each detail among the hits, by the detail's id, if the filters allow."""
    ids = [hit.id for hit in hits if hit.level == 0 and hit.kind != "chunk"]
    details = list(dict.fromkeys(ids))  # a mode may find a passage twice
    if not (details and filters.allows("chunk")):
        return {}
    with tools.trace.step("chunks", "of details") as step:
        statement = core_statement("core/find_chunks")
        rows = tools.store.find_related(statement, filters, details)
        chunks = {detail: related[0] for detail, related in rows.items()}
        step.record(list({chunk.id: chunk for chunk in chunks.values()}.values()))
    return chunks


def _rewrite(question: str, tools: Tools, rewrite: Rewrite, *, is_unread: bool) -> list[str]:
    if rewrite == "none":
        return [question]
    with tools.trace.step("rewrite") as step:
        written = tools.guide.rewrite(question, rewrite)
        # A model may know the book, and tell here what the reader has not read.
        step.note = f"{len(written)} texts" if is_unread else " | ".join(written)
    # A made-up answer is searched with instead of the question; other wordings as well as it.
    return written if rewrite == "answer" else [question, *written]


def _fuse(rankings: Sequence[Sequence[Hit]], tools: Tools) -> list[Hit]:
    with tools.trace.step("fuse", "by ranks") as step:
        hits = fuse_by_ranks(rankings, tools.k)
        step.record(hits)
    return hits


def _rerank(question: str, hits: Sequence[Hit], tools: Tools) -> list[Hit]:
    with tools.trace.step("rerank") as step:
        scores = tools.guide.rank(question, [hit.text for hit in hits])
        ranked = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
        ranked.sort(key=lambda hit: (-hit.score, hit.id))
        step.record(ranked, ranked[: tools.k])
    return ranked
