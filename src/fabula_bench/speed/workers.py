"""Offline ingest of eight books by one and two workers, and 10,000 novels on eight machines.

The second is a simulation: each book is read, planned, made and committed here once, and the CPU
seconds that this took of a worker, of the coordinator and of Neo4j are played to a line of workers,
one coordinator and one Neo4j. Nothing else of a cluster is in it: no network, no memory, no model.
"""

from __future__ import annotations

import heapq
import itertools
import pickle
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import psutil

from fabula import Fabula, Settings
from fabula.build.cluster import DOCUMENTS_PER_THREAD, MAX_DOCUMENTS, WorkerCluster
from fabula.build.commit import commit, hold_lock
from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.build.plan import Planner
from fabula.build.values import DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.load.content import FileContent
from fabula.load.sources import find_sources
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.stop import Stop
from fabula.server import Address
from fabula.store import Store
from fabula_bench.speed import books as texts
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import connected, private

BOOKS, WORDS = 8, 6_000
"""Books of the shipped story, and words of each, where no folder of books is given."""
WORKERS = (1, 2)
NOVELS = 10_000
MACHINES, CORES = 8, 2
LINEAR = 0.9
"""The share of the speed of all cores together that the cluster is to reach."""


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU seconds that one book took."""

    worker: float
    """Reading the file and making the parts."""
    coordinator: float
    """Planning, pickling both ways and committing, in Python."""
    neo4j: float
    """Planning and committing, in Neo4j."""


@dataclass(frozen=True, slots=True)
class Played:
    """A simulated run."""

    seconds: float
    efficiency: float
    """The seconds of all workers' cores without any waiting, by the seconds it took."""
    busy: dict[str, float]
    """The share of the time that each part of the cluster worked."""


def measure(books: Path | None) -> list[Figure]:
    """Wall times by workers, the costs of a book, and the simulation."""
    with tempfile.TemporaryDirectory() as folder, private() as server:
        files = _books(Path(folder), books)
        address = server.start()
        # The first documents of a server compile its Java.
        _ingest(address, files[:1], 1, "warm")
        walls = {count: _ingest(address, files, count, f"by-{count}") for count in WORKERS}
        process = psutil.Process(server.status().pid)
        with connected(address) as store:
            costs = [_record(file, store, process) for file in files]
    one, two = (walls[count][0] for count in WORKERS)
    figures = [
        Figure(f"{len(files)} books offline, {count} worker{'s' * (count > 1)}", wall)
        for count, (wall, _) in walls.items()
    ]
    figures += [
        Figure("two workers, by one", two / one, "x"),
        Figure("starting two workers", walls[2][1]),
        *(
            Figure(f"CPU of a book: {part}", fmean(getattr(cost, part) for cost in costs))
            for part in ("worker", "coordinator", "neo4j")
        ),
    ]
    return figures + _simulated(costs)


def _books(folder: Path, books: Path | None) -> list[Path]:
    if books is not None:
        return sorted(books.glob("*.txt"))[:BOOKS]
    files = [folder / f"book-{number}.txt" for number in range(BOOKS)]
    for number, file in enumerate(files):
        file.write_text(texts.book(WORDS, seed=number), encoding="utf-8")
    return files


def _ingest(
    address: Address, files: Sequence[Path], workers: int, collection: str
) -> tuple[float, float]:
    """Seconds to ingest the files, and to start the workers before."""
    began = time.monotonic()
    with (
        Fabula(_settings(address, collection)) as fabula,
        WorkerCluster(workers=workers) as cluster,
    ):
        cluster.open_run(fabula.models).close()
        started = time.monotonic()
        outcomes = fabula.ingest(*files, cluster=cluster)
        ended = time.monotonic()
    assert {outcome.status for outcome in outcomes} == {"added"}
    return ended - started, started - began


def _settings(address: Address, collection: str) -> Settings:
    return Settings.read(
        model="offline",
        embedding_model="wordllama-256",
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        collection=collection,
    )


