"""Embedding spaces: one graph, one model."""

from __future__ import annotations

import pytest

from conftest import cypher
from fabula.errors import SpaceError
from fabula.model import Filters
from fabula.store import Store
from graphs import BUILT, DIMENSIONS, in_space, small_graph, vector


def test_an_untouched_graph_has_no_space(store: Store) -> None:
    cypher(store, "MATCH (space:EmbeddingSpace) DELETE space")
    assert store.space() is None
    assert store.documents() == []


def test_documents_of_another_model_are_refused_with_the_cure(ready: Store) -> None:
    ready.replace(small_graph(), BUILT)
    with pytest.raises(SpaceError, match="FABULA_EMBEDDING_MODEL=test-model"):
        ready.prepare("other-model", DIMENSIONS)
    with pytest.raises(SpaceError, match="9 dimensions of test-model"):
        ready.prepare("test-model", 9)


def test_an_empty_graph_takes_another_model(ready: Store) -> None:
    graph = small_graph()
    ready.replace(graph, BUILT)
    ready.remove(graph.document.id)
    ready.prepare("other-model", 16)
    ready.replace(in_space(graph, 16), BUILT | {"embedding_model": "other-model"})
    assert len(ready.nearest(vector(0, 16), 3, Filters(), "other-model")) == 3
