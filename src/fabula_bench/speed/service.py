"""`fabula serve` as a process, and its clients."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2

ROOT = Path(__file__).parents[3]
with socket.create_server(("127.0.0.1", 0)) as _free:
    PORT: int = _free.getsockname()[1]
    """A port that nobody listens on: two measures may run at once."""
URL = f"http://127.0.0.1:{PORT}"
GIVE_UP_SECONDS = 120.0
"""How long an answer, and the start of the service, may take."""


def client(key: str, path: str = "") -> httpx2.AsyncClient:
    """A client of the service with a key, for what is below a path."""
    return httpx2.AsyncClient(
        base_url=URL + path,
        headers={"Authorization": f"Bearer {key}"},
        timeout=GIVE_UP_SECONDS,
        limits=httpx2.Limits(max_connections=200),
    )


async def _wait_until_ready(key: str) -> None:
    """Wait until the service answers questions."""
    async with client(key) as operator:
        until = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < until:
            with suppress(httpx2.HTTPError):
                if (await operator.get("/readyz")).status_code == 200:
                    return
            await asyncio.sleep(0.5)
    raise TimeoutError("the service did not become ready")


@contextmanager
def endpoint(delay: float, dimensions: int = 256, notes: Path | None = None) -> Iterator[str]:
    """The tests' endpoint in a process of its own; its embeddings take as long as its replies."""
    command = [sys.executable, "-m", "tests.support.endpoint", "--delay", str(delay)]
    command += ["--dimensions", str(dimensions)]
    command += ["--notes", str(notes)] if notes else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def serving(own: dict[str, str]) -> Iterator[str]:
    """Run a service that is ready, beside a Neo4j that runs; give the key of an admin."""
    fabula = [sys.executable, "-m", "fabula"]
    with tempfile.TemporaryDirectory() as folder:
        own = own | {"FABULA_SERVE__UPLOADS": str(Path(folder) / "uploads")}
        make = [*fabula, "keys", "make", "bench", "--role", "admin"]
        made = subprocess.run(make, env=own, stdout=subprocess.PIPE, text=True, check=True)
        found = re.search(r"fab_\S+", made.stdout)
        assert found, made.stdout
        with (Path(folder) / "serve.log").open("ab") as log:
            serve = [*fabula, "serve", "--port", str(PORT)]
            process = subprocess.Popen(serve, env=own, stdout=log, stderr=log)
        try:
            asyncio.run(_wait_until_ready(found[0]))
            yield found[0]
        finally:
            process.terminate()
            process.wait(120)
