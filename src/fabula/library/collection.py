"""A collection: what the command line, programs and the service use to reach one tenant's data."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from fabula.ask import answering
from fabula.ask.answer import Answer, AnswerStream
from fabula.ask.history import latest_turns
from fabula.ask.mode_runs import refuse_unbuilt
from fabula.ask.query import Query
from fabula.ask.scope import AskedTurn, QuestionScope, known_turns
from fabula.config.embedding_space import for_building, for_questions, name_space
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import Changed, LoadError, NotFound, SettingsError
from fabula.graph import Record, differences
from fabula.graph.decisions import Decision
from fabula.graph.entries import Entry
from fabula.graph.hits import NO_LIMIT, Filters, Hit, Passage, Source
from fabula.graph.installed import graph, graphs, refuse_without_model
from fabula.graph.method import Graph
from fabula.graph.reading_place import ReadingPlace
from fabula.graph.trace import Trace
from fabula.library.catalogue import Documents, empty_collection_error, find_document
from fabula.library.resources import Resources
from fabula.models import Turn
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store.embedding_space import (
    Space,
    describe_other_prefix,
    refuse_collection,
    refuse_other_model,
    refuse_reembedding,
)
from fabula.text.names import name_problem, quote_name

# What no question needs is imported in the methods that use it: `fabula query` imports this module,
# and takes longer to import than to answer.
if TYPE_CHECKING:
    from fabula.ask.retrieve import RetrievalResult
    from fabula.build.options import BuildOptions
    from fabula.build.outcome import Outcome
    from fabula.build.reembed import Reembedded
    from fabula.build.renew import Damage
    from fabula.build.run import BuildRun
    from fabula.export.files import Written
    from fabula.export.until import ReadSoFar
    from fabula.graph.explore import AnalystQuery
    from fabula.library.annotating import ImportedAnnotations
    from fabula.library.reading import Reading
    from fabula.library.volumes import ReadVolumes
    from fabula.load.source import DocumentSource
    from fabula.models.placeholders import DryRun
    from fabula.models.progress import Progress
    from fabula.store import Store
    from fabula.store.integrity import CheckFindings
    from fabula.store.user_query import QueryTable
    from fabula.text.document import Document

LOG = logging.getLogger("fabula")


class Conversation:
    """Questions to a collection, each asked with the previous questions and their answers.

    Once a question has a place (`until`), answers that rest on later text are no longer given to
    the model with it. `Collection.chat` makes it. Use it from one thread.

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
        turns = [stream.turn for stream in self._streams if stream.text]
        stream = self.collection.stream(question, history=turns, **options)
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

    def forget(self) -> None:
        """Start again: the next question does not refer to earlier ones."""
        self._streams.clear()


