"""The order of the volumes of a series."""

from __future__ import annotations

import pytest

from fabula.graph.entries import Entry
from fabula.library.volumes import order_volumes, read_up_to


def volume(title: str, published: str = "") -> Entry:
    return Entry(
        id=title,
        collection="default",
        title=title,
        author="",
        language="en",
        source="",
        sha256="",
        tokens=1,
        published=published,
        edition="",
        reading=1,
        left_out={},
        warnings=(),
        created_at="",
        updated_at="",
        graphs={},
    )


@pytest.mark.parametrize(
    ("titles", "order"),
    [
        (["Saga, Book One", "Saga, Book Two", "Saga, Book Ten"], "numbers"),
        (["Saga, Vol. II", "Saga, Vol. IX", "Saga, Vol. X"], "numbers"),
        (["Saga 2", "Saga 9", "Saga 10"], "numbers"),
        (["Alpha", "Beta", "Gamma"], "titles"),
        (["Book Two of Alpha", "The Beginning"], "titles"),
    ],
)
def test_volumes_are_in_the_order_of_numbers_or_titles(titles: list[str], order: str) -> None:
    ordered, by = order_volumes([volume(title) for title in reversed(titles)])
    assert ([entry.title for entry in ordered], by) == (titles, order)


def test_years_order_volumes_without_numbers() -> None:
    entries = [volume("Alpha", "1955"), volume("Beta", "1954-07-29")]
    ordered, by = order_volumes(entries)
    assert [entry.title for entry in ordered] == ["Beta", "Alpha"]
    assert by == "years of publication"
    same_year = [volume("Beta", "1954"), volume("Alpha", "1954")]
    assert order_volumes(same_year)[1] == "titles"


def test_what_was_read_ends_with_the_volume() -> None:
    entries = [volume(f"Saga {number}") for number in (3, 1, 2)]
    read = read_up_to(entries, entries[2])
    assert [entry.title for entry in read.entries] == ["Saga 1", "Saga 2"]
    assert str(read) == "Saga 1, Saga 2 (the documents are in the order of their numbers)"
