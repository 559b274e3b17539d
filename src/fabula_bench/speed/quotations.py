"""How many true quotations are refused, how many false ones are not marked, and how fast it is.

The replies are made from books by `bench.quoted_replies`: 10,000 true ones and 1,000 false ones, of
the shipped book or those in the folder that is named, and of beginnings of books in other scripts.
They are verified against the graph, as an answer is. A false quotation is marked if it is neither
exact nor near, and one of another book if it is elsewhere or not found. The time is that of answers
with ten quotations each. The chunks have embeddings of chance, as nothing is searched by meaning.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from fabula.ask.quotations.check import QuotationCheck
from fabula.ask.quotations.checked import CheckedQuotation
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.parts import text_part
from fabula.graph.recipes import text_recipe
from fabula.load import find, load, read_text
from fabula.store import Store
from fabula.text.chunk import split
from fabula.text.document import Chunk, Document
from fabula_bench.speed.books import STORY, book
from fabula_bench.speed.documents import to_unit
from fabula_bench.speed.quoted_replies import (
    OTHER_SCRIPTS,
    QuotedBook,
    QuotedReply,
    false_replies,
    misplaced_replies,
    true_replies,
)
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import connected, running

TRUE_REPLIES, FALSE_REPLIES, MISPLACED_REPLIES = 10_000, 1_000, 100
ANSWERS = 50
QUOTATIONS = 10
"""Quotations of an answer whose verification is timed."""
SECONDS = 1.0
COLLECTION, MODEL, DIMENSIONS = "bench", "chance", 8
LONG_COLLECTION, LONG_WORDS = "bench-long", 566_000
"""A text of the length of War and Peace: the book told again and again, as no long one is here."""
CHUNK_TOKENS = 200
MAX_BYTES = 100_000_000


@dataclass(frozen=True)
class Shelf:
    """Books in a graph, and the chunks of each."""

    store: Store
    books: Sequence[QuotedBook]
    chunks: Sequence[Sequence[Hit]]
    collection: str

    def passage(self, number: int, book: int, place: int) -> Passage:
        """Return the chunk at a place of a book, as a context has it."""
        hit = next(hit for hit in self.chunks[book] if hit.start <= place < hit.end)
        return Passage(number, hit, hit.text, ((0, len(hit.text)),))

    def verify_all(
        self, replies: Iterable[QuotedReply]
    ) -> Iterator[tuple[QuotedReply, list[CheckedQuotation]]]:
        """Yield replies with their quotations; some are verified at once, as of one answer."""
        rest = iter(replies)
        while some := [*islice(rest, QUOTATIONS)]:
            starts, text = [], ""
            for number, reply in enumerate(some, start=1):
                starts.append(len(text))
                text += reply.text.replace("[1]", f"[{number}]") + "\n\n"
            quotations = self.verify(text, some)
            for number, reply in enumerate(some):
                end = [*starts, len(text)][number + 1]
                yield reply, [each for each in quotations if starts[number] <= each.start < end]

    def verify(self, text: str, replies: Sequence[QuotedReply]) -> tuple[CheckedQuotation, ...]:
        """Return the quotations of replies that are one answer, whose [1] is the first one's."""
        context = [
            self.passage(number, reply.book, reply.place)
            for number, reply in enumerate(replies, start=1)
        ]
        check = QuotationCheck("mark", self.store, Filters(self.collection), context, {})
        return check.finish(text, context).quotations


def measure(books: Path | None) -> list[Figure]:
    """Count what is refused and what is not marked, by the way in which it was made."""
    with running() as address, connected(address) as store:
        shelf = put_shelf(store, COLLECTION, [*_documents(books)])
        texts = shelf.books
        long = read_text(book(LONG_WORDS, books), source="long.txt", collection=LONG_COLLECTION)
        cases = {
            "true quotations refused": (true_replies, TRUE_REPLIES, is_true),
            "false quotations not marked": (false_replies, FALSE_REPLIES, is_false),
            "of another book, not marked": (misplaced_replies, MISPLACED_REPLIES, is_false),
        }
        wrong = {
            f"{what}, of {count:,}": Counter(
                reply.kind
                for reply, quotations in shelf.verify_all(make(texts, count, seed))
                if not is_right(quotations)
            )
            for seed, (what, (make, count, is_right)) in enumerate(cases.items(), 1)
        }
        times = {
            f"an answer with {QUOTATIONS} quotations": [*_times(shelf)],
            f"the same over {LONG_WORDS:,} words": [
                *_times(put_shelf(store, LONG_COLLECTION, [long]))
            ],
        }
    figures = [
        Figure(what, kinds.total(), "", 0, note=_list(kinds), must=True)
        for what, kinds in wrong.items()
    ]
    for what, seconds in times.items():
        figures.append(Figure(f"{what}, median", statistics.median(seconds)))
        figures.append(Figure(f"{what}, longest", max(seconds), goal=SECONDS))
    return figures


def put_shelf(store: Store, collection: str, documents: Sequence[Document]) -> Shelf:
    """Put documents without graphs into a collection."""
    store.prepare(collection, MODEL, DIMENSIONS)
    draw = np.random.default_rng(0)
    parts, hits = [], []
    for document in documents:
        bare = split(document, CHUNK_TOKENS)
        rows = to_unit(draw.standard_normal((len(bare), DIMENSIONS)))
        chunks = [replace(chunk, embedding=row) for chunk, row in zip(bare, rows, strict=True)]
        recipe = text_recipe(document.sha256, CHUNK_TOKENS, MODEL)
        parts.append(text_part(document, chunks, recipe, {}))
        hits.append([_hit(document, chunk) for chunk in chunks])
    store.apply(parts, MODEL)
    books = [QuotedBook(each.title, each.language, each.text) for each in documents]
    return Shelf(store, books, hits, collection)


def _hit(document: Document, chunk: Chunk) -> Hit:
    return Hit(
        id=chunk.id,
        kind="chunk",
        document=document.id,
        title=document.title,
        language=document.language,
        section=chunk.section,
        aspect="",
        level=0,
        start=chunk.start,
        end=chunk.end,
        text=chunk.text,
        tokens=chunk.tokens,
        score=0.0,
    )


def _documents(books: Path | None) -> Iterator[Document]:
    for file in find([books or STORY]).files:
        yield load(file, COLLECTION, MAX_BYTES)
    for language, text in OTHER_SCRIPTS.items():
        document = read_text(text, source=f"{language}.txt", collection=COLLECTION)
        yield replace(document, language=language)


def is_true(quotations: Sequence[CheckedQuotation]) -> bool:
    """Return whether all quotations of a reply are in the books, where they are cited."""
    return bool(quotations) and {each.status for each in quotations} <= {"exact", "near"}


def is_false(quotations: Sequence[CheckedQuotation]) -> bool:
    """Return whether the quotation of a reply is marked; another one inside it may be true."""
    return bool(quotations) and quotations[0].status in ("elsewhere", "not found")


def _times(shelf: Shelf) -> Iterator[float]:
    replies = [*true_replies(shelf.books, ANSWERS * QUOTATIONS, seed=4)]
    for at in range(0, len(replies), QUOTATIONS):
        some = replies[at : at + QUOTATIONS]
        began = time.perf_counter()
        list(shelf.verify_all(some))
        yield time.perf_counter() - began


def _list(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
