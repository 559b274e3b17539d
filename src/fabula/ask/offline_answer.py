"""Answer without a model: choose the passages to show, and number them as they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fabula.ask.answer import escape_citations
from fabula.ask.query import Quotations
from fabula.ask.question_form import Asks, QuestionForm, content_terms
from fabula.ask.quotations.checked import CheckedAnswer, CheckedQuotation
from fabula.ask.quotations.passage_quotes import MAX_QUOTES, rank_quotes, read_question_form
from fabula.graph.hits import Filters, Hit, Passage, Quote, Source, read_hit
from fabula.graph.queries import read_statement
from fabula.text.folding import search_words
from fabula.text.sentences import spans
from fabula.text.stems import stemmer_of
from fabula.text.tokens import count

if TYPE_CHECKING:
    from fabula.ask.protocols import AnswerReader

EDGE_CHUNKS = 3
"""Chunks of a document that are added to those found: the first or last that name somebody, or the
last ones of the book."""
MAX_NAMING = 300
"""Chunks of a document, of those that name somebody, that are looked at for what says who it is."""
MAX_DOCUMENTS = 5
"""Documents in which they are looked for."""


def answer_offline(
    question: str, context: Sequence[Passage], filters: Filters, store: AnswerReader
) -> tuple[list[Quote], list[Passage]]:
    """Return the passages that are closest to a question, and the context numbered by them.

    Quotes are numbered 1, 2, 3 in the order in which they are shown, and so are the first passages
    of the context; a quoted passage that is not in the context, such as one that a summary rests
    on, is added to it. What the context has besides follows, the closest first.

    Args:
        question: The question, as it was searched for.
        context: What a model would be given to read.
        filters: Where to look.
        store: The graph.
    """
    passages = _chunks_of(context, store, filters)
    ranked = rank_quotes(question, passages, _find_asked_for(question, passages, filters, store))
    if not ranked:
        return [], list(context)
    in_context = {passage.hit.id: passage for passage in context}
    numbered = []
    for quote in ranked:
        passage = in_context.pop(quote.hit.id, None)
        if passage is None and quote.number > MAX_QUOTES:
            continue
        if passage is None:
            text = quote.hit.text.strip()
            start = quote.hit.text.index(text)
            passage = Passage(0, quote.hit, text, ((start, start + len(text)),))
        numbered.append(passage)
    return ranked[:MAX_QUOTES], [
        replace(passage, number=number)
        for number, passage in enumerate([*numbered, *in_context.values()], start=1)
    ]


def _find_asked_for(
    question: str, passages: Sequence[Passage], filters: Filters, store: AnswerReader
) -> list[Hit]:
    """Return chunks that the form of a question asks for, whatever the search has found."""
    is_restricted = (
        filters.aspects or filters.lowest > 0 or "chunk" not in (*filters.kinds, "chunk")
    )
    form = read_question_form(question, passages)
    if is_restricted or not passages:
        return []
    if not (form.subject or form.asks is Asks.ENDING):
        return []
    if filters.read or (form.asks is Asks.ENDING and store.place):
        # The last passage that was read is not the end of the book.
        return []
    documents = list(dict.fromkeys(passage.hit.document for passage in passages))
    if form.asks is Asks.ENDING and len(documents) > 1:
        documents = _find_titled(question, passages)
    words = [_alternatives(form.subject)] if form.subject else []
    if not all(words):
        return []
    rows = store.read(
        read_statement("core/find_edge_chunks"),
        filters,
        documents=documents[:MAX_DOCUMENTS],
        people=words,
        from_end=form.asks is Asks.ENDING,
        limit=EDGE_CHUNKS if form.asks is Asks.ENDING else MAX_NAMING,
    )
    by_document: dict[str, list[Hit]] = {}
    for row in rows:
        hit = read_hit(row)
        by_document.setdefault(hit.document, []).append(hit)
    return [hit for hits in by_document.values() for hit in select_asked_for(form, hits)]


def select_asked_for(form: QuestionForm, hits: Sequence[Hit]) -> list[Hit]:
    """Return those chunks of a document that answer the form of a question.

    Of what is to be defined they are the first ones that name it, and those that look most like a
    definition, wherever they are.

    Args:
        form: What the question asks for.
        hits: Chunks with the name, the first one first, or the last ones of the document, the last
            one first.
    """
    if form.asks is Asks.ENDING:
        return list(hits[:EDGE_CHUNKS])
    rates = {hit.id: _rate_sentences(form, hit) for hit in hits}
    looking = sorted((hit for hit in hits if rates[hit.id] > 0), key=lambda hit: -rates[hit.id])
    edges = [hit for hit in hits if form.names(hit.text)][:EDGE_CHUNKS]
    return list({hit.id: hit for hit in [*edges, *looking[:EDGE_CHUNKS]]}.values())


def _rate_sentences(form: QuestionForm, hit: Hit) -> float:
    """Return how much the sentence about the subject that looks most like an answer does."""
    sentences = (hit.text[start:end] for start, end in spans(hit.text, hit.language))
    return max(map(form.rate, filter(form.names, sentences)), default=0.0)


def _alternatives(name: str) -> list[str]:
    """Return the folded forms by which a chunk names somebody, each between spaces."""
    # A name with a capital is also named by its last word.
    forms = [name, *([name.split()[-1]] if name.istitle() else [])]
    folded = (" ".join(search_words(form)) for form in forms)
    return [f" {form} " for form in dict.fromkeys(folded) if form]


def _find_titled(question: str, passages: Sequence[Passage]) -> list[str]:
    """Return the documents whose whole title a question has, of those that passages are of."""
    asked = content_terms(question)
    titles = {passage.hit.document: passage.hit for passage in passages}
    return [
        document
        for document, hit in titles.items()
        if (terms := set(stemmer_of(hit.language).search_terms(hit.title))) and terms <= asked
    ]


def _chunks_of(context: Sequence[Passage], store: AnswerReader, filters: Filters) -> list[Passage]:
    """Return the chunks of a context or, if it has none, those that its passages rest on."""
    # Only a chunk can be quoted as the book prints it.
    chunks = [passage for passage in context if passage.hit.kind == "chunk"]
    if chunks or not context:
        return chunks
    ids = [passage.hit.id for passage in context]
    sources = store.sources(filters.collection, ids)
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


def quotations_of(text: str, quotes: Sequence[Quote]) -> Iterator[CheckedQuotation]:
    """Yield the passages of an answer that no model wrote: each is a chunk, as the book prints it.

    They are exact by construction; that each stands in the answer, letter by letter, is looked up.
    """
    at = 0
    for quote in quotes:
        words = quote.hit.text.strip()
        shown = escape_citations(words)
        start = text.find(shown, at)
        if start < 0:
            continue
        at = start + len(shown)
        first = quote.hit.start + quote.hit.text.index(words)
        yield CheckedQuotation(
            text=shown,
            start=start,
            end=at,
            status="exact" if quote.hit.kind == "chunk" else "unchecked",
            printed=words,
            cited=(quote.number,),
        ).place_at(quote.hit, [(first, first + len(words))])


@dataclass(frozen=True, slots=True)
class ExactQuotations:
    """Verifies an answer that no model wrote; `fabula.ask.quotations.check` does the others.

    That module, and what it compares with, takes longer to import than an offline answer to find.
    """

    setting: Quotations

    def finish(
        self,
        text: str,
        context: Sequence[Passage],
        quotes: Sequence[Quote] = (),
        stripped: int = 0,
    ) -> CheckedAnswer:
        """Return the passages of an answer as its quotations; it has no weak citations."""
        if self.setting == "off":
            return CheckedAnswer()
        return CheckedAnswer(tuple(quotations_of(text, quotes)))
