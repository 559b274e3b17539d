"""Two private servers of a library, and what a collection has on each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contents import repr_of
from database import connect, cypher, wipe
from fabula import App
from fabula.server import Address
from fabula.server.private import PrivateServer
from fabula.store import Store

SHELF = "server2"
"""The name of the server that is not the home server."""
Belongings = tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]


@dataclass(frozen=True)
class TwoServers:
    """Two servers that run, the home server and another one."""

    home: Address
    other: Address

    def name_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the environment name the home server, and have the password of the other."""
        for name, value in self.environment().items():
            monkeypatch.setenv(name, value)

    def environment(self) -> dict[str, str]:
        return {
            "NEO4J_URI": self.home.uri,
            "NEO4J_USERNAME": self.home.username,
            "NEO4J_PASSWORD": self.home.password,
            "FABULA_SERVER_PASSWORDS": json.dumps({SHELF: self.other.password}),
        }

    def wipe(self) -> None:
        for address in (self.home, self.other):
            with connect(address) as store:
                wipe(store)

    def add(self, app: App) -> None:
        app.add_server(SHELF, self.other.uri)


def start_two(folder: Path) -> tuple[TwoServers, list[PrivateServer]]:
    servers = [PrivateServer(folder / name, "256m", "64m") for name in ("first", "second")]
    home, other = (server.start() for server in servers)
    return TwoServers(home, other), servers


def belongings(store: Store, collection: str) -> Belongings:
    """All that a collection has at a server: its nodes, its relationships, and its own node.

    Nodes of all labels are counted, and all relationships, so that a move can't forget one.
    """
    nodes = cypher(
        store,
        "MATCH (n {collection: $name}) "
        "WHERE NOT n:Retired AND (n:Passage|Element|Document|Part OR NOT n:Staged) "
        "RETURN [label IN labels(n) WHERE label <> 'Staged'] AS labels, "
        "n { .*, run: null, labels: null } AS properties, "
        "[time IN [n.created_at, n.updated_at, n.at] | toString(time)] AS times",
        name=collection,
    )
    edges = cypher(
        store,
        "MATCH (a {collection: $name})-[edge]->(b) "
        "WHERE NOT a:Retired AND (a:Passage|Element|Document|Part OR NOT a:Staged) "
        "RETURN a.id AS start, type(edge) AS type, b.id AS end, properties(edge) AS properties",
        name=collection,
    )
    own = cypher(
        store,
        "MATCH (n:Collection {name: $name}) RETURN properties(n) AS properties",
        name=collection,
    )
    for row in nodes:
        row["labels"].sort()
    rows = (nodes, edges, own)
    return tuple(sorted(found, key=repr_of) for found in rows)  # type: ignore[return-value]


NOTHING: Belongings = ([], [], [])
