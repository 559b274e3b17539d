"""A service of its own process, which a test kills and starts again."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from database import server_variables
from endpoint import Endpoint
from fabula.server import Address
from fabula.store import Store
from forked import Forked
from served import admin_key

AT_ONCE = 4
PATIENCE = 120.0
"""Seconds for what takes two: against what never ends."""


class Killed:
    """A service of its own process, over the tests' Neo4j and an endpoint that takes notes."""

    def __init__(self, folder: Path, address: Address, endpoint: Endpoint, secret: str) -> None:
        self.environment = {
            **{name: value for name, value in os.environ.items() if "FABULA" not in name},
            "FABULA_HOME": str(folder / "home"),
            "FABULA_CACHE_FOLDER": str(folder / "cache"),
            "FABULA_CHUNK_TOKENS": "48",
            "FABULA_CONCURRENCY": str(AT_ONCE),
            **server_variables(address),
            "OPENAI_BASE_URL": endpoint.url,
            "OPENAI_API_KEY": "sk-test",
        }
        self.folder, self.begun = folder, 0
        self.headers = {"Authorization": f"Bearer {secret}"}

    @contextmanager
    def up(self, end: int = signal.SIGKILL) -> Iterator[httpx2.Client]:
        """The service, until it is killed at the end, or ended by another signal."""
        self.begun += 1
        path = self.folder / f"said {self.begun}"
        process = Forked(path, "serve", "--port", "0", environment=self.environment)
        try:
            late = time.monotonic() + PATIENCE
            while not (found := re.search(r"(http://[\d.]+:\d+)/enter", process.output)):
                assert process.poll() is None, process.output
                assert time.monotonic() < late, process.output
                time.sleep(0.02)
            with httpx2.Client(base_url=found[1], headers=self.headers, timeout=120) as client:
                yield client
        finally:
            process.interrupt(end)
            process.wait(PATIENCE)


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    with Endpoint(delay=0.1, notes=tmp_path / "notes") as made:
        yield made


@pytest.fixture
def killed(tmp_path: Path, address: Address, store: Store, endpoint: Endpoint) -> Killed:
    return Killed(tmp_path, address, endpoint, admin_key(address, "kills"))
