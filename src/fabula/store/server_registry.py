"""The other Neo4j servers that a home server knows, and the collections that live on them.

The home server's graph has a node for each other server, and for each collection that does not
simply live at home. Passwords are not in the graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import neo4j

from fabula.errors import BadValue, FabulaError, NotFound, StoreError, did_you_mean
from fabula.graph.queries import read_statement
from fabula.store.database import Database
from fabula.store.locks import ProcessLock, process_lock
from fabula.text.names import quote_name

HOME_SERVER = "home"
"""The name of the server that the settings name; it has no node."""
SERVER_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
REGISTRY_LOCK = "servers"


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """Another server.

    Attributes:
        name: Its name.
        uri: Its address, without a password.
        username: The user at that server.
        database: The database there.
        in_keyring: Whether the system's keyring has the password.

    """

    name: str
    uri: str
    username: str = "neo4j"
    database: str = "neo4j"
    in_keyring: bool = False


@dataclass(frozen=True, slots=True)
class CollectionPlace:
    """Where a collection lives.

    Attributes:
        collection: Its name.
        server: The name of the server that it is read from and written to.
        moving_to: The server that it is being copied to; '' for none.
        leaving: The server that its old copy is still to be removed from; '' for none.

    """

    collection: str
    server: str = HOME_SERVER
    moving_to: str = ""
    leaving: str = ""


@dataclass(frozen=True, slots=True)
class ServerRegistry:
    """All other servers by name, and the places of collections by their names."""

    servers: Mapping[str, ServerEntry] = field(default_factory=dict)
    places: Mapping[str, CollectionPlace] = field(default_factory=dict)

    def place(self, collection: str) -> CollectionPlace:
        """Return where a collection lives; one that is not listed lives at home."""
        return self.places.get(collection) or CollectionPlace(collection)

    def server(self, name: str) -> ServerEntry:
        """Return the server of a name. Raises NotFound if there is none."""
        if name not in self.servers:
            hint = did_you_mean(name, [HOME_SERVER, *self.servers])
            raise NotFound(
                f"There is no server {quote_name(name)}. {hint}".rstrip(),
                advice="`fabula servers` lists them.",
            )
        return self.servers[name]

    def collections_of(self, server: str) -> list[str]:
        """Return the collections that live on a server, are being moved there, or have a rest of
        an old copy there.
        """
        return [
            place.collection
            for place in self.places.values()
            if server in (place.server, place.moving_to, place.leaving)
        ]


def read_registry(home: Database) -> ServerRegistry:
    """Read the other servers and the places of collections from the home server: one round trip."""
    [row] = home.rows("servers/find_servers")
    servers = [ServerEntry(**server) for server in row["servers"]]
    places = [CollectionPlace(**place) for place in row["places"]]
    return ServerRegistry(
        {server.name: server for server in servers}, {place.collection: place for place in places}
    )


def check_server_name(name: str) -> None:
    """Raise BadValue for a name that no other server can have."""
    if name == HOME_SERVER or not SERVER_NAME.fullmatch(name):
        raise BadValue(
            f"{quote_name(name)} can't be the name of a server: a name has at most 40 letters from "
            f"a to z, digits, - and _, begins with a letter, and is not {HOME_SERVER}."
        )


def save_server(home: Database, entry: ServerEntry) -> None:
    """Record a server in the home server's graph, or its new address.

    Raises:
        BadValue: No server can have this name.

    """
    check_server_name(entry.name)
    _write(
        home,
        "servers/save_server",
        name=entry.name,
        uri=entry.uri,
        username=entry.username,
        database=entry.database,
        in_keyring=entry.in_keyring,
    )


def delete_server(home: Database, name: str) -> None:
    """Forget a server.

    Raises:
        NotFound: There is no such server.
        FabulaError: A collection lives there, or is being moved to or from it.

    """
    [row] = _write(home, "servers/clear_server", name=name)
    if row["servers"]:
        return
    registry = read_registry(home)
    registry.server(name)
    collections = registry.collections_of(name)
    raise FabulaError(
        f"Server {name!r} can't be removed: it has {', '.join(map(quote_name, collections))}. Move "
        "or remove its collections first.",
        advice=f"`fabula collections move {collections[0]} --to {HOME_SERVER}` moves one.",
    )


def save_place(home: Database, place: CollectionPlace) -> None:
    """Record where a collection lives, in one transaction.

    Raises:
        StoreError: A server of the place was removed meanwhile.

    """
    with home.session() as session:
        session.execute_write(save_place_in, place)


def save_place_in(transaction: neo4j.ManagedTransaction, place: CollectionPlace) -> None:
    """Record where a collection lives, in a transaction at home; raises as `save_place`."""
    _lock_registry(transaction)
    fields = {"collection": place.collection}
    if place == CollectionPlace(place.collection):
        transaction.run(read_statement("servers/clear_place"), fields).consume()
        return
    fields |= {"server": place.server, "moving_to": place.moving_to, "leaving": place.leaving}
    [row] = transaction.run(read_statement("servers/save_place"), fields, known=HOME_SERVER)
    if not row["places"]:
        raise StoreError(f"A server of collection {place.collection!r} was removed: try again.")


def database_id(store: Database) -> str:
    """Return the id of a database, by which it is recognised at another address."""
    [row] = store.rows("servers/find_database_id")
    return str(row["id"])


def _write(home: Database, statement: str, /, **parameters: object) -> list[dict[str, Any]]:
    """Run a statement on the registry while no other process changes it."""

    def take(transaction: neo4j.ManagedTransaction) -> list[dict[str, Any]]:
        _lock_registry(transaction)
        return transaction.run(read_statement(statement), parameters).data()

    with home.session() as session:
        rows: list[dict[str, Any]] = session.execute_write(take)
    return rows


def _lock_registry(transaction: neo4j.ManagedTransaction) -> None:
    transaction.run(read_statement("core/take_locks"), locks=[REGISTRY_LOCK]).consume()


def move_lock(home: Database, collection: str) -> AbstractContextManager[ProcessLock]:
    """Hold the lock of the moves of a collection, which one process at a time may have."""

    def refuse() -> None:
        raise StoreError(
            f"Another process is moving collection {collection!r}: wait until it ends, or stop it."
        )

    return process_lock(home, [f"move {collection}"], refuse)
