"""How long a question waits in a library: 20,000 passages and up, at rest and while books come in.

Books of 1,500 passages with made-up texts and embeddings are staged and switched in one by one, in
a private server of its own. At each size the same questions are asked twice: while the last books
come in, by another process, and at rest, after a restart, which is when the segments that were
merged away are gone from the disk too. What is found is compared with an exact search. Where other
programs keep the machine busy, the server's CPU time tells more than the waiting does.

The statements are the program's own in short: one label for passages, given in the switch, and one
for the index of vectors and of words each, given when they are staged. No edges are written: no
statement here follows one.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle, takewhile
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import psutil
from neo4j.vector import Vector as WireVector
from numpy.typing import NDArray

from fabula.server import Address
from fabula.server.private import PrivateServer
from fabula_bench.speed.children import address_of_environment
from fabula_bench.speed.report import Figure, cpu_seconds, p95, seconds, shown
from fabula_bench.speed.server import environment, private

Vectors = NDArray[np.float32]

SIZES = (20_000, 50_000, 100_000, 200_000, 300_000, 1_000_000)
PASSAGES = 1_500
"""Of a book."""
MEANWHILE = 6
"""So many books come in while questions are asked."""
DIMENSIONS = 256
TOPICS = 2_000
TOPICS_OF_A_BOOK = 60
NOISE = 0.7
"""Length of what tells passages of one topic apart, beside the topic's 1: their cosine is 0.67."""
WORDS = 80
"""Of a passage."""
ASPECTS = ("", "characters", "places", "events", "themes", "objects", "conflicts", "time")
COLLECTION, OTHER = "library", "other"
EVERY = 10
"""Every tenth book is of another collection, which no question may find."""

QUESTIONS = 200
WARM_UP = 200
BATCH = 250
K = 5
DEPTH = 50
"""How many the vector index is asked for."""
HYBRID_DEPTH = 100
HEAP, PAGE_CACHE = "1g", "512m"

SCHEMA = (
    "CREATE CONSTRAINT passage_id FOR (n:Passage) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT document_id FOR (n:Document) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT staged_id FOR (n:Staged) REQUIRE (n.run, n.id) IS UNIQUE",
    "CREATE INDEX passage_document FOR (n:Passage) ON (n.document)",
    "CREATE FULLTEXT INDEX passage_texts FOR (n:PassageText) ON EACH [n.text]",
    f"""CYPHER 25 CREATE VECTOR INDEX passage_vectors_{DIMENSIONS}
    FOR (n:Passage{DIMENSIONS}) ON n.embedding
    WITH [n.collection, n.document, n.kind, n.aspect, n.level]
    OPTIONS {{indexConfig: {{
      `vector.dimensions`: {DIMENSIONS}, `vector.similarity_function`: 'cosine',
      `vector.quantization.type`: 'NONE', `vector.default_search_expansion_factor`: 3.0
    }}}}""",
    "CALL db.awaitIndexes(300)",
)
STAGE_DOCUMENT = "MERGE (n:Staged {run: $run, id: $run}) SET n += $properties, n.kind = 'document'"
STAGE = f"""CYPHER 25
UNWIND $rows AS row
MERGE (n:Staged {{run: $run, id: row.id}}) SET n += row.properties
WITH n, row
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
SET n:Passage{DIMENSIONS}:PassageText
"""
SWITCH = """CYPHER 25
MATCH (book:Staged {run: $run, kind: 'document'})
SET book:Document REMOVE book:Staged, book.run, book.kind
WITH book
CALL () { MATCH (n:Staged {run: $run, kind: 'chunk'}) SET n:Passage:Chunk }
CALL () { MATCH (n:Staged {run: $run, kind: 'summary'}) SET n:Passage:Summary }
CALL () { MATCH (n:Staged {run: $run, kind: 'detail'}) SET n:Passage:Detail }
"""
CLEAR = """CYPHER 25
MATCH (n:Staged {run: $run})
CALL (n) { REMOVE n:Staged, n.run } IN TRANSACTIONS OF 500 ROWS
"""
ROWS = """
MATCH (document:Document {id: passage.document})
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, score
ORDER BY score DESC, id
"""
FILTERS = {
    "collection": "passage.collection = $collection",
    "one document": "passage.collection = $collection AND passage.document = $document",
    "every filter open": """passage.collection = $collection
    AND passage.document >= '' AND passage.document <= '\uffff'
    AND passage.kind IN ['chunk', 'summary', 'detail'] AND passage.aspect IN $aspects
    AND passage.level >= 0 AND passage.level <= 99""",
}
NEAREST = {
    name: f"""CYPHER 25
MATCH (passage:Passage)
SEARCH passage IN (
  VECTOR INDEX passage_vectors_{DIMENSIONS} FOR $vector WHERE {where} LIMIT $depth
) SCORE AS score
WITH passage, score ORDER BY score DESC, passage.id LIMIT $limit
{ROWS}"""
    for name, where in FILTERS.items()
}
HYBRID = "hybrid"
STATEMENTS = dict.fromkeys(NEAREST, (20, 40)) | {HYBRID: (60, 120)}
"""Goals for the p50 and p95 of each, in ms."""
GROWING_P95 = 50.0
"""The goal for the p95 of the nearest passages while books come in, in ms."""
BY_WORDS = f"""CYPHER 25
CALL db.index.fulltext.queryNodes('passage_texts', $words) YIELD node AS passage, score
WHERE passage.collection = $collection AND passage:Passage
WITH passage, score LIMIT $limit
{ROWS}"""


