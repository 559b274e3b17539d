"""Dask's scheduler and workers as processes of their own, as a cluster has them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 120.0
"""Seconds for what takes a few: a machine may have other work to do."""


@contextmanager
def dask_cluster(folder: Path, workers: int = 1, **environment: str) -> Iterator[str]:
    """The address of a scheduler with so many workers, each with one thread.

    Their environment names no Neo4j and no model; `environment` is added to it.
    """
    folder.mkdir()
    own = {k: v for k, v in os.environ.items() if not k.startswith(("NEO4J", "OPENAI", "FABULA"))}
    own |= {"FABULA_HOME": str(folder / "home"), "FABULA_CACHE_FOLDER": str(folder / "cache")}
    own |= environment
    file = folder / "scheduler.json"
    with _running("scheduler", ["--port", "0", "--scheduler-file", str(file)], own, folder):
        late = time.monotonic() + PATIENCE
        # It is there for a moment before it is written.
        while not (file.exists() and file.read_text().endswith("}")):
            assert time.monotonic() < late, (folder / "scheduler.log").read_text()
            time.sleep(0.05)
        address = str(json.loads(file.read_text())["address"])
        words = [address, "--nworkers", str(workers), "--nthreads", "1"]
        with _running("worker", [*words, "--local-directory", str(folder)], own, folder):
            yield address


@contextmanager
def _running(
    what: str, words: Sequence[str], environment: Mapping[str, str], folder: Path
) -> Iterator[None]:
    """`dask scheduler` or `dask worker`, until the block ends."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *words]
    with (folder / f"{what}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE)
