"""Connections to one Neo4j database, and statements sent over them."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import neo4j
from neo4j.exceptions import DriverError

from fabula import tracing
from fabula.errors import StoreError
from fabula.graph.queries import read_statement
from fabula.store.driver_errors import explain_connecting, explain_errors, refuse_old_server
from fabula.store.embedding_space import Space
from fabula.store.rows import read_space

LOG = logging.getLogger("fabula")
READING_PREFIXES = ("find_", "count_", "check_")
"""How the names of statements that only read begin, and take no lock. Neo4j reads what is committed
at each step, property by property: beside a write, a row may have the old value of one property and
the new value of another, or none. Where that must not be, a statement `read_...` locks a node by
setting one of its properties to itself, before it reads the node: it waits for whoever is writing
it, and changes nothing."""
UNNAMED = "a query"
"""What an error calls a statement that has no name in `cypher/`."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index, which may belong to a constraint.

    Attributes:
        name: Its name.
        state: ONLINE, POPULATING or FAILED.
        percent: How much of it is populated.
        dimensions: Those of the vectors that it takes; 0 for an index of other things.
        constrains: Whether its constraint exists. It does not while that is being made, or if a
            crash interrupted the making.
    """

    name: str
    state: str
    percent: float
    dimensions: int
    constrains: bool


class Database:
    """One Neo4j database; safe to share between threads.

    Every method raises StoreError for what the server refuses or can't do.
    """

    def __init__(self, driver: neo4j.Driver, database: str) -> None:
        self._driver = driver
        self._database = database
        # On a cluster, a bookmark makes a reader of one server wait for writes to another. A single
        # server needs none: there it made every reader wait for the newest write of anybody, for
        # 29 to 109 s while a large book came in.
        self._bookmarks: neo4j.BookmarkManager | None = None
        self._is_closed = False

    @classmethod
    def connect(
        cls,
        uri: str,
        username: str,
        password: str,
        database: str,
        retry_seconds: float | None = None,
    ) -> Self:
        """Return a store at an address, once its server was reached and accepted the user.

        `retry_seconds` is how long the driver tries a statement again that failed for a reason
        which may pass, such as a lost connection; None: for half a minute, as it does by itself.
        """
        # The driver logs what it also raises.
        logging.getLogger("neo4j").setLevel(logging.CRITICAL)
        try:
            if not re.match(r"(?i)(bolt|neo4j)(\+s(sc)?)?://", uri):
                raise ValueError("its scheme is neither bolt nor neo4j")
            driver = neo4j.GraphDatabase.driver(
                uri,
                auth=(username, password),
                connection_timeout=10,
                connection_acquisition_timeout=15,
                max_transaction_retry_time=30.0 if retry_seconds is None else retry_seconds,
                notifications_min_severity="OFF",
            )
        except (DriverError, ValueError) as error:
            raise StoreError(
                f"NEO4J_URI = {uri} is not an address of a Neo4j server: {error}. "
                "An address looks like bolt://host:7687 or neo4j+s://host."
            ) from error
        store = cls(driver, database)
        try:
            # In a session, which tries once: `execute_query` tries for half a minute.
            with (
                explain_connecting(uri, username, database),
                driver.session(database=database) as session,
            ):
                rows = session.run(read_statement("core/find_version")).data()
            refuse_old_server([(row["name"], row["versions"][0]) for row in rows], uri)
            # Only the scheme neo4j asks for the servers of a cluster, which Community never is.
            is_enterprise = any(row["edition"] != "community" for row in rows)
            if is_enterprise and uri.lower().startswith("neo4j"):
                store._bookmarks = driver.execute_query_bookmark_manager
        except BaseException:
            driver.close()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections, whatever another thread is doing with one of them."""
        self._is_closed = True
        _close(self._driver)

    @contextmanager
    def driver(self) -> Iterator[neo4j.Driver]:
        """Yield the driver for the statements of one piece of work.

        A connection that was opened for them while the store was closed is closed afterwards;
        the driver's pool would keep it.
        """
        driver = self._driver
        try:
            yield driver
        finally:
            if self._is_closed or driver is not self._driver:
                _close(driver)

    def take_over(self, other: Self) -> None:
        """Take over another store's connections, and close those that were used until now.

        So a server may come back at another port without anybody needing a new store.
        """
        if self._is_closed:
            other.close()
            return
        self._driver, previous = other._driver, self._driver
        self._bookmarks = other._bookmarks
        _close(previous)

    def version(self) -> str:
        """Return the server's version and edition, such as '2026.08.1 community'."""
        [row] = [row for row in self.rows("core/find_version") if "Kernel" in row["name"]]
        return f"{row['versions'][0]} {row['edition']}"

    def spaces(self) -> list[Space]:
        """Return the embedding spaces of all collections in order of their names."""
        return [space for row in self.rows("core/find_spaces") if (space := read_space([row]))]

    def indexes(self) -> list[Index]:
        """Return all indexes, those of constraints included."""
        return [Index(**row) for row in self.rows("core/find_indexes")]

    def rows(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of the statement of that name in `cypher/`."""
        return self.run(read_statement(name), name, **parameters)

    def run(
        self, statement: str, name: str = UNNAMED, /, **parameters: Any
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement; `name` is what an error calls it."""
        is_reading = name.rpartition("/")[2].startswith(READING_PREFIXES)
        return self._send(statement, name, parameters, is_reading=is_reading)

    def _send(
        self, statement: str, name: str, parameters: Mapping[str, Any], *, is_reading: bool
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement; on a cluster, one that reads may go to any server."""
        attributes = {tracing.SYSTEM: "neo4j", tracing.SUMMARY: name}
        routing = neo4j.RoutingControl.READ if is_reading else neo4j.RoutingControl.WRITE
        with (
            tracing.span(name, attributes, client=True),
            explain_errors(name),
            self.driver() as driver,
        ):
            result = driver.execute_query(
                statement,
                dict(parameters),
                database_=self._database,
                routing_=routing,
                bookmark_manager_=self._bookmarks,
            )
        return [dict(zip(result.keys, record.values(), strict=True)) for record in result.records]

    @contextmanager
    def session(self) -> Iterator[neo4j.Session]:
        """Yield a session for several statements; its errors are translated as well."""
        with (
            explain_errors("writing"),
            self.driver() as driver,
            driver.session(database=self._database, bookmark_manager=self._bookmarks) as session,
        ):
            yield session


def _close(driver: neo4j.Driver) -> None:
    """Close a driver and all its connections, also while other threads use them."""
    pool = driver._pool
    with pool.lock:
        connections = [*itertools.chain.from_iterable(pool.connections.values())]
    # The driver's goodbye amid another thread's statement leaves that session open for ever.
    for connection in connections:
        if connection.in_use:
            connection.kill()
    try:
        driver.close()
        pool.close()  # again: a driver that is closed does nothing, whatever was opened since
    except Exception:
        LOG.debug("A connection was not closed in order.", exc_info=True)
        driver.close()  # its pool is empty by now
    finally:
        for connection in connections:
            connection.kill()
