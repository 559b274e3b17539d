"""A question's way to its answer, from top to bottom.

`answer` is the whole way; `find` stops at the passages, and `read` at the context.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabula.ask.answer import (
    AnswerCheck,
    AnswerPieces,
    AnswerStream,
    ShorterContext,
    escape_citations,
)
from fabula.ask.context import Order, fill_with_passages, fill_with_sentences
from fabula.ask.context_budget import (
    BRIEF_TOKENS,
    MAX_SHORTENINGS,
    prompt_error,
    settle_budget,
    shorten_context,
)
from fabula.ask.mode_runs import prepare_modes
from fabula.ask.offline_answer import ExactQuotations, answer_offline
from fabula.ask.query import Query
from fabula.ask.quotations.passage_quotes import write_quotes
from fabula.ask.retrieve import RetrievalResult, retrieve
from fabula.ask.scope import QuestionScope
from fabula.errors import ModelError
from fabula.graph.hits import Filters, Hit, Passage, Quote, locate, name_place
from fabula.graph.installed import graph
from fabula.graph.mode import ModeRun
from fabula.graph.reading_place import ReadingPlace
from fabula.graph.structure import TextStructure
from fabula.graph.trace import Trace
from fabula.models import NO_ANSWER, NumberedText, Reply, Turn
from fabula.models.counted import Meter
from fabula.models.prompts import fill_prompt
from fabula.models.stop import Stop

if TYPE_CHECKING:
    from fabula.ask.protocols import AnswerReader, QuestionModels, QuestionReader


def answer(
    query: Query,
    filters: Filters,
    store: QuestionReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
    *,
    history: Sequence[Turn] = (),
    stop: Stop | None = None,
) -> AnswerStream:
    """Find the passages for a question, and begin an answer that is written from them.

    The passages are found before this returns. The answer is written while the stream is read, so a
    stream that nobody reads costs no answer.

    Args:
        query: The question, and how to ask it.
        filters: Where to look; `query.filters` makes them.
        store: The graph.
        models: The models that may be asked.
        meter: Counts the calls to models.
        trace: Records each step of retrieval.
        history: The previous turns of the conversation, on which the question may lean.
        stop: Ends the calls to models; it is set when the stream is closed.

    Returns:
        The answer as it is written. Its `hits` are empty if nothing was found, or if several modes
        are named and the graph of none is there.

    Raises:
        SettingsError: There is no such mode or option, or it needs a chat model.
        NotFound: No passage has an aspect or a kind that the question names.
        ModelError: A model that retrieval needs has failed.
    """
    query = settle_budget(query, models, trace, history)
    alone = stand_alone(query, history, models, meter)
    runs = prepare_modes(alone, filters, store, models, meter, trace)
    result = _retrieve(alone, filters, runs, store)
    return write_answer(
        query,
        filters,
        result,
        store,
        models,
        meter,
        trace,
        sought=alone.question,
        runs=runs,
        history=history,
        stop=stop,
    )


def write_answer(
    query: Query,
    filters: Filters,
    result: RetrievalResult,
    store: AnswerReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
    *,
    sought: str = "",
    runs: Sequence[ModeRun] = (),
    history: Sequence[Turn] = (),
    stop: Stop | None = None,
) -> AnswerStream:
    """Begin an answer from passages that were found, in one collection or in several.

    Args:
        query: The question, with the tokens of its context (`settle_budget`).
        filters: Where was looked.
        result: What was found.
        store: The graph, or the graphs of several collections.
        models: The models that may be asked.
        meter: Counts the calls to models.
        trace: Records each step.
        sought: The question as it was searched with, if it leans on previous turns.
        runs: The modes that found the passages; a single one may bring its own way of answering.
        history: The previous turns of the conversation.
        stop: Ends the calls to models; it is set when the stream is closed.
    """
    alone = replace(query, question=sought or query.question)
    context = _fill_context(alone, result, trace)
    structures = _read_structures(store, filters, [*result.hits, *(each.hit for each in context)])
    context = _locate_passages(context, structures)
    pieces: AnswerPieces | None = _answer_by_mode(alone, filters, context, runs)
    quotes: list[Quote] = []
    brief = ""
    if pieces is None and models.offline:
        quotes, context = answer_offline(alone.question, context, filters, store)
        context = _locate_passages(context, structures)
        pieces = write_quotes(quotes)
    elif pieces is None:
        if query.brief:
            from fabula.ask.brief import write_brief

            brief = write_brief(context, filters, store, BRIEF_TOKENS, trace)
        asked = replace(query, question=_keep_from_telling(query.question, filters, store.place))
        pieces = _answer_by_model(asked, context, brief, models, meter, trace, history)
    check: AnswerCheck = ExactQuotations(query.quotations)
    if not models.offline:
        # What compares quotations is imported where there is a model alone.
        from fabula.ask.quotations.check import QuotationCheck

        check = QuotationCheck(query.quotations, store, filters, context, structures)
        pieces = check.hold_back(pieces)
    return AnswerStream(
        query.question,
        [locate(hit, structures) for hit in result.hits],
        context,
        pieces,
        meter,
        [replace(quote, hit=locate(quote.hit, structures, quote.matches)) for quote in quotes],
        alone.question,
        stop,
        structures,
        QuestionScope.of(filters, store.place),
        brief,
        check,
    )


def find(
    query: Query,
    filters: Filters,
    store: QuestionReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
) -> RetrievalResult:
    """Return the passages for a question, best first; takes and raises what `answer` does."""
    runs = prepare_modes(query, filters, store, models, meter, trace)
    result = _retrieve(query, filters, runs, store)
    structures = _read_structures(store, filters, result.hits)
    return replace(result, hits=tuple(locate(hit, structures) for hit in result.hits))


def read(
    query: Query,
    filters: Filters,
    store: QuestionReader,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
) -> list[Passage]:
    """Return what an answer would be given to read; takes and raises what `answer` does."""
    query = settle_budget(query, models, trace)
    runs = prepare_modes(query, filters, store, models, meter, trace)
    context = _fill_context(query, _retrieve(query, filters, runs, store), trace)
    structures = _read_structures(store, filters, [passage.hit for passage in context])
    return _locate_passages(context, structures)


def _read_structures(
    store: AnswerReader, filters: Filters, hits: Sequence[Hit]
) -> Mapping[str, TextStructure]:
    """Return the structures of the documents that hits are of, which have their pages and lines."""
    documents = sorted({hit.document for hit in hits} - {""})
    return store.structures(filters.collection, documents) if documents else {}


def _locate_passages(
    context: Sequence[Passage], structures: Mapping[str, TextStructure]
) -> list[Passage]:
    return [replace(each, hit=locate(each.hit, structures, each.spans)) for each in context]


def stand_alone(
    query: Query, history: Sequence[Turn], models: QuestionModels, meter: Meter
) -> Query:
    """Return the question as it can be searched with, without the turns before it."""
    if not history:
        return query
    return replace(query, question=models.guide(meter).stand_alone(query.question, history))


def _retrieve(
    query: Query, filters: Filters, runs: Sequence[ModeRun], store: QuestionReader
) -> RetrievalResult:
    if runs and (query.aspects or query.kinds):
        # A mode finds no elements but those of its own graph.
        walked = sorted({run.mode.graph for run in runs} - {""})
        elements = [label.lower() for name in walked for label in graph(name).elements]
        store.refuse_unknown_filters(filters.collection, query.aspects, query.kinds, elements)
    return retrieve(query, filters, runs)


def _fill_context(query: Query, result: RetrievalResult, trace: Trace) -> list[Passage]:
    """Return the numbered passages that an answer is given to read, within the token budget."""
    hits = [*result.hits, *result.further]
    order: Order = "text" if query.order == "text" else "rank"
    of_what = query.context if query.context == "sentences" else f"{query.context}, by {order}"
    with trace.step("context", f"{query.budget} tokens of {of_what}") as step:
        if query.context == "sentences":
            context = fill_with_sentences(query.question, hits, query.budget, result.chunks)
        else:
            context = fill_with_passages(hits, query.budget, result.chunks, order)
        step.record(hits, [hit for hit in hits if _is_within(hit, result, context)])
    return context


def _is_within(hit: Hit, result: RetrievalResult, context: Sequence[Passage]) -> bool:
    """Return whether a passage of the context has a hit, or the chunk in its place."""
    chunk = result.chunks.get(hit.id, hit)
    return any(
        passage.hit.id in (hit.id, chunk.id) or _is_part(chunk, passage.hit) for passage in context
    )


def _is_part(chunk: Hit, passage: Hit) -> bool:
    """Return whether a chunk is one of the neighbours of which a passage was joined."""
    is_same_text = chunk.kind == passage.kind == "chunk" and chunk.document == passage.document
    return is_same_text and passage.start <= chunk.start < chunk.end <= passage.end


def _answer_by_mode(
    query: Query, filters: Filters, context: Sequence[Passage], runs: Sequence[ModeRun]
) -> AnswerPieces | None:
    """Begin the mode's own answer, if it has one."""
    # Several modes together have none; of volumes that were read, it might read others.
    if len(runs) != 1 or not context or filters.read:
        return None
    [run] = runs
    asked = _keep_from_telling(query.question, filters, run.tools.store.place)
    return run.mode.answer and run.mode.answer(asked, context, filters, run.tools)


