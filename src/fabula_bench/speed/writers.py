"""Four processes that write 10 documents of 500 passages each, against one that writes 40, or 10.

All write into one collection, as several ingests of one library do. Each process makes its
documents and reaches Neo4j before the clock starts (`python -m fabula_bench.speed.writers FIRST
COUNT`), and begins when it is told to. One more process has written a few before, as the server's
Java is compiled only once it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from fabula.graph import Part
from fabula.server import Address
from fabula.store import Store
from fabula_bench.speed.children import Child, address_of_environment, obey, start
from fabula_bench.speed.documents import DIMENSIONS, MODEL, documents
from fabula_bench.speed.report import Figure, seconds
from fabula_bench.speed.server import connected, environment, running

PROCESSES, EACH = 4, 10
TIMES = 1.3
"""How many times as long several processes may take as one with the documents of one of them."""
PASSAGES = 500
WARMING = 10
"""Documents written before any clock starts."""
LIBRARY = "library"


def measure(books: Path | None) -> list[Figure]:
    """The wall time of one writer and of several for as many documents, and their ratio."""
    del books
    total = PROCESSES * EACH
    with running() as address:
        with connected(address) as store:
            store.prepare(LIBRARY, MODEL, DIMENSIONS)
        first = WARMING
        _wall(address, [range(first)])
        alone = _wall(address, [range(first, first + total)])
        first += total
        ten = _wall(address, [range(first, first + EACH)])
        first += EACH
        starts = range(first, first + total, EACH)
        together = _wall(address, [range(start, start + EACH) for start in starts])
    what = f"{total} documents of {PASSAGES} passages"
    return [
        Figure(f"{what}: one process", alone),
        Figure(f"{what}: {PROCESSES} processes", together),
        Figure(f"{what}: {PROCESSES} processes, by one", together / alone, "x"),
        Figure(f"{EACH} documents: one process", ten),
        Figure(
            f"{what}: {PROCESSES} processes, by one that writes {EACH}",
            together / ten,
            "x",
            goal=TIMES,
        ),
    ]


def _wall(address: Address, numbers: list[range]) -> float:
    """Seconds until all documents of these numbers are there, a process for each run of them."""
    with ExitStack() as stack:
        writers = [
            stack.enter_context(start("writers", environment(address), each.start, len(each)))
            for each in numbers
        ]
        for writer in writers:
            writer.hear()
        return seconds(partial(_write_together, writers))


def _write_together(writers: list[Child]) -> None:
    for writer in writers:
        writer.tell()
    for writer in writers:
        writer.hear()


def _write(parts: Iterable[Part], store: Store) -> None:
    for part in parts:
        store.apply([part], MODEL)


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    parts = list(documents(LIBRARY, range(first, first + count), PASSAGES))
    with connected(address_of_environment()) as store:
        store.make_schema()
        obey([partial(_write, parts, store)])
