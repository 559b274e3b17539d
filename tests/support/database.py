"""The tests' Neo4j: connecting, asking, indexes, and emptying it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from endpoint import Endpoint
from fabula.server import Address
from fabula.store import Store, schema
from graphs import DIMENSIONS

SPACES = (
    *product((DIMENSIONS, 32, Endpoint.dimensions, 256), (1, 2)),
    (16, 1),
    (48, 2),
    (4096, 1),
)
"""The dimensions of graphs that are made by hand, of the tests' endpoint, of static vectors and of
other models, and the places of those that are re-embedded."""


def connect(address: Address) -> Store:
    """A store at the tests' Neo4j."""
    return Store.connect(address.uri, address.username, address.password, "neo4j")


def server_variables(address: Address) -> dict[str, str]:
    """The variables that name the tests' Neo4j as the one to use."""
    return {
        "NEO4J_URI": address.uri,
        "NEO4J_USERNAME": address.username,
        "NEO4J_PASSWORD": address.password,
    }


def name_server(patch: pytest.MonkeyPatch, address: Address) -> None:
    """Let the environment name the tests' Neo4j as the one to use."""
    for name, value in server_variables(address).items():
        patch.setenv(name, value)


def cypher(store: Store, statement: str, **parameters: Any) -> list[dict[str, Any]]:
    """What a statement of a test returns."""
    return [record.data() for record in store._driver.execute_query(statement, parameters).records]


def make_indexes(store: Store) -> None:
    """All that tests need: one that comes later has every statement planned anew."""
    from fabula.store.schema import make_service

    store.make_schema()
    make_service(store)
    for dimensions, slot in SPACES:
        schema.make_vectors(store, dimensions, slot)
        schema.make_vectors(store, dimensions, slot, "element")


def wipe(store: Store) -> None:
    """Empties the graph; indexes stay, as making them and planning anew takes long.

    Relationships first: a node of a nightly test has more of them than a transaction may delete.
    """
    with store._driver.session() as session:
        for statement in (
            "MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF 10000 ROWS",
            "MATCH (n:!Schema) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS",
        ):
            session.run(statement).consume()


def empty(address: Address) -> None:
    """Empties the graph of a server."""
    with connect(address) as store:
        wipe(store)
