"""What all collections of a process share: settings, the connection to Neo4j, models."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

from fabula.config.connect import connect
from fabula.config.kit import Kit
from fabula.config.settings import Settings, names, paths
from fabula.errors import FabulaError, did_you_mean
from fabula.models.stop import Stop
from fabula.server import quiet
from fabula.store import Store

if TYPE_CHECKING:
    from fabula.server import Report

POLL_SECONDS = 0.1
"""How often a thread that waits for another's connection looks whether it was stopped."""


class Resources:
    """Settings, the connection to Neo4j, and models with their one limiter.

    Neo4j is reached, and the private one started, when it is first needed; models when they are.
    Safe to share between threads.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        report: Report | None = None,
        kit: Kit | None = None,
        **flags: Any,
    ) -> None:
        if unknown := [name for name in flags if not paths(name)]:
            hint = did_you_mean(unknown[0], names(), "`fabula settings` lists them.")
            raise TypeError(f"There is no setting {unknown[0]!r}. {hint}")
        if settings is not None and (flags or not isinstance(settings, Settings)):
            raise TypeError(
                "Give one value of Settings, or settings by name, as collection='novels'; not both."
            )
        self.settings = settings or Settings.read(**flags)
        self.kit = kit or Kit(self.settings)
        self._report = report
        self._connecting = threading.Lock()
        """Held while Neo4j is reached, which takes minutes where its programs are fetched."""
        self._switching = threading.Lock()
        """Held for a moment, so that a connection made while `close` ran is closed as well."""
        self._connected: Store | None = None
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<App: {self.settings!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets connections and threads go; the private Neo4j stays up for the next time.

        Does not wait for a thread that is just reaching Neo4j: that one closes what it has reached,
        and raises FabulaError.
        """
        with self._switching:
            self._is_closed = True
            connected = self._connected
        self.kit.close()
        if connected:
            connected.close()

    @property
    def store(self) -> Store:
        """The graph; reached, and its private server started, at the first use."""
        return self.reach()

    def reach(self, stop: Stop | None = None) -> Store:
        """Return the graph, as `store` does.

        Raises Stopped where `stop` is set while another thread fetches or starts the private
        server; a start of its own is waited for.
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
        # A start is not broken off in its midst: that leaves a home without its password.
        store = connect(self.settings, self._report or quiet)
        with self._switching:
            if not self._is_closed:
                self._connected = store
                return
        store.close()
        self._check()

    def _check(self, stop: Stop | None = None) -> None:
        """Raises FabulaError where this is closed, and Stopped where `stop` is set."""
        if self._is_closed:
            raise FabulaError("This Fabula is closed: open another one.")
        if stop:
            stop.check()
