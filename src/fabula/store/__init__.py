"""The graph in Neo4j: the `Store`, with one method for each thing that is read or written."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import neo4j
from neo4j.exceptions import Neo4jError

from fabula.errors import StoreError, TooLarge
from fabula.graph import TEXT, Gap, Owner, Part, Record
from fabula.graph.entries import Entry, Layer
from fabula.graph.hits import ALL_ROWS, NO_LIMIT, ConditionStep, Filters, Hit, Source, read_hit
from fabula.graph.queries import for_embeddings, read_statement
from fabula.graph.reading_place import ReadingPlace
from fabula.graph.structure import TextStructure, read_structure
from fabula.models.progress import SWEEP, SWITCH
from fabula.store import migration, schema
from fabula.store.database import UNNAMED, Database
from fabula.store.derived_values import CacheUsage, DerivedValues, Made
from fabula.store.driver_errors import MEMORY_ADVICE, is_out_of_memory, out_of_memory_message
from fabula.store.embedding_space import (
    Space,
    other_space_error,
    refuse_collection,
    refuse_dimensions,
    refuse_other_model,
    refuse_reembedding,
    refuse_unknown,
)
from fabula.store.locks import ProcessLock, process_lock
from fabula.store.parts import (
    NOTHING_STAGED,
    RunStaging,
    find_abandoned_runs,
    find_searchable,
    is_small,
    lock_collection,
    lock_owners,
    lock_prefix,
    make_run_name,
    refuse_invalid,
    refuse_long_line,
    run_prefix,
    stage,
    switch,
    tie_to_chunks,
)
from fabula.store.rows import (
    LAST_CHARACTER,
    decode_vector,
    encode_vector,
    filter_parameters,
    for_documents,
    is_whole,
    read_entry,
    read_gap,
    read_record,
    read_space,
)
from fabula.store.search_index import (
    WordStatistics,
    exact_scores,
    phrase_query,
    question_terms,
    search_query,
)
from fabula.store.word_counts import count_words, recall_words
from fabula.text.document import Vector
from fabula.text.folding import fold_name
from fabula.text.metadata import CHANGEABLE, Metadata, to_properties

if TYPE_CHECKING:
    from fabula.graph.unread import IsUnread, NameIndex

LOG = logging.getLogger("fabula")
NameSections = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, str]]
MIN_DEPTH = 50
"""How many nodes the vector index is asked for. For 434 readers' questions on 38
books and stories, 98 % of the true best 5 were among 10, and 86 % within one book; among 50 it was
99.9 % and 98 %."""
ELEMENT_INDEX = "element_vectors_256"
"""The vector index that a statement over elements names."""
MAX_QUESTION_CHARACTERS = 1000
"""How much of a question is searched for by its words."""
MIN_SPARE = 20
"""How many more passages are scored exactly by their words than are returned, at least."""
END = 10**9
"""A character after the end of any text."""
DOCUMENTS_PER_PAGE = 500
MAX_QUOTED_PLACES = 40
"""Chunks that are returned for one phrase of a quotation."""
MAX_RESEMBLING = 8
"""Chunks that are returned for the words of a quotation that is nowhere as a phrase."""
MIN_ID_CHARACTERS = 4
"""How many characters of an id are enough to name a document by."""


class Store(Database):
    """The graph in one Neo4j database; safe to share between threads.

    Every method raises StoreError for what the server refuses or can't do.

    Attributes:
        place: The place of a reader, which `within` gives; None for a reader of everything.
        whole: The store without a place. It is for what is derived from all of a text and shows
            nothing of it.
    """

    def __init__(self, driver: neo4j.Driver, database: str) -> None:
        super().__init__(driver, database)
        self.place: ReadingPlace | None = None
        self.whole = self
        self._is_unread: IsUnread | None = None
        self._making = threading.Lock()
        self._has_schema = False
        self._derived = DerivedValues()
        self.check_disk_space: Callable[[], None] = lambda: None
        """Raises an error where the server's disk has too little room for more to be written. It
        does nothing unless the server is on this machine."""

    def take_over(self, other: Self) -> None:
        """Take over another store's connections, and close those that were used until now."""
        super().take_over(other)
        self._has_schema = False

    # A reader's place

    def within(self, place: ReadingPlace) -> Self:
        """Return a view of this store for somebody who has read a document up to a place.

        It answers of that document alone, and leaves out what rests on later text: statements are
        given the place as `$until`, rows and passages that print a name which the text has only
        later are hidden, and the text ends there. It shares connections and caches, and is for
        reading.
        """
        view = copy(self)
        view.place, view._is_unread = place, None
        return view

    @property
    def until(self) -> int:
        """How many characters the reader has read; `NO_LIMIT` without a place."""
        return self.place.end if self.place else NO_LIMIT

    @property
    def is_unread(self) -> IsUnread | None:
        """Whether a text prints a name that the reader has not read; None without a place."""
        if self.place and self._is_unread is None:
            from fabula.graph.unread import make_check

            self._is_unread = make_check(self.names_of(self.place.document), self.place.end)
        return self._is_unread

    def _where(self, filters: Filters) -> Filters:
        """Return filters, of the document of the place if there is one."""
        if self.place:
            document = self._own_document(filters.document or self.place.document.id)
            filters = replace(filters, document=document, documents=())
        return filters

    def _own_document(self, id: str) -> str:
        """Return the id of a document; a place in another one would let all of it through."""
        if self.place and id != self.place.document.id:
            raise ValueError("A place up to which a reader has read is one of a single document.")
        return id

    def _hide_unread(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows that the reader may see; without a place all of them."""
        if self.place is None:
            return rows
        from fabula.graph.unread import hide_unread

        return hide_unread(rows, self.is_unread)

    def _send(
        self, statement: str, name: str, parameters: Mapping[str, Any], *, is_reading: bool
    ) -> list[dict[str, Any]]:
        if "$until" in statement and (self.place or "until" not in parameters):
            parameters = {**parameters, "until": self.until}
        return super()._send(statement, name, parameters, is_reading=is_reading)

    @contextmanager
    def driver(self) -> Iterator[neo4j.Driver]:
        """Yield the driver for the statements of one piece of work."""
        # A view follows the whole store to another server (`take_over`).
        with Database.driver(self.whole) as driver:
            yield driver

    # What is there

    def space(self, collection: str) -> Space | None:
        """Return the embedding space of a collection; None where nothing was ever written to it."""
        space = read_space(self.rows("core/find_space", collection=collection))
        # As it was read last: `search_vectors` finds out if it is outdated, and reads it again.
        self._derived.save(("space", collection), "", space)
        return space

    def documents(self, collection: str, page_size: int = DOCUMENTS_PER_PAGE) -> Iterator[Entry]:
        """Yield all documents of a collection in order of their titles, `page_size` at a time."""
        title, after_id = "", ""
        place = {"collection": collection, "limit": page_size}
        while page := self.entry_rows(
            "core/find_documents", {**place, "after_title": title, "after": after_id}
        ):
            yield from map(read_entry, page)
            title, after_id = page[-1]["title_key"], page[-1]["document"]["id"]

    def count(self, collection: str, limit: int = ALL_ROWS) -> tuple[int, int]:
        """Return how many documents a collection has, and how many all collections have.

        Those of the collection are read to be counted, but no more than `limit` of them.
        """
        [row] = self.rows("core/count_documents", collection=collection, limit=limit)
        return row["documents"], row["all"]

    def latest_collections(self) -> list[str]:
        """Return the names of collections, first the one whose document was written last."""
        return [row["collection"] for row in self.rows("core/find_written")]

    def count_passages(self, collection: str = "") -> int:
        """Return how many passages a collection has, or all have together."""
        if collection:
            return self.sum_passages(collection)[0]
        [row] = self.rows("core/count_checked", collection=collection, document="")
        return int(row["passages"])

    def find_named(
        self,
        collection: str,
        name: str,
        limit: int,
        *,
        whole: bool = False,
        sources: Sequence[str] = (),
    ) -> list[Entry]:
        """Return the documents that a name fits best, at most `limit` or a few more.

        Args:
            collection: The collection to look in.
            name: An id or the beginning of one, a source, a title, the name of a file with or
                without its ending, or a part of a title.
            limit: How many to return.
            whole: Whether a part of a title does not count.
            sources: Further sources that the name may mean, such as the whole path of a file.
        """
        key = fold_name(name)
        parameters = {
            "collection": collection,
            "id": name.lower() if len(name) >= MIN_ID_CHARACTERS else "",
            "sources": [name, *sources],
            "key": key,
            "part": "" if whole else key,
            "limit": limit,
        }
        rows = self.entry_rows("core/find_named", parameters)
        if not rows:
            wait = partial(lock_collection, collection=collection)
            rows = self._between_switches(wait, "core/find_named", parameters)
        best = [row for row in rows if row["rank"] == rows[0]["rank"]]
        return [read_entry(row) for row in best]

    def find_same(
        self, collection: str, ids: Sequence[str] = (), sha256: Sequence[str] = ()
    ) -> list[Entry]:
        """Return the documents of a collection with one of these ids, or one of these texts."""
        parameters = {"collection": collection, "ids": list(ids), "sha256": list(sha256)}
        return [read_entry(row) for row in self.entry_rows("core/find_same", parameters)]

    def entry_rows(self, name: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows of a statement that finds documents, each of which is whole.

        Args:
            name: The statement; its rows are read by `rows.read_entry`.
            parameters: Its parameters, `collection` among them.
        """
        rows = self.rows(name, **parameters)
        if not all(map(is_whole, rows)):
            wait = partial(lock_collection, collection=parameters["collection"])
            rows = self._between_switches(wait, name, parameters)
        return [row for row in rows if row["document"]["id"] is not None]

    def _between_switches(
        self, wait: Callable[[neo4j.Transaction], None], name: str, parameters: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Run a statement that found nothing, or half of a document, again between switches."""
        with self.session() as session, session.begin_transaction() as transaction:
            # Amid a switch's commit a statement may find neither the old nodes nor the new.
            wait(transaction)
            rows = transaction.run(read_statement(name), dict(parameters)).data()
            transaction.rollback()
        return rows

    def layers(self, collection: str, document: str) -> list[Layer]:
        """Return how many passages a document has, by kind, aspect and level."""
        rows = self.rows("core/count_passages", collection=collection, document=document)
        return [Layer(**row) for row in rows]

    def sum_passages(self, collection: str) -> tuple[int, int]:
        """Return how many passages a collection has, and how many tokens these have."""
        [row] = self.rows("core/sum_passages", collection=collection)
        return row["passages"], row["tokens"]

    def count_kinds(self, collection: str, document: str) -> dict[str, int]:
        """Return how many nodes a document has by kind, over all its graphs."""
        rows = self.rows("core/count_kinds", collection=collection, document=document)
        counts: Counter[str] = Counter()
        for row in rows:
            counts[row["kind"]] += row["nodes"]
        return dict(counts)

    def triples(self, collection: str, document: str) -> list[tuple[str, str, str]]:
        """Return what a document's graphs state as a subject, a predicate and an object."""
        rows = self.rows("core/find_triples", collection=collection, document=document)
        return [(row["subject"], row["predicate"], row["object"]) for row in rows]

    def gaps(self, collection: str, document: str) -> dict[str, list[Gap]]:
        """Return the gaps of a document in text order, by the names of its graphs."""
        gaps: dict[str, list[Gap]] = {}
        for row in self.rows("core/find_gaps", collection=collection, document=document):
            gaps.setdefault(row["graph"], []).append(read_gap(row))
        return gaps

    def record(self, owner: Owner) -> Record | None:
        """Return what a part was made from and what that cost; None where there is no part."""
        if not owner.document:
            return self.collection_parts(owner.collection).get(owner.graph)
        parameters = {"collection": owner.collection, "ids": [owner.document], "sha256": []}
        record = _find_record(self.entry_rows("core/find_same", parameters), owner.graph)
        if record is None:
            wait = partial(lock_owners, owners=[owner])
            rows = self._between_switches(wait, "core/find_same", parameters)
            record = _find_record(rows, owner.graph)
        return record

    def collection_parts(self, collection: str) -> dict[str, Record]:
        """Return what the parts of a collection itself were made from, by their graphs' names."""
        name, parameters = "core/find_collection_parts", {"collection": collection}
        rows = self.rows(name, **parameters)
        if any(row["part"].get("graph") is None for row in rows):
            rows = self._between_switches(
                partial(lock_collection, collection=collection), name, parameters
            )
        parts = [row["part"] for row in rows]
        return {part["graph"]: read_record(part) for part in parts if part.get("graph")}

    def find_abandoned_runs(self, collection: str = "") -> list[str]:
        """Return the runs that have left something staged and whose process has ended.

        Those of one collection; without its name, those of all.
        """
        with self.session() as session:
            return find_abandoned_runs(session, collection)

    # Retrieval

    def nearest(self, vector: Vector, limit: int, filters: Filters, model: str) -> list[Hit]:
        """Return the passages closest in meaning to a vector, best first, in one round trip.

        Args:
            vector: A unit vector, shape (dimensions,).
            limit: How many passages to return.
            filters: Where to look.
            model: The embedding model of the vector.

        Returns:
            Hits whose score is the cosine.

        Raises:
            SpaceError: The collection's embeddings are of another model.
        """
        parameters: dict[str, Any] = {"limit": limit, "depth": max(2 * limit, MIN_DEPTH)}
        name = "core/find_nearest_filtered"
        if filters == filters.open and not (self.place or filters.documents):
            name = "core/find_nearest_in_document" if filters.document else "core/find_nearest"
            parameters["document"] = filters.document
        rows = self.search_vectors(read_statement(name), vector, filters, model, **parameters)
        return [read_hit(row) for row in rows]

    def nearest_elements(
        self, vector: Vector, limit: int, filters: Filters, model: str, kinds: Sequence[str] = ()
    ) -> list[Hit]:
        """Return the elements closest in meaning to a vector, best first, in one round trip.

        The arguments and errors are those of `nearest`, except for `kinds`: the kinds to look for,
        whatever the filters say of kinds; empty for all that have an embedding.
        """
        parameters = {"limit": limit, "depth": max(2 * limit, MIN_DEPTH), "kinds": list(kinds)}
        statement = read_statement("core/find_nearest_elements")
        rows = self.search_vectors(statement, vector, filters, model, **parameters)
        return [read_hit(row) for row in rows]

    def search_vectors(
        self, statement: str, vector: Vector, filters: Filters, model: str, **parameters: Any
    ) -> list[dict[str, Any]]:
        """Run a statement over a collection's embeddings, whichever slot they are in.

        A statement that asks the index for $depth nodes is run again with a larger depth if fewer
        than $limit of them are visible. If it returns rows for something else than these nodes, its
        column `nearest` has to say how many they were.

        Args:
            statement: Cypher that names the index of 256 dimensions in slot 1. It is given the
                filters, the vector, its model and the property of the embeddings.
            vector: A unit vector, shape (dimensions,).
            filters: Where to look.
            model: The embedding model of the vector.
            **parameters: Further parameters of the statement.

        Returns:
            The rows; none where the collection has no embeddings, or the statement is over elements
            and none is embedded.

        Raises:
            SpaceError: The collection's embeddings are of another model.
        """
        collection, filters = filters.collection, self._where(filters)
        statement = for_documents(statement, filters)
        cached = self._derived.find(("space", collection))
        space: Space | None = cached.value if cached else None
        of_elements = ELEMENT_INDEX in statement
        if space is None or space.model != model or (of_elements and not space.element_kinds):
            space = self.space(collection)
        while space:
            refuse_other_model(space, model)
            if of_elements and not space.element_kinds:  # there is no index to ask
                return []
            sent = filter_parameters(filters)
            sent |= {"vector": encode_vector(vector), "model": model, "slot": space.slot}
            sent |= {"embedding": space.embedding, **parameters}
            rows: list[dict[str, Any]] = []
            error = None
            try:
                rows = self._nearest(for_embeddings(statement, space.dimensions, space.slot), sent)
            except StoreError as raised:  # its index may just have been dropped for another
                error = raised
            now = space if rows else self.space(collection)
            if now is None or (now.kind, now.slot) == (space.kind, space.slot):
                if error:
                    raise error
                for row in rows:
                    row.pop("nearest", None)
                return self._hide_unread(rows)
            space = now
        return []

    def _nearest(self, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows of a statement over a vector index, which it asks for `depth` nodes."""
        rows = self._send(statement, UNNAMED, parameters, is_reading=True)
        depth = parameters.get("depth", 0)
        expected = min(parameters.get("limit", depth), depth)
        if _count_nearest(rows) >= expected:
            return rows
        collection = parameters["collection"]
        # Staged and replaced nodes, which the statement leaves out, took the places of others.
        [hidden] = self.rows(
            "core/count_hidden", collection=collection, run_prefix=run_prefix(collection)
        )
        max_depth = depth + hidden["nodes"]
        while _count_nearest(rows) < expected and depth < max_depth:
            depth = min(4 * depth, max_depth)
            rows = self._send(statement, UNNAMED, {**parameters, "depth": depth}, is_reading=True)
        return rows

    def search_hybrid(
        self, vector: Vector, question: str, limit: int, filters: Filters, model: str
    ) -> tuple[list[Hit], list[Hit]]:
        """Return the passages closest in meaning, and those closest in words (BM25).

        Both are best first and have at most `limit` passages. They take one round trip together;
        one more counts words that were not counted since the collection changed. The other
        arguments and the errors are those of `nearest`.
        """
        name = "core/find_near_or_alike"
        if self.place or filters != Filters(filters.collection):
            name = "core/find_near_or_alike_filtered"
        statement = read_statement(name)
        parameters = {"limit": limit, "depth": max(2 * limit, MIN_DEPTH)}
        matches = self._search_words(
            schema.TEXTS,
            filters.collection,
            question,
            limit,
            lambda query, pool, reach: self.search_vectors(
                statement,
                vector,
                filters,
                model,
                **parameters,
                locks=lock_prefix(filters.collection),
                words=query,
                pool=pool,
                reach=reach,
            ),
        )
        if matches is None:
            return self.nearest(vector, limit, filters, model), []
        alike = _ranking(matches.candidates, "alike")
        return _ranking(matches.rows, "near"), [hit for hit in alike if hit.score > 0][:limit]

    def search_elements(
        self, question: str, kind: str, limit: int, filters: Filters
    ) -> dict[str, float]:
        """Return the elements of a kind whose names and texts match a question's words best.

        Args:
            question: Any text.
            kind: The kind of elements, such as entity.
            limit: How many to return at most.
            filters: The collection, and the document if it is only one.

        Returns:
            The ids and their scores by BM25, best first.
        """
        statement = read_statement("core/find_alike_elements")
        matches = self._search_words(
            schema.ELEMENT_TEXTS,
            filters.collection,
            question,
            limit,
            lambda query, pool, reach: self.read(
                statement,
                filters,
                locks=lock_prefix(filters.collection),
                words=query,
                kind=kind,
                pool=pool,
                reach=reach,
            ),
        )
        if matches is None:
            return {}
        rows = sorted(matches.candidates, key=lambda row: (-row["alike"], row["id"]))
        return {row["id"]: row["alike"] for row in rows[:limit]}

    def find_quoted(
        self,
        filters: Filters,
        passages: Sequence[str],
        phrases: Sequence[Sequence[Sequence[str]]],
        resembling: Sequence[str] = (),
    ) -> list[Hit]:
        """Return the chunks in which quotations may be, and those beside them, in text order.

        One round trip; one more counts words of `resembling` that were not counted since the
        collection changed.

        Args:
            filters: Where to look; kinds, aspects and levels do not count, as only chunks are the
                text of a book.
            passages: Ids of chunks that are returned as well.
            phrases: For each search its alternatives: the phrases that a chunk must have all.
            resembling: Texts; for each the chunks are returned that share most with its words.
        """
        collection = filters.collection
        queries = [phrase_query(collection, *alternatives) for alternatives in phrases]
        terms = [question_terms(text[:MAX_QUESTION_CHARACTERS]) for text in resembling]
        words = []
        if every := list(dict.fromkeys(term for each in terms for term in each)):
            counted = count_words(self, self._derived, schema.TEXTS, collection, every)
            for each in terms:
                counts = {term: counted.counts[term] for term in each}
                words.append(search_query(collection, replace(counted, counts=counts)))
        # A reader who has a place must not be told that what comes later is in the book.
        rows = self.read(
            read_statement("core/find_quoted"),
            filters.open,
            passages=list(passages),
            phrases=list(dict.fromkeys(filter(None, queries))),
            resembling=list(dict.fromkeys(filter(None, words))),
            limit=MAX_QUOTED_PLACES,
            pool=MAX_RESEMBLING,
        )
        return [read_hit(row) for row in rows]

    def _search_words(
        self,
        index: str,
        collection: str,
        question: str,
        limit: int,
        ask: Callable[[str, int, int], list[dict[str, Any]]],
    ) -> _WordMatches | None:
        """Search for words by the statistics of their collection; None if it has none of them."""
        terms = question_terms(question[:MAX_QUESTION_CHARACTERS])
        if not terms:
            return None

        def search(statistics: WordStatistics) -> _WordMatches | None:
            query = search_query(collection, statistics)
            if not query:
                return None
            rows, candidates = _find_candidates(limit, lambda *sizes: ask(query, *sizes))
            texts = [(row["words"], row["length"]) for row in candidates]
            scores = exact_scores(terms, statistics, texts)
            scored = [
                {**row, "alike": score} for row, score in zip(candidates, scores, strict=True)
            ]
            return _WordMatches(rows, scored)

        cached = recall_words(self._derived, index, collection, terms)
        # Statistics in memory serve if the rows have their revision; else the words are counted.
        matches = search(cached) if cached else None
        if cached and matches and {row["revision"] for row in matches.rows} == {cached.revision}:
            return matches
        # There may also be no rows, which have no revision.
        current = count_words(self, self._derived, index, collection, terms)
        return matches if current == cached else search(current)

    def read(self, statement: str, filters: Filters, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement over no embeddings; it is given the filters as well."""
        return self._hide_unread(self.read_unchecked(statement, filters, **parameters))

    def read_unchecked(
        self, statement: str, filters: Filters, **parameters: Any
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement, also if they print a name that the reader has not read.

        Whole elements have such names: who asks for them restricts them afterwards.
        """
        filters = self._where(filters)
        parameters = filter_parameters(filters) | parameters
        statement = for_documents(statement, filters)
        return self._send(statement, UNNAMED, parameters, is_reading=True)

    def cached(
        self,
        name: str,
        filters: Filters,
        graphs: Sequence[str],
        make: Callable[[], Made],
        uses: Sequence[str] = (),
    ) -> Made | None:
        """Return what `make` derives from whole graphs, cached in memory until they change.

        Args:
            name: What is derived; the cache knows it by this name.
            filters: The collection of the graphs, and those of its documents that count.
            graphs: The graphs that it is derived from.
            make: Derives it.
            uses: Further graphs that it is derived from, which may be missing.

        Returns:
            The value; None where one of the `graphs` has no part.
        """
        names = [*graphs, *uses]
        if self.place:
            # What is made for one reader's place is not for another's.
            name = f"{name} until {self.until}"
        filters = self._where(filters)
        collection, document = filters.collection, filters.document
        rows = self._versions(collection, document, names)
        key = (name, collection, filters.documents or document)
        if not {row["graph"] for row in rows}.issuperset(graphs):
            self._derived.forget(key)
            return None
        return self._derived.get(key, tuple(tuple(row.values()) for row in rows), make)

    def _versions(
        self, collection: str, document: str, graphs: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return a row for each of these graphs that has parts, as `core/find_versions` has it."""
        key = ("versions", collection, document, *graphs)
        cached = self._derived.find(key)
        # 20,000 documents with three graphs have 60,000 parts; their revision is one short read.
        revision = cached.revision if cached else ""
        [row] = self.rows(
            "core/find_versions",
            collection=collection,
            document=document,
            graphs=list(graphs),
            locks=lock_prefix(collection),
            revision=revision,
        )
        versions: list[dict[str, Any]] = row["versions"]
        if cached and row["revision"] == revision:
            versions = cached.value
        else:
            self._derived.save(key, row["revision"], versions)
        return versions

    def cache_usage(self) -> CacheUsage:
        """Return how much is cached in memory, and how often it was used."""
        return self._derived.usage()

    def collection_version(self, collection: str, graphs: Sequence[str]) -> str:
        """Return a digest that changes with every change of these graphs of a collection."""
        rows = self._versions(collection, "", graphs)
        versions = repr([tuple(row.values()) for row in rows])
        return hashlib.sha256(versions.encode()).hexdigest()[:16]

    def find_chosen(
        self, collection: str, steps: Sequence[ConditionStep]
    ) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the ids of documents that may be asked and fulfil a condition, in order.

        They are cached in memory until the collection changes, which one short read tells.

        Args:
            collection: The collection.
            steps: The condition; all documents fulfil an empty one.

        Returns:
            The ids, and the properties of the condition that some document of the collection has.
        """
        key = ("chosen", collection, tuple(steps))
        cached = self._derived.find(key)
        named = dict.fromkeys(name for step in steps for name in step.properties)
        [row] = self.rows(
            "core/find_chosen",
            collection=collection,
            steps=[asdict(step) for step in steps],
            fields=list(named),
            locks=lock_prefix(collection),
            revision=cached.revision if cached else "",
        )
        if cached and row["revision"] == cached.revision:
            found: tuple[tuple[str, ...], frozenset[str]] = cached.value
            return found
        ids = sorted(id for group in row["found"] for id in group["ids"])
        present = frozenset(name for group in row["found"] for name in group["present"])
        self._derived.save(key, row["revision"], (tuple(ids), present))
        return tuple(ids), present

    def find_fields(self, collection: str, values: int = 0) -> list[dict[str, Any]]:
        """Return a row for each field of one's own: the property, how many documents have it, how
        many different values it has, and the most frequent ones, at most `values`.
        """
        return self.rows("core/find_fields", collection=collection, values=values)

    def refuse_unknown_filters(
        self,
        collection: str,
        aspects: Sequence[str],
        kinds: Sequence[str],
        elements: Sequence[str],
    ) -> None:
        """Raise NotFound for an aspect or a kind that no passage of a collection has.

        Args:
            collection: The collection.
            aspects: The aspects to check; '' is the aspect of chunks.
            kinds: The kinds to check.
            elements: Kinds of embedded elements that are allowed as well.
        """
        refuse_unknown(aspects, kinds, self.space(collection), elements=elements)

    def count_parts(self, collection: str, document: str, graphs: Sequence[str]) -> dict[str, int]:
        """Return how many parts each graph has in a collection or one document; zeros left out."""
        rows = self._versions(collection, document, graphs)
        return {row["graph"]: row["parts"] for row in rows}

    def find_related(
        self, statement: str, filters: Filters, passages: Sequence[str]
    ) -> dict[str, list[Hit]]:
        """Return what a statement finds above or beside some passages, by the passages' ids.

        Of the filters only the collection counts.
        """
        hits: dict[str, list[Hit]] = {}
        parameters = {"collection": filters.collection, "passages": list(passages)}
        rows = self._send(statement, UNNAMED, parameters, is_reading=True)
        for row in self._hide_unread(rows):
            hits.setdefault(row["of"], []).append(read_hit(row))
        return hits

    def vectors(self, collection: str, nodes: Sequence[str]) -> dict[str, Vector]:
        """Return the embeddings of some nodes by their ids: unit vectors, shape (dimensions,)."""
        space = self.space(collection)
        if space is None:
            return {}
        rows = self.rows(
            "core/find_vectors",
            collection=collection,
            nodes=list(nodes),
            embedding=space.embedding,
            dimensions=space.dimensions,
        )
        return {row["id"]: decode_vector(row["vector"]) for row in rows}

    def sources(self, collection: str, nodes: Sequence[str]) -> dict[str, list[Source]]:
        """Return the chunks that nodes rest on in text order, by the nodes' ids."""
        sources: dict[str, list[Source]] = {}
        for row in self.rows("core/find_sources", collection=collection, nodes=list(nodes)):
            sources.setdefault(row.pop("id"), []).append(Source(**row))
        return sources

    def find_chunks(self, document: Entry, first: int = 0, last: int = END) -> list[dict[str, Any]]:
        """Return the chunks that hold any character from `first` to before `last`, in order."""
        return self.find_chunks_of_spans(document, [(first, last)])

    def find_chunks_of_spans(
        self, document: Entry, spans: Sequence[tuple[int, int]]
    ) -> list[dict[str, Any]]:
        """Return the chunks that hold any character of any span, in text order, each once."""
        ranges = [list(span) for span in spans if span[0] < self.until]
        if not ranges:
            return []
        rows = self.rows("core/find_text", **_place_of(document), spans=ranges)
        return self._cut(document, rows)

    def _cut(self, document: Entry, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return chunks in text order as far as the reader has read; the last one may be cut."""
        if self.place is None:
            return rows
        self._own_document(document.id)
        rows = [row for row in rows if row["start"] < self.until]
        if rows and rows[-1]["end"] > self.until:
            last = rows[-1]
            # A chunk of several sections is named after the last one, which may come later.
            last["section"] = next(reversed(self.structure(document).paths), "")
            last |= {"end": self.until, "text": last["text"][: self.until - last["start"]]}
        return rows

    def find_place(self, document: Entry, at: str, index: int) -> Hit | None:
        """Return the passage that a place in a document names.

        Args:
            document: The document.
            at: A passage's id.
            index: The number of a chunk; -1 for none.

        Returns:
            The passage, or the chunk of that number.
        """
        rows = self.rows("core/find_place", **_place_of(document), at=at.lower(), index=index)
        return read_hit(rows[0]) if rows else None

    def names_of(self, document: Entry) -> NameIndex:
        """Return where each name of a document's text is first printed; cached until it changes."""
        from fabula.graph.unread import index_names

        def read() -> NameIndex:
            rows = self.whole.find_chunks(document)
            return index_names((row["start"], row["text"]) for row in rows)

        return self._cached_of_text("names", document, read)

    def length_of(self, document: Entry) -> int:
        """Return how many characters a document's text has; cached until it changes.

        Of a reader's document it is how many were read.
        """

        def read() -> int:
            place = {"collection": document.collection, "document": document.id}
            return int(self.rows("core/find_length", **place)[0]["length"])

        return min(self._cached_of_text("length", document, read), self.until)

    def _cached_of_text(self, name: str, document: Entry, make: Callable[[], Made]) -> Made:
        """Return what is derived from the text of a document alone, cached until it is replaced."""
        # No round trip: if the text was replaced since, this is cached for a version that is gone.
        key = (name, document.collection, document.id)
        version = document.graphs[TEXT].updated_at if TEXT in document.graphs else ""
        return self._derived.get(key, version, make)

    def structure(self, document: Entry) -> TextStructure:
        """Return where the sections, printed pages and numbered lines of a document begin."""
        return self.structures(document.collection, [document.id]).get(document.id, TextStructure())

    def structures(self, collection: str, documents: Sequence[str]) -> dict[str, TextStructure]:
        """Return the structures of documents by their ids."""
        ids = [*map(self._own_document, documents)]
        rows = self.rows("core/find_structures", collection=collection, documents=ids)
        structures = {row["id"]: read_structure(row["structure"]) for row in rows}
        if self.place is None:
            return structures
        return {id: structure.up_to(self.until) for id, structure in structures.items()}

    def find_passages_on(self, document: Entry, chunks: Sequence[str], limit: int) -> list[Hit]:
        """Return passages of graphs that rest on some chunks of a document, the closest first."""
        place = _place_of(document)
        rows = self.rows(
            "core/find_passages_on_chunks", **place, passages=list(chunks), limit=limit
        )
        return [read_hit(row) for row in self._hide_unread(rows)]

    # Writing

    def make_schema(self) -> None:
        """Make the constraints and indexes, and delete what crashes have left; once in a process.

        This is where what was left in any collection is deleted. Afterwards a writer of a
        collection deletes what is left there.

        Raises:
            StoreError: The graph is of another version of Fabula.
        """
        with self._making:
            if not self._has_schema:
                migration.record(self)
                schema.make(self)
                self._sweep()
                self._has_schema = True

    def prepare(self, collection: str, model: str, dimensions: int) -> Space:
        """Make a collection ready for embeddings of a model, unless it is ready already.

        Raises:
            SpaceError: The collection has documents with embeddings of another model, or is being
                re-embedded. Without documents it takes any model.
        """
        refuse_dimensions(model, dimensions)
        self.check_disk_space()
        self.make_schema()
        space = self.space(collection)
        if space is None:
            refuse_collection(collection)
        if space is None or (space.kind != (model, dimensions) and not space.has_documents):
            new_space = {"collection": collection, "model": model, "dimensions": dimensions}

            def take(transaction: neo4j.ManagedTransaction) -> None:
                # A document of another model may just be coming in.
                lock_collection(transaction, collection)
                transaction.run(read_statement("core/save_space"), new_space).consume()

            with self.session() as session:
                session.execute_write(take)
            space = self.space(collection)
        assert space is not None
        refuse_reembedding(space)
        refuse_other_model(space, model)
        if space.dimensions != dimensions:
            raise other_space_error(space, f"{dimensions} dimensions of {model}", model)
        with self._making:
            schema.make_vectors(self, space.dimensions, space.slot)
            if space.element_kinds:
                schema.make_vectors(self, space.dimensions, space.slot, "element")
            schema.wait(self, *schema.needed_indexes(space))
        self._sweep(collection)
        return space

    def apply(
        self,
        parts: Sequence[Part],
        model: str,
        written: Callable[[int], None] = lambda count: None,
        lock: ProcessLock | None = None,
        staged: RunStaging | None = None,
        enter: Callable[[str], None] = lambda phase: None,
    ) -> None:
        """Replace what the owners of some parts had by these parts, all or nothing.

        The nodes are staged in batches that no reader sees; the indexes of vectors and words take
        them in batch by batch. Then one transaction, which changes only labels, switches the old
        nodes out and the new ones in. The old ones are deleted afterwards. What a crash leaves is
        deleted by the next run.

        Args:
            parts: Parts of one collection, which `prepare` has made ready.
            model: The model of their embeddings.
            written: Told how many nodes with embeddings each batch had.
            lock: The lock of the documents, if somebody holds one.
            staged: What of these parts `stage_early` has staged under the same lock.
            enter: Told of the phases that follow the staging, SWITCH and SWEEP.

        Raises:
            Changed: What a part rests on was changed meanwhile.
            SpaceError: The collection's embeddings are of another model.
            StoreError: The lock was lost, or a part can't be written.
            TooLarge: The server has too little memory for the switch.
        """
        [collection] = {part.owner.collection for part in parts}
        space = self._find_space(collection)
        refuse_other_model(space, model)
        refuse_invalid(parts, space)
        self.check_disk_space()
        before = NOTHING_STAGED
        if staged is not None and lock is not None and lock.run:
            if staged.is_current(space) and staged.parts.fits(parts):
                before = staged.parts
            else:
                # A new embedding model: staged once more, in the new slot.
                self.discard_staged(lock)
        run = lock.run if lock is not None and lock.run else make_run_name(collection)
        searchable = find_searchable(parts)
        self._make_element_index(space, searchable)
        # This lock tells other processes not to delete what is staged.
        run_lock = nullcontext(lock) if lock and lock.run else process_lock(self, [run])
        with run_lock as held, self.session() as session:
            count = self._count_staged(written)
            are_staged = {part.owner for part in before.parts}
            remaining = [part for part in parts if part.owner not in are_staged]
            outgoing = stage(session, run, remaining, space, count, before)
            enter(SWITCH)
            self._save_searchable(session, space, searchable)
            left = tie_to_chunks(session, run, parts, outgoing, collection)
            tied = len(outgoing) - len(left)

            def switch_in(transaction: neo4j.ManagedTransaction) -> int:
                hidden = switch(transaction, run, parts, left, space, tied)
                # Last: if the server was restarted, others may have had these locks since.
                for each in dict.fromkeys((held, lock)):
                    if each is not None:
                        each.check()
                return hidden

            try:
                hidden: int = session.execute_write(switch_in)
            except Neo4jError as error:
                if is_out_of_memory(error):
                    raise TooLarge(
                        f"{out_of_memory_message('Switching this document in')}.",
                        advice=f"{MEMORY_ADVICE}.",
                    ) from error
                raise
        enter(SWEEP)
        if lock is not None and lock.run:
            # One document of many: `prepare` sweeps what others have left, once for all of them.
            self._sweep_switched(collection, [] if is_small(parts) else [run], hidden)
        else:
            self._sweep(collection)

    def stage_early(
        self,
        parts: Sequence[Part],
        model: str,
        lock: ProcessLock,
        staged: RunStaging | None = None,
        written: Callable[[int], None] = lambda count: None,
    ) -> RunStaging:
        """Stage the first parts of an owner while the others are still made; `prepare` comes first.

        No reader sees them. They are switched in by `apply`, or deleted by `discard_staged`, or by
        the next run if the process ends before.

        Args:
            parts: The parts and pieces of parts that were not staged before.
            model: The model of their embeddings.
            lock: The lock of their document, which holds the run of staging.
            staged: What was staged before under this lock.
            written: Told how many nodes with embeddings each batch had.

        Raises:
            SpaceError: The collection's embeddings are of another model.
            StoreError: A part can't be written, or differs from pieces of it that are staged.
        """
        [collection] = {part.owner.collection for part in parts}
        space = staged.space if staged else self._find_space(collection)
        refuse_other_model(space, model)
        refuse_invalid(parts, space)
        self.check_disk_space()
        self._make_element_index(space, find_searchable(parts))
        before = staged.parts if staged else NOTHING_STAGED
        whole = [part for part in parts if part.is_whole]
        if not before.only_of(whole).fits(whole):
            raise StoreError("A part differs from what was staged of it before.")
        with self.session() as session:
            count = self._count_staged(written)
            outgoing = stage(session, lock.run, parts, space, count, before, is_last=False)
        return RunStaging(space, before.and_also(parts, outgoing))

    def discard_staged(self, lock: ProcessLock, seconds: float | None = None) -> None:
        """Delete what was staged under a lock and will not be switched in.

        Args:
            lock: The lock.
            seconds: How long that may take, None for no limit. The next run deletes the rest.

        Raises:
            StoreError: The time is over, or the server can't be reached.
        """
        statement = neo4j.Query(read_statement("core/clear_staged"), timeout=seconds)
        with self.session() as session:
            session.run(statement, runs=[lock.run]).consume()

    def _find_space(self, collection: str) -> Space:
        """Return the space of a collection that a writer found a moment ago."""
        space = read_space(self.rows("core/find_space", collection=collection))
        if space is None:
            raise StoreError(f"Collection {collection!r} does not exist any more: try again.")
        return space

    def _count_staged(self, written: Callable[[int], None]) -> Callable[[int], None]:
        def count_staged(count: int) -> None:
            written(count)
            self.check_disk_space()

        return count_staged

    def _make_element_index(self, space: Space, searchable: Mapping[str, Sequence[str]]) -> None:
        """Make the vector index of elements for the first elements of a collection."""
        # Where there are elements already, `prepare` has seen to their index.
        if searchable["element_kinds"] and not space.element_kinds:
            with self._making:
                schema.make_vectors(self, space.dimensions, space.slot, "element")
                schema.wait(self, space.element_index)

    def _save_searchable(
        self, session: neo4j.Session, space: Space, searchable: Mapping[str, Sequence[str]]
    ) -> None:
        """Record the aspects and kinds that the collection has not had before, if there are any."""
        if all({*values} <= {*getattr(space, name)} for name, values in searchable.items()):
            return
        added = {**searchable, "collection": space.collection}
        # In a transaction before the switch's, so that no two writers wait for each other's.
        session.execute_write(
            lambda transaction: transaction.run(
                read_statement("core/save_searchable"), added
            ).consume()
        )

    def drop(self, owners: Sequence[Owner]) -> int:
        """Remove parts from the graph in one transaction; return how many there were.

        With a document's part goes what the collection's own parts say about it.
        """

        def take_out(transaction: neo4j.ManagedTransaction) -> int:
            lock_owners(transaction, [*owners, *map(_collection_owner, owners)])
            removed = 0
            for owner in owners:
                if owner.document:
                    transaction.run(
                        read_statement("core/switch_out_collection_part"), owner._asdict()
                    ).consume()
                [row] = transaction.run(read_statement("core/switch_out"), owner._asdict())
                removed += row["nodes"] > 0
            return removed

        with self.session() as session:
            removed: int = session.execute_write(take_out)
        for collection in {owner.collection for owner in owners}:
            self._sweep(collection)
        return removed

    def remove(self, collection: str, document: str) -> None:
        """Remove a document and all its graphs in one transaction.

        With it goes what the collection's own parts say about it, and with the last document those
        parts themselves, and what was decided about them.
        """
        owner = Owner(collection, TEXT, document)

        def take_out(transaction: neo4j.ManagedTransaction) -> None:
            lock_owners(transaction, [owner, _collection_owner(owner)])
            place = {"collection": collection, "document": document}
            transaction.run(
                read_statement("core/switch_out_collection_part"), place, graph=""
            ).consume()
            transaction.run(read_statement("core/switch_out_document"), place).consume()
            transaction.run(read_statement("core/clear_annotations"), place, layer="").consume()
            space = read_space(transaction.run(read_statement("core/find_space"), place).data())
            if space is None or not space.has_documents:
                for row in transaction.run(
                    read_statement("core/find_collection_parts"), place
                ).data():
                    own = Owner(collection, row["part"]["graph"])
                    transaction.run(read_statement("core/switch_out"), own._asdict()).consume()
                transaction.run(
                    read_statement("core/clear_decisions"), collection=collection
                ).consume()

        with self.session() as session:
            session.execute_write(take_out)
        self._sweep(collection)

    def set_metadata(
        self, document: Entry, changes: Metadata, *, stated: Metadata | None = None
    ) -> bool:
        """Give a document other values of some fields; return whether it existed.

        An ingest of its file with another text gives it the title, author and date of the file
        again. Other fields stay.

        Args:
            document: The document.
            changes: The fields; '' removes one of one's own.
            stated: What its file states now, where that changes it.
        """
        built_in = {name: str(changes[name]) for name in CHANGEABLE if name in changes}
        own = {name: value for name, value in changes.items() if name not in built_in}
        properties: dict[str, Any] = to_properties(own) | built_in
        for name, text in built_in.items():
            refuse_long_line(text)
            if name != "published":
                properties[f"{name}_key"] = fold_name(text)
        if "title" in built_in:
            properties["name"] = built_in["title"]
        if stated is not None:
            properties["stated"] = json.dumps(dict(stated), ensure_ascii=False)
        return self._set_properties(document, properties)

    def switch_document(self, document: Entry, *, is_off: bool) -> bool:
        """Leave a document out of questions, or no longer; return whether it existed."""
        return self._set_properties(document, {"is_off": True if is_off else None})

    def _set_properties(self, document: Entry, properties: Mapping[str, Any]) -> bool:
        owner = Owner(document.collection, TEXT, document.id)

        def take(transaction: neo4j.ManagedTransaction) -> bool:
            # A document that is being replaced must not be changed on its way out.
            lock_owners(transaction, [owner])
            change = {"properties": dict(properties), "rows": []}
            statement = read_statement("core/save_structure")
            [row] = transaction.run(statement, _place_of(document) | change)
            if "is_off" in properties:
                place = {"collection": owner.collection}
                transaction.run(read_statement("core/save_switched"), place).consume()
            return bool(row["documents"])

        with self.session() as session:
            existed: bool = session.execute_write(take)
        return existed

    def set_structure(
        self, document: Entry, properties: Mapping[str, Any], name_sections: NameSections
    ) -> bool:
        """Give a document another structure, and its nodes the paths of their sections.

        Neither the text nor what is made from it changes.

        Args:
            document: The document.
            properties: The properties of its node that change.
            name_sections: Returns the new names of sections by nodes' ids, from the rows of
                `core/find_section_names`.

        Returns:
            Whether the document was there as it is listed.
        """
        owner = Owner(document.collection, TEXT, document.id)
        place = _place_of(document)

        def take(transaction: neo4j.ManagedTransaction) -> bool:
            lock_owners(transaction, [owner])
            same = {"collection": owner.collection, "ids": [document.id], "sha256": []}
            rows = transaction.run(read_statement("core/find_same"), same).data()
            if not any(row["document"]["sha256"] == document.sha256 for row in rows):
                return False
            named = transaction.run(read_statement("core/find_section_names"), place).data()
            renamed = [
                {"id": id, "section": section} for id, section in name_sections(named).items()
            ]
            changes = {"properties": dict(properties), "rows": renamed}
            transaction.run(read_statement("core/save_structure"), place | changes).consume()
            return True

        with self.session() as session:
            existed: bool = session.execute_write(take)
        return existed

    def _sweep_switched(self, collection: str, runs: Sequence[str], hidden: int) -> None:
        """Delete what one's own switch has left: marks of staging, and the nodes that it hid."""
        if not runs and not hidden:
            return
        try:
            with self.session() as session:
                if runs:
                    session.run(read_statement("core/clear_staging"), runs=runs).consume()
                if hidden:
                    _clear_retired(session, collection)
        except StoreError as error:
            _warn_of_sweep(error)

    def _sweep(self, collection: str = "") -> None:
        """Delete what switches left in one collection, or in all: marks, old and unused nodes."""
        try:
            with self.session() as session:
                # What a writer is staging now is known by its lock, and stays.
                runs = find_abandoned_runs(session, collection)
                session.run(read_statement("core/clear_staging"), runs=runs).consume()
                _clear_retired(session, collection)
                session.run(read_statement("core/clear_staged"), runs=runs).consume()
        except StoreError as error:
            # No reader sees what is left: the next sweep deletes it.
            _warn_of_sweep(error)


def _clear_retired(session: neo4j.Session, collection: str) -> None:
    last = collection or LAST_CHARACTER
    names = {"first_collection": collection, "last_collection": last}
    session.run(read_statement("core/clear_retired"), names).consume()


def _warn_of_sweep(error: StoreError) -> None:
    LOG.warning("Replaced nodes could not be deleted; the next run deletes them. %s", error)


def _collection_owner(owner: Owner) -> Owner:
    """Return the owner whose lock keeps the collection's own parts from coming in meanwhile."""
    return owner._replace(document="")


def _place_of(document: Entry) -> dict[str, str]:
    return {"collection": document.collection, "document": document.id}


def _find_record(rows: Sequence[Mapping[str, Any]], graph: str) -> Record | None:
    """Return the record of a graph of the document that was found, if one was found."""
    return read_entry(rows[0]).graphs.get(graph) if rows else None


def _count_nearest(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return how many visible nodes a vector index gave a statement."""
    if rows and "nearest" in rows[0]:
        return int(rows[0]["nearest"])
    if rows and "near" in rows[0]:
        return sum(row["near"] is not None for row in rows)
    return len(rows)


@dataclass(frozen=True, slots=True)
class _WordMatches:
    """What a search for words returned: all rows, and those that have the words, scored exactly."""

    rows: Sequence[Mapping[str, Any]]
    candidates: Sequence[Mapping[str, Any]]


def _find_candidates(
    limit: int, ask: Callable[[int, int], list[dict[str, Any]]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return all rows of a search by words, and those that are to be scored exactly."""
    pool = limit + max(limit // 5, MIN_SPARE)
    rows = ask(pool, pool)
    candidates = [row for row in rows if row["alike"] is not None]
    if len(candidates) < pool:
        return rows, candidates
    # Of rows with equal scores the index returns any: those that score as the last are left out.
    lowest = min(row["alike"] for row in candidates)
    complete = [row for row in candidates if row["alike"] > lowest]
    if len(complete) >= limit:
        return rows, complete
    # Too few remain: all rows are read, ordered by their ids.
    rows = ask(pool, ALL_ROWS)
    return rows, [row for row in rows if row["alike"] is not None]


def _ranking(rows: Sequence[Mapping[str, Any]], score: str) -> list[Hit]:
    """Return the passages that have a score by that name, best first."""
    hits = [read_hit({**row, "score": row[score]}) for row in rows if row[score] is not None]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
