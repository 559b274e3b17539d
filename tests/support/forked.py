"""`fabula` in a process of its own, forked from one that has imported what commands need.

A fresh interpreter takes three seconds of CPU to import as much.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import TimeoutExpired

from fabula.cli import run

IMPORTED = (
    "fabula.cli.commands.ingest",
    "fabula.build.run",
    "fabula.service.process",
    "neo4j",
    "openai",
    "sklearn.mixture",
)
MIGRATION = "TEST_MIGRATION"
"""The variable that gives the process the tests' migration, whatever it is set to."""
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([*IMPORTED])


class Forked:
    """A command that was typed; what it prints goes into `file`."""

    def __init__(self, file: Path, *words: str | Path, environment: Mapping[str, str]) -> None:
        self.words = ["fabula", *map(str, words)]
        self.file = file
        file.touch()
        given = (file, self.words, dict(environment), Path.cwd())
        self._process = CONTEXT.Process(target=_run, args=given, daemon=True)
        self._process.start()

    @property
    def output(self) -> str:
        return self.file.read_text()

    def poll(self) -> int | None:
        """The code it ended with; none while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """The code it ends with. Raises TimeoutExpired where that takes longer."""
        self._process.join(seconds)
        code = self._process.exitcode
        if code is None:
            raise TimeoutExpired(self.words, seconds or 0.0)
        return code

    def kill(self) -> None:
        self._process.kill()

    def interrupt(self, by: int = signal.SIGINT) -> None:
        """Ctrl-C, or another signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, by)


def _run(file: Path, words: list[str], environment: dict[str, str], folder: Path) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    output = os.open(file, os.O_WRONLY | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # Whoever runs the tests in the background has them ignore Ctrl-C, and what they start, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = words
    if seconds := environment.get("TEST_CREATE_SECONDS"):
        from fabula.models import batch_rounds

        batch_rounds.CREATE_SECONDS = float(seconds)
    if MIGRATION in environment:
        from shelves import use_shelves

        use_shelves(setattr)
    run()
