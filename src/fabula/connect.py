"""The graph that the settings name: a server of the user's, or the private one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.settings import Settings
from fabula.store import Store
from fabula.store.migration import is_old, migrate

if TYPE_CHECKING:
    from fabula.server import Report


def connect(settings: Settings, report: Report | None) -> Store:
    """The graph, whose private server is started where no other is named; `report` hears how.

    A graph of an older Fabula is migrated. Raises StoreError for one of a newer.
    """
    store = _reach(settings, report)
    try:
        if is_old(store):
            from fabula.migrations import MIGRATIONS

            migrate(store, MIGRATIONS)
    except BaseException:
        store.close()
        raise
    return store


def _reach(settings: Settings, report: Report | None) -> Store:
    if settings.neo4j_uri:
        return Store.connect(
            settings.neo4j_uri,
            settings.neo4j_username,
            settings.neo4j_password.get_secret_value(),
            settings.neo4j_database,
        )
    from fabula.server import PrivateServer

    server = PrivateServer(settings.home, settings.neo4j_heap, settings.neo4j_page_cache)
    address = server.start(report) if report else server.start()
    return Store.connect(address.uri, address.username, address.password, "neo4j")
