"""The graph that queries for analysts are tried on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from database import connect, cypher, wipe
from fabula import Fabula
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.server import Address
from fabula.store import Store
from graphs import in_space, put, small_graph
from stories import LIGHTHOUSE, WINTER

OF_EPISODES = ("episodes", "recap")
OF_FACTS = ("facts",)
OF_SPEECH = ("conversations", "said_about", "subjects")
OF_ANNOTATIONS = ("annotated",)
OF_DISCOURSE = ("causes", "story_order")
OF_ENTITIES = (
    *("appearances", "between", "cast", "communities", "communities_by_part", "meetings"),
    *("merged", "network", "places", "report", "shared_names"),
)
"""The queries for analysts that walk one graph, and are tried in that graph's tests."""


@contextmanager
def explored(address: Address, folder: Path) -> Iterator[Store]:
    """Two stories built offline, and a graph by hand, 'A', whose last chunk nothing covers."""
    settings = Settings(
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        home=folder / "home",
        cache_folder=folder / "cache",
        chunk_tokens=40,
        model=OFFLINE,
        embedding_model=STATIC,
    )
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text(LIGHTHOUSE, source="lighthouse.txt", title="The Lighthouse")
        fabula.ingest_text(WINTER.partition("CHAPTER IV")[0], source="winter.txt", title="Winter")
        space = store.space("default")
        assert space is not None
        put(store, in_space(small_graph(), space.dimensions), space.model)
        cypher(store, "MATCH (:Chunk {text: 'word 3.'})<-[edge:SUMMARIZES]-() DELETE edge")
        yield store
