"""Search and ask several collections at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from fabula.ask import answering
from fabula.ask.answer import AnswerStream
from fabula.ask.context_budget import settle_budget
from fabula.ask.fusion import fuse_by_ranks
from fabula.ask.history import latest_turns
from fabula.ask.query import Query
from fabula.ask.retrieve import RetrievalResult
from fabula.errors import FabulaError, NotFound, SettingsError, StoreError
from fabula.graph.hits import Filters, Hit, Source
from fabula.graph.structure import TextStructure
from fabula.graph.trace import Trace
from fabula.models import Turn
from fabula.models.counted import Meter
from fabula.models.stop import Stop

if TYPE_CHECKING:
    from fabula.library import App
    from fabula.library.collection import Collection
    from fabula.store import Store

LOG = logging.getLogger("fabula")
MAX_THREADS = 16
"""How many collections are searched at the same time."""
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartlyFound:
    """What was found in several collections, some of which could not be searched."""

    failures: Mapping[str, FabulaError]

    @property
    def left_out(self) -> dict[str, str]:
        """The collections that could not be searched, and why."""
        return {name: error.message for name, error in self.failures.items()}


@dataclass(frozen=True, slots=True)
class HitsAcross(_PartlyFound):
    """The passages of several collections that serve a question best.

    Attributes:
        hits: The passages, best first, each with its collection. A score is the sum of
            1 / (60 + rank) over the rankings of the collections, as vectors and words of two
            collections can't be compared.
        failures: The errors of the collections that could not be searched, by their names.
    """

    hits: Sequence[Hit]


@dataclass(frozen=True, slots=True)
class AnswerAcross(_PartlyFound):
    """An answer that is written from the passages of several collections.

    Attributes:
        stream: The answer; each passage that it shows or cites has its `collection`.
        collections: The names of the collections that were searched.
        failures: The errors of the collections that could not be searched, by their names.
    """

    stream: AnswerStream
    collections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found(_PartlyFound):
    """What was found in the collections that could be searched, by their names."""

    results: Mapping[str, RetrievalResult]
    filters: Mapping[str, Filters]


def find_collections(app: App, names: Sequence[str] = ()) -> list[Collection]:
    """Return the collections of these names, or all.

    Raises:
        NotFound: No name is given, and there is no collection.
    """
    chosen = list(dict.fromkeys(names)) or app.collections()
    if not chosen:
        raise NotFound("Nothing has been ingested yet.", advice="Run `fabula ingest BOOK`.")
    return [app.collection(name) for name in chosen]


def retrieve_across(
    collections: Sequence[Collection],
    question: str | Query,
    meter: Meter | None = None,
    stop: Stop | None = None,
    **options: Any,
) -> HitsAcross:
    """Return the passages of several collections that serve a question best, merged by rank.

    Each collection is searched in a thread of its own, with its own embedding model. One that can't
    be searched, as it is embedded by a model that can't be used or has no such aspect, is left out.

    Args:
        collections: The collections.
        question: The question.
        meter: Counts what is asked of models.
        stop: Set from any thread, it ends the calls to models and raises Stopped.
        **options: Options of a `Query`, in place of the settings' defaults.

    Raises:
        FabulaError: No collection could be searched; the error is that of the first.
    """
    query = collections[0].make_query(question, {**options, "fill": False})
    found = _search_all(collections, query, meter or Meter(), stop)
    hits = fuse_by_ranks([result.hits for result in found.results.values()], query.k)
    return HitsAcross(hits, failures=found.failures)


def stream_across(
    collections: Sequence[Collection],
    question: str | Query,
    *,
    history: Sequence[Turn] = (),
    meter: Meter | None = None,
    path: Trace | None = None,
    stop: Stop | None = None,
    **options: Any,
) -> AnswerAcross:
    """Return an answer that is written from the passages of several collections, merged by rank.

    The passages are found before this returns, as by `retrieve_across`, and the answer is written
    while its stream is read. A mode finds passages in each collection as it does in one, but has no
    way of its own to answer here: it would read a single graph.

    Args:
        collections: The collections. The settings and budget of the first are those of the answer.
        question: The question.
        history: The previous turns of a conversation, on which the question may lean.
        meter: Counts what is asked of models.
        path: Records how the rankings were merged.
        stop: Ends the search or the answer, from any thread.
        **options: Options of a `Query`, in place of the settings' defaults.

    Raises:
        SettingsError: The question has a place up to which a text was read (`until`).
        FabulaError: No collection could be searched; the error is that of the first.
    """
    meter, path, stop = meter or Meter(), path or Trace(), stop or Stop()
    first = collections[0]
    query = first.make_query(question, options)
    if query.until or any(each.place for each in collections):
        raise SettingsError(
            "A place up to which you have read (until) is one of a single text: ask its collection "
            "alone."
        )
    models = first.models.view(urgent=True, stop=stop)
    turns = latest_turns(history, first.settings.history_tokens)
    query = settle_budget(query, models, path, turns)
    alone = answering.stand_alone(query, turns, models, meter)
    found = _search_all(collections, alone, meter, stop)
    merged = _merge(query, found, path)
    stores = {each.name: each.open_store() for each in collections if each.name in found.results}
    stream = answering.write_answer(
        query,
        query.filters(", ".join(found.results), ""),
        merged,
        CollectionsReader(stores, found.filters),
        models,
        meter,
        path,
        sought=alone.question,
        history=turns,
        stop=stop,
    )
    return AnswerAcross(stream, tuple(found.results), failures=found.failures)


def _search_all(
    collections: Sequence[Collection], query: Query, meter: Meter, stop: Stop | None
) -> _Found:
    """Search each collection in a thread of its own. Raises the first error if all fail."""
    results: dict[str, RetrievalResult] = {}
    filters: dict[str, Filters] = {}
    failures: dict[str, FabulaError] = {}
    with ThreadPoolExecutor(min(MAX_THREADS, len(collections)), "collections") as threads:
        futures = {
            each.name: threads.submit(each.find, query, meter=meter, stop=stop)
            for each in collections
        }
        for name, future in futures.items():
            try:
                result, filters[name] = future.result()
                results[name] = _name_collection(result, name)
            except FabulaError as error:
                failures[name] = error
    if stop:
        stop.check()
    if not results:
        raise next(iter(failures.values()))
    return _Found(results, filters, failures=failures)


def _name_collection(result: RetrievalResult, name: str) -> RetrievalResult:
    """Return what was found, each hit with the collection that it is of."""
    return RetrievalResult(
        tuple(replace(hit, collection=name) for hit in result.hits),
        tuple(replace(hit, collection=name) for hit in result.further),
        {id: replace(hit, collection=name) for id, hit in result.chunks.items()},
    )


def _merge(query: Query, found: _Found, path: Trace) -> RetrievalResult:
    """Merge the hits by rank; those that are not shown still fill the context."""
    results = found.results.values()
    rankings = [result.hits for result in results]
    counts = ", ".join(f"{name} {len(result.hits)}" for name, result in found.results.items())
    with path.step("collections", f"merged by rank: {counts}") as step:
        ranked = fuse_by_ranks(rankings, sum(map(len, rankings)))
        step.record(ranked, ranked[: query.k])
    further = [result.further for result in results]
    return RetrievalResult(
        tuple(ranked[: query.k]),
        (*ranked[query.k :], *fuse_by_ranks(further, sum(map(len, further)))),
        {id: hit for result in results for id, hit in result.chunks.items()},
    )


class CollectionsReader:
    """What writing an answer reads of several graphs; a `fabula.ask.protocols.AnswerReader`.

    The filters of its methods name no collection: each collection is read with what its own search
    was restricted to. One whose graph can't be read meanwhile is passed over, with a warning.
    """

    place = None
    """A place is one in a single text, so that no reader of several collections has one."""

    def __init__(self, stores: Mapping[str, Store], filters: Mapping[str, Filters]) -> None:
        self._stores, self._filters = stores, filters

    def read(self, statement: str, filters: Filters, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement in all collections; hits in them name theirs."""
        return [
            row | ({"hit": row["hit"] | {"collection": name}} if "hit" in row else {})
            for name, row in self._each(
                lambda store, within: store.read(statement, within, **parameters), filters
            )
        ]

    def find_quoted(
        self,
        filters: Filters,
        passages: Sequence[str],
        phrases: Sequence[Sequence[Sequence[str]]],
        resembling: Sequence[str] = (),
    ) -> list[Hit]:
        """Return the chunks of all collections in which quotations may be."""
        return [
            replace(hit, collection=name)
            for name, hit in self._each(
                lambda store, within: store.find_quoted(within, passages, phrases, resembling),
                filters,
            )
        ]

    def structures(self, collection: str, documents: Sequence[str]) -> dict[str, TextStructure]:
        """Return the structures of documents, whichever collections they are in."""
        return dict(
            row
            for _, row in self._each(
                lambda store, within: [*store.structures(within.collection, documents).items()]
            )
        )

    def sources(self, collection: str, nodes: Sequence[str]) -> dict[str, list[Source]]:
        """Return the chunks that nodes rest on, whichever collections they are in."""
        return dict(
            row
            for _, row in self._each(
                lambda store, within: [*store.sources(within.collection, nodes).items()]
            )
        )

    def _each(
        self, read: Callable[[Store, Filters], Sequence[Row]], filters: Filters | None = None
    ) -> Iterator[tuple[str, Row]]:
        """Yield what is read of each collection, with its name, within the filters."""
        for name, store in self._stores.items():
            within = self._filters[name]
            if filters is not None:
                within = replace(filters, collection=name, document=within.document)
            try:
                rows = read(store, within)
            except StoreError as error:
                LOG.warning("Collection %s was left out of a part of the answer: %s", name, error)
                continue
            for row in rows:
                yield name, row
