"""The graph in Neo4j: one method per question that is asked of it."""

from __future__ import annotations

import logging
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import neo4j
import numpy as np
from neo4j.exceptions import DriverError

from fabula.errors import StoreError
from fabula.model import (
    Chunk,
    Detail,
    DocumentGraph,
    Entry,
    Filters,
    Hit,
    Layer,
    Summary,
    Vector,
)
from fabula.queries import query
from fabula.store import schema
from fabula.store.rows import bounds, entry, made_space, wire
from fabula.store.schema import Index
from fabula.store.space import Space, other_space, refuse_other_model, refuse_reembedding
from fabula.store.staging import refuse_broken, stage, switch
from fabula.store.wording import in_words, reaching, refuse_old, too_large

STALE_MS = 3_600_000
"""What was staged longer ago than this belongs to no run that is still going on."""
LEAST_DEPTH = 50
"""How many the vector index is asked for. With 434 readers' questions on 38 books and stories, 98 %
of the true best 5 were among 10, and 86 % within one book; among 50, 99.9 % and 98 %."""
MOST_CHARACTERS = 1000
"""Of a question's words that are looked up."""


class Store:
    """A graph in one Neo4j database; safe to share between threads.

    Raises StoreError for all that the server refuses or can't do, in words for a person.
    """

    def __init__(self, driver: neo4j.Driver, database: str) -> None:
        self._driver = driver
        self._database = database
        self._preparing = threading.Lock()
        self._has_schema = False
        self._nearest = "find_nearest"

    @classmethod
    def connect(cls, uri: str, username: str, password: str, database: str) -> Self:
        """A store at `uri`; its server is reached, lets the user in, and is new enough."""
        # The driver logs what it also raises.
        logging.getLogger("neo4j").setLevel(logging.CRITICAL)
        try:
            if not re.match(r"(?i)(bolt|neo4j)(\+s(sc)?)?://", uri):
                raise ValueError("only bolt and neo4j are spoken")
            driver = neo4j.GraphDatabase.driver(
                uri,
                auth=(username, password),
                connection_timeout=10,
                connection_acquisition_timeout=15,
                notifications_min_severity="OFF",
            )
        except (DriverError, ValueError) as error:
            raise StoreError(
                f"NEO4J_URI = {uri} is no address of a Neo4j server: {error}. "
                "It looks like bolt://host:7687 or neo4j+s://host."
            ) from error
        store = cls(driver, database)
        try:
            with reaching(uri, username, database):
                driver.verify_connectivity()
                rows = driver.execute_query(query("find_version"), database_=database).records
            refuse_old([(row["name"], row["versions"][0]) for row in rows], uri)
        except BaseException:
            driver.close()
            raise
        return store

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
        """Lets the connections go."""
        self._driver.close()

    # What is there

    def version(self) -> str:
        """The server's version and edition, as '2026.08.1 community'."""
        [row] = [row for row in self.rows("find_version") if "Kernel" in row["name"]]
        return f"{row['versions'][0]} {row['edition']}"

    def space(self) -> Space | None:
        """The embedding space, or None where nothing was ever written."""
        return made_space(self.rows("find_embedding_space"))

    def indexes(self) -> list[Index]:
        """The indexes that retrieval reads, those there are."""
        return [Index(**row) for row in self.rows("find_indexes")]

    def documents(self, collection: str = "") -> list[Entry]:
        """All documents, or those of one collection, by collection and title."""
        return [entry(row) for row in self.rows("find_documents", collection=collection)]

    def layers(self, document: str) -> list[Layer]:
        """How many passages a document has, by kind, aspect and level."""
        return [Layer(**row) for row in self.rows("count_passages", document=document)]

    def moment(self, ago: int = 0) -> str:
        """The time `ago` milliseconds before now, as a run's name begins with the one it began at.

        It is the server's: two clients' clocks differ.
        """
        [row] = self.rows("find_time")
        return f"{row['milliseconds'] - ago:015d}"

    # Retrieval

    def nearest(self, vector: Vector, limit: int, filters: Filters, model: str) -> list[Hit]:
        """The `limit` passages of highest cosine with `vector`, best first; one round trip.

        Raises SpaceError where the graph's embeddings are not of the `model` of the vector.
        """
        asked = bounds(filters) | {
            "vector": wire(vector),
            "model": model,
            "limit": limit,
            "depth": max(2 * limit, LEAST_DEPTH),
        }
        before, trouble = "", None
        while True:
            rows: list[dict[str, Any]] = []
            name = self._nearest
            try:
                rows = self.rows(name, **asked)
            except StoreError as error:  # its index may just have been given up for the other one
                trouble = error
            if rows or (space := self.space()) is None:
                return [Hit(**row) for row in rows]
            refuse_other_model(space, model)
            now = "find_nearest_next" if space.phase == "moving" else "find_nearest"
            if before == name == now:
                if trouble:
                    raise trouble
                return []
            before, self._nearest, trouble = name, now, None

    def matching(self, question: str, limit: int, filters: Filters) -> list[Hit]:
        """The `limit` passages that share most with a question's words (BM25), best first."""
        # The parser refuses more than 1024 terms, and no term is shorter than a character.
        words = " ".join(re.findall(r"\w+", question.lower()))[:MOST_CHARACTERS]
        if not words:
            return []
        rows = self.rows("find_by_words", words=words, limit=limit, **bounds(filters))
        return [Hit(**row) for row in rows]

    # Writing

    def make_schema(self) -> None:
        """Makes what the graph is kept by, and sweeps up what a crash has left, once.

        `prepare` does too, but this can go before it, and needs no embedding space.
        """
        with self._preparing:
            if not self._has_schema:
                schema.make(self)
                self._sweep()
                self._has_schema = True

    def prepare(self, model: str, dimensions: int) -> None:
        """Makes the graph ready for embeddings of `model`; what is ready already stays.

        An empty graph takes any model. Raises SpaceError where documents have another's.
        """
        self.make_schema()
        with self._preparing:
            self._enter(model, dimensions)
            schema.settle(self)
        self._sweep()

    def _enter(self, model: str, dimensions: int) -> None:
        """Takes an embedding space for an empty graph, or finds that it has this one already."""
        space = self.space()
        if space is not None:
            refuse_reembedding(space)
        if space is None or (
            not space.documents and (space.model, space.dimensions) != (model, dimensions)
        ):
            self.rows("schema_drop_passage_vectors")
            self.rows("clear_embedding_space")
        space = made_space(self.rows("save_embedding_space", model=model, dimensions=dimensions))
        assert space is not None
        if space.dimensions != dimensions:
            raise other_space(space, f"{dimensions} dimensions of {model}", model)
        refuse_other_model(space, model)

    def replace(
        self,
        graph: DocumentGraph,
        settings: Mapping[str, object],
        written: Callable[[int], None] = lambda count: None,
    ) -> None:
        """Puts `graph` in the place of what its document had: all of it, or nothing.

        Its nodes are staged in batches where no reader sees them, `written` being told how many;
        then one transaction switches the old nodes out and the new ones in. What is left of the
        old ones is swept afterwards, and what a crash leaves, by a later run. `settings` are kept
        with the document.
        """
        passages: list[Chunk | Summary | Detail] = [
            *graph.chunks,
            *graph.summaries,
            *graph.details,
        ]
        refuse_broken(passages)
        self.refuse_too_large(len(passages), len(passages[0].embedding))
        run = f"{self.moment()}-{uuid.uuid4().hex}"
        with self.session() as session:
            stage(session, run, graph, settings, written)
            replaced = session.execute_write(switch, run, graph, settings)
        if replaced:
            self._sweep()

    def remove(self, document: str) -> None:
        """Takes a document and all its passages out of the graph, at once."""
        with self.session() as session:
            session.execute_write(
                lambda transaction: transaction.run(
                    query("switch_out"), document=document
                ).consume()
            )
        self._sweep()

    def _sweep(self) -> None:
        """Deletes what was switched out, and what runs that crashed have staged."""
        before = self.moment(STALE_MS)
        with self.session() as session:
            session.run(query("clear_retired")).consume()
            session.run(query("clear_staged"), before=before).consume()

    def refuse_too_large(self, passages: int, dimensions: int) -> None:
        """Raises TooLarge for a document of more embeddings than the server can switch in.

        A switch holds them all in the server's heap, and no pool guards that.
        """
        size = passages * dimensions * np.dtype(np.float32).itemsize
        try:
            [row] = self.rows("find_heap")
        except StoreError:  # a hosted server may not tell, and has its own limits
            return
        if size > row["bytes"] / 4:
            raise too_large(passages, size, row["bytes"])

    def rows(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """What the statement of that name in `cypher/` returns."""
        return self.run(query(name), name, **parameters)

    def run(
        self, statement: str, name: str = "a query", /, **parameters: Any
    ) -> list[dict[str, Any]]:
        """What a statement returns; `name` is what an error calls it."""
        with in_words(name):
            records = self._driver.execute_query(
                statement, parameters, database_=self._database
            ).records
        return [record.data() for record in records]

    @contextmanager
    def session(self) -> Iterator[neo4j.Session]:
        """A session for what takes several statements, its errors in words for a person."""
        with in_words("writing"), self._driver.session(database=self._database) as session:
            yield session
