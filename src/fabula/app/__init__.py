"""One process's Fabula: its settings, its connection to Neo4j, its models and their one limiter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fabula.app.collection import Collection
from fabula.app.resources import Resources
from fabula.build.compact import Compact
from fabula.build.outcome import Muted
from fabula.config.kit import Kit
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.export.files import Written, write
from fabula.models.budget import Budget
from fabula.models.counted import Counter
from fabula.models.progress import Progress
from fabula.store.exported import Exported
from fabula.store.space import Space

if TYPE_CHECKING:
    from fabula.server import Report


class App(Resources):
    """What all collections share; use it with `with`, once a process.

    Settings come from `settings`, or from `flags` (settings by name), the environment and files
    named `fabula.toml`; models from a `kit` of such settings, if one is given. Neo4j is reached,
    and the private one started, when it is first needed; models when they are. Safe to share
    between threads. An argument that there is not, or of another type, is a TypeError; all other
    errors are FabulaErrors: SettingsError for a bad setting, ServerError and StoreError for Neo4j,
    ModelError for a model, LoadError for a file, NotFound for what isn't there.
    """

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


class Fabula(Collection):
    """The settings' collection, with an App of its own: all that most programs need.

    Takes what App takes; use it with `with`.
    """

    app: App

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        report: Report | None = None,
        kit: Kit | None = None,
        **flags: Any,
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
