"""Connect to the Neo4j that the settings name: another server, or the private one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from fabula.config.settings import Settings
from fabula.errors import DatabaseDown
from fabula.server import Address, PrivateServer, ProgressReport, ignore_progress

if TYPE_CHECKING:
    from fabula.store import Store

MIN_FREE_BYTES = 200_000_000
"""Nothing more is written if the private server's disk has less free space than this. A batch and
its index entries take up to some tens of MB; a full disk stops the whole database."""


def connect(settings: Settings, report: ProgressReport | None) -> Store:
    """Connect to the graph; start the private server if the settings name no other.

    A graph of an older version of Fabula is migrated. If it is on the private server, a dump is
    made before.

    Args:
        settings: They name the server.
        report: Is told how the private server starts.

    Raises:
        StoreError: Neo4j cannot be reached, or the graph is of a newer version of Fabula.
        ServerError: The private server cannot be fetched or started.

    """
    from fabula.store.migration import is_old, migrate

    server = None if settings.neo4j_uri else private_server(settings)
    report = report or ignore_progress
    store = _connect_once(settings, server, report)
    try:
        if is_old(store):
            from fabula.store.migrations import MIGRATIONS

            if server and server.make_dump(report):
                # The server was stopped for the dump, and may have moved to another port.
                store.close()
                store = _connect_once(settings, server, report)
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
    server = None if settings.neo4j_uri else private_server(settings)
    store.take_over(_connect_once(settings, server, ignore_progress, retry_seconds))


def private_server(settings: Settings, clock: Callable[[], float] = time.time) -> PrivateServer:
    """Return the private server of these settings; by `clock` its dumps are due."""
    return PrivateServer(
        settings.home,
        settings.neo4j_heap,
        settings.neo4j_page_cache,
        keep_dumps=settings.dumps,
        clock=clock,
    )


def _connect_once(
    settings: Settings,
    server: PrivateServer | None,
    report: ProgressReport,
    retry_seconds: float | None = None,
) -> Store:
    from fabula.store import Store

    if server is None:
        return Store.connect(
            settings.neo4j_uri or "",
            settings.neo4j_username,
            settings.neo4j_password.get_secret_value(),
            settings.neo4j_database,
            retry_seconds,
        )
    try:
        store = _connect_at(server.start(report), retry_seconds)
    except DatabaseDown:
        store = _connect_at(server.repair(report), retry_seconds)
    store.check_disk_space = partial(server.check_disk_space, MIN_FREE_BYTES)
    return store


def _connect_at(address: Address, retry_seconds: float | None = None) -> Store:
    from fabula.store import Store

    return Store.connect(address.uri, address.username, address.password, "neo4j", retry_seconds)
