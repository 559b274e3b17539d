"""Work on what a collection has: a service does it by a job, the command line and programs at once.

Work whose files were uploaded, as an ingest, is begun by `fabula.jobs.start`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from fabula.errors import SettingsError
from fabula.graph.installed import graph, refuse_without_model
from fabula.jobs.job import Item, Kind
from fabula.models.prefixes import split_space_name
from fabula.models.usage import Usage

if TYPE_CHECKING:
    from fabula.build.options import BuildOptions
    from fabula.build.outcome import Outcome
    from fabula.build.renew import Damage
    from fabula.jobs.estimates import Estimate
    from fabula.library.collection import Collection


@dataclass(frozen=True)
class Work(ABC):
    """Work on a collection.

    Attributes:
        kind: The kind of its job.
        collection: The collection.
        batch: Whether a job asks models by batches.
    """

    kind: ClassVar[Kind]
    collection: Collection = field(repr=False)
    batch: bool = field(default=False, kw_only=True)

    @abstractmethod
    def run(self, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        """Do it, or with `dry` say what it would do; return what became of each document."""

    def refuse(self) -> None:
        """Raise SettingsError for what no run could do."""
        if self.batch:
            from fabula.jobs.estimates import refuse_batches

            refuse_batches(self.collection)

    def items(self) -> Sequence[Item]:
        """Return the documents that it names."""
        return ()

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of its job, by which it is made again."""
        names = [each.name for each in fields(self) if each.name != "collection"]
        return {name: getattr(self, name) for name in names}

    def estimate(self) -> Estimate:
        """Return what it would do and cost, without writing or asking a model."""
        from fabula.jobs.estimates import Estimate

        return Estimate.of(self.collection.settings, self.run(dry=True), batch=self.batch)


@dataclass(frozen=True)
class BuildWork(Work):
    """Building a graph of the documents of these ids, of all, or of the collection itself."""

    kind = "build"
    graph: str
    documents: Sequence[str] = ()
    rebuild: bool = False

    def run(self, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        """Build the graph."""
        options["rebuild"] = self.rebuild
        return self.collection.build(self.graph, *self.documents, **options)

    def refuse(self) -> None:
        """Refuse a graph that can't be built so, and batches where there are none."""
        if graph(self.graph).build_collection and self.documents:
            raise SettingsError(
                f"{self.graph} belongs to the whole collection: it can't be built of single "
                "documents."
            )
        if self.collection.settings.offline:
            refuse_without_model([self.graph])
        super().refuse()

    def items(self) -> Sequence[Item]:
        """Return the documents."""
        store, name = self.collection.open_store(), self.collection.name
        found = {entry.id: entry for entry in store.find_same(name, self.documents)}
        entries = [found[id] for id in self.documents if id in found]
        return [Item(entry.source, document=entry.id, title=entry.title) for entry in entries]


@dataclass(frozen=True)
class RenewWork(Work):
    """Renewing what is damaged, of every kind or of one."""

    kind = "renew"
    only: Damage = ""

    def run(self, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        """Renew it."""
        return self.collection.renew(self.only, **options)


@dataclass(frozen=True)
class ReembedWork(Work):
    """Embedding a collection again, with the embedding model of the settings."""

    kind = "reembed"

    def run(self, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        """Embed it again.

        A dry run counts the passages as the graph has them. Elements such as entities are embedded,
        too, but their texts are not counted in tokens; they are short.
        """
        from fabula.build.outcome import Outcome, SilentListener

        name, settings = self.collection.name, self.collection.settings
        if options.get("dry"):
            passages, tokens = self.collection.open_store().sum_passages(name)
            used = Usage()
            if settings.embeds_by_endpoint:
                calls = -(-passages // settings.embedding_batch)
                used = Usage(calls=calls, prompt_tokens=tokens)
            steps = {"embed": Usage.of_model(settings.embedding_model, used)}
            counts = {"passage": passages}
            return [Outcome(name, "replaced", title=name, counts=counts, steps=steps)]
        listener = options.get("listener") or SilentListener()
        listener.expect(1)
        done = self.collection.reembed(listener.begin(name), stop=options.get("stop"))
        model = split_space_name(done.model)[0]
        outcome = Outcome(
            name,
            "replaced",
            title=name,
            counts={"passage": done.passages},
            notes=(
                f"its embeddings are those of {done.model}, of {done.dimensions} dimensions",
                f"set FABULA_EMBEDDING_MODEL={model} for every program that adds to it",
            ),
            steps={"embed": done.usage},
            seconds=done.seconds,
        )
        listener.end(outcome)
        return [outcome]


@dataclass(frozen=True)
class RemovalWork(Work):
    """Removing all documents of a collection, and the conversations about it."""

    kind = "remove"

    def run(self, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        """Remove them."""
        from fabula.build.outcome import Outcome, SilentListener
        from fabula.models.stop import Stop

        store, name = self.collection.open_store(), self.collection.name
        ids = [entry.id for entry in store.documents(name)]
        counts = {"document": len(ids), "passage": store.count_passages(name)}
        outcome = Outcome(name, "removed", title=name, counts=counts)
        if options.get("dry"):
            return [outcome] if ids else []
        stop = options.get("stop") or Stop()
        listener = options.get("listener") or SilentListener()
        listener.expect(1)
        steps = listener.begin(name)
        steps.expect("remove", len(ids))
        for id in ids:
            stop.check()
            store.remove(name, id)
            steps.done("remove", Usage())
        store.rows("service/clear_conversations", collection=name)
        listener.end(outcome)
        return [outcome]


WORK_BY_KIND: Mapping[Kind, type[Work]] = {
    each.kind: each for each in (BuildWork, RenewWork, ReembedWork, RemovalWork)
}
"""The kinds of jobs that are such work, and not the reading of files that were uploaded."""
