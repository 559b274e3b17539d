"""Ingest against an endpoint that takes 200 ms a call, with 16 calls at once.

The floor is the larger of calls x 0.2 s / 16 and the longest chain of calls that need each other's
replies. The chain is read from what was really asked: a listener notes each batch of calls, which
thread waits for it, and since when. The thread that builds waits for the chunks' embeddings and
for each round of detection; a tree has a thread of its own, which begins when the rounds that its
aspect needed are over, and waits for summaries and their embeddings level by level; details have
one more. (An aspect's description is embedded where the aspect has to be assigned, and a summary
may be asked for twice: both are left out of the chain, so the floor can only be too low.)

The shipped story is ingested into the empty graph of a running Neo4j in a process of its own
(`python -m fabula_bench.speed.waiting URL`): first as it comes, nothing imported, compiled or
reached, then again into other collections, with Neo4j reached before the clock starts. Its Java is
still being compiled while the first of these run: the last ones count. Then a novel follows, in the
same way:
its chunks are written while the model is asked, and what is left between the last reply and the end
is what a user waits for the writing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fabula import Fabula
from fabula.build.outcome import Outcome
from fabula.models.usage import Usage
from fabula_bench.speed.books import STORY, book
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import environment, running
from fabula_bench.speed.service import endpoint

CALL = 0.2
CONCURRENCY = 16
TIMES = 1.25
RUNS = 9
COUNTED = 5
NOVEL_WORDS = 62_449
NOVEL_RUNS = 3
NOVEL_GOAL = 6.0
"""Seconds of an ingest of the novel."""


@dataclass(frozen=True, slots=True)
class Run:
    """One ingest: seconds until the first call, until the last reply, and of writing; calls, and
    how many of them wait for each other."""

    first: float
    asking: float
    writing: float
    calls: int
    chain: int

    @property
    def seconds(self) -> float:
        return self.first + self.asking + self.writing

    @property
    def floor(self) -> float:
        """The least that the asking can take."""
        return max(self.calls * CALL / CONCURRENCY, self.chain * CALL)


def measure(books: Path | None) -> list[Figure]:
    """The time of an ingest against its floor, warm and cold, and where it goes."""
    with (
        running() as address,
        endpoint(CALL) as url,
        tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as novel,
    ):
        novel.write(book(NOVEL_WORDS))
        novel.flush()
        done = subprocess.run(
            [sys.executable, "-m", "fabula_bench.speed.waiting", url, novel.name],
            env=environment(address),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    cold, *warm = (Run(**run) for run in json.loads(done.stdout))
    warm, novels = warm[:RUNS], sorted(warm[RUNS:], key=lambda wait: wait.seconds)
    long = novels[NOVEL_RUNS // 2]
    run = sorted(warm[-COUNTED:], key=lambda wait: wait.seconds)[COUNTED // 2]
    return [
        Figure("calls", run.calls, ""),
        Figure("longest chain of calls", run.chain, ""),
        Figure("floor", run.floor),
        Figure("warm: until the first call", run.first),
        Figure("warm: asking", run.asking),
        Figure("warm: asking, by the floor", run.asking / run.floor, "x"),
        Figure("warm: writing", run.writing),
        Figure("warm: all", run.seconds),
        Figure("warm: all, by the floor", run.seconds / run.floor, "x", goal=TIMES),
        Figure("cold: all", cold.seconds),
        Figure("cold: all, by the floor", cold.seconds / cold.floor, "x"),
        Figure(f"{NOVEL_WORDS:,} words: calls", long.calls, ""),
        Figure(f"{NOVEL_WORDS:,} words: floor", long.floor),
        Figure(f"{NOVEL_WORDS:,} words: until the first call", long.first),
        Figure(f"{NOVEL_WORDS:,} words: asking", long.asking),
        Figure(f"{NOVEL_WORDS:,} words: after the last reply", long.writing),
        Figure(f"{NOVEL_WORDS:,} words: all", long.seconds, goal=NOVEL_GOAL),
    ]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Calls that `thread` waits for together, since `at`."""

    step: str
    thread: threading.Thread
    at: float


@dataclass(slots=True)
class _Notes:
    """Hears the steps of one document."""

    batches: list[_Batch] = field(default_factory=list)
    replied: float = 0.0

    def expect(self, step: str, count: int) -> None:
        if count:
            self.batches.append(_Batch(step, threading.current_thread(), time.monotonic()))

    def done(self, step: str, usage: Usage) -> None:
        if step != "write":
            self.replied = time.monotonic()

    def chain(self) -> int:
        """How many calls of the longest chain wait for each other."""
        calls = [batch for batch in self.batches if batch.step != "write"]
        rounds = [batch for batch in calls if batch.step == "aspects"]
        builder = rounds[0].thread
        embedding = sum(batch.thread is builder for batch in calls) - len(rounds)
        chains = [embedding + len(rounds)]
        for thread in {batch.thread for batch in calls} - {builder}:
            of_thread = [batch for batch in calls if batch.thread is thread]
            if of_thread[0].step == "details":
                # Batches of embeddings are asked for beside the calls: only the last one waits.
                chains.append(len({batch.step for batch in of_thread}))
                continue
            # A round takes a whole call: one that began just before is not the tree's.
            before = sum(batch.at < of_thread[0].at - CALL / 2 for batch in rounds)
            chains.append(embedding + before + len(of_thread))
        return max(chains)


@dataclass(slots=True)
class _Listener:
    """Hears of one source."""

    notes: _Notes = field(default_factory=_Notes)
    outcome: Outcome | None = None

    def expect(self, sources: int) -> None:
        """One."""

    def begin(self, source: str) -> _Notes:
        return self.notes

    def end(self, outcome: Outcome) -> None:
        self.outcome = outcome


def _ingest_once(url: str, collection: str, file: Path = STORY, *, cold: bool = False) -> Run:
    """One ingest of a text into a collection of its own."""
    began = time.monotonic()
    listener = _Listener()
    with Fabula(
        base_url=url, api_key="any", concurrency=CONCURRENCY, collection=collection, cache=False
    ) as fabula:
        fabula.store.version()
        began = began if cold else time.monotonic()
        [outcome] = fabula.ingest(file, listener=listener)
        if outcome.error:
            raise outcome.error
        ended = time.monotonic()
    notes = listener.notes
    return Run(
        first=notes.batches[0].at - began,
        asking=notes.replied - notes.batches[0].at,
        writing=ended - notes.replied,
        calls=outcome.usage.calls,
        chain=notes.chain(),
    )


if __name__ == "__main__":
    runs = [
        _ingest_once(sys.argv[1], f"run {number}", cold=not number) for number in range(1 + RUNS)
    ]
    novel = Path(sys.argv[2])
    runs += [_ingest_once(sys.argv[1], f"novel {number}", novel) for number in range(NOVEL_RUNS)]
    json.dump([asdict(run) for run in runs], sys.stdout)