@dataclass(frozen=True, slots=True)
class CollectionGraph:
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

    Attributes:
        place: The place of a reader, which `as_read` gives; None for a reader of everything.
    """

    def __init__(
        self,
        app: Resources,
        name: str,
        models: ModelFactory | None = None,
        *,
        takes_paths: bool = True,
        settings: Settings | None = None,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"The name of a collection is a str, not {name!r}.")
        if fault := name_problem(name):
            raise SettingsError(f"The name of the collection, {quote_name(name)}, {fault}.")
        self.app = app
        self._name = name
        self.models = models or app.models
        """The models with which graphs of the collection are built."""
        self._settings = settings or app.settings
        self._takes_paths = takes_paths
        """Whether a document may be named by the path of its file on this machine."""
        self._is_ready = False
        self.place: ReadingPlace | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def name(self) -> str:
        """Its name, which is no other's."""
        return self._name

    @property
    def settings(self) -> Settings:
        """The settings of the process, or those that the collection was opened with."""
        return self._settings

    def open_store(self) -> Store:
        """Return the graph that the collection is in: the first call connects, as `store_of` does.

        What is asked of it names the collection, and it answers as far as the reader has read.
        """
        store = self.app.store_of(self.name)
        return store.within(self.place) if self.place else store

    # A reader's place

    def as_read(self, document: str, place: str) -> Collection:
        """Return the collection as somebody knows it who has read a document up to a place.

        Nothing of what comes later is found, read, drawn or written, and no other document.

        Args:
            document: An id, title or file; '' for the only document of the collection.
            place: A section, a page, a share, words of the text, or a character, as "Stave Two" or
                "40%"; '' is the end, so that the collection itself is returned.

        Raises:
            InvalidPlace: `place` can't be a place in any text.
            NotFound: There is no such document or place, it is the name of several, or no document
                is named and the collection has several.
        """
        if not place:
            return self
        read = copy(self)
        read.place = self.reading_place(place, document)
        if self.place and self.place.end < read.place.end:
            read.place = self.place
        return read

    def reading_place(self, place: str, document: str = "") -> ReadingPlace:
        """Return a place of a document in which a reader is; takes and raises what `as_read` does.

        It isn't restricted to what was read.
        """
        from fabula.library.catalogue import find_only_document
        from fabula.library.reading_place import check_place, find_reading_place

        check_place(place)
        store = self.open_store().whole
        if document or self.place:
            return find_reading_place(store, self.document(document), place)
        return find_reading_place(store, find_only_document(store, self.name, place), place)

    def filters(self, document: str = "") -> Filters:
        """Return filters for `Store.read`: a document by id, title or file, or all with ''.

        For a reader with a place it is the document that is read.
        """
        if self.place and document in ("", self.place.document.id):
            return Filters(self.name, self.place.document.id)
        return Filters(self.name, self.document(document).id if document else "")

    # Writing

    def ingest(
        self,
        *paths: str | Path,
        graphs: str | Sequence[str] | None = None,
        name: str = "",
        as_one: bool = False,
        **options: Unpack[BuildOptions],
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
            name: The name of the document from standard input; otherwise 'standard input'.
            as_one: Whether the files of a folder are the parts of one document.
            **options: See `BuildOptions`. With `dry` nothing is written.

        Returns:
            One outcome per file, in order, however often it is named, then one per file in a folder
            or zip that is skipped, as no reader knows it, or for the reason in its notes, and one
            per document of a folder whose file has gone. A file that cannot be read is a failed
            outcome, and the others go on.

        Raises:
            SettingsError: A graph does not exist, or a setting has a bad value.
            ServerError: The private Neo4j cannot be started.
            StoreError: Neo4j failed.
            ClusterError: The cluster can't be reached, or its workers can't do the work.
            ModelError: The model endpoint failed. These five end the run.
        """
        from fabula.build.outcome import Outcome
        from fabula.load.sources import find_gone, find_sources

        limit, fetch = self.settings.max_file_mb, self.settings.fetch
        sources = find_sources(paths, self.name, limit, name=name, fetch=fetch, as_one=as_one)
        outcomes = self.ingest_sources(sources.read, graphs=graphs, **options)
        there = () if options.get("dry") else self.documents()
        gone = find_gone(paths, ((entry.id, entry.source) for entry in there))
        return outcomes + [
            Outcome(source, "skipped", notes=(why,) if why else ())
            for source, why in (sources.skipped | gone).items()
        ]

    def ingest_sources(
        self,
        sources: Sequence[DocumentSource],
        *,
        graphs: str | Sequence[str] | None = None,
        **options: Unpack[BuildOptions],
    ) -> list[Outcome]:
        """Do what `ingest` does, for documents that a program reads in its own way."""
        return self._run(graphs, **options).ingest(sources)

    def append(
        self, document: str, *paths: str | Path, name: str = "", **options: Unpack[BuildOptions]
    ) -> list[Outcome]:
        """Continue a document with the texts of files, one after the other, as a serial grows.

        Places in its text stay what they were, and only what the new text changes is made: its
        chunks, the summaries that they are in, its entities. A file that it was continued with
        before changes nothing. What comes after a file that fails, fails as well.

        Args:
            document: An id, title or file.
            *paths: As `ingest` takes them, in the order of the story.
            name: The name of the text from standard input.
            **options: See `BuildOptions`.

        Returns:
            One outcome per file, in order, until one was stopped or waits for batches.

        Raises:
            NotFound: There is no such document.
        """
        from fabula.load.sources import find_sources

        limit, fetch = self.settings.max_file_mb, self.settings.fetch
        sources = find_sources(paths, self.name, limit, name=name, fetch=fetch)
        return self.append_sources(document, sources.read, **options)

    def append_sources(
        self, document: str, sources: Sequence[DocumentSource], **options: Unpack[BuildOptions]
    ) -> list[Outcome]:
        """Do what `append` does, for texts that a program reads in its own way."""
        from fabula.library.annotating import read_text_of
        from fabula.load.continuation import continue_source

        id = self.document(document).id
        outcomes: list[Outcome] = []
        failed = ""

        def read_known() -> Document:
            return read_text_of(self.open_store(), self.document(id))

        for source in sources:
            whole = continue_source(source, read_known, failed)
            [outcome] = self.ingest_sources([whole], graphs=[], **options)
            outcomes.append(outcome)
            if outcome.status in ("stopped", "waiting"):
                break
            if outcome.status == "failed":
                failed = failed or source.name
        return outcomes

    def ingest_text(
        self,
        text: str,
        *,
        source: str,
        title: str = "",
        author: str = "",
        language: str = "",
        **options: Unpack[BuildOptions],
    ) -> Outcome:
        """Add a text as a document, which is known by its `source`: where the text is from.

        Raises:
            LoadError: The text has no words or no source.
            BadReply: A model's replies stay malformed, so that more than one piece and over a tenth
                of a graph is missing.
        """
        from fabula.load import read_text
        from fabula.load.source import DocumentSource

        if not isinstance(text, str):
            raise TypeError(f"The text is not a str but {text!r}: `ingest` reads files.")
        if not source.strip():
            raise LoadError("The text has no source: say where it is from, as it is known by that.")
        metadata = {"title": title, "author": author, "language": language}
        read = partial(read_text, text, source=source, collection=self.name, **metadata)
        [outcome] = self.ingest_sources([DocumentSource(source, read)], **options)
        if outcome.error:
            raise outcome.error
        return outcome

    def renew(self, only: Damage = "", **options: Unpack[BuildOptions]) -> list[Outcome]:
        """Renew what is damaged: indexes, vectors, gaps, and parts that are stale or wrong.

        Texts stay as they are, and what is sound is neither read nor asked for again. A graph that
        was built with other settings or models is built again with those in force, as `build` does.

        Args:
            only: The kind of damage to renew; '' for all.
            **options: See `BuildOptions`.

        Returns:
            One outcome for the indexes, one for the vectors, one per document with damaged graphs,
            and one per graph of the collection itself that is damaged.
        """
        from fabula.build.renew import Renewal

        run, space = self._run([], **options), self.space()
        if space is None:
            return []
        entries, own = list(self.documents()), self.collection_graphs()
        renewal = Renewal(
            run,
            space,
            self.check(),
            entries,
            self.stale_of(entries) if entries else {},
            {each.graph: each.record for each in own},
            [each.graph for each in own if each.stale],
            only,
        )
        return renewal.renew()

    def build(self, name: str, *documents: str, **options: Unpack[BuildOptions]) -> list[Outcome]:
        """Build a graph, and the graphs that it rests on, for documents of the collection.

        Other graphs stay as they are, except for those that rest on it. What was built from the
        same before is left as it is, but its gaps are asked for again.

        Args:
            name: The graph. One that belongs to the whole collection is made from what all
                documents have.
            *documents: Ids, titles or files; all documents if none is named. None can be named for
                a graph of the whole collection.
            **options: See `BuildOptions`.

        Raises:
            NotFound: There is no such document, or the collection is empty.
            SettingsError: There is no such graph, or it needs a chat model and there is none.
        """
        requested = graph(name)
        store = self.app.store_of(self.name, options.get("stop"))
        if requested.build_collection:
            if documents:
                raise SettingsError(f"{name} belongs to the whole collection: name no document.")
            if not store.count(self.name, 1)[0]:
                raise empty_collection_error(self.name)
            return self._run([], **options).build_collection(requested)
        chosen = {entry.id: entry for entry in map(self.document, documents)}
        entries = list(chosen.values()) or list(store.documents(self.name))
        if not entries:
            raise empty_collection_error(self.name)
        run = self._run([name], **options)
        return run.build([(entry, run.names) for entry in entries])

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
        run = ReembedRun(
            self.app.store_of(self.name, stop),
            self.name,
            models.counted_embedder(meter),
            models.counted_embedder(meter, cached=False),
            models.workers,
            meter,
            progress or SilentProgress(),
            stop,
        )
        return run.run()

    # Reading

    def documents(self) -> Documents:
        """Return the documents of the collection by title; they are read page by page."""
        return Documents(self.open_store(), self.name)

    def document(self, name: str) -> Entry:
        """Return the document of this id, title or file name.

        A part of a title is enough if no other title has it. For a reader with a place it is the
        document that is read, which '' names as well.

        Raises:
            Changed: The document was replaced since the reader's place was found.
            NotFound: There is none, more than one, or it is not the one that is read.
        """
        read = self.place.document if self.place else None
        name = name or (read.id if read else "")
        entry = find_document(self.open_store(), self.name, name, is_path=self._takes_paths)
        if read and entry.id != read.id:
            raise NotFound(f"What is read up to a place is {read.title}, and not {entry.title}.")
        if read and entry.sha256 != read.sha256:
            raise Changed(f"{entry.title} was replaced: say again up to where it is read.")
        return entry

    def space(self) -> Space | None:
        """Return the embedding space of the collection; None if nothing was ever written to it."""
        return self.open_store().space(self.name)

    def stale(self, entry: Entry) -> dict[str, list[str]]:
        """Return what has changed since each graph of a document was built, by the graphs' names.

        A graph that is up to date with the settings in force is left out.
        """
        return self.stale_of([entry])[entry.id]

    def stale_of(self, entries: Sequence[Entry]) -> dict[str, dict[str, list[str]]]:
        """Return the same of several documents by their ids, for as many queries as of one."""
        from fabula.config.recipes import make_recipes
        from fabula.graph.recipes import decisions_by_graph, differences_of
        from fabula.store.annotations import read_records

        installed, decisions, settings = graphs(), self.decisions(), self._building()
        built = {
            entry.id: [installed[name] for name in installed if name in entry.graphs]
            for entry in entries
        }
        layers: dict[str, dict[str, str]] = {}
        if any(graph.imports for of_document in built.values() for graph in of_document):
            one = entries[0].id if len(entries) == 1 else ""
            for record in read_records(self.open_store(), self.name, one):
                layers.setdefault(record.document, {})[record.name] = record.digest
        stale = {}
        for entry in entries:
            own = built[entry.id]
            followed = decisions_by_graph(own, decisions, entry.id, entry.graphs)
            known = layers.get(entry.id, {})
            recipes = make_recipes(settings, entry.sha256, own, decisions=followed, layers=known)
            stale[entry.id] = differences_of(entry, recipes)
        return stale

    def collection_graphs(self) -> list[CollectionGraph]:
        """Return the graphs that belong to the collection as a whole, by name."""
        records = self.open_store().collection_parts(self.name)
        installed = graphs()
        entries = list(self.documents()) if records.keys() & installed.keys() else []
        return [
            CollectionGraph(
                name, record, self._differences(installed[name], record, entries, records)
            )
            for name, record in records.items()
            if name in installed
        ]

    def decisions(self) -> list[Decision]:
        """Return what people decided about the collection's graphs, undone decisions included."""
        from fabula.store.decisions import read_decisions

        return read_decisions(self.open_store(), self.name)

    def check(self, document: str = "") -> CheckFindings:
        """Return what is wrong with the collection, or with one document by id, title or file."""
        from fabula.store.integrity import check

        entries = [self.document(document)] if document else list(self.documents())
        id = entries[0].id if document else ""
        findings = check(self.open_store(), graphs().values(), self.name, id)
        stale = sum(map(len, self.stale_of(entries).values())) if entries else 0
        if not document:
            own = self.collection_graphs()
            stale += sum(bool(each.stale) for each in own)
            gaps = findings.counts["gaps"] + sum(each.record.gaps for each in own)
            findings = replace(findings, counts={**findings.counts, "gaps": gaps})
        return replace(findings, counts={**findings.counts, "stale": stale})

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
                Packages bring others (`fabula.export.export_formats`).
            embeddings: Write the embeddings as well, which only jsonl can hold.

        Raises:
            FabulaError: The file can't be written, or embeddings are wanted of what was read.
            NotFound: There is nothing to write.
            StoreError: A document changes meanwhile.
            SpaceError: The embeddings are being replaced at the moment.
        """
        from fabula.export.export_formats import find_export_format
        from fabula.export.files import write_graph
        from fabula.store.export_reader import ExportReader

        if (other := find_export_format(Path(file), format)) and not embeddings:
            return other.write(self, document, Path(file))
        if self.place and embeddings:
            raise SettingsError("Embeddings are of whole texts: leave them out, or --until.")
        if self.place:
            return write_graph(self.read_so_far(document), Path(file), format)
        entries = (
            [self.document(document)] if document else list(self.open_store().documents(self.name))
        )
        if not entries:
            raise empty_collection_error(self.name)
        exported = ExportReader(self.open_store(), entries, whole=() if document else (self.name,))
        return write_graph(exported, Path(file), format, embeddings=embeddings)

    def export_whole(self, file: str | Path) -> Written:
        """Write all that the collection holds to a file, for `App.import_collection`.

        It has the embeddings, the corrections and the annotations, too, and all ids.

        Raises:
            FabulaError: The file can't be written.
            NotFound: There is nothing to write.
            Changed: The collection was changed meanwhile.
            SpaceError: The embeddings are being replaced at the moment.
        """
        from fabula.export.collection_file import write_collection_file
        from fabula.store.whole_collection import read_collection

        self._refuse_place()
        return write_collection_file(Path(file), read_collection(self.open_store(), self.name))

    def read_so_far(self, document: str, reader: type[ReadSoFar] | None = None) -> ReadSoFar:
        """Return what was read of a document, for an export; `reader` may leave something out."""
        from fabula.export.until import ReadSoFar
        from fabula.store.part_reader import read_parts

        store, entry = self.open_store(), self.document(document)
        structure = store.structure(entry)
        return (reader or ReadSoFar)(entry, structure, read_parts(store, entry, entry.graphs))

    def sources(self, hits: Sequence[Hit]) -> dict[str, list[Source]]:
        """Return the chunks that each hit rests on, in text order, by the hits' ids."""
        return self.open_store().sources(self.name, [hit.id for hit in hits])

    def read(self, document: str, at: str | int = "") -> Reading:
        """Return the text of a document around a place.

        Args:
            document: An id, title or file.
            at: Characters as 120-340, a chunk's number, a section's heading, or the id of a
                passage; for a summary or a detail, the text that it rests on is returned. '' is the
                beginning.

        Raises:
            NotFound: There is no such document or place, or it comes after what was read.
        """
        from fabula.library.reading import read

        return read(self.open_store(), self.document(document), str(at))

    def read_volumes(self, place: str, document: str = "") -> ReadVolumes | None:
        """Return the documents up to the one that `place` names: the volumes that were read.

        It is None if a document is named as well, or the collection has a single one: then `place`
        is one in its text.

        Raises:
            NotFound: Several documents have the name.
        """
        if document or not place or self.place:
            return None
        from fabula.library.volumes import find_read_volumes

        return find_read_volumes(self.open_store(), self.name, place)

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
            NotFound: There is no query, document or place of this name.
            FabulaError: A parameter is missing or wrong.
            StoreError: Neo4j refuses it.
        """
        from fabula.graph.explore import parse_query, shipped_query

        parsed = parse_query(query) if len(query.split()) > 1 else shipped_query(query)
        table = self.run_query(parsed, parameters, timeout_seconds=seconds)
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    def run_query(self, query: AnalystQuery, given: Mapping[str, Any], **limits: Any) -> QueryTable:
        """Run a query as far as the collection, or what its parameters say, was read.

        Args:
            query: The query.
            given: Values of its parameters; others have their defaults, and `collection` has the
                name of this one.
            limits: What `run_user_query` takes.

        Raises:
            NotFound: There is no such document or place, or nothing in the collection.
            FabulaError: A parameter is missing or wrong.
            StoreError: Neo4j refuses it.
        """
        from fabula.graph.explore import COLLECTION
        from fabula.library.catalogue import refuse_missing
        from fabula.store.user_query import run_user_query

        if COLLECTION in {parameter.name for parameter in query.parameters}:
            given = {COLLECTION: self.name, **given}
        read, values = self._resolve_place(query.fill(given))
        table = run_user_query(read.open_store(), query.statement, values, **limits)
        if not table.rows and query.no_rows:
            named = [each.name for each in query.parameters if each.names_document]
            refuse_missing(
                self.open_store(), self.name, [str({**values, **given}[name]) for name in named]
            )
        return table

    def _resolve_place(self, values: Mapping[str, Any]) -> tuple[Collection, dict[str, Any]]:
        """Return the collection up to the place that parameters of a query name, and these."""
        read: Collection = self
        if {"document", "until"} <= values.keys():
            if values["until"] != NO_LIMIT:
                read = self.as_read(str(values["document"] or ""), str(values["until"]))
            if read.place:
                return read, {**values, "document": read.place.document.id, "until": read.place.end}
        # Without a document a statement of somebody's own may mean anything by `until`.
        if read.place:
            raise SettingsError("This query can't be restricted to what was read of a document.")
        return read, dict(values)

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
        query = self.make_query(question, {**options, "fill": False})
        result, _ = self.find(query, meter=meter, path=path, stop=stop)
        return [*result.hits]

    def find(
        self,
        query: Query,
        *,
        meter: Meter | None = None,
        path: Trace | None = None,
        stop: Stop | None = None,
    ) -> tuple[RetrievalResult, Filters]:
        """Return all that was found for a question, and where was looked; see `retrieve`."""
        read, filters, space = self._aim(query, stop)
        models, meter, path = self._asking(space, stop), meter or Meter(), path or Trace()
        result = answering.find(query, filters, read.open_store(), models, meter, path)
        if not result.hits:
            self._explain_nothing_found(query, filters)
        return result, filters

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
        query = self.make_query(question, options)
        read, filters, space = self._aim(query, stop)
        models, meter, path = self._asking(space, stop), meter or Meter(), path or Trace()
        context = answering.read(query, filters, read.open_store(), models, meter, path)
        if not context:
            self._explain_nothing_found(query, filters)
        return context

    def stream(
        self,
        question: str | Query,
        *,
        history: Sequence[Turn | AskedTurn] = (),
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
                searched with as it would stand alone. If the question has a place (`until`), only
                turns that say what they were asked of (`AnswerStream.turn`), and rest on nothing
                later, are used.
            meter: Counts what is asked of models.
            path: Records each step of retrieval.
            stop: Ends the search or the answer, from any thread.
            **options: Options of a `Query`, in place of the settings' defaults.
        """
        query = self.make_query(question, options)
        stop = stop or Stop()
        read, filters, space = self._aim(query, stop)
        turns = known_turns(history, QuestionScope.of(filters, read.place))
        kept: str | None = None
        title = ""
        if turns and self.settings.offline:
            query, filters, kept, title = self._stay_in_document(query, filters, turns)
        stream = answering.answer(
            query,
            filters,
            read.open_store(),
            self._asking(space, stop),
            meter or Meter(),
            path or Trace(),
            history=latest_turns([each.turn for each in turns], self.settings.history_tokens),
            stop=stop,
        )
        from fabula.models.offline.guide import has_unknown_pronoun

        # A question by itself has nothing to be explained, and need not import what explains it.
        is_unclear = turns or has_unknown_pronoun(stream.question, stream.sought)
        if self.settings.offline and is_unclear:
            from fabula.ask.follow_up import describe_follow_up

            stream.note = describe_follow_up(stream.question, stream.sought, kept, title)
        if not stream.hits:
            self._explain_nothing_found(query, filters)
        return stream

    def _stay_in_document(
        self, query: Query, filters: Filters, turns: Sequence[AskedTurn]
    ) -> tuple[Query, Filters, str | None, str]:
        """Keep a follow-up without a model to the document that the last answer is from."""
        from fabula.ask.follow_up import document_of_follow_up
        from fabula.library.volumes import MIN_VOLUMES

        # The last two results: what `document_of_follow_up` says, and the title if added here.
        if filters.is_part:
            return query, filters, None, ""  # the reader said where to look
        kept = document_of_follow_up(query.question, turns)
        if kept is None or self.open_store().count(self.name, MIN_VOLUMES)[0] < MIN_VOLUMES:
            return query, filters, None, ""
        if not kept:
            return query, filters, kept, ""
        # An id may also be the beginning of another one, or that of a document removed since.
        named = self.open_store().find_named(self.name, kept, MIN_VOLUMES, whole=True)
        entry = next((entry for entry in named if entry.id == kept), None)
        if entry is None:
            return query, filters, None, ""
        query = replace(query, document=(entry.id,))
        return query, self._aim(query)[1], kept, entry.title

    def expect_query(
        self,
        question: str | Query,
        **options: Any,
    ) -> Mapping[str, Usage]:
        """Return what answering a question would ask of models, by step; no model is asked.

        Replies are not known in advance: placeholders of usual lengths stand for those that the
        response cache does not have. Of modes that decide by replies how much they ask (`dynamic`,
        `drift`), it is about the most that they may ask.

        Args:
            question: The question, as text or as a `Query`.
            **options: Options of a `Query`, in place of the settings' defaults.

        Raises:
            NotFound: As `retrieve`.
        """
        from fabula.models.placeholders import DryRun

        query = self.make_query(question, options)
        read, filters, space = self._aim(query)
        models = self._asking(space, None, DryRun(space.dimensions if space else 0))
        stream = answering.answer(query, filters, read.open_store(), models, Meter(), Trace())
        if not stream.hits:
            self._explain_nothing_found(query, filters)
        return stream.answer.usage

    def query(
        self,
        question: str | Query,
        *,
        history: Sequence[Turn | AskedTurn] = (),
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

    # Annotations

    def import_annotations(
        self, *files: str | Path, document: str, layer: str = "", format: str = "", by: str = ""
    ) -> ImportedAnnotations:
        """Import annotations of a document from files, as a layer that is kept with it.

        Each is looked for where the file says, and then by its words. What is found nowhere is kept
        as orphaned. A layer of the same name is replaced. `build` with a graph of
        `graphs_of_annotations` makes the layer known to questions.

        Args:
            *files: Paths; several where a format has several files.
            document: An id, title or file.
            layer: The name of the layer; '' for the name of the first file, without its end.
            format: The name of an `AnnotationFormat`; '' to know it by the
                file's name.
            by: Who imports them; '' for the user of this process.

        Raises:
            LoadError: A file can't be read, or has no annotations.
            NotFound: There is no such document.
            SettingsError: There is no such format.
        """
        from fabula.export.annotation_formats import find_format, read_annotation_files
        from fabula.library.annotating import keep_layer

        paths = [Path(file) for file in files]
        found = find_format(format, paths[0])
        limit = self.settings.max_file_mb * 1_000_000
        return keep_layer(
            self.open_store(),
            self.document(document),
            layer or paths[0].name.partition(".")[0],
            read_annotation_files(paths, found, limit),
            source=paths[0].name,
            format=found,
            by=by,
        )

    def graphs_of_annotations(self) -> tuple[str, ...]:
        """Return the names of graphs that are made of annotations: build them after a change."""
        return tuple(name for name, installed in graphs().items() if installed.imports)

    # Inside

    def _asking(
        self, space: Space | None, stop: Stop | None, dry_run: DryRun | None = None
    ) -> ModelFactory:
        """Return the models for one question, which is embedded as the collection was."""
        settings = self.models.settings
        if space is not None:
            settings = for_questions(settings, space.model, self.name)
        return self.models.view(urgent=True, stop=stop, settings=settings, dry_run=dry_run)

    def _building(self) -> Settings:
        """Return the settings by which documents are added to what the collection has."""
        space, settings = self.space(), self.models.settings
        return settings if space is None else for_building(settings, space.model)

    def _differences(
        self,
        graph: Graph[Any],
        record: Record,
        entries: Sequence[Entry],
        collection_parts: Mapping[str, Record],
    ) -> tuple[str, ...]:
        from fabula.config.recipes import make_collection_recipe
        from fabula.graph.recipes import collection_decisions, complete_documents

        try:
            resting_on = complete_documents(graph, entries, collection_parts)
        except NotFound:
            return ("documents",)
        decisions = collection_decisions(graph, self.decisions())
        settings = self._building()
        recipe = make_collection_recipe(settings, graph, resting_on, collection_parts, decisions)
        changes = differences(record.made_from, recipe)
        # A document that it rests on is named by its id, which tells a reader nothing.
        return tuple(
            dict.fromkeys(
                "documents" if change.startswith("rests_on.") else change for change in changes
            )
        )

    def make_query(self, question: str | Query, options: Mapping[str, object]) -> Query:
        """Return a question with these options, and the settings' defaults for all others."""
        if isinstance(question, str):
            return Query.of(question, self.settings, **options)
        if not isinstance(question, Query):
            raise TypeError(f"A question is a str or a Query, not {question!r}.")
        values = {field.name: getattr(question, field.name) for field in fields(question)}
        return Query.of(values.pop("question"), self.settings, **{**values, **options})

    def _aim(
        self, query: Query, stop: Stop | None = None
    ) -> tuple[Collection, Filters, Space | None]:
        """Return the collection as far as the question says it was read, and where to look.

        The third is the embedding space that it has at the moment, as it may be given another.
        """
        self.app.store_of(self.name, stop)
        self._refuse_unready()
        space, read, words = self.space(), self, ""
        if volumes := self.read_volumes(query.until, query.only_document):
            words, named = str(volumes), [entry.id for entry in volumes.entries]
        elif len(query.document) > 1:
            if query.until:
                raise SettingsError("A place is one in a single document: name only one.")
            named = list(dict.fromkeys(self.document(name).id for name in query.document))
        else:
            read = self.as_read(query.only_document, query.until)
            named = [*filter(None, [read.filters(query.only_document).document])]
        if query.where or (space and space.has_off and (words or not named)):
            from fabula.library.chosen import choose_documents

            named = choose_documents(self.open_store(), self.name, query.where, named)
        one = named[0] if len(named) == 1 and not words else ""
        several = () if one else named
        return read, query.filters(self.name, one, several, words), space

    def scope(self, question: str | Query, **options: Any) -> QuestionScope:
        """Return what a question is asked of, with the place of the reader in words.

        Raises:
            NotFound: The collection has no documents, or no such document or place.
        """
        query = self.make_query(question, options)
        read, filters, _ = self._aim(query)
        return QuestionScope.of(filters, read.place)

    def _refuse_place(self) -> None:
        """Refuse what is done with whole texts, as a build is."""
        if self.place:
            raise SettingsError("This collection is as somebody has read it: use the whole one.")

    def _refuse_unready(self) -> None:
        """Refuse a collection that is empty, or whose model is not to be had here."""
        if self._is_ready:
            return
        space = self.space()
        if space is None or not space.has_documents:
            raise empty_collection_error(self.name)
        for_questions(self.models.settings, space.model, self.name)
        # Only this is kept: `_asking` looks at the model for each question.
        self._is_ready = True

    def _explain_nothing_found(self, query: Query, filters: Filters) -> None:
        """Raise NotFound if nothing was found because there was nothing to look through."""
        space = self.space()
        if space is None or not space.has_documents:
            raise empty_collection_error(self.name)
        document = self.document(filters.document) if filters.document else None
        refuse_unbuilt(query.modes, self.open_store(), filters, document)

    def _run(self, names: str | Sequence[str] | None, **options: Unpack[BuildOptions]) -> BuildRun:
        from fabula.build.run import BuildRun

        self._refuse_place()
        if options.get("batch") and options.get("cluster"):
            raise SettingsError("Batches and workers are two ways to build: choose one of them.")
        models = self.models
        names = self.settings.graphs if names is None else names
        requested = [graph(name).name for name in ([names] if isinstance(names, str) else names)]
        if of_collection := [name for name in requested if graph(name).build_collection]:
            raise SettingsError(
                f"{of_collection[0]} belongs to the whole collection, and no ingest builds it: run "
                f"`fabula build {of_collection[0]}` once the documents are there."
            )
        if models.offline:
            refuse_without_model(requested)
        stop = options.setdefault("stop", Stop())
        self.app.store_of(self.name, stop)
        space = self.space()
        if space and (space.has_documents or space.phase):
            # Refuse it before anything is paid for.
            refuse_reembedding(space)
            models = models.view(settings=for_building(models.settings, space.model))
            built, named = name_space(models.settings), name_space(self.models.settings)
            refuse_other_model(space, built)
            if built != named:
                LOG.warning("%s", describe_other_prefix(space, named))
        if space is None:
            refuse_collection(self.name)
        return BuildRun(self.open_store(), models.view(stop=stop), self.name, requested, **options)
