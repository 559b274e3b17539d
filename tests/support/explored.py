"""The graph that queries for analysts are tried on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from database import connect, cypher, wipe
from fabula import Fabula
from fabula.server import Address
from fabula.store import Store
from graphs import in_space, put, small_graph
from offline import offline_settings
from stories import LIGHTHOUSE, WINTER


@contextmanager
def explored(address: Address, folder: Path) -> Iterator[Store]:
    """Two stories built offline, and a graph by hand, 'A', whose last chunk nothing covers."""
    with connect(address) as store, Fabula(offline_settings(address, folder)) as fabula:
        wipe(store)
        fabula.ingest_text(LIGHTHOUSE, source="lighthouse.txt", title="The Lighthouse")
        fabula.ingest_text(WINTER.partition("CHAPTER IV")[0], source="winter.txt", title="Winter")
        space = store.space("default")
        assert space is not None
        put(store, in_space(small_graph(), space.dimensions), space.model)
        cypher(store, "MATCH (:Chunk {text: 'word 3.'})<-[edge:SUMMARIZES]-() DELETE edge")
        yield store
