"""The limits of the private server's memory and time let through what Fabula itself asks of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from database import connect
from fabula.graph import Part
from fabula.server import Address, config
from fabula.store import Store, reembedding
from graphs import MODEL, small_graph, vector
from servers import server_of

pytestmark = [pytest.mark.nightly, pytest.mark.server]

DIMENSIONS = 4096
PASSAGES = 6000
"""Their embeddings are 98 MB: twice that, as in a replacement, is most of a heap of 256 MB."""
SECONDS = 10
"""That a transaction may take, beside an hour."""


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    """A small server that soon ends what takes long."""
    server = server_of(tmp_path / "limited")
    monkeypatch.setitem(config.SETTINGS, "db.transaction.timeout", f"{SECONDS}s")
    yield server.start()
    server.destroy()


def test_a_turn_lasts_longer_than_a_transaction_may(store: Store) -> None:
    store.prepare("default", MODEL, DIMENSIONS)
    with reembedding.lock_space(store, "default") as space:
        time.sleep(SECONDS + 5)  # The server looks every two seconds.
        now = space()
    assert now is not None
    assert now.model == MODEL


def test_a_document_whose_embeddings_fill_the_heap_is_taken_in_and_replaced(
    tmp_path: Path,
) -> None:
    server = server_of(tmp_path / "small")
    try:
        with connect(server.start()) as store:
            store.prepare("default", MODEL, DIMENSIONS)
            part = of_many(PASSAGES)
            for _ in range(2):
                store.apply([part], MODEL)
            found = store.rows(
                "core/count_passages", collection="default", document=part.owner.document
            )
            assert [row["passages"] for row in found] == [PASSAGES]
    finally:
        server.destroy()


def of_many(passages: int) -> Part:
    """A document's part, of chunks that all say the same."""
    text = small_graph(chunks=1)[0]
    described, chunk = text.nodes
    chunks = [
        replace(
            chunk,
            id=f"{number:020x}",
            properties={**chunk.properties, "index": number},
            sources=(f"{number:020x}",),
            embedding=vector(number, DIMENSIONS),
        )
        for number in range(passages)
    ]
    edges = [replace(text.edges[0], start=chunk.id, end=described.id) for chunk in chunks]
    return replace(text, nodes=(described, *chunks), edges=tuple(edges))
