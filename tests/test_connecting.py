"""Reaching a Neo4j: who cannot is told why in one line."""

from __future__ import annotations

import pytest

from conftest import connect
from fabula.errors import StoreError
from fabula.server import Address
from fabula.store import Store
from fabula.store.wording import refuse_old


def test_a_wrong_password_is_one_clear_line(address: Address) -> None:
    with pytest.raises(
        StoreError, match=r"refuses user 'neo4j' with this password.*NEO4J_PASSWORD"
    ):
        Store.connect(address.uri, "neo4j", "wrong", "neo4j")


def test_an_unreachable_server_is_one_clear_line() -> None:
    with pytest.raises(StoreError, match=r"No Neo4j answers at bolt://127.0.0.1:9.*NEO4J_URI"):
        Store.connect("bolt://127.0.0.1:9", "neo4j", "x", "neo4j")


def test_an_address_that_is_none_is_one_clear_line() -> None:
    with pytest.raises(StoreError, match="NEO4J_URI = localhost is no address"):
        Store.connect("localhost", "neo4j", "x", "neo4j")


def test_a_database_that_is_not_there_is_named(address: Address) -> None:
    with pytest.raises(StoreError, match=r"has no database 'books'.*NEO4J_DATABASE"):
        Store.connect(address.uri, address.username, address.password, "books")


@pytest.mark.parametrize("version", ["5.26.1", "2025.12.0", "2026.05.3"])
def test_an_older_server_is_refused_with_what_is_needed(version: str) -> None:
    with pytest.raises(StoreError, match=f"version {version}, and Fabula needs 2026.06 or later"):
        refuse_old([("Neo4j Kernel", version), ("Cypher", "5")], "bolt://old")


@pytest.mark.parametrize("version", ["2026.06.0", "2026.08.1", "2027.01.0"])
def test_a_newer_server_is_welcome(version: str) -> None:
    refuse_old([("Neo4j Kernel", version)], "bolt://new")


def test_a_store_can_be_opened_again(address: Address) -> None:
    with connect(address) as first:
        first.version()
    with connect(address) as second:
        assert "community" in second.version()
