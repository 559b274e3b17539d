"""Fabula in one process: `App` with all collections, and `Fabula` with one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.library.collection import Collection
from fabula.library.resources import Resources
from fabula.models.budget import Budget
from fabula.models.counted import UsageCounter

if TYPE_CHECKING:
    from fabula.ask.query import Query
    from fabula.export.collection_file import CollectionFile
    from fabula.export.files import Written
    from fabula.graph.trace import Trace
    from fabula.library.across import AnswerAcross, HitsAcross
    from fabula.models.counted import Meter
    from fabula.models.stop import Stop
    from fabula.server import ProgressReport


class App(Resources):
    """What all collections of a process share. Make one per process, and use it with `with`.

    Neo4j is connected to, and the private server started, when it is first needed; models are made
    when they are. Safe to share between threads.

    Args:
        settings: The settings; None to read them from `flags`, the environment and files named
            `fabula.toml`.
        report: Called with each step of the private Neo4j's start.
        models: Models of these settings, if there are some already.
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
        settings: Settings | None = None,
    ) -> Collection:
        """Return a collection, which is the only way to its documents.

        Args:
            name: Its name; '' for the settings' collection.
            budget: What models may be paid for it, within what the settings allow. Once it is
                spent, BudgetSpent ends the run or the answer.
            counter: Counts each call to a model that builds something in it.
            takes_paths: Whether a document may be named by the path of its file on this machine.
            settings: Settings in place of this App's, such as those without an endpoint.
        """
        models = None
        if budget or counter or settings:
            models = self.models.view(budget=budget, counter=counter, settings=settings)
        name = name or self.settings.collection
        return Collection(self, name, models, takes_paths=takes_paths, settings=settings)

    def default_collection(self) -> Collection:
        """Return the collection for a user who names none.

        It is the settings' collection or, as long as that is empty and only the default, the one
        that was written to last.
        """
        default = self.settings.collection
        is_named = "collection" in self.settings.model_fields_set
        if is_named or self.store_of(default).count(default, 1)[0]:
            return self.collection()
        # Those that have a server of their own are not among them.
        latest = self.connect().latest_collections()
        names = (name for name in latest if name not in self.settings.collections)
        return self.collection(next(names, ""))

    def collections(self) -> list[str]:
        """Return the names of the collections that hold documents."""
        return [space.collection for space in self.spaces() if space.has_documents]

    def retrieve(
        self,
        question: str | Query,
        collections: Sequence[str] = (),
        *,
        meter: Meter | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> HitsAcross:
        """Return the passages of several collections that serve a question best, merged by rank.

        Args:
            question: The question, as text or as a `Query`.
            collections: The names of the collections; empty for all.
            meter: Counts what is asked of models.
            stop: Set from any thread, it ends the calls to models and raises Stopped.
            **options: Options of a `Query`, in place of the settings' defaults.

        Returns:
            The passages, and the collections that were left out, as they could not be searched.

        Raises:
            NotFound: There is no collection.
            FabulaError: No collection could be searched.
        """
        from fabula.library.across import find_collections, retrieve_across

        chosen = find_collections(self, collections)
        return retrieve_across(chosen, question, meter, stop, **options)

    def stream(
        self,
        question: str | Query,
        collections: Sequence[str] = (),
        *,
        meter: Meter | None = None,
        path: Trace | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> AnswerAcross:
        """Return an answer that is written from the passages of several collections.

        Their passages are merged by rank, as `retrieve` does. `answer.stream` is read as the stream
        of one collection; each passage names its `collection`.

        Args:
            question: The question, as text or as a `Query`.
            collections: The names of the collections; empty for all.
            meter: Counts what is asked of models.
            path: Records how the passages were merged.
            stop: Ends the search or the answer, from any thread.
            **options: Options of a `Query`, in place of the settings' defaults.

        Raises:
            NotFound: There is no collection.
            SettingsError: The question has a place up to which a text was read (`until`).
            FabulaError: No collection could be searched.
        """
        from fabula.library.across import find_collections, stream_across

        chosen = find_collections(self, collections)
        return stream_across(chosen, question, meter=meter, path=path, stop=stop, **options)

    def export(self, file: str | Path, *, format: str = "", embeddings: bool = False) -> Written:
        """Write all collections to one file, as `Collection.export` writes one.

        Those that the settings name a server for are left out: export each by itself.
        """
        from fabula.export.files import write_graph
        from fabula.store.export_reader import ExportReader

        store = self.connect()
        names = [name for name in self.collections() if name not in self.settings.collections]
        if not names:
            raise NotFound("Nothing has been ingested yet: run `fabula ingest BOOK`.")
        entries = [entry for name in names for entry in store.documents(name)]
        reader = ExportReader(store, entries, whole=names)
        return write_graph(reader, Path(file), format, embeddings=embeddings)

    def import_collection(self, file: str | Path) -> CollectionFile:
        """Take in a collection from a file that `Collection.export_whole` has written.

        It comes into the graph that a collection of its name is made in, and is there once all of
        it is.

        Raises:
            LoadError: The file can't be read, was cut or changed, or is of another version.
            SpaceError: There is a collection of this name.
        """
        from fabula.export.collection_file import check_collection_file, read_slices
        from fabula.store.whole_collection import write_collection

        # First to the end, so that nothing of a damaged file is written.
        head = check_collection_file(Path(file))
        store = self.store_of(head.collection)
        write_collection(store, head.collection, head.properties, read_slices(Path(file)))
        return head


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
        models: ModelFactory | None = None,
        **flags: Any,
    ) -> None:
        app = App(settings, report=report, models=models, **flags)
        super().__init__(app, app.settings.collection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and end threads; the private Neo4j stays up for the next time."""
        self.app.close()
