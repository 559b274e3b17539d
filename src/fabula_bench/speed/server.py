"""A Neo4j for the benchmark alone: the private server in a temporary home."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabula.config.settings import CONVENTIONAL, OFFLINE, PREFIX, STATIC, Settings
from fabula.server import Address
from fabula.server.private import PrivateServer
from fabula.store import Store

HEAP, PAGE_CACHE = "512m", "128m"


@contextmanager
def private(heap: str = HEAP, page_cache: str = PAGE_CACHE) -> Iterator[PrivateServer]:
    """A server that was not started yet, of the default size if not told; destroyed at the end."""
    with tempfile.TemporaryDirectory(prefix="fabula-bench-") as folder:
        server = PrivateServer(Path(folder) / "home", heap, page_cache)
        try:
            yield server
        finally:
            server.destroy(programs=True)


@contextmanager
def running() -> Iterator[Address]:
    """The address of a server with an empty graph."""
    with private() as server:
        yield server.start()


def connected(address: Address) -> Store:
    """A store at that server."""
    return Store.connect(address.uri, address.username, address.password, "neo4j")


def offline_settings(address: Address | None = None, **given: Any) -> Settings:
    """Settings for no model, at that server."""
    if address:
        given |= {"neo4j_uri": address.uri, "neo4j_username": address.username}
        given |= {"neo4j_password": address.password}
    return Settings.read(model=OFFLINE, embedding_model=STATIC, **given)


def environment(address: Address | None = None) -> dict[str, str]:
    """Variables for a process that sees no settings but the server's address."""
    known = (*CONVENTIONAL.values(), "FABULA_CONFIG")
    bare = {
        name: value
        for name, value in os.environ.items()
        if name not in known and not name.startswith(PREFIX)
    }
    bare["XDG_CONFIG_HOME"] = os.devnull  # where the user's own fabula.toml is
    return bare | (address_variables(address) if address else {})


def address_variables(address: Address) -> dict[str, str]:
    """The variables that name a server."""
    return {
        "NEO4J_URI": address.uri,
        "NEO4J_USERNAME": address.username,
        "NEO4J_PASSWORD": address.password,
        "NEO4J_DATABASE": "neo4j",
    }
