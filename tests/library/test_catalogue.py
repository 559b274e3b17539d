"""Documents by the names that people call them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cases import for_each
from fabula.errors import NotFound
from fabula.library.catalogue import find_document
from fabula.store import Store
from fabula.text import ids
from graphs import DIMENSIONS, MODEL, put, small_graph

CAROL, ALICE, COPY = (
    ("/books/a-christmas-carol.txt", "A Christmas Carol", "default"),
    ("/books/alice.txt", "Alice", "default"),
    ("/books/copy.txt", "Alice", "other"),
)


@pytest.fixture
def shelf(store: Store) -> Store:
    """Two books in one collection, and one of them in another."""
    for source, title, collection in (CAROL, ALICE, COPY):
        store.prepare(collection, MODEL, DIMENSIONS)
        text, aspects = small_graph(source, chunks=1, words=title, collection=collection)
        document, *chunks = text.nodes
        named = {**document.properties, "title": title, "title_key": title.casefold()}
        text = replace(text, nodes=(replace(document, properties=named), *chunks))
        put(store, [text, aspects])
    return store


def id_of(book: tuple[str, str, str]) -> str:
    source, _, collection = book
    return ids.document_id(collection, source)


@for_each(
    "name",
    [
        id_of(CAROL),
        id_of(CAROL)[:4],
        id_of(CAROL)[:6].upper(),
        "a christmas carol",
        "a-christmas-carol.txt",
        "A-Christmas-Carol",
        "/books/a-christmas-carol.txt",
        "Carol",
    ],
)
def test_a_document_goes_by_id_title_file_or_a_part_of_its_title(shelf: Store, name: str) -> None:
    assert find_document(shelf, "default", name).id == id_of(CAROL)


def test_of_two_with_one_name_the_one_in_the_collection_is_meant(shelf: Store) -> None:
    assert find_document(shelf, "other", "alice").id == id_of(COPY)
    assert find_document(shelf, "default", "alice").id == id_of(ALICE)


def test_a_document_of_another_collection_is_not_there_by_whatever_name(shelf: Store) -> None:
    for name in (id_of(CAROL), "/books/a-christmas-carol.txt", "Carol"):
        with pytest.raises(NotFound, match=r"collection 'other'.*: Alice\. `fabula list`"):
            find_document(shelf, "other", name)


@for_each("name", ["", " ", "zebra", id_of(CAROL)[:3]])
def test_what_names_nothing_is_not_found(shelf: Store, name: str) -> None:
    with pytest.raises(NotFound, match="A Christmas Carol, Alice"):
        find_document(shelf, "default", name)


@for_each(("name", "near"), [("Karol", "Carol"), ("A Chrismas Carol", "A Christmas Carol")])
def test_a_slip_in_a_title_is_told_with_the_nearest(shelf: Store, name: str, near: str) -> None:
    with pytest.raises(NotFound, match=f"Did you mean {near}"):
        find_document(shelf, "default", name)


def test_a_name_of_several_asks_for_an_id(shelf: Store) -> None:
    with pytest.raises(NotFound, match="could be 2 documents; name one by its id: ") as caught:
        find_document(shelf, "default", "a")
    assert id_of(CAROL) in str(caught.value) and id_of(ALICE) in str(caught.value)
