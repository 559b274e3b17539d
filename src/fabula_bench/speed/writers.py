"""Four processes that write 10 documents of 500 passages each, against one that writes 40, or 10.

All write into one collection, as several ingests of one library do. Each process makes its
documents and reaches Neo4j before the clock starts (`python -m fabula_bench.speed.writers FIRST
COUNT`), and begins when it is told to. One more process has written a few before, as the server's
Java is compiled only once it is used.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from fabula import Settings
from fabula.config.connect import connect
from fabula.server import Address
from fabula_bench.speed.documents import MODEL, documents, prepare
from fabula_bench.speed.report import Figure, seconds
from fabula_bench.speed.server import connected, environment, running

PROCESSES, EACH = 4, 10
TIMES = 1.3
"""How many times as long several processes may take as one with the documents of one of them."""
PASSAGES = 500
WARMING = 10
"""Documents written before any clock starts."""
LIBRARY = "library"


def measure(books: Path | None, processes: int = PROCESSES, each: int = EACH) -> list[Figure]:
    """The wall time of one writer and of several for as many documents, and their ratio."""
    total = processes * each
    with running() as address:
        with connected(address) as store:
            prepare(store, LIBRARY)
        first = WARMING
        _wall(address, [range(first)])
        alone = _wall(address, [range(first, first + total)])
        first += total
        ten = _wall(address, [range(first, first + each)])
        first += each
        starts = range(first, first + total, each)
        together = _wall(address, [range(start, start + each) for start in starts])
    what = f"{total} documents of {PASSAGES} passages"
    return [
        Figure(f"{what}: one process", alone),
        Figure(f"{what}: {processes} processes", together),
        Figure(f"{what}: {processes} processes, by one", together / alone, "x"),
        Figure(f"{each} documents: one process", ten),
        Figure(
            f"{what}: {processes} processes, by one that writes {each}",
            together / ten,
            "x",
            goal=TIMES,
        ),
    ]


def _wall(address: Address, numbers: list[range]) -> float:
    """Seconds until all documents of these numbers are there, a process for each run of them."""
    with ExitStack() as stack:
        writers = [stack.enter_context(_writer(address, number)) for number in numbers]
        for writer in writers:
            _hear(writer, "ready")
        return seconds(partial(_let_write, writers))


def _writer(address: Address, numbers: range) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "fabula_bench.speed.writers",
        str(numbers.start),
        str(len(numbers)),
    ]
    return subprocess.Popen(
        command,
        env=environment(address),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _let_write(writers: list[subprocess.Popen[str]]) -> None:
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _hear(writer, "done")


def _hear(writer: subprocess.Popen[str], word: str) -> None:
    assert writer.stdout is not None
    if (events := writer.stdout.readline().strip()) != word:
        raise RuntimeError(f"a writer was to say {word!r} and said {events!r}")


def _write(numbers: range) -> None:
    """What one process does: it says that it is ready, waits for a line, writes, and says so."""
    parts = list(documents(LIBRARY, numbers, PASSAGES))
    with connect(Settings.read(), None) as store:
        store.make_schema()
        print("ready", flush=True)
        sys.stdin.readline()
        for part in parts:
            store.apply([part], MODEL)
    print("done", flush=True)


if __name__ == "__main__":
    start, count = map(int, sys.argv[1:])
    _write(range(start, start + count))
