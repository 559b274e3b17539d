"""The graph that the settings name: a server of the user's, or the private one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from fabula.config.settings import Settings
from fabula.errors import DatabaseDown
from fabula.server import Address, PrivateServer, Report, quiet

if TYPE_CHECKING:
    from fabula.store import Store

WRITING_BYTES = 200_000_000
"""Free space on the private server's disk below which nothing more is written. A batch and its
index entries take up to some tens of MB; a disk that is full stops the whole database."""


def connect(settings: Settings, report: Report | None) -> Store:
    """The graph, whose private server is started where no other is named; `report` hears how.

    A graph of an older Fabula is migrated; one of the private server's is dumped before. Raises
    StoreError for one of a newer.
    """
    from fabula.store.migration import is_old, migrate

    server = None if settings.neo4j_uri else private_server(settings)
    heard = report or quiet
    store = _reach(settings, server, heard)
    try:
        if is_old(store):
            from fabula.store.migrations import MIGRATIONS

            if server and server.keep_dump(heard):
                store.close()
                store = _reach(settings, server, heard)
            migrate(store, MIGRATIONS)
    except BaseException:
        store.close()
        raise
    return store


def reconnect(settings: Settings, store: Store, retry_seconds: float) -> None:
    """Point a store at the server as it is now; the private one may have moved to another port.

    `retry_seconds` is how long the driver tries a statement again from then on. Raises StoreError
    and ServerError.
    """
    server = None if settings.neo4j_uri else private_server(settings)
    store.follow(_reach(settings, server, quiet, retry_seconds))


def private_server(settings: Settings, clock: Callable[[], float] = time.time) -> PrivateServer:
    """The private server of these settings, as it is; `clock` tells when its dumps fall due."""
    return PrivateServer(
        settings.home,
        settings.neo4j_heap,
        settings.neo4j_page_cache,
        keep_dumps=settings.dumps,
        clock=clock,
    )


def _reach(
    settings: Settings,
    server: PrivateServer | None,
    report: Report,
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
        store = _of(server.start(report), retry_seconds)
    except DatabaseDown:
        store = _of(server.mend(report), retry_seconds)
    store.check_room = partial(server.check_room, WRITING_BYTES)
    return store


def _of(address: Address, retry_seconds: float | None = None) -> Store:
    from fabula.store import Store

    return Store.connect(address.uri, address.username, address.password, "neo4j", retry_seconds)
