"""What a graph knows of a document that comes in again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabula.model import Known
from fabula.store import Store
from fabula.store import known as known_module
from fabula.store.known import known
from graphs import BUILT, DIMENSIONS, small_graph


def test_what_was_made_is_read_back_as_it_was(ready: Store) -> None:
    graph = small_graph()
    ready.replace(graph, BUILT)
    found = known(ready, graph.document.id, DIMENSIONS)
    assert [one.text for one in found.chunks] == [one.text for one in graph.chunks]
    assert {one.id for one in found.summaries} == {one.id for one in graph.summaries}
    assert {one.id for one in found.details} == {one.id for one in graph.details}
    assert np.array_equal(found.chunks[0].embedding, graph.chunks[0].embedding)
    assert found.assigned == ("theme",)
    assert known(ready, "another", DIMENSIONS) == Known()


def test_of_a_document_that_is_replaced_while_it_is_read_nothing_is_known(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = small_graph(words="old")
    ready.replace(graph, BUILT)
    monkeypatch.setattr(known_module, "PAGE", 5)
    rows = Store.rows

    def replaced(self: Store, name: str, **parameters: Any) -> list[dict[str, Any]]:
        found = rows(self, name, **parameters)
        if name == "find_passages" and not parameters["after"]:
            ready.replace(small_graph(words="new"), BUILT)
        return found

    monkeypatch.setattr(Store, "rows", replaced)
    assert known(ready, graph.document.id, DIMENSIONS) == Known()
