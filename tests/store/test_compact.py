"""A vector index made anew: all is found in it, and nothing is lost by a stop."""

from __future__ import annotations

import pytest

from database import cypher
from fabula import App
from fabula import store as store_module
from fabula.cli import main
from fabula.errors import SpaceError
from fabula.graph.hits import Filters, Hit
from fabula.graph.installed import graphs
from fabula.graph.queries import read_statement
from fabula.store import Store, database, reembedding
from fabula.store.embedding_space import Space
from fabula.store.integrity import check
from graphs import DIMENSIONS, names_of, put, small_graph, vector
from hits import rounded

pytestmark = pytest.mark.replans

STEPS = ("core/reembed_copy", "core/save_parts", "core/reembed_clear", "core/reembed_end")


class Crash(BaseException):
    """Stands for whatever ends a process; nothing catches it."""


@pytest.fixture
def two(store: Store, graph_url: str) -> Store:
    """A document in each of two collections, of one space."""
    for collection in ("default", "other"):
        store.prepare(collection, "test-model", DIMENSIONS)
        parts = small_graph(collection=collection)
        put(store, [*parts, names_of(parts)])
    return store


def is_whole(store: Store, slot: int) -> None:
    for collection in ("default", "other"):
        space = store.space(collection)
        assert space is not None
        assert (space.slot, space.phase, space.kind) == (slot, "", ("test-model", DIMENSIONS))
        assert len(store.nearest(vector(0), 30, Filters(collection), "test-model")) == 18
        found = store.nearest_elements(vector(20_000), 30, Filters(collection), "test-model")
        assert [hit.text for hit in found[:1]] == ["name 0"]
        assert len(found) == 3
    assert check(store, [graphs()["aspects"]]).violations == ()


def nearest(store: Store) -> list[Hit]:
    return rounded(store.nearest(vector(7), 10, Filters("default"), "test-model"))


def test_questions_go_to_an_index_that_was_just_made(
    two: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    before = nearest(two)
    with App() as app:
        moved = app.compact()
    assert [(space.collection, space.slot) for space in moved] == [("default", 2), ("other", 2)]
    is_whole(two, 2)
    assert nearest(two) == before
    [row] = cypher(two, "MATCH (n:Passage|Element) RETURN count(n.embedding) AS left")
    assert row == {"left": 0}
    # Moved twice between two questions of one store.
    main(["db", "compact"], standalone_mode=False)
    assert "compacted  default: passage_vectors_8\n" in capsys.readouterr().out
    with App() as app:
        app.compact()
    assert nearest(two) == before
    with App() as app:
        app.compact()
    is_whole(two, 1)


def test_stopped_anywhere_the_same_command_goes_on(
    two: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each time it goes on, to be stopped a step later.
    for step in STEPS:

        def crashing(name: str, last: str = step) -> str:
            if name == last:
                raise Crash
            return read_statement(name)

        with monkeypatch.context() as patched, App() as app, pytest.raises(Crash):
            for module in (store_module, database, reembedding):
                patched.setattr(module, "read_statement", crashing)
            app.compact()
        for collection in ("default", "other"):
            found = two.nearest(vector(0), 30, Filters(collection), "test-model")
            assert len(found) == 18, "questions go on where it was stopped"
            assert len(two.nearest_elements(vector(0), 9, Filters(collection), "test-model")) == 3
    with App() as app:
        app.compact()
    slots = {space.slot for space in two.spaces()}
    assert len(slots) == 1
    is_whole(two, slots.pop())


def test_documents_wait_until_it_has_ended(two: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(store: Store, space: Space) -> None:
        with pytest.raises(SpaceError, match="is being re-embedded"):
            put(store, small_graph("b.txt"))
        copy(store, space)

    copy = reembedding.copy
    monkeypatch.setattr(reembedding, "copy", refused)
    with App() as app:
        app.compact()
    is_whole(two, 2)
