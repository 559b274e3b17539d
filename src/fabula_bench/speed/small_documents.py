"""What one small document costs, and how many a second one run takes in.

Stories of 2,000 words are ingested offline, so that no model is waited for: by one run over all of
them, and, made before the clock starts, by their commits alone. Others come first, as the server's
Java is compiled only once it is used. Statements and transactions are those that the driver's log
has; Neo4j's CPU seconds are those of its process.
"""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psutil

from fabula import Fabula
from fabula.build.commit import commit, hold_lock
from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.build.plan import Planner
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.load.sources import find_sources
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.stop import Stop
from fabula.store import Store
from fabula_bench.speed import books as texts
from fabula_bench.speed.report import Figure, cpu_seconds, seconds
from fabula_bench.speed.server import connected, offline_settings, private

DOCUMENTS, WORDS = 60, 2_000
WARMING = 60
"""Documents that are written before any clock starts."""
LANES = 4
"""Threads that commit at once."""
GOAL = 5.0
"""Documents a second."""
COLLECTION = "small"


def measure(books: Path | None) -> list[Figure]:
    """Documents a second of a run and of its commits, and the costs of one."""
    with tempfile.TemporaryDirectory() as folder, private() as server:
        files = _files(Path(folder), books)
        address = server.start()
        process = psutil.Process(server.status().pid)
        warm, measured, last = files[:WARMING], files[WARMING:-1], files[-1]
        with Fabula(offline_settings(address, collection=COLLECTION)) as fabula:
            fabula.ingest(*warm)
            before = cpu_seconds(process)
            run = seconds(lambda: fabula.ingest(*measured))
            run_cpu = cpu_seconds(process) - before
            with _count_messages() as sent:
                fabula.ingest(last)
        with connected(address) as store:
            built = _make(store, measured)
            commits: dict[int, tuple[float, float]] = {}
            for lanes in (1, LANES):
                for parts in built:
                    owner = parts.parts[0].owner
                    store.remove(owner.collection, owner.document)
                before = cpu_seconds(process)
                wall = seconds(partial(_commit_all, store, built, lanes))
                commits[lanes] = wall, cpu_seconds(process) - before
    count = len(measured)
    one, several = commits[1], commits[LANES]
    nodes = sum(len(part.nodes) for part in built[0].parts)
    return [
        Figure("nodes of a document", nodes, ""),
        Figure("statements of a run with one document", sent["RUN"], ""),
        Figure("transactions of a run with one document", sent["BEGIN"], ""),
        Figure(f"one run, {count} documents", count / run, "a second", GOAL, True),
        Figure("one run: CPU of Neo4j, a document", 1000 * run_cpu / count, "ms"),
        Figure("commits, one after the other", count / one[0], "a second", GOAL, True),
        Figure("commits, one after the other: CPU of Neo4j", 1000 * one[1] / count, "ms"),
        Figure(f"commits, {LANES} at once", count / several[0], "a second", GOAL, True),
        Figure(f"commits, {LANES} at once: CPU of Neo4j", 1000 * several[1] / count, "ms"),
    ]


def _files(folder: Path, books: Path | None) -> list[Path]:
    files = [folder / f"story-{number}.txt" for number in range(WARMING + DOCUMENTS + 1)]
    for number, file in enumerate(files):
        file.write_text(texts.book(WORDS, books, seed=number), encoding="utf-8")
    return files


@contextmanager
def _count_messages() -> Iterator[Counter[str]]:
    """Count the messages that the driver sends, by their kinds."""
    counts: Counter[str] = Counter()

    class Counting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            _, sent, message = record.getMessage().partition(" C: ")
            if sent:
                counts[message.split()[0]] += 1

    log, handler = logging.getLogger("neo4j.io"), Counting()
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield counts
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate


def _make(store: Store, files: Sequence[Path]) -> list[BuiltParts]:
    """Make the parts of the documents as a run makes them, and write nothing."""
    settings = offline_settings(collection=COLLECTION)
    sources = find_sources(files, "made", settings.max_file_mb).read
    built = []
    with closing(ModelFactory(settings)) as models:
        planner = Planner(store, models, "made", settings.graphs)
        for source in sources:
            plan = planner.plan_document(source.read())
            assert isinstance(plan, DocumentPlan)
            built.append(make(plan, models, SilentProgress(), Meter()))
    return built


def _commit_all(store: Store, built: Sequence[BuiltParts], lanes: int) -> None:
    settings = offline_settings(collection=COLLECTION)
    with closing(ModelFactory(settings)) as models, ThreadPoolExecutor(lanes) as pool:
        model = models.embedder.model
        store.prepare(built[0].parts[0].owner.collection, model, built[0].dimensions)
        job, meter, progress = TaskGroup(models.workers), Meter(), SilentProgress()

        def write(parts: BuiltParts) -> None:
            owner = parts.parts[0].owner
            names = [f"document {owner.document}"]
            held = hold_lock(store, owner.collection, names, names[0], job, progress)
            with held as (lock, checked):
                commit(parts, store, model, lock, checked, meter, Stop(), lambda dimensions: None)

        list(pool.map(write, built))
