"""A collection: what the command line, a program and later a server hold, bound to one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from fabula.app.catalogue import Documents, choose, nothing_there
from fabula.app.reading import Reading, read
from fabula.app.resources import Resources
from fabula.ask import answering
from fabula.ask.answer import Answer, AnswerStream
from fabula.ask.choosing import count_parts
from fabula.ask.history import latest_turns
from fabula.ask.modes import mode
from fabula.ask.query import AUTO, Query
from fabula.build.outcome import Listener, Muted, Outcome, Silence
from fabula.build.reembed import Reembed, Reembedded
from fabula.build.run import Ingest
from fabula.config.kit import Kit
from fabula.config.settings import STATIC, Settings
from fabula.errors import LoadError, NotFound, SettingsError
from fabula.export.files import Written, write
from fabula.graph import TEXT, Gap, Owner, Record, differences
from fabula.graph.entries import Entry, Layer
from fabula.graph.explore import parse, shipped
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.installed import graph, graphs
from fabula.graph.method import Graph
from fabula.graph.path import Path as Steps
from fabula.graph.recipes import differences_of, resting, with_dependents
from fabula.load import read_text
from fabula.load.source import Source
from fabula.load.sources import Sources, sources
from fabula.models import Turn
from fabula.models.counted import Meter
from fabula.models.progress import Progress
from fabula.models.stop import Stop
from fabula.store import Source as Stretch
from fabula.store import Store
from fabula.store.checks import Findings, check
from fabula.store.exported import Exported
from fabula.store.reading import run
from fabula.store.space import (
    Space,
    refuse_collection,
    refuse_other_model,
    refuse_reembedding,
)
from fabula.text.names import problem, quoted


class Conversation:
    """Questions to a collection, each asked with the previous questions and their answers.

    `Collection.chat` makes it. Use it from one thread.

    Attributes:
        collection: The collection that is asked.
        given: Options of a `Query` that hold for all questions; they may be changed in between.

    """

    def __init__(self, collection: Collection, given: dict[str, Any]) -> None:
        self.collection = collection
        self.given = given
        self._streams: list[AnswerStream] = []

    def ask(self, question: str, **options: Any) -> Answer:
        """Return the whole answer, with the passages it cites; see `Collection.query`."""
        return self.stream(question, **options).answer

    def stream(self, question: str, **options: Any) -> AnswerStream:
        """Return an answer as it is written; what is read of it is part of the conversation."""
        options = {**self.given, **options}
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
    """The documents of one collection, to add to, to ask and to look at; of no other.

    Made by `App.collection`; safe to share between threads.
    """

    def __init__(
        self, app: Resources, name: str, kit: Kit | None = None, *, takes_paths: bool = True
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"A collection's name is a text, not {name!r}.")
        if wrong := problem(name):
            raise SettingsError(f"The name of the collection, {quoted(name)}, {wrong}.")
        self.app = app
        self.name = name
        self.kit = kit or app.kit
        """The models, as they are called for builds of the collection."""
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
        """The graph, of all collections: what is asked of it names this one."""
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
        """Files, and all readable files in folders and zips, as documents of this collection.

        A path may also be the `https://` address of a document, unless the setting `fetch` is off,
        or `-`, standard input, which is known by `name` and otherwise as 'standard input'.

        `graphs` are built of each, the settings' ones if none are named, and those that a document
        has already are brought up to date. What is there already, made from the same, is left as
        it is; what changed takes the place of the old, all or nothing, and what did not change of
        it is used again; with `rebuild` nothing is, as at a first ingest. What a model does not
        give, as its replies stay malformed or are withheld, is a gap, and asked for again by the
        next ingest; with `strict`, and where more than one piece and over a tenth of a graph is
        missing, the document fails. Files that can't be read
        are failed outcomes; the rest goes on. One outcome a file, in order, however often it is
        named, and after them one for each file in a folder or a zip that no reader knows, which is
        skipped. Raises SettingsError, ServerError, StoreError and ModelError, which end the run.

        Once `stop` is set, from any thread, nothing more is begun, here and of no other run. Calls
        under way come to their end, as they are paid for and kept; documents that are not done by
        then are left as they were, and are stopped outcomes. The same ingest goes on from there.
        """
        found = self._sources(paths, name)
        made = self.ingest_sources(
            found.read,
            graphs=graphs,
            rebuild=rebuild,
            strict=strict,
            listener=listener,
            stop=stop,
        )
        return made + [Outcome(one, "skipped") for one in found.skipped]

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
        """What `ingest` does, for documents that a program reads in its own way.

        With `dry` it is what `expect` does.
        """
        return self._run(graphs, listener, rebuild, strict, dry=dry, stop=stop).all(sources)

    def retry(
        self,
        *,
        strict: bool = False,
        dry: bool = False,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """Asks again for the gaps of all documents that have some; an outcome for each of them.

        Their texts stay as they are. A graph that other settings or models made is made anew with
        those in force, as `build` would. `stop` ends it as it ends an ingest.
        """
        lacking = [entry for entry in self.app.reach(stop).documents(self.name) if entry.gaps]
        run = self._run([], listener, strict=strict, dry=dry, stop=stop)
        outcomes = run.retry(lacking)
        for one in self.settled():
            if one.record.gaps:
                outcomes += run.settle(graph(one.graph))
        return outcomes

    def expect(
        self,
        *paths: str | Path,
        graphs: str | Sequence[str] | None = None,
        rebuild: bool = False,
        name: str = "",
        preset: str = "",
    ) -> list[Outcome]:
        """What `ingest` would do and ask of models: nothing is written, and no model is asked.

        With a `preset` it is what it would be with that one's values instead of the defaults.

        Counted by the build itself over stand-ins, which write as much as models did into
        documents made in the same way; of what an endpoint answers, nothing is known before.
        """
        found = self._sources(paths, name)
        if not preset:
            expected = self._run(graphs, None, rebuild, dry=True).all(found.read)
        else:
            settings = self.settings.with_preset(preset)
            graphs = settings.graphs if graphs is None else graphs
            with closing(Kit(settings)) as kit:
                expected = self._run(graphs, None, rebuild, dry=True, kit=kit).all(found.read)
        return expected + [Outcome(one, "skipped") for one in found.skipped]

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
        """A text as a document; `source` says where it is from and is what it is known by.

        Raises LoadError where the text has no words or no source, and BadReply where more than
        one piece and over a tenth of a graph is missing as a model's replies stay malformed.
        """
        if not isinstance(text, str):
            raise TypeError(f"The text is not a str but {text!r}: `ingest` reads files.")
        if not source.strip():
            raise LoadError("Say where the text is from: it is known by its source.")
        facts = {"title": title, "author": author, "language": language}
        read = partial(read_text, text, source=source, collection=self.name, **facts)
        [outcome] = self._run(None, None, stop=stop).all([Source(source, read)])
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
        """Builds a graph, and what it rests on, for documents that are there: all, or those named.

        A graph that belongs to the collection itself is made of what all its documents have, and no
        document can be named.
        Other graphs are not touched, but those that rest on it. What is built already, from the
        same, is left as it is, unless `rebuild`, but for gaps, which are asked for again; with
        `strict` a document fails at its first gap. A `dry` run only says what would be asked.
        `stop` ends it as it ends an ingest.
        """
        wanted = graph(name)
        if wanted.settle:
            if documents:
                raise SettingsError(f"{name} belongs to the whole collection: name no document.")
            if not self.app.reach(stop).count(self.name)[0]:
                raise nothing_there(self.name)
            return self._run([], listener, rebuild, strict, dry=dry, stop=stop).settle(wanted)
        named = {entry.id: entry for entry in map(self.document, documents)}
        entries = list(named.values()) or list(self.app.reach(stop).documents(self.name))
        if not entries:
            raise nothing_there(self.name)
        run = self._run([wanted.name], listener, rebuild, strict, dry=dry, stop=stop)
        return run.build(entries)

    def drop(
        self, name: str, *documents: str, dry: bool = False
    ) -> list[tuple[Entry | None, list[str]]]:
        """Takes a graph, and what rests on it, out of documents: of all, or of those named.

        Where none is named, what rests on it and belongs to the collection itself goes, too.
        Returns those that had it, with the graphs that were dropped, None standing for the
        collection itself; a `dry` run drops nothing.
        Raises NotFound for a document that isn't there, SettingsError for the text itself.
        """
        if name == TEXT:
            raise SettingsError(
                "The text is what all graphs rest on: `fabula remove` takes it out."
            )
        entries = [self.document(one) for one in documents] or list(self.store.documents(self.name))
        installed = graphs()
        own = self.store.settled(self.name)
        if not any(name in there for there in (installed, own, *(one.graphs for one in entries))):
            graph(name)
        gone = with_dependents(installed, {name})
        if documents and name in own:
            raise SettingsError(f"{name} belongs to the whole collection: name no document.")
        every = [(entry, sorted(gone & entry.graphs.keys())) for entry in entries]
        found: list[tuple[Entry | None, list[str]]] = [
            (one, names) for one, names in every if names
        ]
        if not documents and (whole := sorted(gone & own.keys())):
            found.append((None, whole))
        if not dry:
            for one, names in found:
                self.store.drop([Owner(self.name, of, one.id if one else "") for of in names])
        return found

    def remove(self, *names: str) -> list[Entry]:
        """Takes documents of the collection out of the graph, by id, whole title or file.

        Raises NotFound before any is removed.
        """
        entries = {entry.id: entry for entry in (self.document(name, whole=True) for name in names)}
        for document in entries:
            self.store.remove(self.name, document)
        return list(entries.values())

    def reembed(self, progress: Progress | None = None, *, stop: Stop | None = None) -> Reembedded:
        """Gives the collection embeddings of the settings' model, while questions go on.

        A run that was stopped goes on; the model that the collection has gives up another's run.
        Raises NotFound where nothing was ingested, StoreError while another run is at work, and
        Stopped soon after `stop` was set.
        """
        meter, stop = Meter(self.kit.counter), stop or Stop()
        kit = self.kit.view(stop=stop)
        embedder = kit.counted_embedder(meter)
        asked = kit.counted_embedder(meter, cached=False)
        heard = progress or Muted()
        run = Reembed(
            self.app.reach(stop), self.name, embedder, asked, kit.workers, meter, heard, stop
        )
        return run.run()

    # Reading

    def documents(self) -> Documents:
        """The documents of the collection by title, read page by page."""
        return Documents(self.store, self.name)

    def document(self, name: str, *, whole: bool = False) -> Entry:
        """The one document of that id, title or file name. Raises NotFound.

        A part of a title will do, if it is in no other's; not with `whole`.
        """
        return choose(self.store, self.name, name, whole=whole, is_path=self._takes_paths)

    def space(self) -> Space | None:
        """The embedding space of the collection; None where nothing was ever written to it."""
        return self.store.space(self.name)

    def layers(self, document: str) -> list[Layer]:
        """How many passages a document, by id, title or file, has by kind, aspect and level."""
        return self.store.layers(self.name, self.document(document).id)

    def stale(self, entry: Entry) -> dict[str, list[str]]:
        """What each graph of a document would be made from otherwise now, by the graphs' names.

        A graph that is up to date with the settings in force is left out.
        """
        installed = graphs()
        has = [installed[name] for name in installed if name in entry.graphs]
        return differences_of(entry, self.kit.recipes(entry.sha256, has))

    def settled(self) -> list[Settled]:
        """What belongs to the collection itself, by the graphs' names."""
        found = self.store.settled(self.name)
        installed = graphs()
        entries = list(self.documents()) if found.keys() & installed.keys() else []
        return [
            Settled(name, record, self._differences(installed[name], record, entries, found))
            for name, record in found.items()
            if name in installed
        ]

    def gaps(self, document: str) -> dict[str, list[Gap]]:
        """What no model gave of a document, by id, title or file: gaps by its graphs' names."""
        return self.store.gaps(self.name, self.document(document).id)

    def check(self, document: str = "") -> Findings:
        """What is wrong with the collection, or with one document by id, title or file."""
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
        """Writes the collection, or one document, to a file.

        `format` is jsonl or graphml, '' for what the file's name ends in; embeddings can only be
        in jsonl. Raises FabulaError where the file can't be written, NotFound where there is
        nothing to write, StoreError where a document changes meanwhile, and SpaceError for
        embeddings while the collection is re-embedded.
        """
        entries = [self.document(document)] if document else list(self.store.documents(self.name))
        if not entries:
            raise nothing_there(self.name)
        exported = Exported(self.store, entries, whole=() if document else (self.name,))
        return write(exported, Path(file), format, embeddings=embeddings)

    def sources(self, hits: Sequence[Hit]) -> dict[str, list[Stretch]]:
        """The stretches of text that each hit rests on, in text order, by the hits' ids."""
        return self.store.sources(self.name, [hit.id for hit in hits])

    def read(self, document: str, at: str | int = "") -> Reading:
        """The text of a document, named by id, title or file, around a place of it.

        The place is characters as 120-340, a chunk's number, a section's heading, or the id of a
        passage: of a summary or a detail, the text that it rests on. Raises NotFound.
        """
        return read(self.store, self.document(document), str(at))

    def cypher(
        self, query: str, /, *, seconds: float | None = 60.0, **parameters: Any
    ) -> list[dict[str, Any]]:
        """The rows of a query for analysts, by its name, or of a statement of Cypher.

        It may only read, and take so many `seconds`. A statement stays in this collection by its
        `$collection`, which is filled in. Values are what JSON holds, and nodes dictionaries of
        their `labels` and `properties`. Raises NotFound for a name that there is not, FabulaError
        for a parameter, StoreError for what Neo4j refuses.
        """
        asked = parse(query) if len(query.split()) > 1 else shipped(query)
        if "collection" in {one.name for one in asked.parameters}:
            parameters = {"collection": self.name, **parameters}
        table = run(self.store, asked.statement, asked.fill(parameters), seconds=seconds)
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    # Asking

    def retrieve(
        self,
        question: str | Query,
        *,
        meter: Meter | None = None,
        path: Steps | None = None,
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
        self.app.reach(stop)
        filters = self._filters(query)
        kit, meter, path = self._asking(stop), meter or Meter(), path or Steps()
        found = answering.find(query, filters, self.store, kit, meter, path)
        if not found.hits:
            self._explain_nothing_found(query, filters)
        return [*found.hits]

    def context(
        self,
        question: str | Query,
        *,
        meter: Meter | None = None,
        path: Steps | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> list[Passage]:
        """Return what an answer is given to read, numbered as it cites it; see `retrieve`."""
        query = self._query(question, options)
        self.app.reach(stop)
        filters = self._filters(query)
        kit, meter, path = self._asking(stop), meter or Meter(), path or Steps()
        context = answering.read(query, filters, self.store, kit, meter, path)
        if not context:
            self._explain_nothing_found(query, filters)
        return context

    def stream(
        self,
        question: str | Query,
        *,
        history: Sequence[Turn] = (),
        meter: Meter | None = None,
        path: Steps | None = None,
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
        self.app.reach(stop)
        filters = self._filters(query)
        stream = answering.answer(
            query,
            filters,
            self.store,
            self._asking(stop),
            meter or Meter(),
            path or Steps(),
            history=latest_turns(history, self.settings.history_tokens),
            stop=stop,
        )
        if not stream.hits:
            self._explain_nothing_found(query, filters)
        return stream

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

    def _asking(self, stop: Stop | None) -> Kit:
        """The models, as they are called for one question.

        A question is compared with the collection's vectors, so it is embedded by what made them.
        Static vectors need no endpoint: a collection that was made without one can be asked
        whatever model the settings name now. Another model than theirs may not be reachable.
        """
        space = self.space() if self.kit.embedder.model != STATIC else None
        is_static = space is not None and space.model == STATIC
        return self.kit.view(urgent=True, stop=stop, is_static=is_static)

    def _differences(
        self,
        graph: Graph[Any],
        record: Record,
        entries: Sequence[Entry],
        settled: Mapping[str, Record],
    ) -> tuple[str, ...]:
        try:
            there = resting(graph, entries, settled)
        except NotFound:
            return ("documents",)
        now = self.kit.settled_recipe(graph, there, settled)
        found = differences(record.made_from, now)
        return tuple(
            dict.fromkeys("documents" if one.startswith("rests_on.") else one for one in found)
        )

    def _sources(self, paths: Sequence[str | Path], name: str) -> Sources:
        settings = self.settings
        return sources(paths, self.name, settings.max_file_mb, name=name, fetch=settings.fetch)

    def _query(self, question: str | Query, given: Mapping[str, object]) -> Query:
        if isinstance(question, str):
            return Query.of(question, self.settings, **given)
        if not isinstance(question, Query):
            raise TypeError(f"A question is a text or a Query, not {question!r}.")
        own = {one.name: getattr(question, one.name) for one in fields(question)}
        return Query.of(own.pop("question"), self.settings, **{**own, **given})

    def _filters(self, query: Query) -> Filters:
        """Where to look. Raises NotFound where there is nothing, or no such document."""
        self._refuse_unready()
        document = self.document(query.document).id if query.document else ""
        return query.filters(self.name, document)

    def _refuse_unready(self) -> None:
        """Sees to it, once, that there is something to ask, embedded as the question will be."""
        if self._is_ready:
            return
        space = self.space()
        if space is None or not space.documents:
            raise nothing_there(self.name)
        if space.model == STATIC:
            # What `_asking` sees to. It may be re-embedded meanwhile, so it is looked at each time.
            return
        refuse_other_model(space, self.kit.embedder.model)
        self._is_ready = True

    def _explain_nothing_found(self, query: Query, filters: Filters) -> None:
        """Raise NotFound if nothing was found because there was nothing to look through."""
        space = self.space()
        if space is None or not space.documents:
            raise nothing_there(self.name)
        required = {name: mode(name).graph for name in query.modes if name != AUTO}
        counts = count_parts(self.store, set(required.values()), filters)
        if not required or any(name in counts for name in required.values()):
            return
        if not all(required.values()):  # some mode needs no graph
            return
        name, walked = next(iter(required.items()))
        document = self.document(query.document) if query.document else None
        who = (
            f"{document.title} has not"
            if document
            else f"no document of collection {self.name!r} has"
        )
        target = f"{walked} {document.id}" if document else walked
        raise NotFound(
            f"Mode {name} looks through the graph {walked!r}, which {who}: run `fabula "
            f"build {target} --collection {self.name}`, or choose another --mode."
        )

    def _run(
        self,
        names: str | Sequence[str] | None,
        listener: Listener | None,
        rebuild: bool = False,
        strict: bool = False,
        dry: bool = False,
        kit: Kit | None = None,
        stop: Stop | None = None,
    ) -> Ingest:
        names = self.settings.graphs if names is None else names
        wanted = [graph(name).name for name in ([names] if isinstance(names, str) else names)]
        if own := [name for name in wanted if graph(name).settle]:
            raise SettingsError(
                f"{own[0]} belongs to the whole collection, and no ingest builds it: run `fabula "
                f"build {own[0]}` once the documents are there."
            )
        self.app.reach(stop)
        space = self.space()
        if space and (space.documents or space.phase):
            # Before anything is paid for.
            refuse_reembedding(space)
            refuse_other_model(space, self.kit.embedder.model)
        if space is None:
            refuse_collection(self.name)
        stop = stop or Stop()
        return Ingest(
            store=self.store,
            kit=(kit or self.kit).view(stop=stop),
            collection=self.name,
            names=wanted,
            listener=listener or Silence(),
            rebuild=rebuild,
            strict=strict,
            dry=dry,
            stop=stop,
        )
