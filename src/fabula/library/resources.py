"""What all collections of a process share: settings, the connection to Neo4j, and models."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, Self

from fabula.config.connect import connect
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import CollectionServer, Settings, resolve_name, setting_fields
from fabula.errors import FabulaError, StoreError, did_you_mean
from fabula.models.stop import Stop
from fabula.server import ignore_progress
from fabula.store import Store
from fabula.store.embedding_space import Space

if TYPE_CHECKING:
    from fabula.server import ProgressReport

LOG = logging.getLogger("fabula")
RETRY_SECONDS = 5.0
"""How long the driver tries a statement again at a server that only some collections are on: lists
and questions over several collections do without it, and should not wait half a minute."""
POLL_SECONDS = 0.1
"""How often a thread checks whether it was stopped, while another thread connects to Neo4j."""


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
        servers = (None, *self.settings.collections.values())
        self._connecting = {server: threading.Lock() for server in servers}
        """Held while connecting to a graph, which takes minutes if Neo4j's programs are fetched."""
        self._switching = threading.Lock()
        """Held for a moment, so that a connection made while `close` runs is closed as well."""
        self._connected: dict[CollectionServer | None, Store] = {}
        """The graphs, by what `[collections.NAME]` says of them; None is that of most."""
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
            connected = [*self._connected.values()]
        self.models.close()
        for store in connected:
            store.close()

    def connect(self) -> Store:
        """Connect to the graph that the settings name unless that is done, and return it.

        Keys, jobs, conversations and accounts are there, whatever collection they are of. Use
        `store_of` for what a collection holds. If the settings name no server, the private one is
        started, and fetched before, which takes minutes.
        """
        return self.store_of("")

    def store_of(self, collection: str, stop: Stop | None = None) -> Store:
        """Connect to the graph that a collection is in, or would be made in, and return it.

        It is that of `connect`, unless the settings have a table `[collections.NAME]` for it.

        Args:
            collection: The name of the collection.
            stop: Set it to stop waiting for another thread that connects.

        Raises:
            Stopped: `stop` was set while another thread fetches or starts the private server. A
                start by this thread is waited for.
        """
        server = self.settings.collections.get(collection)
        connecting = self._connecting[server]
        while not connecting.acquire(timeout=POLL_SECONDS):
            self._check(stop)
        try:
            self._check()
            if server not in self._connected:
                store = self._open(collection)
                with self._switching:
                    if not self._is_closed:
                        self._connected[server] = store
                        return store
                store.close()
                self._check()
            return self._connected[server]
        finally:
            connecting.release()

    def spaces(self) -> list[Space]:
        """Return the embedding spaces of the collections, by name.

        A warning names those that are left out, as the server that the settings give them does not
        answer.
        """
        named = self.settings.collections
        spaces = [space for space in self.connect().spaces() if space.collection not in named]
        for name in named:
            try:
                space = self.store_of(name).space(name)
            except FabulaError as error:
                LOG.warning("%s It is left out.", error.message)
            else:
                spaces += [space] if space else []
        return sorted(spaces, key=lambda space: space.collection)

    def _open(self, collection: str) -> Store:
        # A start is never interrupted: that would leave a home folder without its password.
        report = self._report or ignore_progress
        if collection not in self.settings.collections:
            return connect(self.settings, report)
        try:
            return connect(self.settings.for_collection(collection), report, RETRY_SECONDS)
        except StoreError as error:
            raise StoreError(
                f"The server of collection {collection!r} can't be used: {error.message}",
                advice=f"The table [collections.{collection}] of your settings names it.",
            ) from error

    def _check(self, stop: Stop | None = None) -> None:
        """Raise FabulaError if this is closed, and Stopped if `stop` is set."""
        if self._is_closed:
            raise FabulaError("This Fabula is closed: open another one.")
        if stop:
            stop.check()
