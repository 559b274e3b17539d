"""Ingest against an endpoint that takes 200 ms a call, with 16 calls at once.

The floor is the time of the calls alone: calls x 0.2 s / 16. A novel is ingested into the empty
graph of a running Neo4j in a process of its own (`python -m fabula_bench.speed.waiting URL FILE`),
several times, each time into another collection: Neo4j's Java is still being compiled while the
first of these run. Chunks are written while the model is asked, and what is left between the last
reply and the end is what a user waits for the writing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from fabula import Fabula
from fabula.build.outcome import SilentListener, SilentProgress
from fabula.models.usage import Usage
from fabula_bench.speed.books import book
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import environment, running
from fabula_bench.speed.service import endpoint

CALL = 0.2
CONCURRENCY = 16
WORDS = 62_449
RUNS, COUNTED = 8, 3
"""Ingests, and how many of them count: the last."""
GOAL = 6.0
"""Seconds of an ingest."""


@dataclass(frozen=True, slots=True)
class Run:
    """One ingest: calls, and seconds until the first one, until the last reply, and of writing."""

    calls: int
    first: float
    asking: float
    writing: float

    @property
    def seconds(self) -> float:
        return self.first + self.asking + self.writing

    def figures(self, name: str) -> Iterator[Figure]:
        """Where the time goes."""
        yield Figure(f"{name}: calls", self.calls, "")
        yield Figure(f"{name}: floor", self.calls * CALL / CONCURRENCY)
        yield Figure(f"{name}: until the first call", self.first)
        yield Figure(f"{name}: asking", self.asking)
        yield Figure(f"{name}: after the last reply", self.writing)
        yield Figure(f"{name}: all", self.seconds, goal=GOAL)


def measure(books: Path | None) -> list[Figure]:
    """The time of an ingest against its floor, and where it goes."""
    del books
    with (
        running() as address,
        endpoint(CALL) as url,
        tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as novel,
    ):
        novel.write(book(WORDS))
        novel.flush()
        done = subprocess.run(
            [sys.executable, "-m", "fabula_bench.speed.waiting", url, novel.name],
            env=environment(address),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    runs = sorted((Run(**run) for run in json.loads(done.stdout)), key=lambda run: run.seconds)
    return [*runs[len(runs) // 2].figures(f"{WORDS:,} words")]


class _Progress(SilentProgress):
    """Hears when the first call was made, and when the last reply came."""

    called = replied = 0.0

    def expect(self, step: str, count: int) -> None:
        if count and not self.called:
            self.called = time.monotonic()

    def done(self, step: str, usage: Usage) -> None:
        if step != "write":
            self.replied = time.monotonic()


class _Listener(SilentListener):
    def __init__(self) -> None:
        self.heard = _Progress()

    def begin(self, source: str) -> SilentProgress:
        return self.heard


def _ingest_once(url: str, collection: str, file: Path) -> Run:
    """One ingest of a text into a collection of its own."""
    listener = _Listener()
    with Fabula(
        base_url=url, api_key="any", concurrency=CONCURRENCY, collection=collection, cache=False
    ) as fabula:
        fabula.open_store().version()
        began = time.monotonic()
        [outcome] = fabula.ingest(file, listener=listener)
        if outcome.error:
            raise outcome.error
        ended = time.monotonic()
    called, replied = listener.heard.called, listener.heard.replied
    return Run(outcome.usage.calls, called - began, replied - called, ended - replied)


if __name__ == "__main__":
    url, file = sys.argv[1], Path(sys.argv[2])
    runs = [_ingest_once(url, f"run {number}", file) for number in range(RUNS)]
    json.dump([asdict(run) for run in runs[-COUNTED:]], sys.stdout)
