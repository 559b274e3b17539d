"""Wall time of what a person waits for first: the help, and the private Neo4j."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import environment, private

HELPS = 10
STARTS = 3


def measure(books: Path | None) -> list[Figure]:
    """`fabula --help`, and starts of the server: the first, of a stopped one, of a running one."""
    fabula = Path(sys.executable).with_name("fabula")
    bare = environment()

    def help() -> None:
        subprocess.run([fabula, "--help"], env=bare, stdout=subprocess.DEVNULL, check=True)

    def python() -> None:
        subprocess.run([sys.executable, "-c", ""], env=bare, check=True)

    help()
    helped = statistics.median(seconds(help) for _ in range(HELPS))
    empty = statistics.median(seconds(python) for _ in range(HELPS))
    with private() as server:
        first = seconds(server.start)
        stops, starts, again = [], [], []
        for _ in range(STARTS):
            stops.append(seconds(server.stop))
            starts.append(seconds(server.start))
            again.append(seconds(server.start))
    return [
        Figure("fabula --help", helped, goal=0.3),
        Figure("python with nothing to do", empty),
        Figure("first start of Neo4j, what is cached by jgo not fetched", first),
        Figure("start of a stopped Neo4j", statistics.median(starts), goal=10.0),
        Figure("start of a running Neo4j", statistics.median(again)),
        Figure("stop of Neo4j", statistics.median(stops)),
    ]


def seconds(work: Callable[[], object]) -> float:
    """The wall time of `work`."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