def _answer_by_model(
    query: Query,
    context: Sequence[Passage],
    brief: str,
    models: QuestionModels,
    meter: Meter,
    trace: Trace,
    history: Sequence[Turn],
) -> AnswerPieces:
    """Answer by one call to the chat model; without passages, no model is asked."""
    if not context:
        yield Reply(NO_ANSWER)
        return
    # A model that refuses the passages as too long for its window is given fewer of them.
    for attempt in range(MAX_SHORTENINGS + 1):
        pieces = models.answerer(meter).answer(
            query.question,
            _list_texts(context),
            history,
            brief,
            in_text_order=query.context == "sentences" or query.order == "text",
        )
        try:
            first = next(pieces, None)
        except ModelError as error:
            refusal = prompt_error(error) if attempt < MAX_SHORTENINGS else None
            if refusal is None:
                raise
            from fabula.models.windows import window_in_refusal

            window = window_in_refusal(refusal.details or refusal.message)
            shorter = shorten_context(context, window, query, models, history)
            if not shorter:
                raise
            note = f"{len(shorter)} of {len(context)} passages, as the model refused them all"
            with trace.step("shorten", note) as step:
                step.record([each.hit for each in context], [each.hit for each in shorter])
            context = shorter
            yield ShorterContext(tuple(shorter))
            continue
        try:
            if first is not None:
                yield first
            yield from pieces
        finally:
            if isinstance(pieces, Generator):
                pieces.close()
        return


def _list_texts(context: Sequence[Passage]) -> list[NumberedText]:
    """Return passages as a prompt lists them; titles only where there are several documents."""
    documents = {passage.hit.document for passage in context} - {""}
    return [
        NumberedText(
            passage.number,
            name_place(passage.hit, with_title=len(documents) > 1),
            escape_citations(passage.text),
        )
        for passage in context
    ]


def _keep_from_telling(question: str, filters: Filters, place: ReadingPlace | None) -> str:
    """Return a question as a model is asked it: one that knows the book must not tell the rest."""
    is_unread = place or filters.read
    return fill_prompt("unread", question=question) if is_unread else question
