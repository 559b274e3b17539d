"""Six books, two workers and a gateway: a worker and the gateway are killed, and nothing is lost.

The endpoint takes 200 ms for a call, and allows 8 at once and 300 a minute.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from endpoint import Endpoint
from endpoint.faults import Fault
from fabula import Fabula
from fabula.build.cluster import WorkerCluster
from fabula.config.settings import STATIC
from fabula.store import Store
from ports import free_port
from worker_runs import book, busy_worker, graph_of, statuses, until

pytestmark = [pytest.mark.long, pytest.mark.alone]

PLACES = ("Aberdeen", "Bergen", "Cadiz", "Dover", "Esbjerg", "Fowey")
AT_ONCE, A_MINUTE = 8, 300


def refuse_more(endpoint: Endpoint) -> None:
    """Have the endpoint refuse calls beyond its limits."""

    def plan(_: int) -> Fault | None:
        recent = [at for at in endpoint.times if at > time.monotonic() - 60]
        is_over = len(recent) > A_MINUTE or endpoint.in_flight > AT_ONCE
        return "rate_limit" if is_over else None

    endpoint.plan = plan


@contextmanager
def gateway_process(endpoint: Endpoint, port: int) -> Iterator[subprocess.Popen[str]]:
    """A gateway as a process of its own, which answers."""
    environment = os.environ | {
        "OPENAI_BASE_URL": endpoint.url,
        "OPENAI_API_KEY": "sk-test",
        "FABULA_CONCURRENCY": str(AT_ONCE),
        "FABULA_GATEWAY__CALLS_A_MINUTE": str(A_MINUTE),
    }
    command = [sys.executable, "-m", "fabula", "gateway", "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("Gateway: ")
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_worker_and_the_gateway_die_and_all_comes_in_once(
    store: Store, graph_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    for place in PLACES:
        text = f"Title: {place}\nLanguage: en\n\n{book(place)}"
        (folder / f"{place.lower()}.txt").write_text(text)
    for name in ("CHUNK_TOKENS=40", "ASPECTS__LEVELS=1", "DETAILS=1"):
        monkeypatch.setenv(*f"FABULA_{name}".split("=")[:2])
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", STATIC)
    with (
        Endpoint() as quick,
        Fabula(base_url=quick.url, api_key="sk-test", cache=False) as alone,
    ):
        assert statuses(alone.ingest(folder)) == ["added"] * 6
        expected, needed = graph_of(alone), quick.paid_calls
        alone.remove(*(entry.id for entry in alone.documents()))
    with (
        free_port() as port,
        Endpoint(delay=0.2) as endpoint,
        WorkerCluster(workers=2) as cluster,
    ):
        gateway_url = f"http://127.0.0.1:{port}"
        refuse_more(endpoint)
        client = cluster.connect()
        killed_at: list[float] = []

        def kill_both(gateway: subprocess.Popen[str]) -> None:
            until(lambda: endpoint.paid_calls > needed / 4, "no worker asks")
            busy = busy_worker(client)
            os.kill(client.run(os.getpid, workers=[busy])[busy], signal.SIGKILL)
            until(lambda: endpoint.paid_calls > needed / 2, "no worker goes on")
            killed_at.append(time.monotonic())
            gateway.kill()
            gateway.wait()

        def replace_gateway(gateway: subprocess.Popen[str]) -> None:
            kill_both(gateway)
            with gateway_process(endpoint, port):
                over.wait()

        over = threading.Event()
        with gateway_process(endpoint, port) as gateway:
            killer = threading.Thread(target=replace_gateway, args=(gateway,))
            killer.start()
            try:
                with Fabula(gateway_url=gateway_url) as fabula:
                    outcomes = fabula.ingest(folder, cluster=cluster)
                    assert statuses(outcomes) == ["added"] * 6
                    assert graph_of(fabula) == expected
                    assert fabula.check().violations == ()
            finally:
                over.set()
                killer.join()
        assert killed_at
        assert endpoint.refused == 0
        assert endpoint.in_flight_most <= AT_ONCE
        times: dict[str, list[float]] = {}
        for body, at in zip(endpoint.bodies, endpoint.times, strict=True):
            times.setdefault(json.dumps(body, sort_keys=True), []).append(at)
        twice = [asked for asked in times.values() if len(asked) > 1]
        # Only those that were under way when the gateway was killed, which nobody could keep.
        assert len(twice) <= AT_ONCE
        assert all(len(asked) == 2 and asked[1] >= killed_at[0] for asked in twice)
        assert len(times) == needed