@dataclass(frozen=True, slots=True)
class Book:
    """A made-up book, always the same for its number."""

    number: int

    @property
    def id(self) -> str:
        return f"{self.number:016x}"

    @property
    def collection(self) -> str:
        return OTHER if self.number % EVERY == EVERY - 1 else COLLECTION

    def ids(self) -> list[str]:
        """Its passages'."""
        return [f"{self.id}-{index:05d}" for index in range(PASSAGES)]

    def vectors(self) -> Vectors:
        """Each near one of the few topics that the book is about."""
        random = np.random.default_rng([2, self.number])
        about = random.choice(TOPICS, TOPICS_OF_A_BOOK, replace=False)
        return _near(_topics()[random.choice(about, PASSAGES)], random)

    def texts(self) -> list[str]:
        """Of words as common and as rare as those of a language."""
        random = np.random.default_rng([3, self.number])
        words = np.searchsorted(_weights(), random.random((PASSAGES, WORDS)))
        vocabulary = _vocabulary()
        return [" ".join(vocabulary[word] for word in row) for row in words]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one passage, in its words, and what an exact search would find."""

    vector: Vectors
    words: str
    document: str
    nearest: frozenset[str]
    nearest_in_document: frozenset[str]

    def parameters(self) -> dict[str, Any]:
        """For every statement."""
        return {
            "vector": WireVector.from_numpy(self.vector),
            "words": self.words,
            "collection": COLLECTION,
            "document": self.document,
            "aspects": list(ASPECTS),
        }


def measure(books: Path | None, passages: int = SIZES[0]) -> list[Figure]:
    """Waiting, recall and the server's size at each of SIZES up to `passages`."""
    figures: list[Figure] = []
    written = 0
    with private(HEAP, PAGE_CACHE) as server:
        with connected(server.start()) as driver:
            for statement in SCHEMA:
                driver.execute_query(statement)
        for size in SIZES[: SIZES.index(passages) + 1]:
            count = size // PASSAGES
            growing = _named(f"{size:,}, growing", _grow(server, written, count))
            resting = _named(f"{size:,}, at rest", _rest(server, count))
            # It takes long: what a run measured before it was stopped was measured all the same.
            print(f"{shown(growing + resting)}\n", file=sys.stderr, flush=True)
            figures += growing + resting
            written = count
    return figures


def _named(when: str, figures: Iterable[Figure]) -> list[Figure]:
    return [replace(figure, what=f"{when}: {figure.what}") for figure in figures]


