"""What is found in a real Neo4j, by vector and by word, and the indexes that it takes."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from cases import for_each
from database import connect, cypher
from fabula.errors import SpaceError, StoreError
from fabula.graph.hits import Filters, Hit
from fabula.server import Address
from fabula.store import Store, schema
from fabula.store.database import Index
from graphs import DIMENSIONS, document_id, in_space, names_of, put, small_graph, vector

pytestmark = pytest.mark.replans

HERE = Filters("default")
VECTORS = f"passage_vectors_{DIMENSIONS}"
INDEXES = (VECTORS, "passage_texts", f"element_vectors_{DIMENSIONS}", "element_texts")


def alike(store: Store, question: str, limit: int, filters: Filters) -> list[Hit]:
    """What shares words with a question."""
    return store.search_hybrid(vector(3), question, limit, filters, "test-model")[1]


@pytest.mark.journey
def test_one_round_trip_finds_what_two_would(ready: Store) -> None:
    put(ready, small_graph(chunks=6))
    for filters in (HERE, replace(HERE, kinds=("chunk", "detail"))):
        near, words = ready.search_hybrid(vector(7), "word 3 detail", 5, filters, "test-model")
        assert near == ready.nearest(vector(7), 5, filters, "test-model")
        assert [hit.score for hit in words] == sorted((hit.score for hit in words), reverse=True)
        assert "word 3" in words[0].text
        assert len(words) == 5


def test_the_nearest_come_first_with_their_cosine(ready: Store) -> None:
    graph = small_graph(chunks=6)
    put(ready, graph)
    query = vector(77)
    passages = [
        (float(node.embedding @ query), node.id)
        for part in graph
        for node in part.nodes
        if node.embedding is not None
    ]
    exact = sorted(passages, reverse=True)
    hits = ready.nearest(query, 5, HERE, "test-model")
    assert [hit.id for hit in hits] == [id for _, id in exact[:5]]
    assert [hit.score for hit in hits] == pytest.approx(
        [cosine for cosine, _ in exact[:5]], abs=1e-4
    )


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters("default", kinds=("detail",)), {("detail", "", 0)}),
        (Filters("default", aspects=("plot",)), {("summary", "plot", 1), ("summary", "plot", 2)}),
        (
            Filters("default", aspects=("plot", "theme"), highest=1),
            {("summary", "plot", 1), ("summary", "theme", 1)},
        ),
        (Filters("default", lowest=2), {("summary", "plot", 2), ("summary", "theme", 2)}),
        (Filters("default", highest=0), {("chunk", "", 0), ("detail", "", 0)}),
        (Filters("default", kinds=("chunk",), aspects=("plot",)), set()),
        (Filters(collection="empty"), set()),
    ],
)
def test_filters_hold_for_both_rankings(
    ready: Store, filters: Filters, expected: set[tuple[str, str, int]]
) -> None:
    put(ready, small_graph())
    for hits in (
        ready.nearest(vector(3), 50, filters, "test-model"),
        alike(ready, "word detail plot theme level", 50, filters),
    ):
        assert {(hit.kind, hit.aspect, hit.level) for hit in hits} == expected


def test_one_document_and_one_collection_are_never_left(ready: Store) -> None:
    first, second = small_graph("a.txt"), small_graph("b.txt")
    elsewhere = small_graph("c.txt", collection="other")
    ready.prepare("other", "test-model", DIMENSIONS)
    for graph in (first, second, elsewhere):
        put(ready, graph)
    everywhere = ready.nearest(vector(5), 100, HERE, "test-model")
    assert {hit.document for hit in everywhere} == {document_id(first), document_id(second)}
    inside = ready.nearest(
        vector(5), 100, Filters("default", document=document_id(second)), "test-model"
    )
    assert len(inside) == 18
    assert {hit.title for hit in inside} == {"B"}


def test_elements_are_found_by_their_own_index_alone(ready: Store) -> None:
    ready.prepare("other", "test-model", DIMENSIONS)
    assert ready.nearest_elements(vector(0), 9, HERE, "test-model") == []
    first, second = small_graph("a.txt"), small_graph("b.txt")
    elsewhere = small_graph("c.txt", collection="other")
    for seed, graph in enumerate((first, second, elsewhere)):
        put(ready, [*graph, names_of(graph, seed=20_000 + 10 * seed)])
    found = ready.nearest_elements(vector(20_011), 9, HERE, "test-model")
    assert {(hit.kind, hit.document) for hit in found} == {
        ("name", document_id(first)),
        ("name", document_id(second)),
    }
    assert (len(found), found[0].text, found[0].title) == (6, "name 1", "B")
    assert found[0].score == pytest.approx(1, abs=1e-6)
    assert found == sorted(found, key=lambda hit: (-hit.score, hit.id))
    # The third of its own collection is nearer than all of these.
    [best] = ready.nearest_elements(vector(20_022), 1, HERE, "test-model")
    assert best.score < 0.999
    inside = Filters("default", document=document_id(second))
    assert len(ready.nearest_elements(vector(0), 9, inside, "test-model")) == 3
    assert ready.nearest_elements(vector(0), 9, HERE, "test-model", ["other"]) == []
    # A mode that looks for chunks may get to them by elements.
    chunks = replace(HERE, kinds=("chunk",))
    assert len(ready.nearest_elements(vector(0), 9, chunks, "test-model", ["name"])) == 6
    for passages in (
        ready.nearest(vector(20_011), 99, HERE, "test-model"),
        ready.nearest(vector(20_011), 99, replace(HERE, kinds=("name",)), "test-model"),
        ready.nearest(vector(20_011), 99, inside, "test-model"),
        alike(ready, "name 1", 99, HERE),
        alike(ready, "name 1", 99, inside),
    ):
        assert "name" not in {hit.kind for hit in passages}
    with pytest.raises(SpaceError):
        ready.nearest_elements(vector(0), 9, HERE, "other-model")


@for_each(
    "question",
    [
        "word 3?",
        '"word',
        "word AND (",
        "word~ ^ [",
        "C:\\word NOT",
        "WORD OR",
        "/word/",
        "word*",
        "+word -3",
    ],
)
def test_no_text_breaks_the_search_for_words(ready: Store, question: str) -> None:
    put(ready, small_graph())
    assert len(alike(ready, question, 4, Filters("default", kinds=("chunk",)))) == 4


def test_a_question_without_words_finds_nothing_by_words(ready: Store) -> None:
    put(ready, small_graph())
    assert alike(ready, "?! ...", 5, HERE) == []


def test_a_new_document_is_found_at_once(ready: Store) -> None:
    for number in range(5):
        graph = small_graph(f"{number}.txt")
        put(ready, graph)
        filters = Filters("default", document=document_id(graph), kinds=("chunk",))
        assert len(ready.nearest(vector(1), 10, filters, "test-model")) == 4
        assert len(alike(ready, "word", 10, filters)) == 4


def test_both_indexes_are_online_as_the_design_sets_them(ready: Store) -> None:
    states = {index.name: index.state for index in ready.indexes()}
    assert (states["passage_texts"], states[VECTORS]) == ("ONLINE", "ONLINE")
    statement = "SHOW INDEXES YIELD name, options WHERE name = $name RETURN options"
    [row] = cypher(ready, statement, name=VECTORS)
    config = row["options"]["indexConfig"]
    assert config["vector.dimensions"] == DIMENSIONS
    assert config["vector.quantization.type"] == "NONE"
    assert config["vector.default_search_expansion_factor"] == 3.0
    assert config["vector.similarity_function"] == "COSINE"


def test_each_space_has_an_index_of_its_own(ready: Store) -> None:
    ready.prepare("wide", "other-model", 16)
    put(ready, small_graph())
    put(ready, in_space(small_graph("b.txt", collection="wide"), 16), "other-model")
    assert {index.name: index.dimensions for index in ready.indexes()}["passage_vectors_16"] == 16
    assert len(ready.nearest(vector(0), 30, HERE, "test-model")) == 18
    assert len(ready.nearest(vector(0, 16), 30, Filters("wide"), "other-model")) == 18
    with pytest.raises(SpaceError, match="collection 'wide' have embeddings of other-model"):
        ready.nearest(vector(0), 30, Filters("wide"), "test-model")


def test_two_models_of_equal_dimensions_share_an_index_and_are_told_apart(ready: Store) -> None:
    ready.prepare("twin", "other-model", DIMENSIONS)
    put(ready, small_graph())
    put(ready, small_graph("b.txt", collection="twin"), "other-model")
    found = ready.nearest(vector(0), 30, Filters("twin"), "other-model")
    assert {hit.title for hit in found} == {"B"}
    with pytest.raises(SpaceError):
        ready.nearest(vector(0), 30, HERE, "other-model")


def test_who_loses_a_race_for_an_empty_collection_is_refused(
    ready: Store, address: Address
) -> None:
    with connect(address) as other:
        other.prepare("default", "other-model", 16)
    with pytest.raises(SpaceError, match="have embeddings of other-model"):
        put(ready, small_graph())
    assert list(ready.documents("default")) == []


@pytest.mark.parametrize("name", INDEXES)
def test_the_next_ingest_makes_a_missing_index_even_if_nothing_changed(
    ready: Store, address: Address, name: str
) -> None:
    put(ready, [*small_graph(), names_of(small_graph())])
    cypher(ready, f"DROP INDEX {name}")
    with connect(address) as another:
        another.make_schema()
        assert {index.name for index in another.indexes()} >= {*INDEXES}


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_has_failed_is_made_anew(
    ready: Store, address: Address, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    put(ready, [*small_graph(), names_of(small_graph())])
    statement = "SHOW INDEXES YIELD name, id WHERE name = $name RETURN id"
    before = cypher(ready, statement, name=name)
    there = Store.indexes

    def failed(self: Store) -> list[Index]:
        # A server does not fail at will.
        is_old = cypher(self, statement, name=name) == before
        return [
            replace(index, state="FAILED") if is_old and index.name == name else index
            for index in there(self)
        ]

    monkeypatch.setattr(Store, "indexes", failed)
    with pytest.raises(StoreError, match=f"could not populate the index {name}"):
        schema.wait(ready, name)
    with connect(address) as another:
        another.make_schema()
        schema.wait(another, name)
    assert cypher(ready, statement, name=name) != before


LEFT = "CREATE INDEX part_id FOR (n:Part) ON (n.id)"
"""The index of a constraint that was not made; that of a server that has crashed stays."""


@pytest.fixture
def left(store: Store) -> Store:
    """A graph that was made but for one constraint, whose index is there."""
    store.make_schema()
    cypher(store, "DROP CONSTRAINT part_id")
    cypher(store, LEFT)
    return store


def is_constrained(store: Store) -> bool:
    return bool(cypher(store, "SHOW CONSTRAINTS YIELD name WHERE name = 'part_id' RETURN name"))


def test_a_constraint_whose_index_a_killed_process_leaves_for_a_moment_is_made(
    left: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neo4j takes such an index back after it has let the next statement through."""
    monkeypatch.setattr(schema, "CONFLICT_SECONDS", 120.0)
    with connect(address) as other:
        taken_back = threading.Timer(0.3, cypher, (left, "DROP INDEX part_id"))
        taken_back.start()
        other.make_schema()
        taken_back.join()
    assert is_constrained(left)


