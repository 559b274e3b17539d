"""A service that really listens, in a thread of the test, and clients of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI

from fabula.jobs.callers import PERSON, Role
from fabula.library import App
from fabula.operations.keys import make_key
from fabula.operations.kit import Asker
from fabula.server import Address
from fabula.service.application import make_service
from fabula.service.state import ServiceState


@dataclass
class Served:
    """A service that is up."""

    url: str
    service: FastAPI
    clients: list[httpx2.Client] = field(default_factory=list)

    @property
    def state(self) -> ServiceState:
        """What its requests share."""
        state: ServiceState = self.service.state.service_state
        return state

    @property
    def asker(self) -> Asker:
        """The person at the machine, who asks for operations."""
        return self.state.asker(PERSON)

    def key(self, role: Role = "admin", collections: Sequence[str] | None = None) -> str:
        """A key of that role; for all collections if none are named."""
        names = None if collections is None else tuple(collections)
        return make_key(self.asker, "a test", role, names).key

    def client(
        self, role: Role = "admin", collections: Sequence[str] | None = None
    ) -> httpx2.Client:
        """A client with a key of that role; for all collections if none are named."""
        headers = {"Authorization": f"Bearer {self.key(role, collections)}"}
        client = httpx2.Client(base_url=self.url, headers=headers, timeout=120)
        self.clients.append(client)
        return client


def server_of(address: Address) -> dict[str, Any]:
    """The settings of an App at the tests' Neo4j that keeps no replies."""
    return {
        "neo4j_uri": address.uri,
        "neo4j_username": address.username,
        "neo4j_password": address.password,
        "cache": False,
    }


def admin_key(address: Address, name: str) -> str:
    """A key of the role admin of a service that may not be up."""
    with App(**server_of(address)) as app:
        return make_key(Asker(name, app, app.collections, app.collection), name, "admin").key


def events(response: httpx2.Response) -> list[tuple[str, Any]]:
    """The server-sent events of a response, by name and data."""
    found = []
    for block in response.text.strip().split("\n\n"):
        told = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if told:
            found.append((told["event"], json.loads(told["data"])))
    return found


@contextmanager
def served(
    app: App,
    port: int = 0,
    clock: Callable[[], float] = time.time,
    add: Callable[[FastAPI], None] = lambda service: None,
) -> Iterator[Served]:
    """The service over an App, listening on a port of loopback, a free one if 0, until the end.

    `clock` tells the time by which dumps fall due. `add` may give it further routes.
    """
    service = make_service(app, clock)
    add(service)
    up = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
            await super().startup()
            up.set()

    config = uvicorn.Config(
        service,
        port=port,
        log_config=None,
        # Longer than a client keeps a connection that it does not use: none is closed as the next
        # request is sent.
        timeout_keep_alive=600,
        timeout_graceful_shutdown=5,
    )
    server = Server(config)
    thread = threading.Thread(target=server.run, name="served")
    thread.start()
    try:
        assert up.wait(120), "the service did not start"
        [port] = {socket.getsockname()[1] for each in server.servers for socket in each.sockets}
        it = Served(f"http://127.0.0.1:{port}", service)
        try:
            yield it
        finally:
            for client in it.clients:
                client.close()
    finally:
        server.should_exit = True
        thread.join(120)
