"""Connect to the Neo4j that the settings name: another server, or the private one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from fabula.config.settings import Settings
from fabula.errors import DatabaseDown
from fabula.server import Address, ProgressReport, ignore_progress
from fabula.server.disk_space import check_disk_space
from fabula.server.state import Home

if TYPE_CHECKING:
    from fabula.server.private import PrivateServer
    from fabula.store import Store

MIN_FREE_BYTES = 200_000_000
"""Nothing more is written if the private server's disk has less free space than this. A batch and
its index entries take up to some tens of MB; a full disk stops the whole database."""


def connect(
    settings: Settings, report: ProgressReport | None, retry_seconds: float | None = None
) -> Store:
    """Connect to the graph; start the private server if the settings name no other.

    A graph of an older version of Fabula is migrated. If it is on the private server, a dump is
    made before.

    Args:
        settings: They name the server.
        report: Called with each step of the private server's start.
        retry_seconds: How long the driver tries a statement again; None for half a minute.

    Raises:
        StoreError: Neo4j cannot be reached, or the graph is of a newer version of Fabula.
        ServerError: The private server cannot be fetched or started.
    """
    from fabula.store.migration import is_old, migrate

    report = report or ignore_progress
    store = _connect_once(settings, report, retry_seconds)
    try:
        if is_old(store):
            from fabula.store.migrations import MIGRATIONS

            if not settings.neo4j_uri and private_server(settings).make_dump(report):
                # The server was stopped for the dump, and may have moved to another port.
                store.close()
                store = _connect_once(settings, report, retry_seconds)
            migrate(store, MIGRATIONS)
    except BaseException:
        store.close()
        raise
    return store


def reconnect(settings: Settings, store: Store, retry_seconds: float) -> None:
    """Connect a store again; the private server may have moved to another port.

    Args:
        settings: They name the server.
        store: The store, which closes its previous connections.
        retry_seconds: How long the driver tries a statement again from now on.

    Raises:
        StoreError: Neo4j cannot be reached.
        ServerError: The private server cannot be started.
    """
    store.take_over(_connect_once(settings, ignore_progress, retry_seconds))


def private_server(settings: Settings, clock: Callable[[], float] = time.time) -> PrivateServer:
    """Return the private server of these settings; by `clock` its dumps are due."""
    from fabula.server.private import PrivateServer

    return PrivateServer(
        settings.home,
        settings.neo4j_heap,
        settings.neo4j_page_cache,
        keep_dumps=settings.dumps,
        clock=clock,
    )


def _connect_once(
    settings: Settings, report: ProgressReport, retry_seconds: float | None = None
) -> Store:
    from fabula.store import Store

    if settings.neo4j_uri:
        return Store.connect(
            settings.neo4j_uri,
            settings.neo4j_username,
            settings.neo4j_password.get_secret_value(),
            settings.neo4j_database,
            retry_seconds,
        )
    # Not at the top: it imports psutil, which a server that is named needs not.
    from fabula.server.running import find_address

    home = Home.of(settings.home)
    # It mostly runs already: then the modules that start and repair it are not even imported.
    address = find_address(home) or private_server(settings).start(report)
    try:
        store = _connect_at(address, retry_seconds)
    except DatabaseDown:
        store = _connect_at(private_server(settings).repair(report), retry_seconds)
    store.check_disk_space = partial(check_disk_space, home.path, MIN_FREE_BYTES)
    return store


def _connect_at(address: Address, retry_seconds: float | None) -> Store:
    from fabula.store import Store

    return Store.connect(address.uri, address.username, address.password, "neo4j", retry_seconds)
