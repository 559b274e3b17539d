"""`fabula serve` with a gateway of models in it, which its own questions and builds use, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from endpoint import Endpoint
from fabula.app import App
from fabula.config.settings import Settings
from fabula.server import Address
from fabula.service.gateway.gateway_keys import GatewayKeys

pytestmark = pytest.mark.slow
STORY = "Marley was dead, to begin with. Scrooge knew that he was dead. The clerk shivered. " * 20


@contextmanager
def service_with_gateway(endpoint: Endpoint, address: Address) -> Iterator[tuple[str, str]]:
    """A service as a process: its address, and a session's cookie."""
    environment = os.environ | {
        "OPENAI_BASE_URL": endpoint.url,
        "OPENAI_API_KEY": "sk-secret-of-endpoint",
        "NEO4J_URI": address.uri,
        "NEO4J_USERNAME": address.username,
        "NEO4J_PASSWORD": address.password,
        "FABULA_SERVE__GATEWAY": "true",
        "FABULA_CACHE_FOLDER": os.environ["FABULA_CACHE_FOLDER"],
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "fabula", "serve", "--port", "0"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        link = process.stdout.readline().removeprefix("Fabula: ").strip()
        yield link.partition("/enter")[0], link
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(300)
        finally:
            process.kill()
            process.communicate()


def test_the_service_and_other_programs_use_one_gateway(address: Address, tmp_path: Path) -> None:
    with Endpoint(key="sk-secret-of-endpoint") as endpoint:
        server: dict[str, Any] = {
            "neo4j_uri": address.uri,
            "neo4j_username": address.username,
            "neo4j_password": address.password,
        }
        book = tmp_path / "carol.txt"
        book.write_text(STORY)
        with service_with_gateway(endpoint, address) as (url, link):
            _, key = GatewayKeys(Settings.read().home).make("another program")
            behind: dict[str, Any] = {"gateway_url": f"{url}/gateway", "gateway_key": key}
            with App(**behind, collection="gateway", **server) as app:
                collection = app.collection()
                collection.ingest(str(book))
                asked = endpoint.calls
                assert asked > 3
            with httpx2.Client(base_url=url, follow_redirects=True, timeout=120) as client:
                client.get(link)
                question = {"question": "Who was dead?"}
                answer = client.post("/api/v1/collections/gateway/ask", json=question)
                assert answer.status_code == 200, answer.text
                assert endpoint.calls > asked
                headers = {"Authorization": f"Bearer {key}"}
                metrics = client.get(f"{url}/gateway/metrics", headers=headers).text
                # The service has a key of its own.
                assert 'key="fabula serve",model="gpt-4.1-mini",outcome="answered"' in metrics
                assert 'key="another program",model="gpt-4.1-mini",outcome="answered"' in metrics
                assert client.get(f"{url}/gateway/health").json() == {"status": "ok"}
                headers = {"Host": "evil.example"}
                assert client.get("/gateway/health", headers=headers).status_code == 421


def test_without_the_setting_there_is_no_gateway(address: Address) -> None:
    from served import served, server_of

    with App(**server_of(address), model="offline") as app, served(app) as service:
        status = httpx2.get(f"{service.url}/gateway/v1/models", timeout=120).status_code
    assert status in (401, 404)