def _grow(server: PrivateServer, written: int, count: int) -> Iterator[Figure]:
    """What is measured while the library grows from `written` books to `count`."""
    address = server.start()
    size = count - MEANWHILE
    took = seconds(lambda: write(address, written, size))
    questions = make_questions(size)
    with connected(address) as driver:
        ask(driver, questions[:WARM_UP], "collection")
        began = time.perf_counter()
        with _writing(address, size, count) as writer:
            coming = takewhile(lambda _: writer.poll() is None, cycle(questions))
            yield from _waits(driver, coming, twice=2)
        took += time.perf_counter() - began
    if writer.returncode:
        raise RuntimeError("The books did not come in: see what their writer printed.")
    yield Figure("written", (count - written) * PASSAGES / took, "passages/s")
    yield Figure("memory of the server", server.status().memory / 1e6, "MB")


def _rest(server: PrivateServer, count: int) -> Iterator[Figure]:
    """What is measured after a restart, which ends the merges and clears the disk."""
    yield Figure("stop", seconds(server.stop))
    yield Figure("start", seconds(server.start))
    yield Figure("disk", server.status().data / 1e6, "MB")
    for index in ("vector", "fulltext"):
        yield Figure(f"segments, {index} index", segments(server, index), "")
    questions = make_questions(count)
    process = psutil.Process(server.status().pid)
    with connected(server.start()) as driver:
        for name in STATEMENTS:
            ask(driver, questions[:WARM_UP], name)
        yield from _waits(driver, questions)
        for name in NEAREST:
            before = cpu_seconds(process)
            share = recall(driver, questions, name)
            spent = cpu_seconds(process) - before
            yield Figure(f"{name}, recall@{K}", share, "", 0.98, at_least=True)
            yield Figure(f"{name}, CPU of the server", spent / len(questions) * 1000, "ms")


def _waits(driver: neo4j.Driver, questions: Iterable[Question], twice: int = 1) -> Iterator[Figure]:
    """p50 and p95 of each statement, whose goals are `twice` as long where books come in.

    Of the nearest passages the p95 is then to be GROWING_P95 at most.
    """
    waits: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for question in questions:
        for name in STATEMENTS:
            began = time.perf_counter()
            ask(driver, [question], name)
            waits[name].append(1000 * (time.perf_counter() - began))
    for name, (p50_goal, p95_goal) in STATEMENTS.items():
        yield Figure(f"{name}, p50", statistics.median(waits[name]), "ms", twice * p50_goal)
        goal = GROWING_P95 if twice > 1 and name != HYBRID else twice * p95_goal
        yield Figure(f"{name}, p95", p95(waits[name]), "ms", goal)


def ask(driver: neo4j.Driver, questions: Sequence[Question], statement: str) -> list[list[str]]:
    """The ids that each question finds; `hybrid` is two statements, fused by nobody here."""
    found = []
    with driver.session() as session:
        for question in questions:
            given = question.parameters()
            if statement == HYBRID:
                deep = {"depth": HYBRID_DEPTH, "limit": HYBRID_DEPTH}
                session.run(BY_WORDS, given | deep).consume()
                rows = session.run(NEAREST["collection"], given | deep)
            else:
                rows = session.run(NEAREST[statement], given | {"depth": DEPTH, "limit": K})
            found.append([row["id"] for row in rows])
    return found


def recall(driver: neo4j.Driver, questions: Sequence[Question], statement: str) -> float:
    """The share of the true nearest that is found."""
    shares = []
    for question, found in zip(questions, ask(driver, questions, statement), strict=True):
        alone = statement == "one document"
        true = question.nearest_in_document if alone else question.nearest
        shares.append(len(true & set(found)) / len(true))
    return float(np.mean(shares))


def write(address: Address, first: int, last: int) -> None:
    """Stages each of the books `first` to `last` - 1 and switches it in."""
    with connected(address) as driver, driver.session() as session:
        for number in range(first, last):
            book = Book(number)
            title = {"title": f"Book {number}", "collection": book.collection}
            session.run(STAGE_DOCUMENT, run=book.id, properties=title).consume()
            rows = list(_rows(book))
            for begin in range(0, len(rows), BATCH):
                session.run(STAGE, run=book.id, rows=rows[begin : begin + BATCH]).consume()
            session.run(SWITCH, run=book.id).consume()
            session.run(CLEAR, run=book.id).consume()


