"""A library that the tests of several files read and none changes: it is ingested once.

These files have the mark `shared_library`, by which one worker runs them one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from database import connect, cypher, wipe
from fabula.library import App
from fabula.server import Address
from fabula.store import Store
from modelled import build_with_a_model
from offline import WITHOUT_MODEL
from served import server_of
from stories import CONVICT, LIGHTHOUSE, WINTER

PLAIN = "Title: Another\nLanguage: en\n\nCHAPTER I\n\nThe sea was calm and the gulls were loud.\n"
TIDY = """
MATCH (n:!Schema)
WHERE any(label IN labels(n) WHERE label STARTS WITH 'Service')
  OR NOT coalesce(n.collection, n.name, '') IN $collections
DETACH DELETE n
"""
"""What a service keeps, and collections of a file's own."""
STATE = """
MATCH (n:!Schema) OPTIONAL MATCH (n)-[edge]->()
WITH n, count(edge) AS edges ORDER BY n.id
RETURN count(n) AS nodes, sum(edges) AS edges, collect(n.updated_at) AS times
"""
_states: dict[str, Any] = {}
_ingested: dict[str, list[str]] = {}
"""By the server's address: the graph as it was left, and the collections that are there."""


@contextmanager
def shared_library(address: Address, *names: str, **settings: Any) -> Iterator[App]:
    """Give an App that finds these collections, which its tests may ask and not change.

    Args:
        address: The tests' Neo4j.
        names: Of `COLLECTIONS`.
        settings: Further settings of the App.
    """
    server = address.uri
    with connect(address) as store:
        _tidy(store, server)
        if _states.get(server) != cypher(store, STATE):
            wipe(store)
            _ingested[server] = []
        for name in names:
            if name not in _ingested[server]:
                with App(**server_of(address), **WITHOUT_MODEL) as app:
                    COLLECTIONS[name](app)
                _ingested[server].append(name)
        _tidy(store, server)
        _states[server] = cypher(store, STATE)
        with App(**server_of(address), **WITHOUT_MODEL | settings) as app:
            yield app
        _tidy(store, server)
        assert _states[server] == cypher(store, STATE), "a test changed the library that it shares"


def _tidy(store: Store, server: str) -> None:
    cypher(store, TIDY, collections=_ingested.get(server, []))


def _ingest_default(app: App) -> None:
    default = app.collection("default")
    default.ingest_text(WINTER, source="winter.txt", title="Winter", author="Nobody")


def _ingest_tales(app: App) -> None:
    text = LIGHTHOUSE.partition("\n\n")[2]
    app.collection("winter tales").ingest_text(text, source="light.txt", title="The Lighthouse")


def _ingest_story(app: App) -> None:
    _ingest_files(app, "story", {"convict": CONVICT}, ("aspects", "entities", "episodes", "speech"))
    build_with_a_model(app.settings, "story")


def _ingest_two(app: App) -> None:
    _ingest_files(app, "two", {"convict": CONVICT, "another": PLAIN}, ())


def _ingest_files(
    app: App, collection: str, texts: dict[str, str], graphs: tuple[str, ...]
) -> None:
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, f"{name}.txt").write_text(text)
        outcomes = app.collection(collection).ingest(Path(folder), graphs=graphs)
        assert [outcome.status for outcome in outcomes] == ["added"] * len(texts)


COLLECTIONS: dict[str, Callable[[App], None]] = {
    "default": _ingest_default,
    "winter tales": _ingest_tales,
    "story": _ingest_story,
    "two": _ingest_two,
}
"""What makes each collection: a story, another, one with all graphs, and one of two documents."""
