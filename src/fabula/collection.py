"""The service: what the command line, a program and later a server all hold."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fabula.answer import AnswerStream, shown
from fabula.catalogue import chosen, inside, nothing_there
from fabula.connect import connect
from fabula.context import fill
from fabula.errors import FabulaError, NotFound
from fabula.export import Written, write
from fabula.ingest import Ingest, Listener, Muted, Outcome, Silence, Source
from fabula.kit import Kit
from fabula.load import read_text
from fabula.model import Answer, Entry, Filters, Hit, Layer, Passage
from fabula.progress import Progress
from fabula.providers import NO_ANSWER, Reply
from fabula.providers.counted import Meter
from fabula.reembed import Reembed, Reembedded
from fabula.retrieve.path import Path as Steps
from fabula.search import KINDS, gathered, refuse_senseless, search
from fabula.settings import Settings
from fabula.sources import sources
from fabula.store import Store
from fabula.store.checks import Findings, check
from fabula.store.export import Exported
from fabula.store.space import refuse_other_model, refuse_reembedding, refuse_unknown

if TYPE_CHECKING:
    from fabula.server import Report


class Fabula:
    """A graph of documents and the models that write and read it; use it with `with`.

    Settings come from `settings`, or from `flags` (settings by name), the environment and
    `fabula.toml`; models from a `kit` of such settings, if one is given. Neo4j is reached, and the
    private one started, when it is first needed; models when they are. Safe to share between
    threads. All errors are FabulaErrors: SettingsError for a bad setting, ServerError and
    StoreError for Neo4j, ModelError for a model, LoadError for a file, NotFound for what isn't
    there.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        report: Report | None = None,
        kit: Kit | None = None,
        **flags: Any,
    ) -> None:
        self.settings = settings or Settings.read(**flags)
        self._report = report
        self._kit = kit or Kit(self.settings)
        self._connecting = threading.Lock()
        self._connected: Store | None = None
        self._is_ready = False
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets connections and threads go; the private Neo4j stays up for the next time."""
        self._is_closed = True
        self._kit.close()
        if self._connected:
            self._connected.close()

    @property
    def store(self) -> Store:
        """The graph; reached, and its private server started, at the first use."""
        if self._is_closed:
            raise FabulaError("This Fabula is closed: open another one.")
        with self._connecting:
            if self._connected is None:
                self._connected = connect(self.settings, self._report)
            return self._connected

    # Writing

    def ingest(
        self, *paths: str | Path, rebuild: bool = False, listener: Listener | None = None
    ) -> list[Outcome]:
        """Files, and all readable files in folders, as documents of the settings' collection.

        Content that is in the collection already, built the same way, is left as it is; changed
        content takes the place of the old, all or nothing, and what did not change of it is used
        again; with `rebuild` nothing is, as at a first ingest. Files that can't be read are failed
        outcomes; the rest goes on. One outcome a file, in order, however often it is named.
        Raises SettingsError, ServerError, StoreError and ModelError, which end the whole run.
        """
        return self._ingest(sources(paths, self.settings), listener or Silence(), rebuild)

    def expect(self, *paths: str | Path, rebuild: bool = False) -> list[Outcome]:
        """What `ingest` would do and ask of models: nothing is written, and no model is asked.

        Counted by the build itself over stand-ins, which write as much as models did into
        documents made in the same way; of what an endpoint answers, nothing is known before.
        """
        return self._ingest(sources(paths, self.settings), Silence(), rebuild, dry=True)

    def ingest_text(
        self, text: str, *, source: str, title: str = "", author: str = "", language: str = ""
    ) -> Outcome:
        """A text as a document; `source` says where it is from and is what it is known by.

        Raises LoadError where the text has no words, and BadReply where a model's replies stay
        malformed.
        """
        facts = {"title": title, "author": author, "language": language}
        read = partial(read_text, text, source=source, collection=self.settings.collection, **facts)
        [outcome] = self._ingest([Source(source, read)], Silence())
        if outcome.error:
            raise outcome.error
        return outcome

    def remove(self, *names: str) -> list[Entry]:
        """Takes documents of the collection out of the graph, by id, whole title or file.

        Raises NotFound before any is removed.
        """
        collection, known = self.settings.collection, self.documents()
        entries = [chosen(known, name, collection, whole=True) for name in names]
        for document in dict.fromkeys(inside(entry, collection) for entry in entries):
            self.store.remove(document)
        return list({entry.id: entry for entry in entries}.values())

    def reembed(self, progress: Progress | None = None) -> Reembedded:
        """Gives all passages embeddings of the settings' model, while questions go on.

        A run that was stopped goes on; the model that the graph has gives up another's run. Raises
        NotFound where nothing was ingested, StoreError while another run is at work.
        """
        meter = Meter()
        embedder = self._kit.counted_embedder(meter)
        asked = self._kit.counted_embedder(meter, cached=False)
        heard = progress or Muted()
        return Reembed(self.store, embedder, asked, self._kit.workers, meter, heard).run()

    # Reading

    def documents(self, collection: str = "") -> list[Entry]:
        """The documents of a collection, or of all, by collection and title."""
        return self.store.documents(collection)

    def document(self, name: str, *, whole: bool = False) -> Entry:
        """The one document of that id, title or file name. Raises NotFound.

        A part of a title will do, if it is in no other's; not with `whole`.
        """
        return chosen(self.documents(), name, self.settings.collection, whole)

    def layers(self, document: str) -> list[Layer]:
        """How many passages a document, named by its id, has by kind, aspect and level."""
        return self.store.layers(document)

    def check(self, document: str = "") -> Findings:
        """What is wrong with the graph, or with one document by id, title or file."""
        return check(self.store, self.document(document).id if document else "")

    def export(
        self,
        file: str | Path,
        document: str = "",
        *,
        everywhere: bool = False,
        format: str = "jsonl",
        embeddings: bool = False,
    ) -> Written:
        """Writes the collection, one document or, `everywhere`, all collections to a file.

        `format` is jsonl or graphml; embeddings can only be in jsonl. Raises FabulaError where the
        file can't be written, NotFound where there is nothing to write, StoreError where a document
        changes meanwhile, and SpaceError for embeddings while the graph is re-embedded.
        """
        collection = "" if everywhere else self.settings.collection
        entries = [self.document(document)] if document else self.documents(collection)
        if not entries:
            raise self._nothing_there()
        return write(Exported(self.store, entries), Path(file), format, embeddings=embeddings)

    def retrieve(
        self,
        question: str,
        *,
        document: str = "",
        aspects: Sequence[str] = (),
        kinds: Sequence[str] = KINDS,
        levels: tuple[int, int] = (0, 99),
        meter: Meter | None = None,
        path: Steps | None = None,
    ) -> list[Hit]:
        """The `top_k` passages that serve a question best, best first, by the settings' mode.

        Filters: one document by id, title or file; aspects by name, '' being that of chunks and
        details; kinds out of chunk, summary and detail; the lowest and the highest level. `path`
        is told each step. Raises NotFound where the collection has no documents, or no such
        document, aspect or kind, and a plain FabulaError for a question without a character.
        """
        refuse_senseless(question, kinds)
        self._refuse_unready()
        if aspects:
            refuse_unknown(aspects, self.store.space())
        filters = Filters(
            collection=self.settings.collection,
            document=inside(self.document(document), self.settings.collection) if document else "",
            kinds=tuple(kinds),
            aspects=tuple(aspects),
            lowest=levels[0],
            highest=levels[1],
        )
        tools = gathered(self.store, self._kit, self.settings, meter or Meter(), path or Steps())
        hits = search(question, filters, tools, self.settings)
        if not hits and not self.documents(filters.collection):
            raise self._nothing_there()
        return hits

    def stream(self, question: str, *, path: Steps | None = None, **filters: Any) -> AnswerStream:
        """An answer as it is written; takes the filters of `retrieve`.

        The hits are found before this returns; the answer's pieces come by iterating.
        """
        meter, path = Meter(), path or Steps()
        hits = self.retrieve(question, meter=meter, path=path, **filters)
        with path.step("context", f"{self.settings.context_tokens} tokens") as step:
            context = fill(hits, self.settings.context_tokens)
            step.found(hits, [passage.hit for passage in context])
        return AnswerStream(question, hits, context, self._pieces(question, context, meter), meter)

    def query(self, question: str, **filters: Any) -> Answer:
        """The whole answer, with the passages it cites; takes the filters of `retrieve`."""
        return self.stream(question, **filters).answer

    @property
    def embedding_model(self) -> str:
        """The name that the graph records for this service's embeddings."""
        return self._kit.embedder.model

    def roles(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Each role of a model, the model's name, and a call that asks it something small."""
        return self._kit.roles()

    # Inside

    def _pieces(self, question: str, context: Sequence[Passage], meter: Meter) -> Iterator[Reply]:
        if not context:
            return iter([Reply(NO_ANSWER)])
        texts = [shown(passage.text) for passage in context]
        return self._kit.answerer(meter).answer(question, texts)

    def _refuse_unready(self) -> None:
        """Sees to it, once, that there is something to ask, embedded as the question will be."""
        if self._is_ready:
            return
        space = self.store.space()
        if space is None or not space.documents:
            raise self._nothing_there()
        refuse_other_model(space, self._kit.embedder.model)
        self._is_ready = True

    def _nothing_there(self) -> NotFound:
        return nothing_there(self.documents(), self.settings.collection)

    def _ingest(
        self,
        sources: Sequence[Source],
        listener: Listener,
        rebuild: bool = False,
        dry: bool = False,
    ) -> list[Outcome]:
        space = self.store.space()
        if space and (space.documents or space.phase):
            # Before anything is paid for.
            refuse_reembedding(space)
            refuse_other_model(space, self._kit.embedder.model)
        run = Ingest(
            store=self.store,
            kit=self._kit,
            known=self.documents(self.settings.collection),
            listener=listener,
            rebuild=rebuild,
            dry=dry,
        )
        return run.all(sources)
