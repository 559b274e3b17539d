"""What all collections of a process share: settings, the connection to Neo4j, and models."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from fabula.config.connect import connect
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings, resolve_name, setting_fields
from fabula.errors import FabulaError, StoreError, did_you_mean
from fabula.models.stop import Stop
from fabula.server import ignore_progress
from fabula.store import Store
from fabula.store.embedding_space import Space

if TYPE_CHECKING:
    from fabula.app.server_pool import ServerPool
    from fabula.server import ProgressReport

LOG = logging.getLogger("fabula")
Found = TypeVar("Found")
ALONE_SECONDS = 30.0
"""How long it is relied on that there is no other server, after connecting to the home server."""
POLL_SECONDS = 0.1
"""How often a thread checks whether it was stopped, while another thread connects to Neo4j."""


@dataclass(frozen=True, slots=True)
class FoundSpaces:
    """The embedding spaces of the collections on all servers that answer.

    Attributes:
        spaces: The spaces, by name.
        failures: The errors of the collections that were left out, as their servers do not answer,
            by their names.

    """

    spaces: list[Space]
    failures: Mapping[str, FabulaError]


class Resources:
    """Settings, the connection to Neo4j, and the models with their common limiter.

    Neo4j is connected to, and the private server started, when it is first needed; models are made
    when they are. Safe to share between threads.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        report: ProgressReport | None = None,
        models: ModelFactory | None = None,
        **flags: Any,
    ) -> None:
        if unknown := [name for name in flags if not resolve_name(name)]:
            hint = did_you_mean(unknown[0], setting_fields(), "`fabula settings` lists them.")
            raise TypeError(f"There is no setting {unknown[0]!r}. {hint}")
        if settings is not None and (flags or not isinstance(settings, Settings)):
            raise TypeError(
                "Give one value of Settings, or settings by name, as collection='novels'; not both."
            )
        self.settings = settings or Settings.read(**flags)
        self.models = models or ModelFactory(self.settings)
        self._report = report
        self._connecting = threading.Lock()
        """Held while connecting to Neo4j, which takes minutes if its programs are fetched."""
        self._switching = threading.Lock()
        """Held for a moment, so that a connection made while `close` runs is closed as well."""
        self._connected: Store | None = None
        self._connected_at = 0.0
        self._servers: ServerPool | None = None
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<App: {self.settings!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and end threads; the private Neo4j stays up for the next time.

        A thread that is just connecting to Neo4j is not waited for: it closes its connection
        itself, and raises FabulaError.
        """
        with self._switching:
            self._is_closed = True
            connected = self._connected
        self.models.close()
        if self._servers:
            self._servers.close()
        if connected:
            connected.close()

    @property
    def home_store(self) -> Store:
        """The graph on the home server, which the settings name.

        Keys, jobs, conversations and accounts are there, whatever collection they are of. Use
        `store_of` for what a collection holds. The first use connects to Neo4j, and starts the
        private server.
        """
        return self._connect_home()

    def store_of(self, collection: str, stop: Stop | None = None) -> Store:
        """Return the graph on the server where a collection lives, or would be made.

        Args:
            collection: The name of the collection.
            stop: Set it to stop waiting for another thread that connects.

        Raises:
            Stopped: `stop` was set while another thread fetches or starts the private server. A
                start by this thread is waited for.

        """
        home = self._connect_home(stop)
        return home if self.is_alone else self.servers.store_of(collection, stop)

    @property
    def is_alone(self) -> bool:
        """Whether the home server knew no other server when it was connected to, just now.

        So a question in a process of its own neither asks for other servers nor imports what
        connects to them.
        """
        home = self._connect_home()
        age = time.monotonic() - self._connected_at
        return self._servers is None and not home.has_servers and age < ALONE_SECONDS

    @property
    def servers(self) -> ServerPool:
        """The home server and the others that it knows."""
        with self._switching:
            if self._servers is None:
                # A question of a library of one server does not need it.
                from fabula.app.server_pool import ServerPool

                self._servers = ServerPool(self.settings, self._connect_home)
            return self._servers

    def reach_stores(self) -> Mapping[str, Store]:
        """Return the graphs on all servers that can be reached, by the servers' names, home first.

        A warning says which can't be reached, and which collections are left out for that.

        Raises:
            FabulaError: The home server can't be reached.

        """
        return self.read_stores(lambda store: store)

    def read_stores(self, read: Callable[[Store], Found]) -> dict[str, Found]:
        """Return what is read from each server that answers, by the servers' names, home first.

        Of a server that was reached before and is down now it is said as by `reach_stores`.

        Raises:
            FabulaError: The home server can't be reached.

        """
        return self._read_servers(read)[0]

    def _read_servers(
        self, read: Callable[[Store], Found]
    ) -> tuple[dict[str, Found], dict[str, FabulaError]]:
        """Return what is read from each server that answers, and why others do not."""
        if self.is_alone:
            return {"home": read(self.home_store)}, {}
        reached = self.servers.reach()
        found, failures = {}, dict(reached.failures)
        for name, store in reached.stores.items():
            try:
                found[name] = read(store)
            except StoreError as error:
                if name == "home":
                    raise
                failures[name] = error
        for name, failure in failures.items():
            self._warn_of_server(name, failure)
        return found, failures

    def _warn_of_server(self, name: str, error: FabulaError) -> None:
        """Warn of a server that can't be used, if collections live there."""
        places = self.servers.registry().places.values()
        if missing := [place.collection for place in places if place.server == name]:
            LOG.warning("%s Left out: %s.", error.message, ", ".join(sorted(missing)))

    def spaces(self) -> list[Space]:
        """Return the embedding spaces of the collections on all servers, by name.

        Those on servers that can't be reached are left out, and a warning names them.
        """
        return self.find_spaces().spaces

    def find_spaces(self) -> FoundSpaces:
        """Return the embedding spaces of the collections, and which are left out and why."""
        if not self._has_others():
            return FoundSpaces(self.home_store.spaces(), {})
        (found, errors), registry = self._read_servers(Store.spaces), self.servers.registry()
        # A copy that is not complete, or not removed yet, is not the collection.
        spaces = [
            space
            for name, there in found.items()
            for space in there
            if registry.place(space.collection).server == name
        ]
        failures = {
            place.collection: errors[place.server]
            for place in sorted(registry.places.values(), key=lambda place: place.collection)
            if place.server in errors
        }
        return FoundSpaces(sorted(spaces, key=lambda space: space.collection), failures)

    def place_new(self, collection: str) -> None:
        """Have a new collection made on the server that the setting `server` names.

        Raises:
            NotFound: There is no such server.
            FabulaError: The collection exists, on another server.

        """
        server = self.settings.server
        if server == "home" or collection in self.servers.registry().places:
            return
        from fabula.build.move import place_new

        place_new(self.home_store, self.servers.store, collection, server)
        self.servers.refresh()

    def _has_others(self) -> bool:
        """Return whether the home server knows other servers."""
        return not self.is_alone and bool(self.servers.registry().servers)

    def _connect_home(self, stop: Stop | None = None) -> Store:
        """Return the graph on the home server, with a way to stop waiting for another thread.

        Raises:
            Stopped: `stop` was set while another thread fetches or starts the private server. A
                start by this thread is waited for.

        """
        while not self._connecting.acquire(timeout=POLL_SECONDS):
            self._check(stop)
        try:
            self._check()
            if self._connected is None:
                self._connect()
            assert self._connected is not None
            return self._connected
        finally:
            self._connecting.release()

    def _connect(self) -> None:
        # A start is never interrupted: that would leave a home folder without its password.
        store = connect(self.settings, self._report or ignore_progress)
        with self._switching:
            if not self._is_closed:
                self._connected = store
                self._connected_at = time.monotonic()
                return
        store.close()
        self._check()

    def _check(self, stop: Stop | None = None) -> None:
        """Raise FabulaError if this is closed, and Stopped if `stop` is set."""
        if self._is_closed:
            raise FabulaError("This Fabula is closed: open another one.")
        if stop:
            stop.check()
