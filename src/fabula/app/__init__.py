"""One process's Fabula: its settings, its connection to Neo4j, its models and their one limiter."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from fabula.app.collection import Collection
from fabula.app.connect import connect
from fabula.build.compact import Compact
from fabula.build.outcome import Muted
from fabula.config.kit import Kit
from fabula.config.settings import Flags, Settings, names, paths
from fabula.errors import FabulaError, NotFound, did_you_mean
from fabula.export.files import Written, write
from fabula.models.budget import Budget
from fabula.models.counted import Counter
from fabula.models.progress import Progress
from fabula.models.stop import Stop
from fabula.server import quiet
from fabula.store import Store
from fabula.store.exported import Exported
from fabula.store.space import Space

if TYPE_CHECKING:
    from fabula.server import Report

POLL_SECONDS = 0.1
"""How often a thread that waits for another's connection looks whether it was stopped."""


class App:
    """What all collections share; use it with `with`, once a process.

    Settings come from `settings`, or from `flags` (settings by name), the environment and files
    named `fabula.toml`; models from a `kit` of such settings, if one is given. Neo4j is reached,
    and the private one started, when it is first needed; models when they are. Safe to share
    between threads. An argument that there is not, or of another type, is a TypeError; all other
    errors are FabulaErrors: SettingsError for a bad setting, ServerError and StoreError for Neo4j,
    ModelError for a model, LoadError for a file, NotFound for what isn't there.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        report: Report | None = None,
        kit: Kit | None = None,
        **flags: Unpack[Flags],
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

    def collection(
        self,
        name: str = "",
        *,
        budget: Budget | None = None,
        counter: Counter | None = None,
        takes_paths: bool = True,
    ) -> Collection:
        """The documents of that collection, or of the settings' one: the only way to data.

        What is asked of models for it may spend what the `budget` has left, beside what the
        settings allow: once that is spent, BudgetSpent ends the run or the answer. `counter` is
        told of each call that is made to build something in it. Unless it `takes_paths`, no name of
        a document is looked up as a path on this machine.
        """
        kit = self.kit.view(budget=budget, counter=counter) if budget or counter else None
        name = name or self.settings.collection
        return Collection(self, name, kit, takes_paths=takes_paths)

    def meant(self) -> Collection:
        """The collection of who names none: the settings' usual one or, as long as that is empty,
        the one that was written last.
        """
        is_named = "collection" in self.settings.model_fields_set
        if is_named or self.store.count(self.settings.collection)[0]:
            return self.collection()
        return self.collection(self.store.latest())

    def collections(self) -> list[str]:
        """The names of the collections that hold documents."""
        return self.store.collections()

    def compact(self, progress: Progress | None = None) -> list[Space]:
        """Makes the vector indexes anew, in few segments, while questions go on.

        Worth it on other people's servers once they hold a library; the private one merges its
        segments by itself. Raises StoreError while a collection is re-embedded.
        """
        return Compact(self.store, progress or Muted()).run()

    def export(self, file: str | Path, *, format: str = "", embeddings: bool = False) -> Written:
        """Writes all collections to one file, as `Collection.export` writes one."""
        entries = [entry for name in self.collections() for entry in self.store.documents(name)]
        if not entries:
            raise NotFound("Nothing has been ingested yet: run `fabula ingest BOOK`.")
        exported = Exported(self.store, entries, whole=self.collections())
        return write(exported, Path(file), format, embeddings=embeddings)

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


class Fabula(Collection):
    """The settings' collection, with an App of its own: all that most programs need.

    Takes what App takes; use it with `with`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        report: Report | None = None,
        kit: Kit | None = None,
        **flags: Unpack[Flags],
    ) -> None:
        app = App(settings, report=report, kit=kit, **flags)
        super().__init__(app, app.settings.collection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets connections and threads go; the private Neo4j stays up for the next time."""
        self.app.close()
