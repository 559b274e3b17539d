"""Offline ingest of eight books by one worker and by two."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fabula import Fabula
from fabula.build.cluster import WorkerCluster
from fabula.server import Address
from fabula_bench.speed import books as texts
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import offline_settings, private

BOOKS, WORDS = 8, 6_000
"""Books of the shipped story, and words of each, where no folder of books is given."""
WORKERS = (1, 2)


def measure(books: Path | None) -> list[Figure]:
    """Wall times by workers."""
    with tempfile.TemporaryDirectory() as folder, private() as server:
        files = _books(Path(folder), books)
        address = server.start()
        # The first documents of a server compile its Java.
        _ingest(address, files[:1], 1, "warm")
        walls = {count: _ingest(address, files, count, f"by-{count}") for count in WORKERS}
    one, two = (walls[count][0] for count in WORKERS)
    return [
        *(
            Figure(f"{len(files)} books offline, {count} worker{'s' * (count > 1)}", wall)
            for count, (wall, _) in walls.items()
        ),
        Figure("two workers, by one", two / one, "x"),
        Figure("starting two workers", walls[2][1]),
    ]


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
        Fabula(offline_settings(address, collection=collection)) as fabula,
        WorkerCluster(workers=workers) as cluster,
    ):
        cluster.open_run(fabula.models).close()
        started = time.monotonic()
        outcomes = fabula.ingest(*files, cluster=cluster)
        ended = time.monotonic()
    assert {outcome.status for outcome in outcomes} == {"added"}
    return ended - started, started - began
