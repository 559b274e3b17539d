"""Documents by the names that people call them."""

from __future__ import annotations

import pytest

from fabula.catalogue import chosen
from fabula.errors import NotFound
from fabula.model import Entry


def entry(id: str, title: str, collection: str = "default") -> Entry:
    source = f"/books/{title.lower().replace(' ', '-')}.txt"
    return Entry(id, collection, title, "", "en", source, "", 1, {}, {}, (), "", "")


CAROL, ALICE = entry("02d8b74b", "A Christmas Carol"), entry("2c284172", "Alice")
COPY = entry("9f9f9f9f", "Alice", "other")


@pytest.mark.parametrize(
    "name",
    ["02d8", "a christmas carol", "a-christmas-carol.txt", "/books/a-christmas-carol.txt", "Carol"],
)
def test_a_document_goes_by_id_title_file_or_a_part_of_its_title(name: str) -> None:
    assert chosen([CAROL, ALICE], name, "default") == CAROL


def test_of_two_with_one_name_the_one_in_the_collection_is_meant() -> None:
    assert chosen([ALICE, COPY], "alice", "other") == COPY


@pytest.mark.parametrize("name", ["", " ", "zebra"])
def test_what_names_nothing_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        chosen([CAROL], name, "default")


def test_a_part_of_a_title_does_not_do_where_the_whole_is_asked_for() -> None:
    with pytest.raises(NotFound):
        chosen([CAROL], "Carol", "default", whole=True)
    assert chosen([CAROL], "A Christmas Carol", "default", whole=True) == CAROL
