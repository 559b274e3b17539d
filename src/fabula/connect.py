"""The graph that the settings name: a server of the user's, or the private one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.errors import DatabaseDown
from fabula.server import Address, PrivateServer, Report, quiet
from fabula.settings import Settings

if TYPE_CHECKING:
    from fabula.store import Store


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
            from fabula.migrations import MIGRATIONS

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


def private_server(settings: Settings) -> PrivateServer:
    """The private server of these settings, as it is."""
    return PrivateServer(
        settings.home,
        settings.neo4j_heap,
        settings.neo4j_page_cache,
        keep_dumps=settings.dumps,
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
        return _of(server.start(report), retry_seconds)
    except DatabaseDown:
        return _of(server.mend(report), retry_seconds)


def _of(address: Address, retry_seconds: float | None = None) -> Store:
    from fabula.store import Store

    return Store.connect(address.uri, address.username, address.password, "neo4j", retry_seconds)
