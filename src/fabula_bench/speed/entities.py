"""The graph of entities of a book: CPU of Fabula's process, and time against its floor.

The tests' endpoint, in a process of its own, plays the model: it names and ties all that has a
capital. CPU is of a book of 100,000 words and replies that come at once; it has all that Fabula
does, requests, replies and writing too. Time is of a book of 30,000 words, a call of 200 ms and 16
calls at once. The floor is the larger of calls x 0.2 s / 16 and the chain of calls that need each
other's replies: a window's, its gleaning, the merging of descriptions, and embeddings.

Each book is built in a fresh process (`python -m fabula_bench.speed.entities URL WORDS [FOLDER]`),
which builds a small one before, so that imports and plans of statements are not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fabula import Fabula
from fabula.build.outcome import Outcome
from fabula.models.usage import Usage
from fabula.server import Address
from fabula_bench.speed.books import book
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import environment, running
from fabula_bench.speed.waiting import CALL, CONCURRENCY, TIMES, endpoint

GRAPH = "entities"
SMALL, WAITED, COUNTED = 2_000, 30_000, 100_000
"""Words of the book before, and of those that are measured."""
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Built:
    """Seconds and CPU seconds of a build; its calls, and how many of them wait for each other."""

    seconds: float
    cpu: float
    calls: int
    chain: int

    @property
    def floor(self) -> float:
        """The least that it can take."""
        return max(self.calls * CALL / CONCURRENCY, self.chain * CALL)


def measure(books: Path | None) -> list[Figure]:
    """CPU for 100,000 words, and time by the floor."""
    with running() as address, endpoint(0.0) as url:
        counted = _run(url, COUNTED, books, address)
    with running() as address, endpoint() as url:
        waited = _run(url, WAITED, books, address)
    return [
        Figure(f"{COUNTED:,} words: calls", counted.calls, ""),
        Figure(f"{COUNTED:,} words: CPU apart from the model", counted.cpu, goal=SECONDS),
        Figure(f"{WAITED:,} words: calls", waited.calls, ""),
        Figure(f"{WAITED:,} words: longest chain of calls", waited.chain, ""),
        Figure(f"{WAITED:,} words: floor", waited.floor),
        Figure(f"{WAITED:,} words: all", waited.seconds),
        Figure(f"{WAITED:,} words: all, by the floor", waited.seconds / waited.floor, "x", TIMES),
    ]


def _run(url: str, words: int, books: Path | None, address: Address) -> Built:
    command = [sys.executable, "-m", "fabula_bench.speed.entities", url, str(words)]
    done = subprocess.run(
        [*command, *([str(books)] if books else [])],
        env=environment(address),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Built(**json.loads(done.stdout))


@dataclass(slots=True)
class _Steps:
    """Hears of one document; batches of calls that are asked for one after another."""

    steps: list[str] = field(default_factory=list)

    def expect(self, step: str, count: int) -> None:
        if count and step != "write":
            self.steps.append(step)

    def done(self, step: str, usage: Usage) -> None:
        """Nothing is to be counted."""


@dataclass(slots=True)
class _Listener:
    """Hears of one source."""

    steps: _Steps = field(default_factory=_Steps)

    def expect(self, sources: int) -> None:
        """One."""

    def begin(self, source: str) -> _Steps:
        return self.steps

    def end(self, outcome: Outcome) -> None:
        """The outcome is returned, too."""


def _build(url: str, words: int, folder: Path | None) -> Built:
    """The graph of a book whose text is there."""
    with Fabula(
        base_url=url,
        api_key="any",
        concurrency=CONCURRENCY,
        collection=f"{words} words",
        cache=False,
        graphs=(),
    ) as fabula:
        fabula.ingest_text(book(words, folder), source="book", language="en")
        listener = _Listener()
        began, cpu = time.monotonic(), time.process_time()
        [outcome] = fabula.build(GRAPH, listener=listener)
        ended = time.monotonic()
        if outcome.error:
            raise outcome.error
    steps = listener.steps.steps
    return Built(ended - began, time.process_time() - cpu, outcome.usage.calls, len(steps))


if __name__ == "__main__":
    address, size, *folders = sys.argv[1:]
    place = Path(folders[0]) if folders else None
    _build(address, SMALL, place)
    json.dump(asdict(_build(address, int(size), place)), sys.stdout)
