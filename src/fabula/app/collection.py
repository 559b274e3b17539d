"""A collection: what the command line, a program and later a server hold, bound to one tenant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from fabula import tracing
from fabula.app.asking import Asked, Query, count_parts, make_ways, search
from fabula.app.catalogue import Documents, choose, nothing_there
from fabula.app.reading import Reading, read
from fabula.app.resources import Resources
from fabula.ask.answer import Answer, AnswerStream, shown
from fabula.ask.context import fill, fill_by_sentences
from fabula.ask.history import latest
from fabula.ask.modes import mode
from fabula.ask.quotes import closest, say
from fabula.ask.retrieve import Found
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
from fabula.graph.hits import Filters, Hit, Passage, Quote
from fabula.graph.installed import graph, graphs
from fabula.graph.method import Graph
from fabula.graph.mode import Pieces, Way
from fabula.graph.path import Path as Steps
from fabula.graph.recipes import differences_of, resting, with_dependents
from fabula.load import read_text
from fabula.load.source import Source
from fabula.load.sources import Sources, sources
from fabula.models import NO_ANSWER, Reply, Turn
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
    refuse_unknown,
)
from fabula.text.names import problem, quoted
from fabula.text.tokens import count


class Conversation:
    """Questions to a collection, each asked with those before it and their answers.

    Made by `Collection.chat`. `given` are fields of a Query that hold for all questions, and may be
    changed between two. For one thread.
    """

    def __init__(self, collection: Collection, given: Asked) -> None:
        self.collection = collection
        self.given = given
        self._streams: list[AnswerStream] = []

    def ask(self, question: str, **given: Unpack[Asked]) -> Answer:
        """The whole answer, with the passages it cites; takes what `Collection.query` takes."""
        return self.stream(question, **given).answer

    def stream(self, question: str, **given: Unpack[Asked]) -> AnswerStream:
        """An answer as it is written. What is read of it is part of the conversation."""
        asked: Asked = {**self.given, **given}
        stream = self.collection.stream(question, history=self.history, **asked)
        self._streams.append(stream)
        return stream

    @property
    def history(self) -> list[Turn]:
        """What was said, in order; where a model failed, nothing was."""
        return [Turn(one.question, one.said) for one in self._streams if one.said]

    @property
    def answers(self) -> list[Answer]:
        """The answers, in order; reads what has not been read of them."""
        return [one.answer for one in self._streams if one.said]

    def forget(self) -> None:
        """Begins anew: the next question leans on nothing."""
        self._streams.clear()


@dataclass(frozen=True, slots=True)
class Settled:
    """A graph of a collection itself, made of what all its documents have.

    `stale` is what it would be made from otherwise now; 'documents' where some came, went or have
    changed.
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
        **given: Unpack[Asked],
    ) -> list[Hit]:
        """The passages that serve a question best, best first.

        `given` are fields of a Query, in the place of the settings' defaults; `path` is told each
        step. `stop`, set from any thread, cuts off what is asked of models for it, and it raises
        Stopped. Raises NotFound where the collection has no documents, or no such document, aspect
        or kind, and a plain FabulaError for a question without a character.
        """
        query = self._query(question, {**given, "fill": False})
        self.app.reach(stop)
        filters = self._filters(query)
        ways = self._ways(query, filters, self._asking(stop), meter or Meter(), path or Steps())
        return [*self._found(query, filters, ways).hits]

    def context(
        self,
        question: str | Query,
        *,
        meter: Meter | None = None,
        path: Steps | None = None,
        stop: Stop | None = None,
        **given: Unpack[Asked],
    ) -> list[Passage]:
        """What an answer is given to read, numbered as it cites it; takes what `retrieve` takes."""
        query = self._query(question, given)
        path = path or Steps()
        self.app.reach(stop)
        filters = self._filters(query)
        ways = self._ways(query, filters, self._asking(stop), meter or Meter(), path)
        return _fill(query, self._found(query, filters, ways), path)

    def stream(
        self,
        question: str | Query,
        *,
        history: Sequence[Turn] = (),
        meter: Meter | None = None,
        path: Steps | None = None,
        stop: Stop | None = None,
        **given: Unpack[Asked],
    ) -> AnswerStream:
        """An answer as it is written; takes what `retrieve` takes.

        `history` is what was said before, on which the question may lean: it is searched with as it
        would stand alone. The hits are found before this returns; the answer's pieces come by
        iterating. `stop` is set where the stream is closed; set before, it ends the search, too.
        """
        query = self._query(question, given)
        meter, path, stop = meter or Meter(), path or Steps(), stop or Stop()
        self.app.reach(stop)
        kit = self._asking(stop)
        asked, history = query.question, latest(history, self.settings.history_tokens)
        if history:
            self._refuse_unready()
            alone = kit.guide(meter).stand_alone(asked, history)
            query = replace(query, question=alone)
        filters = self._filters(query)
        ways = self._ways(query, filters, kit, meter, path)
        found = self._found(query, filters, ways)
        context = _fill(query, found, path)
        quotes: list[Quote] = []
        pieces = _own_pieces(query, filters, context, ways)
        if pieces is None and self.settings.offline:
            quotes = closest(query.question, self._in_the_book(context))
            pieces = say(quotes)
        elif pieces is None:
            pieces = _pieces(kit, asked, context, meter, history)
        return AnswerStream(asked, found.hits, context, pieces, meter, quotes, query.question, stop)

    def query(
        self,
        question: str | Query,
        *,
        history: Sequence[Turn] = (),
        stop: Stop | None = None,
        **given: Unpack[Asked],
    ) -> Answer:
        """The whole answer, with the passages it cites; takes what `stream` takes."""
        return self.stream(question, history=history, stop=stop, **given).answer

    def chat(self, **given: Unpack[Asked]) -> Conversation:
        """A conversation: its questions may lean on those before; `given` hold for all of them."""
        return Conversation(self, given)

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

    def _ways(
        self, query: Query, filters: Filters, kit: Kit, meter: Meter, path: Steps
    ) -> list[Way]:
        """The modes that a question is asked by. Raises NotFound where none has its graph."""
        ways = make_ways(query, filters, self.store, kit, kit.settings, meter, path)
        if not ways:
            self._refuse_groundless(query, filters, query.modes[0])
        return ways

    def _found(self, query: Query, filters: Filters, ways: Sequence[Way]) -> Found:
        if query.aspects or query.kinds:
            # A mode finds no elements but those of the graph that it walks.
            walked = sorted({way.mode.graph for way in ways} - {""})
            own = [label.lower() for name in walked for label in graph(name).elements]
            refuse_unknown(query.aspects, query.kinds, self.space(), elements=own)
        told: dict[str, object] = {
            tracing.OPERATION: "retrieval",
            tracing.DATA_SOURCE: self.name,
            tracing.TOP_K: float(query.k),
            tracing.MODE: ",".join(way.name for way in ways),
            tracing.QUERY_TEXT: query.question if tracing.with_content() else None,
        }
        with tracing.span(f"retrieval {self.name}", told):
            found = search(query, filters, ways)
        if not found.hits:
            self._refuse_groundless(query, filters, ways[0].name)
        return found

    def _in_the_book(self, context: Sequence[Passage]) -> list[Passage]:
        """The chunks of a context; or, where it has none, those that its passages rest on."""
        chunks = [passage for passage in context if passage.hit.kind == "chunk"]
        if chunks or not context:
            return chunks
        rest_on = self.sources([passage.hit for passage in context])
        found: dict[str, Passage] = {}
        for passage in sorted(context, key=lambda passage: -passage.hit.score):
            for chunk in rest_on.get(passage.hit.id, ()):
                found.setdefault(chunk.chunk, replace(passage, hit=_as_hit(chunk, passage.hit)))
        return list(found.values())

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

    def _refuse_groundless(self, query: Query, filters: Filters, name: str) -> None:
        """Nothing was found: that is no answer where there was nothing to look through."""
        space = self.space()
        if space is None or not space.documents:
            raise nothing_there(self.name)
        walked = mode(name).graph
        if walked and walked not in count_parts(self.store, [walked], filters):
            one = self.document(query.document) if query.document else None
            who = f"{one.title} has not" if one else f"no document of collection {self.name!r} has"
            told = f"{walked} {one.id}" if one else walked
            raise NotFound(
                f"Mode {name} looks through the graph {walked!r}, which {who}: build that graph, "
                "or choose another mode.",
                advice=f"Run `fabula build {told} --collection {self.name}`.",
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


def _as_hit(chunk: Stretch, found: Hit) -> Hit:
    """A chunk that a hit rests on, with the hit's score."""
    return replace(
        found,
        id=chunk.chunk,
        kind="chunk",
        section=chunk.section,
        aspect="",
        level=0,
        start=chunk.start,
        end=chunk.end,
        text=chunk.text,
        tokens=count(chunk.text),
    )


def _pieces(
    kit: Kit, asked: str, context: Sequence[Passage], meter: Meter, history: Sequence[Turn]
) -> Iterator[Reply]:
    if not context:
        return iter([Reply(NO_ANSWER)])
    texts = [shown(passage.text) for passage in context]
    return kit.answerer(meter).answer(asked, texts, history)


def _own_pieces(
    query: Query, filters: Filters, context: Sequence[Passage], ways: Sequence[Way]
) -> Pieces | None:
    """The mode's own answer, where it has one to what it found; several have none together."""
    way, *others = ways
    if others or not (way.mode.answer and context):
        return None
    return way.mode.answer(query.question, context, filters, way.tools)


def _fill(query: Query, found: Found, path: Steps) -> list[Passage]:
    hits = [*found.hits, *found.further]
    with path.step("context", f"{query.context_tokens} tokens of {query.context}") as step:
        if query.context == "sentences":
            context = fill_by_sentences(query.question, hits, query.context_tokens, found.chunks)
        else:
            context = fill(hits, query.context_tokens, found.chunks)
        read = {passage.hit.id for passage in context}
        kept = [hit for hit in hits if hit.id in read or _chunk_of(found, hit) in read]
        step.found(hits, kept)
    return context


def _chunk_of(found: Found, hit: Hit) -> str:
    return found.chunks[hit.id].id if hit.id in found.chunks else ""
