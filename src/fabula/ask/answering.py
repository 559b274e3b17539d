"""A question's way to its answer, from top to bottom.

`answer` is the whole way; `find` stops at the passages, and `read` at the context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabula.ask.answer import AnswerStream, escape_citations
from fabula.ask.choosing import choose_modes
from fabula.ask.context import fill_with_passages, fill_with_sentences
from fabula.ask.protocols import QuestionModels, QuestionReader
from fabula.ask.query import Query
from fabula.ask.quotes import quote_closest, write_quotes
from fabula.ask.retrieve import RetrievalResult, retrieve
from fabula.graph.hits import Filters, Hit, Passage, Quote, Source, locate
from fabula.graph.installed import graph
from fabula.graph.mode import ModeRun, Pieces
from fabula.graph.structure import TextStructure
from fabula.graph.trace import Trace
from fabula.models import NO_ANSWER, Reply, Turn
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.text.tokens import count


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
    alone = _stand_alone(query, history, models, meter)
    runs = choose_modes(alone, filters, store, models, meter, trace)
    result = _retrieve(alone, filters, runs, store)
    context = _fill_context(alone, result, trace)
    pieces = _answer_by_mode(alone, filters, context, runs)
    quotes: list[Quote] = []
    if pieces is None and models.offline:
        quotes = quote_closest(alone.question, _chunks_of(context, store, filters.collection))
        pieces = write_quotes(quotes)
    elif pieces is None:
        pieces = _answer_by_model(query.question, context, models, meter, history)
    structures = _read_structures(store, filters, [*result.hits, *(each.hit for each in context)])
    return AnswerStream(
        query.question,
        [locate(hit, structures) for hit in result.hits],
        _locate_passages(context, structures),
        pieces,
        meter,
        [replace(quote, hit=locate(quote.hit, structures, quote.matches)) for quote in quotes],
        alone.question,
        stop,
        structures,
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
    runs = choose_modes(query, filters, store, models, meter, trace)
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
    context = _fill_context(query, find(query, filters, store, models, meter, trace), trace)
    structures = _read_structures(store, filters, [passage.hit for passage in context])
    return _locate_passages(context, structures)


def _read_structures(
    store: QuestionReader, filters: Filters, hits: Sequence[Hit]
) -> Mapping[str, TextStructure]:
    """Return the structures of the documents that hits are of, which have their pages and lines."""
    documents = sorted({hit.document for hit in hits} - {""})
    return store.structures(filters.collection, documents) if documents else {}


def _locate_passages(
    context: Sequence[Passage], structures: Mapping[str, TextStructure]
) -> list[Passage]:
    return [replace(each, hit=locate(each.hit, structures, each.spans)) for each in context]


def _stand_alone(
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
    with trace.step("context", f"{query.context_tokens} tokens of {query.context}") as step:
        if query.context == "sentences":
            context = fill_with_sentences(query.question, hits, query.context_tokens, result.chunks)
        else:
            context = fill_with_passages(hits, query.context_tokens, result.chunks)
        used = {passage.hit.id for passage in context}
        step.record(hits, [hit for hit in hits if used & {hit.id, _chunk_id(result, hit)}])
    return context


def _chunk_id(result: RetrievalResult, hit: Hit) -> str:
    """Return the id of the chunk that may have taken a detail's place in the context."""
    return result.chunks[hit.id].id if hit.id in result.chunks else hit.id


def _answer_by_mode(
    query: Query, filters: Filters, context: Sequence[Passage], runs: Sequence[ModeRun]
) -> Pieces | None:
    """Begin the mode's own answer, if it has one; several modes together have none."""
    if len(runs) != 1 or not context:
        return None
    [run] = runs
    return run.mode.answer and run.mode.answer(query.question, context, filters, run.tools)


def _answer_by_model(
    question: str,
    context: Sequence[Passage],
    models: QuestionModels,
    meter: Meter,
    history: Sequence[Turn],
) -> Iterator[Reply]:
    """Begin an answer by one call to the chat model; without passages, no model is asked."""
    if not context:
        return iter([Reply(NO_ANSWER)])
    texts = [escape_citations(passage.text) for passage in context]
    return models.answerer(meter).answer(question, texts, history)


def _chunks_of(context: Sequence[Passage], store: QuestionReader, collection: str) -> list[Passage]:
    """Return the chunks of a context or, if it has none, those that its passages rest on.

    Only a chunk can be quoted as the book prints it.
    """
    chunks = [passage for passage in context if passage.hit.kind == "chunk"]
    if chunks or not context:
        return chunks
    sources = store.sources(collection, [passage.hit.id for passage in context])
    quotable: dict[str, Passage] = {}
    for passage in sorted(context, key=lambda passage: -passage.hit.score):
        for source in sources.get(passage.hit.id, ()):
            quotable.setdefault(source.chunk, replace(passage, hit=_as_hit(source, passage.hit)))
    return list(quotable.values())


def _as_hit(source: Source, hit: Hit) -> Hit:
    """Return a chunk that a hit rests on, with the hit's score."""
    return replace(
        hit,
        id=source.chunk,
        kind="chunk",
        section=source.section,
        aspect="",
        level=0,
        start=source.start,
        end=source.end,
        text=source.text,
        tokens=count(source.text),
    )
