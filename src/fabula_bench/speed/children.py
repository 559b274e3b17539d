"""Processes of the benchmark that get ready, and work each time they are told to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.server import Address
from fabula_bench.speed.report import seconds


@dataclass(frozen=True, slots=True)
class Child:
    """A process that runs a module of the benchmark."""

    process: subprocess.Popen[str]

    def tell(self) -> None:
        """Let it work once."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def hear(self) -> float:
        """Wait until it is ready, or has worked; return the seconds that its work took."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("A process ended before its work was done: see what it printed.")
        return float(line)

    def work(self) -> float:
        """Let it work once, and return the seconds."""
        self.tell()
        return self.hear()


@contextmanager
def start(module: str, environment: Mapping[str, str], *arguments: object) -> Iterator[Child]:
    """A child that is ready to work."""
    command = [sys.executable, "-m", f"fabula_bench.speed.{module}", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=dict(environment), stdin=pipe, stdout=pipe, text=True
    ) as process:
        try:
            yield Child(process)
        finally:
            process.terminate()


def obey(works: Iterable[Callable[[], object]]) -> None:
    """Be such a child: say that it is ready, and do a piece of work for each line."""
    print(0.0, flush=True)
    for work in works:
        sys.stdin.readline()
        print(seconds(work), flush=True)


def address_of_environment() -> Address:
    """The server that the environment names."""
    own = os.environ
    return Address(own["NEO4J_URI"], "", own["NEO4J_USERNAME"], own["NEO4J_PASSWORD"])