def test_an_index_that_a_crash_of_the_server_left_is_dropped_and_its_constraint_made(
    left: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "CONFLICT_SECONDS", 0.1)
    with connect(address) as other:
        other.make_schema()
    assert is_constrained(left)


def test_an_index_whose_constraint_another_process_is_making_is_left_alone(
    left: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "CONFLICT_SECONDS", 0.0)
    # Neo4j makes a constraint over a large graph for as long; here its words alone are under way.
    making = "UNWIND range(1, 100000) AS n // CREATE CONSTRAINT part_id IF NOT EXISTS\nRETURN n"
    with connect(address) as other:
        with left.driver() as driver, driver.session() as session:
            rows = session.run(making)
            with pytest.raises(StoreError, match=r"called 'part_id'\. .* a crash has left it"):
                other.make_schema()
            rows.consume()
        assert not is_constrained(left)
        other.make_schema()
    assert is_constrained(left)


def test_a_schema_that_is_there_takes_one_look(
    ready: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(
        schema, "_ensure", lambda _, statement, *given, **more: made.append(statement)
    )
    with connect(address) as another:
        another.prepare("default", "test-model", DIMENSIONS)
    assert made == []


def test_a_slow_index_is_waited_for(ready: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Store.indexes
    looks: list[float] = []

    def slow(self: Store) -> list[Index]:
        looks.append(len(looks) * 1.0)
        state = "POPULATING" if len(looks) < 4 else "ONLINE"
        return [replace(index, state=state, percent=looks[-1]) for index in there(self)]

    monkeypatch.setattr(Store, "indexes", slow)
    schema.wait(ready, VECTORS)
    assert len(looks) == 4
