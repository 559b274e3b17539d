"""Fabula in one process: `App` with all collections, and `Fabula` with one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fabula.app.collection import Collection
from fabula.app.resources import Resources
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.models.budget import Budget
from fabula.models.counted import UsageCounter
from fabula.store.embedding_space import Space

if TYPE_CHECKING:
    from fabula.export.files import Written
    from fabula.models.progress import Progress
    from fabula.server import ProgressReport


class App(Resources):
    """What all collections of a process share. Make one per process, and use it with `with`.

    Neo4j is connected to, and the private server started, when it is first needed; models are made
    when they are. Safe to share between threads.

    Args:
        settings: The settings; None to read them from `flags`, the environment and files named
            `fabula.toml`.
        report: Is told how the private Neo4j starts.
        kit: Models of these settings, if there are some already.
        **flags: Settings by their names, as `collection="novels"`.

    Raises:
        TypeError: An argument does not exist or is of another type.
        FabulaError: All other errors: SettingsError for a bad setting, ServerError and StoreError
            for Neo4j, ModelError for a model, LoadError for a file, NotFound for what isn't there.

    """

    def collection(
        self,
        name: str = "",
        *,
        budget: Budget | None = None,
        counter: UsageCounter | None = None,
        takes_paths: bool = True,
    ) -> Collection:
        """Return a collection, which is the only way to its documents.

        Args:
            name: Its name; '' for the settings' collection.
            budget: What models may be paid for it, within what the settings allow. Once it is
                spent, BudgetSpent ends the run or the answer.
            counter: Counts each call to a model that builds something in it.
            takes_paths: Whether a document may be named by the path of its file on this machine.

        """
        kit = self.models.view(budget=budget, counter=counter) if budget or counter else None
        name = name or self.settings.collection
        return Collection(self, name, kit, takes_paths=takes_paths)

    def meant(self) -> Collection:
        """Return the collection for a user who names none.

        It is the settings' collection or, as long as that is empty and only the default, the one
        that was written to last.
        """
        is_named = "collection" in self.settings.model_fields_set
        if is_named or self.store.count(self.settings.collection)[0]:
            return self.collection()
        return self.collection(self.store.latest_collection())

    def collections(self) -> list[str]:
        """Return the names of the collections that hold documents."""
        return self.store.collections()

    def compact(self, progress: Progress | None = None) -> list[Space]:
        """Rebuild the vector indexes in few segments, while questions are answered.

        This speeds up questions on servers other than the private one once they hold a library; the
        private one merges its segments by itself.

        Raises:
            StoreError: The embeddings of a collection are being replaced.

        """
        from fabula.build.compact import CompactRun
        from fabula.build.outcome import SilentProgress

        return CompactRun(self.store, progress or SilentProgress()).run()

    def export(self, file: str | Path, *, format: str = "", embeddings: bool = False) -> Written:
        """Write all collections to one file, as `Collection.export` writes one."""
        from fabula.export.files import write_graph
        from fabula.store.export_reader import ExportReader

        entries = [entry for name in self.collections() for entry in self.store.documents(name)]
        if not entries:
            raise NotFound("Nothing has been ingested yet: run `fabula ingest BOOK`.")
        exported = ExportReader(self.store, entries, whole=self.collections())
        return write_graph(exported, Path(file), format, embeddings=embeddings)


class Fabula(Collection):
    """The settings' collection with an `App` of its own, which is all that most programs need.

    It takes the arguments of `App`. Use it with `with`.
    """

    app: App

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        report: ProgressReport | None = None,
        kit: ModelFactory | None = None,
        **flags: Any,
    ) -> None:
        app = App(settings, report=report, kit=kit, **flags)
        super().__init__(app, app.settings.collection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and end threads; the private Neo4j stays up for the next time."""
        self.app.close()
