"""The edges of a real graph connect the labels that its graphs declare.

The diagrams of the documentation are drawn from these declarations.
"""

from __future__ import annotations

from pathlib import Path

from database import connect, cypher, wipe
from endpoint import Endpoint
from fabula.config.settings import OFFLINE, STATIC
from fabula.graph import CHUNK
from fabula.graph.installed import graphs
from fabula.library import App
from fabula.server import Address
from served import server_of
from stories import CONVICT

BY_RULES = ("aspects", "entities", "episodes", "speech", "identities")
BY_A_MODEL = ("communities", "discourse", "facts", "collection_communities")
EDGES = """
MATCH (start {collection: $collection})-[edge]->(end {collection: $collection})
WHERE NOT start:Gap AND NOT start:Part AND NOT start:Document AND NOT end:Document
RETURN DISTINCT start.graph AS graph, labels(start) AS starts, type(edge) AS type,
  labels(end) AS ends
"""


def test_edges_connect_what_their_graph_declares(address: Address, tmp_path: Path) -> None:
    known = graphs()
    labels = {
        CHUNK,
        *(label for graph in known.values() for label in (*graph.passages, *graph.elements)),
    }
    with connect(address) as store:
        wipe(store)
        with Endpoint() as endpoint:
            for collection, model, names in (
                ("rules", OFFLINE, BY_RULES),
                ("model", "m", BY_A_MODEL),
            ):
                with App(
                    **server_of(address),
                    model=model,
                    base_url=endpoint.url,
                    embedding_model=STATIC,
                ) as app:
                    story = app.collection(collection)
                    story.ingest_text(CONVICT, source="convict.txt")
                    for name in names:
                        story.build(name)
        found: dict[str, set[tuple[str, str, str]]] = {}
        for collection in ("rules", "model"):
            for row in cypher(store, EDGES, collection=collection):
                [start] = labels.intersection(row["starts"])
                [end] = labels.intersection(row["ends"])
                if row["graph"] != "text":
                    found.setdefault(row["graph"], set()).add((start, row["type"], end))
    assert found.keys() >= {*BY_RULES, *BY_A_MODEL} - {"identities", "facts"}
    for name, edges in found.items():
        assert edges <= {*known[name].connects}, name