def _record(file: Path, store: Store, neo4j: psutil.Process) -> Costs:
    """What one book costs, step by step, in this process."""
    settings = _settings(Address("", "", "", ""), "recorded")
    meter, progress = Meter(), SilentProgress()
    [source] = find_sources([file], "recorded", settings.max_file_mb).read
    assert source.open is not None
    with closing(ModelFactory(settings)) as models:
        worker, coordinator, server = _Clock(), _Clock(), _Clock(neo4j)
        with coordinator:
            sent = pickle.dumps(source.open())
        with worker:
            content: FileContent = pickle.loads(sent)
            document = content.parse()
        with coordinator, server:
            store.make_schema()
            plan = Planner(store, models, "recorded", settings.graphs).plan_document(document)
            assert isinstance(plan, DocumentPlan)
            sent = pickle.dumps(plan)
        with worker:
            made = pickle.dumps(make(pickle.loads(sent), models, progress, meter))
        with coordinator, server:
            built = pickle.loads(made)
            names, job = [f"document {document.id}"], TaskGroup(models.workers)
            held = hold_lock(store, document.collection, names, file.name, job, progress)
            with held as (lock, checked):
                commit(built, store, models.embedder.model, lock, checked, meter, Stop())
    return Costs(worker.seconds, coordinator.seconds, server.seconds)


class _Clock:
    """Adds up the CPU seconds of this process, or of another one, over several blocks."""

    def __init__(self, process: psutil.Process | None = None) -> None:
        self.seconds = 0.0
        self._process = process

    def __enter__(self) -> None:
        self._began = self._now()

    def __exit__(self, *failure: object) -> None:
        self.seconds += self._now() - self._began

    def _now(self) -> float:
        if self._process is None:
            return time.process_time()
        times = self._process.cpu_times()
        return float(times.user + times.system)


def _simulated(costs: Sequence[Costs]) -> list[Figure]:
    played = play(costs, NOVELS, MACHINES * CORES)
    limit = max(("coordinator", "neo4j"), key=played.busy.__getitem__)
    machines = next(
        (
            count
            for count in itertools.count(1)
            if play(costs, NOVELS, count * CORES).efficiency < LINEAR
        ),
    )
    what = f"{NOVELS:,} novels, {MACHINES} machines of {CORES} cores (simulated)"
    return [
        Figure(what, played.seconds / 3600, "h"),
        Figure("  by the speed of one core times all", played.efficiency, "x", LINEAR, True),
        *(Figure(f"  {part} busy", 100 * share, "%") for part, share in played.busy.items()),
        Figure(f"  machines where {limit} makes it less than {LINEAR}", machines, ""),
    ]


def play(costs: Sequence[Costs], novels: int, workers: int) -> Played:
    """Play novels of these costs, over and over, to a cluster.

    A document begins when fewer than the coordinator's limit are under way. It waits for a worker;
    then for the coordinator, which does one thing at a time; then for Neo4j, which is assumed to
    write one document at a time, on one core: less than it does.
    """
    limit = min(MAX_DOCUMENTS, DOCUMENTS_PER_THREAD * workers)
    free = {"worker": workers, "coordinator": 1, "neo4j": 1}
    stations = [*free]
    waiting: dict[str, deque[int]] = {station: deque() for station in stations}
    busy = dict.fromkeys(stations, 0.0)
    events: list[tuple[float, int, int]] = []
    """When which station is done with which novel."""
    now, begun, ended = 0.0, 0, 0

    def begin(station: str) -> None:
        while free[station] and waiting[station]:
            novel = waiting[station].popleft()
            free[station] -= 1
            seconds = getattr(costs[novel % len(costs)], station)
            busy[station] += seconds
            heapq.heappush(events, (now + seconds, stations.index(station), novel))

    while ended < novels:
        while begun < novels and begun - ended < limit:
            waiting["worker"].append(begun)
            begun += 1
        for station in stations:
            begin(station)
        now, index, novel = heapq.heappop(events)
        free[stations[index]] += 1
        if index + 1 < len(stations):
            waiting[stations[index + 1]].append(novel)
        else:
            ended += 1
    shares = {
        station: busy[station] / now / (workers if station == "worker" else 1)
        for station in stations
    }
    return Played(now, busy["worker"] / workers / now, shares)
