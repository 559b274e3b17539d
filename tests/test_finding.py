"""What is found in a real Neo4j, by vector and by word, and the indexes that it takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conftest import connect, cypher
from fabula.errors import SpaceError, StoreError
from fabula.model import Chunk, Detail, Filters, Summary
from fabula.server import Address
from fabula.store import Store, schema
from fabula.store.schema import Index
from graphs import BUILT, DIMENSIONS, small_graph, vector


def test_the_nearest_come_first_with_their_cosine(ready: Store) -> None:
    graph = small_graph(chunks=6)
    ready.replace(graph, BUILT)
    asked = vector(77)
    passages: list[Chunk | Summary | Detail] = [*graph.chunks, *graph.summaries, *graph.details]
    exact = sorted(((float(one.embedding @ asked), one.id) for one in passages), reverse=True)
    hits = ready.nearest(asked, 5, Filters(), "test-model")
    assert [hit.id for hit in hits] == [id for _, id in exact[:5]]
    assert [hit.score for hit in hits] == pytest.approx(
        [cosine for cosine, _ in exact[:5]], abs=1e-4
    )


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(kinds=("detail",)), {("detail", "", 0)}),
        (Filters(aspects=("plot",)), {("summary", "plot", 1), ("summary", "plot", 2)}),
        (
            Filters(aspects=("plot", "theme"), highest=1),
            {("summary", "plot", 1), ("summary", "theme", 1)},
        ),
        (Filters(lowest=2), {("summary", "plot", 2), ("summary", "theme", 2)}),
        (Filters(highest=0), {("chunk", "", 0), ("detail", "", 0)}),
        (Filters(kinds=("chunk",), aspects=("plot",)), set()),
        (Filters(collection="empty"), set()),
    ],
)
def test_filters_hold_for_both_rankings(
    ready: Store, filters: Filters, expected: set[tuple[str, str, int]]
) -> None:
    ready.replace(small_graph(), BUILT)
    for hits in (
        ready.nearest(vector(3), 50, filters, "test-model"),
        ready.matching("word detail plot theme level", 50, filters),
    ):
        assert {(hit.kind, hit.aspect, hit.level) for hit in hits} == expected


def test_one_document_and_one_collection_are_never_left(ready: Store) -> None:
    first, second = small_graph("a.txt"), small_graph("b.txt")
    elsewhere = small_graph("c.txt", collection="other")
    for graph in (first, second, elsewhere):
        ready.replace(graph, BUILT)
    everywhere = ready.nearest(vector(5), 100, Filters(), "test-model")
    assert {hit.document for hit in everywhere} == {first.document.id, second.document.id}
    inside = ready.nearest(vector(5), 100, Filters(document=second.document.id), "test-model")
    assert len(inside) == 18
    assert {hit.title for hit in inside} == {"B"}


@pytest.mark.parametrize(
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
    ready.replace(small_graph(), BUILT)
    assert len(ready.matching(question, 4, Filters(kinds=("chunk",)))) == 4


def test_a_question_without_words_finds_nothing_by_words(ready: Store) -> None:
    ready.replace(small_graph(), BUILT)
    assert ready.matching("?! ...", 5, Filters()) == []


def test_a_new_document_is_found_at_once(ready: Store) -> None:
    for number in range(5):
        graph = small_graph(f"{number}.txt")
        ready.replace(graph, BUILT)
        filters = Filters(document=graph.document.id, kinds=("chunk",))
        assert len(ready.nearest(vector(1), 10, filters, "test-model")) == 4
        assert len(ready.matching("word", 10, filters)) == 4


def test_both_indexes_are_online_as_the_design_sets_them(ready: Store) -> None:
    assert [(one.name, one.state) for one in ready.indexes()] == [
        ("passage_texts", "ONLINE"),
        ("passage_vectors", "ONLINE"),
    ]
    [row] = cypher(
        ready, "SHOW INDEXES YIELD name, options WHERE name = 'passage_vectors' RETURN options"
    )
    config = row["options"]["indexConfig"]
    assert config["vector.dimensions"] == DIMENSIONS
    assert config["vector.quantization.type"] == "NONE"
    assert config["vector.default_search_expansion_factor"] == 3.0
    assert config["vector.similarity_function"] == "COSINE"


def dimensions(store: Store) -> int:
    [vectors] = [one for one in store.indexes() if one.name == "passage_vectors"]
    return vectors.dimensions


def test_an_index_of_other_dimensions_than_the_space_is_made_anew(ready: Store) -> None:
    ready.rows("schema_drop_passage_vectors")
    ready.rows("schema_passage_vectors", dimensions=16)
    ready.prepare("test-model", DIMENSIONS)
    assert dimensions(ready) == DIMENSIONS
    ready.replace(small_graph(), BUILT)
    assert len(ready.nearest(vector(0), 3, Filters(), "test-model")) == 3


def test_who_loses_a_race_for_an_empty_graph_leaves_the_winners_index(
    ready: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter = Store._enter

    def outrun(self: Store, model: str, size: int) -> None:
        enter(self, model, size)
        monkeypatch.undo()
        with connect(address) as other:
            other.prepare("other-model", 16)

    monkeypatch.setattr(Store, "_enter", outrun)
    ready.prepare("test-model", DIMENSIONS)
    assert dimensions(ready) == 16
    with pytest.raises(SpaceError, match="was given embeddings of other-model"):
        ready.replace(small_graph(), BUILT)
    ready.prepare("test-model", DIMENSIONS)


@pytest.mark.parametrize("name", ["passage_vectors", "passage_texts"])
def test_the_next_ingest_makes_a_missing_index_even_if_nothing_changed(
    ready: Store, address: Address, name: str
) -> None:
    ready.replace(small_graph(), BUILT)
    cypher(ready, f"DROP INDEX {name}")
    with connect(address) as another:
        another.make_schema()
        assert {one.name for one in another.indexes()} == {"passage_vectors", "passage_texts"}


@pytest.mark.parametrize("name", ["passage_vectors", "passage_texts"])
def test_an_index_that_has_failed_is_made_anew(
    ready: Store, address: Address, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ready.replace(small_graph(), BUILT)
    statement = "SHOW INDEXES YIELD name, id WHERE name = $name RETURN id"
    before = cypher(ready, statement, name=name)
    there = Store.indexes

    def failed(self: Store) -> list[Index]:
        # A server does not fail at will.
        is_old = cypher(self, statement, name=name) == before
        return [
            replace(one, state="FAILED") if is_old and one.name == name else one
            for one in there(self)
        ]

    monkeypatch.setattr(Store, "indexes", failed)
    with pytest.raises(StoreError, match=f"could not populate the index {name}"):
        schema.wait(ready, name)
    with connect(address) as another:
        another.make_schema()
        assert schema.wait(another, name)
    assert cypher(ready, statement, name=name) != before


def test_a_slow_index_is_waited_for(ready: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Store.indexes
    looks: list[float] = []

    def slow(self: Store) -> list[Index]:
        looks.append(len(looks) * 1.0)
        state = "POPULATING" if len(looks) < 4 else "ONLINE"
        return [replace(one, state=state, percent=looks[-1]) for one in there(self)]

    monkeypatch.setattr(Store, "indexes", slow)
    found = schema.wait(ready, "passage_vectors")
    assert found and found.state == "ONLINE"
    assert len(looks) == 4
