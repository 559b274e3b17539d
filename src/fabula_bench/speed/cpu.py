"""CPU seconds of Fabula's process for books of six lengths, models apart.

Each book is made in a fresh process (`python -m fabula_bench.speed.cpu WORDS [FOLDER]`), which
first makes a small one, so that imports and weights are told apart. The extractive writer stands
for the chat model, and static embeddings for the embedding model; the writer's own work is a line
of its own and in no goal. The better of two runs counts: others can only make a run slower.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import BadReply
from fabula.graph import Part
from fabula.graphs.aspects.make_writer import make_writer
from fabula.graphs.aspects.values import Aspect
from fabula.graphs.aspects.writer import Writer
from fabula.load import load
from fabula.models import Embedder, Embeddings, TextKind
from fabula.models.counted import Meter
from fabula.server import Address
from fabula.store import Store
from fabula_bench.speed.books import book
from fabula_bench.speed.making import cut, make
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import environment, running

SIZES = (10_000, 25_000, 50_000, 100_000, 200_000, 400_000)
BOOK = 100_000
SMALL = 3_000
RUNS = 2
SECONDS = 10.0
NOISE = 1.1
"""How much two measurements of the same may differ."""

Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds of one book by step; `writer` is the extractive writer, no step of its own."""

    load: float
    chunk: float
    embed: float
    cluster: float
    write: float
    writer: float
    imports: float = 0.0

    @property
    def work(self) -> float:
        """What a goal is set for: all but models and imports."""
        return self.load + self.chunk + self.embed + self.cluster + self.write


def measure(books: Path | None) -> list[Figure]:
    """The steps of a book of 100,000 words, and growth from 10,000 to 400,000."""
    with running() as address:
        spent = {words: _best(words, books, address) for words in SIZES}
    of_book = spent[BOOK]
    figures = [Figure(f"{BOOK:,} words: {name}", value) for name, value in asdict(of_book).items()]
    figures.append(
        Figure(f"{BOOK:,} words: all but writer and imports", of_book.work, goal=SECONDS)
    )
    per = {words: spent[words].work / (words * math.log(words)) for words in SIZES}
    for words in SIZES:
        figures.append(Figure(f"{words:,} words: all but writer and imports", spent[words].work))
        ratio = per[words] / per[SIZES[0]]
        figures.append(Figure(f"{words:,} words: by n log n, against {SIZES[0]:,}", ratio, "x"))
    rises = [per[b] / per[a] for a in SIZES for b in SIZES if a < b]
    figures.append(Figure("the largest rise of any size over a smaller", max(rises), "x"))
    worst = max(per.values()) / per[SIZES[0]]
    return [*figures, Figure("growth by n log n, the largest", worst, "x", goal=NOISE)]


def _best(words: int, books: Path | None, address: Address) -> Spent:
    command = [
        sys.executable,
        "-m",
        "fabula_bench.speed.cpu",
        str(words),
        *([str(books)] if books else []),
    ]
    runs = [
        subprocess.run(
            command, env=environment(address), stdout=subprocess.PIPE, text=True, check=True
        )
        for _ in range(RUNS)
    ]
    return min((Spent(**json.loads(run.stdout)) for run in runs), key=lambda spent: spent.work)


@dataclass(slots=True)
class _Clock:
    """Adds up the CPU seconds of the threads that work for it."""

    seconds: float = 0.0

    def timed(self, work: Callable[..., Out], *values: Any) -> Out:
        began = time.thread_time()
        try:
            return work(*values)
        finally:
            self.seconds += time.thread_time() - began


@dataclass(frozen=True, slots=True)
class _TimedEmbedder:
    embedder: Embedder
    clock: _Clock = field(default_factory=_Clock)

    @property
    def model(self) -> str:
        return self.embedder.model

    @property
    def batch(self) -> int:
        return self.embedder.batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        return self.clock.timed(self.embedder.embed, texts, kind)


@dataclass(frozen=True, slots=True)
class _TimedWriter:
    writer: Writer
    clock: _Clock

    def detect(self, text: str, aspects: Sequence[Aspect], sample: int = 0) -> dict[str, str]:
        return self.clock.timed(self.writer.detect, text, aspects, sample)

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> str:
        return self.clock.timed(self.writer.summarise, texts, aspect)

    def condense(self, texts: Sequence[str]) -> list[tuple[str, ...] | BadReply]:
        return self.clock.timed(lambda: list(self.writer.condense(texts)))


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Where books of this process are made and kept."""

    kit: ModelFactory
    store: Store
    file: Path

    def spent(self, text: str) -> Spent:
        """The CPU seconds of a book, which is written to the graph and taken out again."""
        self.file.write_text(text, encoding="utf-8")
        marks = [time.process_time()]

        def mark() -> None:
            marks.append(time.process_time())

        document = load(self.file, "bench", 10 * len(text) + 1000)
        mark()
        chunks = cut(self.kit, document)
        mark()
        clock = _Clock()
        models = self.kit.models(Meter())
        embedder = _TimedEmbedder(models.embedder)

        def timed_writer(*given: Any) -> Writer:
            return _TimedWriter(clock.timed(make_writer, *given), clock)

        # The graph makes its writer itself.
        with patch("fabula.graphs.aspects.build.make_writer", timed_writer):
            parts = make(self.kit, document, chunks, replace(models, embedder=embedder))
        mark()
        self._write(parts)
        mark()
        self.store.remove("bench", document.id)
        loaded, chunked, built, written = (b - a for a, b in itertools.pairwise(marks))
        embedded, wrote = embedder.clock.seconds, clock.seconds
        return Spent(loaded, chunked, embedded, built - embedded - wrote, written, wrote)

    def _write(self, parts: Sequence[Part]) -> None:
        model = self.kit.embedder.model
        self.store.prepare("bench", model, self.kit.embedder.embed(["?"]).vectors.size)
        self.store.apply(parts, model)


def _alone(words: int, folder: Path | None) -> Spent:
    """What a book costs in this process, and what a small one before it did."""
    settings = Settings.read()
    with (
        tempfile.TemporaryDirectory() as place,
        Store.connect(
            settings.neo4j_uri or "",
            settings.neo4j_username,
            settings.neo4j_password.get_secret_value(),
            settings.neo4j_database,
        ) as store,
    ):
        shelf = _Shelf(ModelFactory(settings), store, Path(place) / "book.txt")
        shelf.spent(book(SMALL))
        imports = time.process_time()
        spent = shelf.spent(book(words, folder))
        shelf.kit.close()
    return Spent(**asdict(spent) | {"imports": imports})


if __name__ == "__main__":
    size, *folders = sys.argv[1:]
    json.dump(asdict(_alone(int(size), Path(folders[0]) if folders else None)), sys.stdout)
