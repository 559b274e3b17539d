"""The Neo4j servers of a library: which collection lives on which, and a connection to each.

Who has added no other server pays nothing: connecting to the home server says so, and
`fabula.app.resources` then does not ask for a pool.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from fabula.config.connect import connect_server
from fabula.config.settings import Settings
from fabula.errors import FabulaError, StoreError
from fabula.models.stop import Stop
from fabula.store import Store
from fabula.store.server_registry import HOME_SERVER, ServerEntry, ServerRegistry, read_registry

REGISTRY_SECONDS = 5.0
"""How long it is relied on that collections live where they did."""
EMPTY_REGISTRY_SECONDS = 30.0
"""The same where there was no other server. A move leaves the old copy for longer
(`fabula.build.move`)."""
FAILURE_SECONDS = 5.0
"""How long a server that could not be reached is not tried again."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The servers that could be reached, by name, and why others could not."""

    stores: Mapping[str, Store]
    failures: Mapping[str, FabulaError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Connection:
    entry: ServerEntry
    store: Store


class ServerPool:
    """The home server and the others that it knows. Safe to share between threads.

    Args:
        settings: They have the passwords of other servers.
        home: Returns the graph on the home server, and connects to it first if necessary.

    """

    def __init__(self, settings: Settings, home: Callable[[Stop | None], Store]) -> None:
        self._settings, self._home = settings, home
        self._lock = threading.Lock()
        """Held for a moment only."""
        self._connecting: dict[str, threading.Lock] = {}
        self._registry: ServerRegistry | None = None
        self._read_at = 0.0
        self._connections: dict[str, _Connection] = {}
        self._failures: dict[str, tuple[float, FabulaError]] = {}
        self._is_closed = False

    def registry(self, stop: Stop | None = None) -> ServerRegistry:
        """Return the other servers and the places of collections as they were some seconds ago."""
        self._home(stop)
        with self._lock:
            registry, age = self._registry, time.monotonic() - self._read_at
        seconds = REGISTRY_SECONDS if registry and registry.servers else EMPTY_REGISTRY_SECONDS
        if registry is not None and age < seconds:
            return registry
        return self.refresh()

    def refresh(self) -> ServerRegistry:
        """Read the other servers and the places of collections from the home server."""
        began = time.monotonic()
        registry = read_registry(self._home(None))
        with self._lock:
            self._registry, self._read_at = registry, began
        return registry

    def store_of(self, collection: str, stop: Stop | None = None) -> Store:
        """Return the graph on the server where a collection lives.

        Raises:
            StoreError: That server can't be reached.

        """
        return self.store(self.registry(stop).place(collection).server, stop)

    def store(self, name: str, stop: Stop | None = None) -> Store:
        """Return the graph on the server of this name.

        Raises:
            NotFound: There is no such server.
            StoreError: It can't be reached.

        """
        if name == HOME_SERVER:
            return self._home(stop)
        registry = self.registry(stop)
        entry = (registry if name in registry.servers else self.refresh()).server(name)
        with self._lock:
            connecting = self._connecting.setdefault(name, threading.Lock())
        with connecting:
            connection = self._connections.get(name)
            if connection and connection.entry == entry:
                return connection.store
            return self._connect(entry)

    def _connect(self, entry: ServerEntry) -> Store:
        at, error = self._failures.get(entry.name, (0.0, None))
        if error and time.monotonic() - at < FAILURE_SECONDS:
            raise error
        try:
            store = connect_server(self._settings, entry)
        except FabulaError as error:
            failure = StoreError(
                f"Server {entry.name!r} can't be used: {error.message}",
                advice="`fabula servers` says which can.",
            )
            self._failures[entry.name] = time.monotonic(), failure
            raise failure from error
        with self._lock:
            previous = self._connections.pop(entry.name, None)
            if not self._is_closed:
                self._connections[entry.name] = _Connection(entry, store)
        if previous:
            previous.store.close()
        if self._is_closed:
            store.close()
            raise FabulaError("This Fabula is closed: open another one.")
        self._failures.pop(entry.name, None)
        return store

    def reach(self, names: Iterable[str] | None = None) -> Reached:
        """Connect to servers, all at once; those of all names if none are given.

        Raises:
            FabulaError: The home server can't be reached.

        """
        registry = self.registry()
        wanted = [HOME_SERVER, *registry.servers] if names is None else [*dict.fromkeys(names)]
        if wanted == [HOME_SERVER]:
            return Reached({HOME_SERVER: self._home(None)})
        return gather(wanted, self.store)

    def close(self) -> None:
        """Close the connections to other servers."""
        with self._lock:
            self._is_closed = True
            connections = [*self._connections.values()]
        for connection in connections:
            connection.store.close()


def gather(names: Iterable[str], connect: Callable[[str], Store]) -> Reached:
    """Connect to the servers of these names in threads, and note which can't be reached.

    Raises:
        FabulaError: The home server is one of them, and can't be reached.

    """
    from concurrent.futures import ThreadPoolExecutor

    stores: dict[str, Store] = {}
    failures: dict[str, FabulaError] = {}
    names = list(names)
    with ThreadPoolExecutor(max(1, len(names)), "servers") as threads:
        for name, future in [(name, threads.submit(connect, name)) for name in names]:
            try:
                stores[name] = future.result()
            except FabulaError as error:
                if name == HOME_SERVER:
                    raise
                failures[name] = error
    return Reached(stores, failures)
