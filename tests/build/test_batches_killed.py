"""Builds by batches that are killed between any two steps: nothing is paid twice, or lost."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest

from batch_runs import graph_of, live_graph
from endpoint import Endpoint
from fabula.store import Store
from forked import Forked
from stories import harbour_story

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("batching")]

KILLS = 20
NIGHTLY_KILLS = 500
PATIENCE = 120
"""Seconds for what takes a few: a machine may have other work to do."""


class Killer:
    """Kills a process at some of the endpoint's files and batches, before or after each is done.

    In between it kills it while it reads what came, makes its graph, or collects calls.
    """

    def __init__(self, endpoint: Endpoint, draw: random.Random, most: int) -> None:
        self.draw, self.left, self.kills = draw, most, 0
        self.process: Forked | None = None
        self._lock = threading.Lock()
        self._countdown = draw.randrange(1, 6)
        endpoint.batches.before = endpoint.batches.after = self.step

    def step(self, name: str) -> None:
        with self._lock:
            self._countdown -= 1
            if self._countdown > 0 or not self.left or self.process is None:
                return
            process, self.process = self.process, None
            self.left -= 1
            self.kills += 1
            self._countdown = self.draw.randrange(1, 6)
        if self.draw.random() < 0.3:
            # Not at this step, but a moment later.
            threading.Timer(self.draw.random(), process.kill).start()
        else:
            process.kill()
            # What the endpoint does for a client that has gone, it does.
            time.sleep(0.02)


def run_killed(
    endpoint: Endpoint, book: Path, folder: Path, seed: int, kills: int
) -> tuple[int, int]:
    """Ingest, killed again and again, until it is done; the kills and the runs."""
    killer = Killer(endpoint, random.Random(seed), kills)
    # The fake endpoint has made what it was asked for before the next process begins.
    shown = {"FABULA_CACHE_FOLDER": str(folder), "TEST_CREATE_SECONDS": "0"}
    environment = {**os.environ, **shown}
    words = ("ingest", book, "--batch", "--wait", "--poll", "0.05")
    runs = 0
    while True:
        runs += 1
        assert runs < kills + 20, "it makes no progress"
        process = Forked(folder.with_name(f"said-{seed}-{runs}"), *words, environment=environment)
        killer.process = process
        code = process.wait(PATIENCE)
        if code == 0:
            return killer.kills, runs
        assert code == -9, process.output


def test_killed_between_any_two_steps_it_pays_nothing_twice(
    endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    book = tmp_path / "harbour.txt"
    book.write_text(harbour_story("slept", 4))
    live = live_graph(store, tmp_path, book)
    endpoint.batches.drop = 0.01
    endpoint.batches.faults = {2: "expired"}
    kills, _ = run_killed(endpoint, book, tmp_path / "killed", 710, KILLS)
    assert kills >= KILLS / 2
    assert graph_of(store) == live
    assert max(endpoint.batches.paid.values()) == 1


@pytest.mark.nightly
def test_five_hundred_kills(endpoint: Endpoint, store: Store, tmp_path: Path) -> None:
    from database import wipe

    book = tmp_path / "harbour.txt"
    book.write_text(harbour_story("slept", 4))
    live = live_graph(store, tmp_path, book)
    kills = 0
    while kills < NIGHTLY_KILLS:
        seed = random.randrange(10**6)
        endpoint.batches.paid.clear()
        endpoint.batches.drop = 0.01
        endpoint.batches.faults = {len(endpoint.batches.batches) + 2: "expired"}
        more, _ = run_killed(endpoint, book, tmp_path / f"killed-{seed}", seed, 40)
        kills += more
        assert graph_of(store) == live, seed
        assert max(endpoint.batches.paid.values()) == 1, seed
        wipe(store)
