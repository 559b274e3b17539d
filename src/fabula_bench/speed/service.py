"""`fabula serve` as a process, and its clients."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import psutil

from fabula_bench.speed.server import environment

ROOT = Path(__file__).parents[3]
with socket.create_server(("127.0.0.1", 0)) as _free:
    PORT: int = _free.getsockname()[1]
    """A port that nobody listens on: two measures may run at once."""
URL = f"http://127.0.0.1:{PORT}"
GIVE_UP_SECONDS = 120.0
"""How long a reader tries again who is told 503 or finds nobody."""


class Service:
    """`fabula serve` as a process that is started again when it dies, as systemd does it."""

    def __init__(self, own: dict[str, str], log: Path) -> None:
        self.own, self.log = own, log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; whoever needs it polls /livez."""
        command = [sys.executable, "-m", "fabula", "serve", "--port", str(PORT)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, env=self.own, stdout=log, stderr=log)

    def kill(self) -> None:
        """Kill the service alone, without a chance to tidy up."""
        assert self.process
        self.process.kill()
        self.process.wait()

    def stop(self) -> float:
        """Stop it as an operator does; the seconds that takes."""
        assert self.process
        began = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        return time.perf_counter() - began

    @property
    def python(self) -> psutil.Process:
        """Its process."""
        assert self.process
        return psutil.Process(self.process.pid)

    @property
    def neo4j(self) -> psutil.Process:
        """Its private Neo4j."""
        home = self.own["FABULA_HOME"]
        for process in psutil.process_iter(["name", "cmdline"]):
            if process.info["name"] == "java" and home in " ".join(process.info["cmdline"] or ()):
                return process
        raise LookupError("no Neo4j runs")

    def run(self, *arguments: str) -> str:
        """Run another command of Fabula's; what it prints. Raises where it fails."""
        command = [sys.executable, "-m", "fabula", *arguments]
        done = subprocess.run(command, env=self.own, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"fabula {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout


def make_service(folder: Path, home: Path, endpoint_url: str) -> Service:
    """A service that is not started yet, with its files in a folder and its Neo4j in a home."""
    own = environment() | {
        "FABULA_HOME": str(home),
        "FABULA_CACHE_FOLDER": str(folder / "cache"),
        "OPENAI_BASE_URL": endpoint_url,
        "OPENAI_API_KEY": "sk-bench",
        "FABULA_SERVE__UPLOADS": str(folder / "uploads"),
        "FABULA_SERVE__REQUESTS_A_MINUTE": "100000",
    }
    return Service(own, folder / "serve.log")


def make_key(service: Service, name: str, role: str) -> str:
    """A new key of the service."""
    printed = service.run("keys", "make", name, "--role", role)
    found = re.search(r"fab_\S+", printed)
    assert found, printed
    return found[0]


def client(key: str, path: str = "") -> httpx2.AsyncClient:
    """A client of the service with a key, for what is below a path."""
    return httpx2.AsyncClient(
        base_url=URL + path,
        headers={"Authorization": f"Bearer {key}"},
        timeout=GIVE_UP_SECONDS,
        limits=httpx2.Limits(max_connections=200),
    )


async def wait_until_ready(key: str) -> None:
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
def lived_in(service: Service, readers: int) -> Iterator[tuple[list[str], str]]:
    """A service that is ready, and then stopped with its Neo4j: keys of readers, and an admin."""
    keys = [make_key(service, f"reader {number}", "read") for number in range(readers)]
    admin = make_key(service, "operator", "admin")
    service.start()
    try:
        asyncio.run(wait_until_ready(admin))
        yield keys, admin
    finally:
        with suppress(ProcessLookupError):
            service.stop()
        service.run("db", "stop")


@contextmanager
def serving(own: dict[str, str]) -> Iterator[tuple[Service, str]]:
    """A service that is ready, beside a Neo4j that runs, and the key of an admin."""
    with tempfile.TemporaryDirectory() as folder:
        uploads = {"FABULA_SERVE__UPLOADS": str(Path(folder) / "uploads")}
        service = Service(own | uploads, Path(folder) / "serve.log")
        key = make_key(service, "bench", "admin")
        service.start()
        try:
            asyncio.run(wait_until_ready(key))
            yield service, key
        finally:
            service.stop()