def _writing(address: Address, first: int, last: int) -> subprocess.Popen[bytes]:
    """A process that writes these books: in this one it would keep the questions waiting."""
    command = [sys.executable, "-m", "fabula_bench.speed.library", str(first), str(last)]
    return subprocess.Popen(command, env=environment(address))


def _rows(book: Book) -> Iterator[dict[str, Any]]:
    """Half are chunks, a quarter summaries of an aspect and a level, and a quarter details."""
    passages = zip(book.ids(), book.texts(), book.vectors(), strict=True)
    for index, (id, text, vector) in enumerate(passages):
        share = index / PASSAGES
        kind = "chunk" if share < 0.5 else "summary" if share < 0.75 else "detail"
        summary = kind == "summary"
        yield {
            "id": id,
            "properties": {
                "document": book.id,
                "collection": book.collection,
                "kind": kind,
                "aspect": ASPECTS[1 + index % 7] if summary else "",
                "level": 1 + index % 3 if summary else 0,
                "section": f"Chapter {index // 40}",
                "start": index * 500,
                "end": index * 500 + len(text),
                "text": text,
                "tokens": WORDS,
            },
            "embedding": WireVector.from_numpy(vector),
        }


def make_questions(count: int) -> list[Question]:
    """Questions to the first `count` books, with what is nearest to each."""
    books = [Book(number) for number in range(count) if number % EVERY != EVERY - 1]
    random = np.random.default_rng(count)
    ids = np.array([id for book in books for id in book.ids()])
    matrix = np.concatenate([book.vectors() for book in books])
    questions = []
    for _ in range(QUESTIONS):
        place = int(random.integers(len(books)))
        passage = int(random.integers(PASSAGES))
        own = slice(place * PASSAGES, (place + 1) * PASSAGES)
        vector = _near(matrix[own][passage : passage + 1], random)[0]
        scores = matrix @ vector
        words = random.choice(books[place].texts()[passage].split(), 8)
        questions.append(
            Question(
                vector,
                " ".join(words),
                books[place].id,
                frozenset(ids[np.argpartition(-scores, K)[:K]]),
                frozenset(ids[own][np.argpartition(-scores[own], K)[:K]]),
            )
        )
    return questions


def _near(places: Vectors, random: np.random.Generator) -> Vectors:
    noise = random.standard_normal(places.shape, dtype=np.float32) * (NOISE / DIMENSIONS**0.5)
    return _unit(places + noise)


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


@cache
def _topics() -> Vectors:
    return _unit(np.random.default_rng(0).standard_normal((TOPICS, DIMENSIONS), dtype=np.float32))


@cache
def _vocabulary() -> list[str]:
    """20,000 words of one to four syllables, the short ones first."""
    syllables = [a + b for a in "bdfghklmnprstvz" for b in "aeiou"]
    random = np.random.default_rng(1)
    lengths = sorted(random.integers(1, 5, 40_000))
    words = ["".join(random.choice(syllables, length)) for length in lengths]
    return list(dict.fromkeys(words))[:20_000]


@cache
def _weights() -> NDArray[np.float64]:
    """How far up each word's turn comes: a word is as frequent as its rank is low."""
    shares = 1 / np.arange(1, len(_vocabulary()) + 1)
    sums: NDArray[np.float64] = np.cumsum(shares / shares.sum())
    sums[-1] = 1.0
    return sums


def segments(server: PrivateServer, index: str) -> int:
    """Lucene's segments of the indexes of this kind, once what was merged away is gone."""
    folder = server.log_file.parents[1] / "data" / "databases" / "neo4j" / "schema" / "index"
    return len(list(folder.glob(f"{index}*/**/*.si")))


def connected(address: Address) -> neo4j.Driver:
    """A driver for the server."""
    return neo4j.GraphDatabase.driver(
        address.uri,
        auth=(address.username, address.password),
        notifications_min_severity="OFF",
    )


if __name__ == "__main__":
    write(address_of_environment(), int(sys.argv[1]), int(sys.argv[2]))
