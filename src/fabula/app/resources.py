"""What all collections of a process share: settings, the connection to Neo4j, and models."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

from fabula.config.connect import connect
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings, resolve_name, setting_fields
from fabula.errors import FabulaError, did_you_mean
from fabula.models.stop import Stop
from fabula.server import ignore_progress
from fabula.store import Store

if TYPE_CHECKING:
    from fabula.server import ProgressReport

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
        kit: ModelFactory | None = None,
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
        self.models = kit or ModelFactory(self.settings)
        self._report = report
        self._connecting = threading.Lock()
        """Held while connecting to Neo4j, which takes minutes if its programs are fetched."""
        self._switching = threading.Lock()
        """Held for a moment, so that a connection made while `close` runs is closed as well."""
        self._connected: Store | None = None
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
        if connected:
            connected.close()

    @property
    def store(self) -> Store:
        """The graph. The first use connects to Neo4j, and starts the private server."""
        return self.connect()

    def connect(self, stop: Stop | None = None) -> Store:
        """Return the graph, as `store` does, with a way to stop waiting for another thread.

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
                return
        store.close()
        self._check()

    def _check(self, stop: Stop | None = None) -> None:
        """Raise FabulaError if this is closed, and Stopped if `stop` is set."""
        if self._is_closed:
            raise FabulaError("This Fabula is closed: open another one.")
        if stop:
            stop.check()
