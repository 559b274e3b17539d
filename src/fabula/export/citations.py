"""Write the passages that an answer cites as W3C Web Annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fabula.ask.answer import find_citations
from fabula.export.web_annotation import CONTEXT, annotation_of
from fabula.graph.annotations import CITATION, Annotation
from fabula.graph.hits import Quote, document_spans
from fabula.text.anchoring import TextQuote, quote_at
from fabula.text.ids import digest
from fabula.text.sentences import spans

MAX_QUOTED_CHARACTERS = 2_000
"""Of a longer passage only the place is written: it is what a summary rests on, not a quotation."""


class CitedWords(NamedTuple):
    """Words that an answer cites: the id and the language of the document, and the annotation."""

    document: str
    language: str
    annotation: Annotation


def cite_quotes(quotes: Iterable[Quote], question: str, answer: str) -> list[CitedWords]:
    """Return the words of quoted passages, in the order of the passages.

    Each is an annotation with the motivation "linking": its tag is the number in the answer, and
    its comment the sentences of the answer that have this number.

    Args:
        quotes: The passages, with the stretches of each that are meant.
        question: The question.
        answer: The answer that cites them.
    """
    every = list(quotes)
    numbers = {quote.number for quote in every}
    found = []
    for quote in every:
        citing = " ".join(
            " ".join(answer[start:end].split())
            for start, end in spans(answer, quote.hit.language)
            if quote.number in find_citations(answer[start:end], numbers)
        )
        for words in _words_of(quote):
            annotation = make_citation(quote.number, words, question, citing)
            found.append(CitedWords(quote.hit.document, quote.hit.language, annotation))
    return found


def _words_of(quote: Quote) -> Iterator[TextQuote]:
    hit = quote.hit
    if hit.kind != "chunk":
        yield from (TextQuote("", start=s, end=e) for s, e in document_spans(hit, ()))
        return
    for start, end in quote.matches or ((0, len(hit.text)),):
        yield words_at(hit.text, start, end, hit.start)


def words_at(text: str, start: int, end: int, offset: int) -> TextQuote:
    """Return words of a part of a document, with their place in the document.

    Args:
        text: The part.
        start: The first character of the words in it.
        end: The one after their last.
        offset: The character of the document with which the part begins.
    """
    if end - start > MAX_QUOTED_CHARACTERS:
        return TextQuote("", start=offset + start, end=offset + end)
    return replace(quote_at(text, start, end), start=offset + start, end=offset + end)


def make_citation(number: int, words: TextQuote, question: str, citing: str = "") -> Annotation:
    """Return the annotation of a citation.

    Args:
        number: Its number in the answer.
        words: The cited words.
        question: The question that was answered.
        citing: The sentences of the answer that cite them; '' if they are not known.
    """
    place = f"{words.start}-{words.end}"
    return Annotation(
        words,
        CITATION,
        f"[{number}]",
        citing,
        id=digest(6, "citation", question, str(number), place),
        group=digest(6, "answer", question),
        properties={"question": question},
    )


def citations_json(question: str, cited: Sequence[CitedWords]) -> dict[str, Any]:
    """Return what is cited, of any documents, as an AnnotationCollection with a single page."""
    name = f"urn:fabula:answer:{digest(6, 'answer', question)}"
    items = [annotation_of(document, language, each) for document, language, each in cited]
    return {
        "@context": CONTEXT,
        "id": name,
        "type": "AnnotationCollection",
        "label": question,
        "total": len(items),
        "first": {
            "id": f"{name}:1",
            "type": "AnnotationPage",
            "partOf": name,
            "startIndex": 0,
            "items": items,
        },
    }
