"""A collection: what the command line, programs and the service use to reach one tenant's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.app.catalogue import Documents, empty_collection_error, find_document
from fabula.app.resources import Resources
from fabula.ask import answering
from fabula.ask.answer import Answer, AnswerStream
from fabula.ask.choosing import count_parts
from fabula.ask.history import latest_turns
from fabula.ask.modes import mode
from fabula.ask.query import AUTO, Query
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import STATIC, Settings
from fabula.errors import LoadError, NotFound, SettingsError
from fabula.graph import TEXT, Gap, Owner, Record, differences
from fabula.graph.decisions import Decision
from fabula.graph.entries import Entry, Layer
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.hits import Source as Stretch
from fabula.graph.installed import graph, graphs
from fabula.graph.method import Graph
from fabula.graph.recipes import (
    collection_decisions,
    complete_documents,
    decisions_by_graph,
    differences_of,
    with_dependents,
)
from fabula.graph.structure import TextStructure
from fabula.graph.trace import Trace
from fabula.models import Turn
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store.embedding_space import (
    Space,
    refuse_collection,
    refuse_other_model,
    refuse_reembedding,
)
from fabula.text.names import name_problem, quote_name

# What no question needs is imported in the methods that use it: `fabula query` imports this module,
# and takes longer to import than to answer.
if TYPE_CHECKING:
    from fabula.app.reading import Reading
    from fabula.app.rereading import ReadingChange
    from fabula.build.outcome import Listener, Outcome
    from fabula.build.reembed import Reembedded
    from fabula.build.run import BuildRun
    from fabula.export.files import Written
    from fabula.export.rdf import TypedRows
    from fabula.load.source import Source
    from fabula.load.sources import Sources
    from fabula.models.progress import Progress
    from fabula.store import Store
    from fabula.store.integrity import Findings

ALL_ROWS = 1_000_000
"""More facts than a collection has."""


class Conversation:
    """Questions to a collection, each asked with the previous questions and their answers.

    `Collection.chat` makes it. Use it from one thread.

    Attributes:
        collection: The collection that is asked.
        options: Options of a `Query` that hold for all questions; they may be changed in between.

    """

    def __init__(self, collection: Collection, options: dict[str, Any]) -> None:
        self.collection = collection
        self.options = options
        self._streams: list[AnswerStream] = []

    def ask(self, question: str, **options: Any) -> Answer:
        """Return the whole answer, with the passages it cites; see `Collection.query`."""
        return self.stream(question, **options).answer

    def stream(self, question: str, **options: Any) -> AnswerStream:
        """Return an answer as it is written; what is read of it is part of the conversation."""
        options = {**self.options, **options}
        stream = self.collection.stream(question, history=self.history, **options)
        self._streams.append(stream)
        return stream

    @property
    def history(self) -> list[Turn]:
        """The turns until now, in order; a question whose answer failed is left out."""
        return [Turn(stream.question, stream.text) for stream in self._streams if stream.text]

    @property
    def answers(self) -> list[Answer]:
        """The answers, in order; what has not been read of them yet is read now."""
        return [stream.answer for stream in self._streams if stream.text]

    @property
    def given(self) -> dict[str, Any]:
        """The former name of `options`, for programs that use it."""
        return self.options

    def forget(self) -> None:
        """Start again: the next question leans on nothing."""
        self._streams.clear()


@dataclass(frozen=True, slots=True)
class Settled:
    """A graph that belongs to a whole collection, and is made from what its documents have.

    `record` is what it was made from. `stale` names what has changed since: settings by their
    names, and 'documents' if some were added, removed or changed.
    """

    graph: str
    record: Record
    stale: tuple[str, ...]


class Collection:
    """The documents of one collection: add to them, ask them, read them. It reaches no other one.

    `App.collection` makes it. Safe to share between threads.
    """

    def __init__(
        self,
        app: Resources,
        name: str,
        kit: ModelFactory | None = None,
        *,
        takes_paths: bool = True,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"The name of a collection is a str, not {name!r}.")
        if fault := name_problem(name):
            raise SettingsError(f"The name of the collection, {quote_name(name)}, {fault}.")
        self.app = app
        self.name = name
        self.models = kit or app.models
        """The models with which graphs of the collection are built."""
        self._takes_paths = takes_paths
        """Whether a document may be named by the path of its file on this machine."""
        self._is_ready = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def settings(self) -> Settings:
        """The settings of the process."""
        return self.app.settings

    @property
    def store(self) -> Store:
        """The graph of all collections; what is asked of it names this one."""
        return self.app.store

    # Writing

    def ingest(
        self,
        *paths: str | Path,
        graphs: str | Sequence[str] | None = None,
        rebuild: bool = False,
        strict: bool = False,
        name: str = "",
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """Read files, and all readable files in folders and zips, as documents of this collection.

        A document that is there already, made from the same text and settings, is left as it is. A
        changed one replaces the old one, all or nothing, and what did not change in it is used
        again. If a model gives no usable reply for a piece, the piece is a gap, and the next ingest
        asks for it again; if more than one piece and over a tenth of a graph is missing, the
        document fails.

        Args:
            *paths: Paths of files and folders, `https://` addresses of documents unless the setting
                `fetch` is off, or `-` for standard input.
            graphs: The graphs to build of each document; None for those of the settings. Graphs
                that a document has already are brought up to date.
            rebuild: Use nothing again, as at a first ingest.
            strict: A document fails at its first gap.
            name: The name of the document from standard input; otherwise 'standard input'.
            listener: Is told of the progress.
            stop: Once it is set, from any thread, nothing more is begun. Calls under way come to
                their end, as they are paid for and cached. Documents that are not done by then stay
                as they were, and the same ingest goes on from there.

        Returns:
            One outcome per file, in order, however often it is named, then one per file in a folder
            or zip that no reader knows, which is skipped. A file that cannot be read is a failed
            outcome, and the others go on.

        Raises:
            SettingsError: A graph does not exist, or a setting has a bad value.
            ServerError: The private Neo4j cannot be started.
            StoreError: Neo4j failed.
            ModelError: The model endpoint failed. These four end the run.

        """
        from fabula.build.outcome import Outcome

        sources = self._sources(paths, name)
        outcomes = self.ingest_sources(
            sources.read,
            graphs=graphs,
            rebuild=rebuild,
            strict=strict,
            listener=listener,
            stop=stop,
        )
        return outcomes + [Outcome(source, "skipped") for source in sources.skipped]

    def ingest_sources(
        self,
        sources: Sequence[Source],
        *,
        graphs: str | Sequence[str] | None = None,
        rebuild: bool = False,
        strict: bool = False,
        dry: bool = False,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """Do what `ingest` does, for documents that a program reads in its own way.

        With `dry`, do what `expect` does.
        """
        return self._run(graphs, listener, rebuild, strict, dry=dry, stop=stop).ingest(sources)

    def retry(
        self,
        *,
        strict: bool = False,
        dry: bool = False,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """Ask again for the gaps of all documents that have some.

        Their texts stay as they are. A graph that was built with other settings or models is built
        again with those in force, as `build` does. `stop` ends the run as it ends an ingest.

        Returns:
            One outcome per document with gaps, and per graph of the collection itself with gaps.

        """
        lacking = [entry for entry in self.app.connect(stop).documents(self.name) if entry.gaps]
        run = self._run([], listener, strict=strict, dry=dry, stop=stop)
        outcomes = run.retry(lacking)
        for settled in self.settled():
            if settled.record.gaps:
                outcomes += run.build_collection(graph(settled.graph))
        return outcomes

    def expect(
        self,
        *paths: str | Path,
        graphs: str | Sequence[str] | None = None,
        rebuild: bool = False,
        name: str = "",
        preset: str = "",
    ) -> list[Outcome]:
        """Return what `ingest` would do and ask of models. Nothing is written, no model is called.

        The build itself runs on placeholder replies, which are as long as those of models were in
        documents made in the same way. What an endpoint will answer cannot be known before.

        Args:
            *paths: As for `ingest`.
            graphs: As for `ingest`.
            rebuild: As for `ingest`.
            name: As for `ingest`.
            preset: Use this preset's values in place of the defaults.

        """
        from fabula.build.outcome import Outcome

        sources = self._sources(paths, name)
        if not preset:
            expected = self._run(graphs, None, rebuild, dry=True).ingest(sources.read)
        else:
            settings = self.settings.with_preset(preset)
            graphs = settings.graphs if graphs is None else graphs
            with closing(ModelFactory(settings)) as models:
                expected = self._run(graphs, None, rebuild, dry=True, kit=models).ingest(
                    sources.read
                )
        return expected + [Outcome(source, "skipped") for source in sources.skipped]

    def ingest_text(
        self,
        text: str,
        *,
        source: str,
        title: str = "",
        author: str = "",
        language: str = "",
        stop: Stop | None = None,
    ) -> Outcome:
        """Add a text as a document, which is known by its `source`: where the text is from.

        Raises:
            LoadError: The text has no words or no source.
            BadReply: A model's replies stay malformed, so that more than one piece and over a tenth
                of a graph is missing.

        """
        from fabula.load import read_text
        from fabula.load.source import Source

        if not isinstance(text, str):
            raise TypeError(f"The text is not a str but {text!r}: `ingest` reads files.")
        if not source.strip():
            raise LoadError("The text has no source: say where it is from, as it is known by that.")
        metadata = {"title": title, "author": author, "language": language}
        read = partial(read_text, text, source=source, collection=self.name, **metadata)
        [outcome] = self._run(None, None, stop=stop).ingest([Source(source, read)])
        if outcome.error:
            raise outcome.error
        return outcome

    def build(
        self,
        name: str,
        *documents: str,
        rebuild: bool = False,
        strict: bool = False,
        dry: bool = False,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """Build a graph, and the graphs that it rests on, for documents of the collection.

        Other graphs stay as they are, except for those that rest on it. What was built from the
        same before is left as it is, but its gaps are asked for again.

        Args:
            name: The graph. One that belongs to the whole collection is made from what all
                documents have.
            *documents: Ids, titles or files; all documents if none is named. None can be named for
                a graph of the whole collection.
            rebuild: Use nothing again.
            strict: A document fails at its first gap.
            dry: Only say what would be asked of models.
            listener: Is told of the progress.
            stop: Ends the run as it ends an ingest.

        Raises:
            NotFound: There is no such document, or the collection is empty.
            SettingsError: There is no such graph.

        """
        requested = graph(name)
        if requested.build_collection:
            if documents:
                raise SettingsError(f"{name} belongs to the whole collection: name no document.")
            if not self.app.connect(stop).count(self.name)[0]:
                raise empty_collection_error(self.name)
            return self._run([], listener, rebuild, strict, dry=dry, stop=stop).build_collection(
                requested
            )
        chosen = {entry.id: entry for entry in map(self.document, documents)}
        entries = list(chosen.values()) or list(self.app.connect(stop).documents(self.name))
        if not entries:
            raise empty_collection_error(self.name)
        run = self._run([requested.name], listener, rebuild, strict, dry=dry, stop=stop)
        return run.build(entries)

    def decide(
        self, name: str, kind: str, *names: str, document: str = "", by: str = ""
    ) -> Decision:
        """Keep a decision about a graph, such as another name for an entity.

        It belongs to the collection: later ingests and builds follow it. The graph as it is built
        becomes stale in the documents that it concerns; `follow` brings these up to date.

        Args:
            name: The graph.
            kind: What is to be done, one of the graph's kinds.
            *names: What it is to be done with.
            document: An id, title or file: it is about this document alone. '' for the collection.
            by: Who decides it; '' for the user of this process.

        Raises:
            Changed: Somebody else has decided something at the same time.
            FabulaError: The decision makes no sense for what is there.
            NotFound: There is no such document, or nothing of these names.
            SettingsError: There is no such graph, or no such decision about it.

        """
        from fabula.app.deciding import decide

        id = self.document(document).id if document else ""
        return decide(self.store, self.name, graph(name), kind, names, id, by)

    def undo(self, number: int, *, by: str = "") -> Decision:
        """Undo a decision by its number; `follow` brings the documents up to date.

        Raises:
            FabulaError: It was undone before.
            NotFound: There is no such decision.

        """
        from fabula.app.deciding import current_user
        from fabula.store.decisions import undo_decision

        return undo_decision(self.store, self.name, number, by or current_user())

    def outdated(self, decision: Decision) -> tuple[list[Entry], list[Entry]]:
        """Return the documents that a decision, or its undoing, has made stale.

        Returns:
            Those that are stale for decisions alone, which `follow` builds, and those that other
            settings would change as well, so that a model may have to read the text again.

        """
        from fabula.app.deciding import find_outdated

        return find_outdated(self.store, self.name, decision, self.stale)

    def effects(self) -> dict[int, dict[str, str]]:
        """Return what became of decisions when graphs were built.

        Returns:
            By the number of a decision, in words by the title of each document that follows it.

        """
        from fabula.app.deciding import find_effects

        return find_effects(self.store, self.name)

    def follow(
        self, decision: Decision, *, listener: Listener | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """Bring the documents up to date that a decision, or its undoing, has made stale.

        What was extracted of their texts is used again, so no model reads them again. A model may
        be asked for descriptions of what was joined, and by graphs that rest on the one that
        changed, for what changed in them. Documents that are stale for other reasons as well are
        left as they are: `build` brings them up to date.

        Returns:
            One outcome per document that was built.

        """
        entries = self.outdated(decision)[0]
        if not entries:
            return []
        return self._run([decision.graph], listener, stop=stop).build(entries)

    def drop(
        self, name: str, *documents: str, dry: bool = False
    ) -> list[tuple[Entry | None, list[str]]]:
        """Remove a graph, and the graphs that rest on it, from documents.

        Args:
            name: The graph.
            *documents: Ids, titles or files. If none is named, the graph is removed from all
                documents, and graphs of the whole collection that rest on it are removed as well.
            dry: Remove nothing, and only say what would be removed.

        Returns:
            The documents that had it, each with the graphs that were removed; None in place of a
            document stands for the collection itself.

        Raises:
            NotFound: There is no such document.
            SettingsError: There is no such graph, or it is the text.

        """
        if name == TEXT:
            raise SettingsError(
                "The text cannot be dropped, as all graphs rest on it; `fabula remove` removes the "
                "whole document."
            )
        entries = [self.document(document) for document in documents]
        entries = entries or list(self.store.documents(self.name))
        installed = graphs()
        of_collection = self.store.collection_parts(self.name)
        built = {graph_name for entry in entries for graph_name in entry.graphs}
        if name not in {*installed, *of_collection, *built}:
            graph(name)  # raises the error that names the nearest graph
        removed = with_dependents(installed, {name})
        if documents and name in of_collection:
            raise SettingsError(f"{name} belongs to the whole collection: name no document.")
        dropped: list[tuple[Entry | None, list[str]]] = [
            (entry, names) for entry in entries if (names := sorted(removed & entry.graphs.keys()))
        ]
        if not documents and (names := sorted(removed & of_collection.keys())):
            dropped.append((None, names))
        if not dry:
            for owner, names in dropped:
                id = owner.id if owner else ""
                self.store.drop([Owner(self.name, graph_name, id) for graph_name in names])
        return dropped

    def remove(self, *names: str) -> list[Entry]:
        """Remove documents of the collection, named by id, whole title or file.

        Raises:
            NotFound: There is no such document. Then none is removed.

        """
        entries = {entry.id: entry for entry in (self.document(name, whole=True) for name in names)}
        for document in entries:
            self.store.remove(self.name, document)
        return list(entries.values())

    def reembed(self, progress: Progress | None = None, *, stop: Stop | None = None) -> Reembedded:
        """Replace the collection's embeddings by those of the settings' model.

        Questions are answered meanwhile. A run that was stopped is continued. If the settings name
        the model that the collection has, an unfinished run for another model is given up.

        Raises:
            NotFound: Nothing has been ingested.
            StoreError: Another run is at work.
            Stopped: `stop` was set.

        """
        from fabula.build.outcome import SilentProgress
        from fabula.build.reembed import ReembedRun

        meter, stop = Meter(self.models.counter), stop or Stop()
        models = self.models.view(stop=stop)
        embedder = models.counted_embedder(meter)
        uncached = models.counted_embedder(meter, cached=False)
        progress = progress or SilentProgress()
        run = ReembedRun(
            self.app.connect(stop),
            self.name,
            embedder,
            uncached,
            models.workers,
            meter,
            progress,
            stop,
        )
        return run.run()

    # Reading

    def documents(self) -> Documents:
        """Return the documents of the collection by title; they are read page by page."""
        return Documents(self.store, self.name)

    def document(self, name: str, *, whole: bool = False) -> Entry:
        """Return the document of this id, title or file name.

        A part of a title is enough if no other title has it, unless `whole`.

        Raises:
            NotFound: There is none, or more than one.

        """
        return find_document(self.store, self.name, name, whole=whole, is_path=self._takes_paths)

    def space(self) -> Space | None:
        """Return the embedding space of the collection; None if nothing was ever written to it."""
        return self.store.space(self.name)

    def layers(self, document: str) -> list[Layer]:
        """Return how many passages a document has by kind, aspect and level."""
        return self.store.layers(self.name, self.document(document).id)

    def stale(self, entry: Entry) -> dict[str, list[str]]:
        """Return what has changed since each graph of a document was built, by the graphs' names.

        A graph that is up to date with the settings in force is left out.
        """
        installed = graphs()
        built = [installed[name] for name in installed if name in entry.graphs]
        followed = decisions_by_graph(built, self.decisions(), entry.id, entry.graphs)
        return differences_of(entry, self.models.recipes(entry.sha256, built, decisions=followed))

    def settled(self) -> list[Settled]:
        """Return the graphs of the collection itself, by name."""
        records = self.store.collection_parts(self.name)
        installed = graphs()
        entries = list(self.documents()) if records.keys() & installed.keys() else []
        return [
            Settled(name, record, self._differences(installed[name], record, entries, records))
            for name, record in records.items()
            if name in installed
        ]

    def decisions(self) -> list[Decision]:
        """Return what people decided about the collection's graphs, undone decisions included."""
        from fabula.store.decisions import read_decisions

        return read_decisions(self.store, self.name)

    def gaps(self, document: str) -> dict[str, list[Gap]]:
        """Return the gaps of a document, which no model gave, by its graphs' names."""
        return self.store.gaps(self.name, self.document(document).id)

    def check(self, document: str = "") -> Findings:
        """Return what is wrong with the collection, or with one document by id, title or file."""
        from fabula.store.integrity import check

        id = self.document(document).id if document else ""
        return check(self.store, graphs().values(), self.name, id)

    def export(
        self,
        file: str | Path,
        document: str = "",
        *,
        format: str = "",
        embeddings: bool = False,
    ) -> Written:
        """Write the collection, or one document, to a file.

        Args:
            file: The path of the file.
            document: An id, title or file; '' for the whole collection.
            format: The format, as jsonl or graphml; '' for the one that the file's name ends in.
                ttl and nt are RDF, which has facts, events and discourse relations alone.
            embeddings: Write the embeddings as well, which only jsonl can hold.

        Raises:
            FabulaError: The file can't be written.
            NotFound: There is nothing to write.
            StoreError: A document changes meanwhile.
            SpaceError: The embeddings are being replaced at the moment.

        """
        from fabula.export.files import write_graph
        from fabula.export.rdf import rdf_format, write_rdf
        from fabula.store.export_reader import ExportReader

        if rdf := rdf_format(Path(file), format):
            return write_rdf(self._typed_rows(document), self.name, Path(file), rdf)
        entries = [self.document(document)] if document else list(self.store.documents(self.name))
        if not entries:
            raise empty_collection_error(self.name)
        exported = ExportReader(self.store, entries, whole=() if document else (self.name,))
        return write_graph(exported, Path(file), format, embeddings=embeddings)

    def _typed_rows(self, document: str) -> TypedRows:
        """What a document, or with '' the collection, has for RDF."""
        from fabula.export.rdf import TypedRows

        within = self.document(document).id if document else ""
        place: dict[str, Any] = {"collection": self.name, "document": within}
        rows = TypedRows(
            self.store.rows("facts/find_facts", **place, name="", relation="", limit=ALL_ROWS),
            self.store.rows("discourse/find_events", **place),
            self.store.rows("discourse/find_links", **place),
        )
        if not (rows.facts or rows.events or rows.links):
            raise NotFound(
                f"RDF has facts, events and discourse relations, of which there are none in "
                f"{document or f'collection {self.name!r}'}.",
                advice="Run `fabula build facts` or `fabula build discourse` first.",
            )
        return rows

    def sources(self, hits: Sequence[Hit]) -> dict[str, list[Stretch]]:
        """Return the chunks that each hit rests on, in text order, by the hits' ids."""
        return self.store.sources(self.name, [hit.id for hit in hits])

    def read(self, document: str, at: str | int = "") -> Reading:
        """Return the text of a document around a place.

        Args:
            document: An id, title or file.
            at: Characters as 120-340, a chunk's number, a section's heading, or the id of a
                passage; for a summary or a detail, the text that it rests on is returned. '' is the
                beginning.

        Raises:
            NotFound: There is no such document or place.

        """
        from fabula.app.reading import read

        return read(self.store, self.document(document), str(at))

    def structure(self, document: str) -> TextStructure:
        """Return where a document's sections, printed pages and numbered lines begin.

        Args:
            document: An id, title or file.

        Raises:
            NotFound: There is no such document.

        """
        return self.store.structure(self.document(document))

    def read_again(self, document: Entry) -> ReadingChange | None:
        """Return what another ingest of a document's file would change in its text.

        Nothing is written. It is None where the file is not on this machine.
        """
        from fabula.app.rereading import read_again

        return read_again(self.store, document, self.settings.max_file_mb * 1_000_000)

    def cypher(
        self, query: str, /, *, seconds: float | None = 60.0, **parameters: Any
    ) -> list[dict[str, Any]]:
        """Return the rows of a query for analysts, or of a statement in Cypher. It may only read.

        Args:
            query: The name of a shipped query, or a statement. A statement stays in this collection
                by its parameter `$collection`, which is filled in.
            seconds: How long it may take; None for any time.
            **parameters: The values of its parameters.

        Returns:
            Dictionaries of values as JSON holds them; a node is one of its `labels` and
            `properties`.

        Raises:
            NotFound: There is no query of this name.
            FabulaError: A parameter is missing or wrong.
            StoreError: Neo4j refuses it.

        """
        from fabula.graph.explore import parse_query, shipped_query
        from fabula.store.user_query import run_user_query

        parsed = parse_query(query) if len(query.split()) > 1 else shipped_query(query)
        if "collection" in {parameter.name for parameter in parsed.parameters}:
            parameters = {"collection": self.name, **parameters}
        table = run_user_query(
            self.store, parsed.statement, parsed.fill(parameters), timeout_seconds=seconds
        )
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    # Asking

    def retrieve(
        self,
        question: str | Query,
        *,
        meter: Meter | None = None,
        path: Trace | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> list[Hit]:
        """Return the passages that serve a question best, best first.

        Args:
            question: The question, as text or as a `Query`.
            meter: Counts what is asked of models.
            path: Records each step of retrieval.
            stop: Set from any thread, it ends the calls to models and raises Stopped.
            **options: Options of a `Query`, in place of the settings' defaults.

        Raises:
            NotFound: The collection has no documents, or no such document, aspect or kind.
            FabulaError: The question is empty.

        """
        query = self._query(question, {**options, "fill": False})
        self.app.connect(stop)
        filters = self._filters(query)
        models, meter, path = self._asking(stop), meter or Meter(), path or Trace()
        result = answering.find(query, filters, self.store, models, meter, path)
        if not result.hits:
            self._explain_nothing_found(query, filters)
        return [*result.hits]

    def context(
        self,
        question: str | Query,
        *,
        meter: Meter | None = None,
        path: Trace | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> list[Passage]:
        """Return what an answer is given to read, numbered as it cites it; see `retrieve`."""
        query = self._query(question, options)
        self.app.connect(stop)
        filters = self._filters(query)
        models, meter, path = self._asking(stop), meter or Meter(), path or Trace()
        context = answering.read(query, filters, self.store, models, meter, path)
        if not context:
            self._explain_nothing_found(query, filters)
        return context

    def stream(
        self,
        question: str | Query,
        *,
        history: Sequence[Turn] = (),
        meter: Meter | None = None,
        path: Trace | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> AnswerStream:
        """Return an answer as it is written; takes and raises what `retrieve` does.

        The passages are found before this returns; the answer's pieces come by iterating. `stop` is
        set when the stream is closed; if it is set earlier, it ends the search as well.

        Args:
            question: The question, as text or as a `Query`.
            history: The previous turns of a conversation, on which the question may lean: it is
                searched with as it would stand alone.
            meter: Counts what is asked of models.
            path: Records each step of retrieval.
            stop: Ends the search or the answer, from any thread.
            **options: Options of a `Query`, in place of the settings' defaults.

        """
        query = self._query(question, options)
        stop = stop or Stop()
        self.app.connect(stop)
        filters = self._filters(query)
        stream = answering.answer(
            query,
            filters,
            self.store,
            self._asking(stop),
            meter or Meter(),
            path or Trace(),
            history=latest_turns(history, self.settings.history_tokens),
            stop=stop,
        )
        if not stream.hits:
            self._explain_nothing_found(query, filters)
        return stream

    def expect_query(
        self,
        question: str | Query,
        *,
        meter: Meter | None = None,
        path: Trace | None = None,
        **options: Any,
    ) -> Mapping[str, Usage]:
        """Return what answering a question would ask of models, by step; no model is asked.

        Replies are not known in advance: placeholders of usual lengths stand for those that the
        response cache does not have. Of modes that decide by replies how much they ask (`dynamic`,
        `drift`), it is about the most that they may ask.

        Args:
            question: The question, as text or as a `Query`.
            meter: Counts the calls.
            path: Records each step of retrieval.
            **options: Options of a `Query`, in place of the settings' defaults.

        Raises:
            NotFound: As `retrieve`.

        """
        from fabula.config.expected_models import ExpectedModels

        query = self._query(question, options)
        self.app.connect(None)
        filters = self._filters(query)
        space = self.space()
        models = ExpectedModels(self._asking(None), space.dimensions if space else 0)
        stream = answering.answer(
            query, filters, self.store, models, meter or Meter(), path or Trace()
        )
        if not stream.hits:
            self._explain_nothing_found(query, filters)
        return stream.answer.usage

    def query(
        self,
        question: str | Query,
        *,
        history: Sequence[Turn] = (),
        stop: Stop | None = None,
        **options: Any,
    ) -> Answer:
        """Return the whole answer, with the passages it cites; takes what `stream` takes."""
        return self.stream(question, history=history, stop=stop, **options).answer

    def chat(self, **options: Any) -> Conversation:
        """Begin a conversation, whose questions may lean on those before.

        `options` are options of a `Query` that hold for all of its questions.
        """
        return Conversation(self, options)

    # Inside

    def _asking(self, stop: Stop | None) -> ModelFactory:
        """Return the models for one question.

        A question is compared with the collection's vectors, so the model that made them embeds it.
        If they are static vectors, they are used whatever model the settings name now: static
        vectors need no endpoint. Any other model may not be reachable from here.
        """
        space = self.space() if self.models.embedder.model != STATIC else None
        is_static = space is not None and space.model == STATIC
        return self.models.view(urgent=True, stop=stop, is_static=is_static)

    def _differences(
        self,
        graph: Graph[Any],
        record: Record,
        entries: Sequence[Entry],
        settled: Mapping[str, Record],
    ) -> tuple[str, ...]:
        try:
            resting_on = complete_documents(graph, entries, settled)
        except NotFound:
            return ("documents",)
        decisions = collection_decisions(graph, self.decisions())
        recipe = self.models.collection_recipe(graph, resting_on, settled, decisions)
        changes = differences(record.made_from, recipe)
        # A document that it rests on is named by its id, which tells a reader nothing.
        return tuple(
            dict.fromkeys(
                "documents" if change.startswith("rests_on.") else change for change in changes
            )
        )

    def _sources(self, paths: Sequence[str | Path], name: str) -> Sources:
        from fabula.load.sources import find_sources

        settings = self.settings
        return find_sources(paths, self.name, settings.max_file_mb, name=name, fetch=settings.fetch)

    def _query(self, question: str | Query, options: Mapping[str, object]) -> Query:
        if isinstance(question, str):
            return Query.of(question, self.settings, **options)
        if not isinstance(question, Query):
            raise TypeError(f"A question is a str or a Query, not {question!r}.")
        values = {field.name: getattr(question, field.name) for field in fields(question)}
        return Query.of(values.pop("question"), self.settings, **{**values, **options})

    def _filters(self, query: Query) -> Filters:
        """Return where to look. Raises NotFound if there is nothing, or no such document."""
        self._refuse_unready()
        document = self.document(query.document).id if query.document else ""
        return query.filters(self.name, document)

    def _refuse_unready(self) -> None:
        """Refuse a collection that is empty, or whose embeddings are of another model."""
        if self._is_ready:
            return
        space = self.space()
        if space is None or not space.documents:
            raise empty_collection_error(self.name)
        if space.model == STATIC:
            # `_asking` has the question embedded by static vectors, too. The collection may be
            # given other embeddings at any time, so this is checked for each question.
            return
        refuse_other_model(space, self.models.embedder.model)
        self._is_ready = True

    def _explain_nothing_found(self, query: Query, filters: Filters) -> None:
        """Raise NotFound if nothing was found because there was nothing to look through."""
        space = self.space()
        if space is None or not space.documents:
            raise empty_collection_error(self.name)
        required = {name: mode(name).graph for name in query.modes if name != AUTO}
        counts = count_parts(self.store, set(required.values()), filters)
        if not required or any(name in counts for name in required.values()):
            return
        if not all(required.values()):  # some mode needs no graph
            return
        name, walked = next(iter(required.items()))
        document = self.document(query.document) if query.document else None
        who = (
            f"{document.title} does not have"
            if document
            else f"no document of collection {self.name!r} has"
        )
        target = f"{walked} {document.id}" if document else walked
        raise NotFound(
            f"Mode {name} needs the graph {walked!r}, which {who}: build that graph, or choose "
            "another mode.",
            advice=f"Run `fabula build {target} --collection {self.name}`.",
        )

    def _run(
        self,
        names: str | Sequence[str] | None,
        listener: Listener | None,
        rebuild: bool = False,
        strict: bool = False,
        dry: bool = False,
        kit: ModelFactory | None = None,
        stop: Stop | None = None,
    ) -> BuildRun:
        from fabula.build.outcome import SilentListener
        from fabula.build.run import BuildRun

        names = self.settings.graphs if names is None else names
        requested = [graph(name).name for name in ([names] if isinstance(names, str) else names)]
        if of_collection := [name for name in requested if graph(name).build_collection]:
            raise SettingsError(
                f"{of_collection[0]} belongs to the whole collection, and no ingest builds it: run "
                f"`fabula build {of_collection[0]}` once the documents are there."
            )
        self.app.connect(stop)
        space = self.space()
        if space and (space.documents or space.phase):
            # Refuse it before anything is paid for.
            refuse_reembedding(space)
            refuse_other_model(space, self.models.embedder.model)
        if space is None:
            refuse_collection(self.name)
        stop = stop or Stop()
        return BuildRun(
            store=self.store,
            models=(kit or self.models).view(stop=stop),
            collection=self.name,
            names=requested,
            listener=listener or SilentListener(),
            rebuild=rebuild,
            strict=strict,
            dry=dry,
            stop=stop,
        )
