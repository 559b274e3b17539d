"""What a graph knows of a document that comes in again."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from fabula.errors import Changed, NotFound, StoreError
from fabula.graph import Node, Owner
from fabula.graph.parts import chunks_of
from fabula.library.annotating import read_annotated
from fabula.library.catalogue import find_document
from fabula.store import Store, part_reader
from fabula.store.part_reader import read_part, read_parts
from fabula.text.document import Vector
from graphs import document_id, put, small_graph


def test_what_was_made_is_read_back_as_it_was(ready: Store) -> None:
    text, aspects = small_graph()
    put(ready, [text, aspects])
    found = read_part(ready, aspects.owner, embeddings=True)
    assert {one.id: one for one in found.nodes} == {
        one.id: one for one in _captioned(aspects.nodes, found.nodes)
    }
    assert _edges(found.edges) == _edges(aspects.edges)
    assert found.record.made_from == aspects.record.made_from
    assert found.record.facts["assigned"] == ["theme"]
    vectors = {node.id: _vector(node) for node in aspects.nodes}
    assert all(np.array_equal(_vector(node), vectors[node.id]) for node in found.nodes)
    bare = read_part(ready, aspects.owner, embeddings=True, edges=False)
    assert (bare.nodes, bare.edges) == (found.nodes, ())
    chunks = chunks_of(read_part(ready, text.owner))
    assert [chunk.text for chunk in chunks] == ["word 0.", "word 1.", "word 2.", "word 3."]
    assert not len(chunks[0].embedding), "embeddings come where they are asked for"


def _vector(node: Node) -> Vector:
    assert node.embedding is not None
    return node.embedding


def _captioned(nodes: Any, found: Any) -> list[Any]:
    """The nodes with the captions that the store gave to those without."""
    from dataclasses import replace

    names = {one.id: one.properties["name"] for one in found}
    return [replace(node, properties={"name": names[node.id], **node.properties}) for node in nodes]


def _edges(edges: Any) -> set[tuple[Any, ...]]:
    return {(edge.type, edge.start, edge.end, *edge.properties.items()) for edge in edges}


def test_of_what_is_not_there_nothing_is_read(ready: Store) -> None:
    put(ready, small_graph())
    id = document_id(small_graph())
    for owner in (
        Owner("default", "text", "another"),
        Owner("default", "another", id),
        Owner("other", "text", id),
    ):
        with pytest.raises(NotFound):
            read_part(ready, owner)


def test_of_a_document_that_is_replaced_while_it_is_read_nothing_is_known(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = small_graph(words="old")
    put(ready, graph)
    monkeypatch.setattr(part_reader, "NODES_PER_PAGE", 5)
    rows = Store.rows
    pages: list[list[str]] = []

    def replaced(self: Store, name: str, **parameters: Any) -> list[dict[str, Any]]:
        found = rows(self, name, **parameters)
        if name == "core/find_part":
            pages.append(parameters["ids"])
            if len(pages) == 1:
                put(ready, small_graph(words="new"))
        return found

    monkeypatch.setattr(Store, "rows", replaced)
    with pytest.raises(StoreError, match="changed while it was read"):
        read_part(ready, graph[1].owner)


def test_a_node_whose_labels_went_after_it_was_found_is_of_a_changed_document(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a statement tells of it in whose midst a switch came."""
    graph = small_graph()
    put(ready, graph)
    rows = Store.rows

    def retired(self: Store, name: str, **parameters: Any) -> list[dict[str, Any]]:
        found = rows(self, name, **parameters)
        if name == "core/find_part":
            found[-1]["labels"] = ["Retired"]
        return found

    monkeypatch.setattr(Store, "rows", retired)
    with pytest.raises(Changed, match="changed while it was read"):
        read_part(ready, graph[1].owner)


def test_a_part_is_read_whole_or_not_at_all_while_others_replace_it(ready: Store) -> None:
    versions = [small_graph(words=words, chunks=60) for words in ("old", "new")]
    put(ready, versions[0])
    owner = versions[0][1].owner
    wholes = [{node.id: node.properties.get("text") for node in of[1].nodes} for of in versions]
    done = threading.Event()

    def replace_it() -> None:
        try:
            for number in range(6):
                put(ready, versions[(number + 1) % 2])
        finally:
            done.set()

    writer = threading.Thread(target=replace_it)
    writer.start()
    try:
        while not done.is_set():
            with suppress(Changed):
                found = read_part(ready, owner)
                assert {node.id: node.properties.get("text") for node in found.nodes} in wholes
            assert find_document(ready, owner.collection, owner.document).id == owner.document
    finally:
        writer.join()


def test_parts_of_two_versions_are_not_mixed(ready: Store) -> None:
    """Findings of one version were looked up in the text of another one (KeyError)."""
    put(ready, small_graph(words="old"))
    [entry] = ready.documents("default")
    assert [*read_parts(ready, entry, ["text", "aspects"])] == ["text", "aspects"]
    put(ready, small_graph(words="new"))
    with pytest.raises(Changed, match="A was changed while it was read: try again"):
        read_parts(ready, entry, ["text", "aspects"])
    with pytest.raises(Changed):
        read_annotated(ready, entry)
