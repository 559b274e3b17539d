"""List, add and remove the Neo4j servers of a library."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabula.config.connect import connect_server
from fabula.errors import BadValue, FabulaError, StoreError
from fabula.models.address import redact_url
from fabula.store import Store
from fabula.store.collection_copy import open_moved_names
from fabula.store.server_registry import (
    HOME_SERVER,
    ServerEntry,
    check_server_name,
    database_id,
    delete_server,
    save_server,
)

if TYPE_CHECKING:
    from fabula.app import App

OWN_SERVER = "Fabula's own server"


@dataclass(frozen=True, slots=True)
class CollectionSize:
    """A collection, and how many documents and passages it has.

    Attributes:
        collection: Its name.
        documents: How many documents it has.
        passages: How many passages.
        state: '' or what is happening to it, as "moving to server2".

    """

    collection: str
    documents: int
    passages: int
    state: str = ""


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server of a library.

    Attributes:
        name: Its name; HOME_SERVER for the one that the settings name.
        uri: Its address, without a password.
        version: Its version and edition; '' if it can't be reached.
        problem: Why it can't be used; '' if it can.
        collections: The collections that live there, by name. Of a server that can't be reached
            their sizes are 0.

    """

    name: str
    uri: str
    version: str
    problem: str
    collections: tuple[CollectionSize, ...]


def list_servers(app: App) -> list[ServerState]:
    """Return all servers of a library, the home server first."""
    registry = app.servers.refresh()
    reached = app.servers.reach()
    home_uri = redact_url(app.settings.neo4j_uri) if app.settings.neo4j_uri else OWN_SERVER
    states = []
    for name in (HOME_SERVER, *registry.servers):
        uri = home_uri if name == HOME_SERVER else registry.servers[name].uri
        try:
            if name not in reached.stores:
                raise reached.failures[name]
            store = reached.stores[name]
            sizes = [
                CollectionSize(
                    space.collection,
                    store.count(space.collection)[0],
                    store.count_passages(space.collection),
                    _describe_move(app, space.collection),
                )
                for space in store.spaces()
                if space.has_documents and registry.place(space.collection).server == name
            ]
            states.append(ServerState(name, uri, store.version(), "", (*sizes,)))
        except FabulaError as error:
            # It may have been reached before, and be down now.
            if name == HOME_SERVER:
                raise
            unknown = [
                CollectionSize(place.collection, 0, 0)
                for place in registry.places.values()
                if place.server == name
            ]
            states.append(ServerState(name, uri, "", error.message, (*unknown,)))
    return states


def _describe_move(app: App, collection: str) -> str:
    place = app.servers.registry().place(collection)
    if place.moving_to:
        return f"moving to {place.moving_to}"
    return f"old copy on {place.leaving}" if place.leaving else ""


def add_server(app: App, entry: ServerEntry, password: str | None = None) -> ServerState:
    """Add a server to a library, or give it another address; make its schema.

    Args:
        app: The library.
        entry: The server.
        password: Its password; None for the one of the settings or the keyring.

    Raises:
        BadValue: No server can have this name, or its address has a password.
        StoreError: It can't be reached, or its graph is of a newer version of Fabula.
        FabulaError: It is the home server, or another one of the library.

    """
    check_server_name(entry.name)
    if "@" in entry.uri:
        # It would be in the graph, in lists and in messages.
        raise BadValue(
            f"The address {redact_url(entry.uri)!r} was given with a user or a password, which no "
            "address of a server has: use --user, and the setting server_passwords."
        )
    registry = app.servers.refresh()
    app.home_store.make_schema()
    try:
        connected = connect_server(app.settings, entry, password)
    except StoreError as error:
        raise StoreError(f"Server {entry.name!r} can't be added: {error}") from error
    with connected as store:
        _refuse_known(app, store, entry.name)
        store.make_schema()
        version = store.version()
        sizes = {name: store.count(name)[0] for name in store.collections()}
    save_server(app.home_store, entry)
    registry = app.servers.refresh()
    foreign = tuple(
        CollectionSize(name, documents, 0, "not of this library")
        for name, documents in sizes.items()
        if registry.place(name).server != entry.name
    )
    return ServerState(entry.name, entry.uri, version, "", foreign)


def _refuse_known(app: App, store: Store, name: str) -> None:
    """Raise FabulaError if a database is that of another server of the library."""
    id = database_id(store)
    for known, other in app.servers.reach().stores.items():
        if known != name and database_id(other) == id:
            what = "the home server" if known == HOME_SERVER else f"server {known!r}"
            raise FabulaError(f"This database is that of {what} already.")


def remove_server(app: App, name: str) -> None:
    """Remove a server from a library; what is on it stays.

    Raises:
        NotFound: There is no such server.
        FabulaError: Collections live there.

    """
    app.servers.refresh()
    reached = app.servers.reach([name])
    delete_server(app.home_store, name)
    if store := reached.stores.get(name):
        with suppress(StoreError):  # it may be down by now
            open_moved_names(store)
    app.servers.refresh()
