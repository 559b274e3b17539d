"""Embedding spaces: one collection, one model."""

from __future__ import annotations

import pytest

from fabula.errors import SpaceError
from fabula.graph.hits import Filters
from fabula.store import Store
from graphs import DIMENSIONS, document_id, in_space, put, small_graph, vector


def test_an_untouched_graph_has_no_space(store: Store) -> None:
    assert store.space("default") is None
    assert list(store.documents("default")) == []


def test_documents_of_another_model_are_refused_with_the_cure(ready: Store) -> None:
    put(ready, small_graph())
    with pytest.raises(SpaceError, match="FABULA_EMBEDDING_MODEL=test-model"):
        ready.prepare("default", "other-model", DIMENSIONS)
    with pytest.raises(SpaceError, match="9 dimensions of test-model"):
        ready.prepare("default", "test-model", 9)


def test_an_empty_graph_takes_another_model(ready: Store) -> None:
    graph = small_graph()
    put(ready, graph)
    ready.remove("default", document_id(graph))
    ready.prepare("default", "other-model", 16)
    put(ready, in_space(graph, 16), "other-model")
    assert len(ready.nearest(vector(0, 16), 3, Filters("default"), "other-model")) == 3


@pytest.mark.parametrize("dimensions", [0, 4097])
def test_vectors_that_no_index_holds_are_refused_before_anything_is_written(
    ready: Store, dimensions: int
) -> None:
    with pytest.raises(SpaceError, match="Neo4j indexes at most 4,096"):
        ready.prepare("wide", "other-model", dimensions)
    assert ready.space("wide") is None
