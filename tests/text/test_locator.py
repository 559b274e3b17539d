"""Pages and lines of a printed edition: what a citation says of them, and what names them."""

from __future__ import annotations

from cases import for_each
from fabula.text.locator import (
    Locator,
    LocatorLabels,
    labels_of,
    name_labels,
    number_lines,
    parse_labels,
)

PAGES = LocatorLabels((0, 100, 200, 200, 300), ("xiv", "1", "2", "3", "4"))


@for_each(
    ("spans", "expected"),
    [
        ([(0, 10)], "xiv"),
        ([(0, 100)], "xiv"),
        ([(0, 101)], "xiv-1"),
        ([(150, 160)], "1"),
        ([(150, 210)], "1-3"),
        ([(10, 20), (310, 320)], "xiv-4"),
        ([(310, 400)], "4"),
        ([(100, 100)], "1"),
    ],
)
def test_a_stretch_of_text_is_on_the_pages_that_it_begins_and_ends_on(
    spans: list[tuple[int, int]], expected: str
) -> None:
    assert PAGES.range(spans) == expected


def test_before_the_first_page_there_is_none() -> None:
    assert LocatorLabels((50,), ("1",)).range([(0, 50)]) == ""
    assert LocatorLabels((50,), ("1",)).range([(0, 51)]) == "1"
    assert LocatorLabels().range([(0, 9)]) == ""


def test_a_page_is_found_by_its_label_wherever_it_occurs() -> None:
    assert PAGES.find("1", "1", 400) == [(100, 200)]
    assert PAGES.find("XIV", "2", 400) == [(0, 200)]
    assert PAGES.find("9", "9", 400) == []
    assert LocatorLabels((0, 5, 9), ("1", "2", "1")).find("1", "1", 12) == [(0, 5), (9, 12)]


VERSE = (
    "a one\nb two\nc three\n\nd four\ne five\n\nAnd so he spoke, and nobody answered.\nMore prose."
)


def test_lines_between_two_printed_numbers_are_numbered_as_well() -> None:
    printed = [Locator("line", "10", 0), Locator("line", "14", VERSE.index("e five"))]
    numbered = labels_of(number_lines(VERSE, printed), "line")
    assert numbered.range([(VERSE.index("b two"), VERSE.index("d four") + 3)]) == "11-13"
    assert numbered.range([(VERSE.index("e five"), VERSE.index("And so"))]) == "14"


def test_prose_after_verse_has_no_lines() -> None:
    printed = [Locator("line", "10", 0), Locator("line", "14", VERSE.index("e five"))]
    numbered = labels_of(number_lines(VERSE, printed), "line")
    assert numbered.range([(VERSE.index("And so"), len(VERSE))]) == ""


def test_where_the_lines_do_not_fit_the_numbers_nothing_is_guessed() -> None:
    printed = [Locator("line", "10", 0), Locator("line", "12", VERSE.index("e five"))]
    numbered = labels_of(number_lines(VERSE, printed), "line")
    assert numbered.range([(0, 5)]) == "10"
    assert numbered.range([(VERSE.index("c three"), VERSE.index("d four"))]) == ""
    assert numbered.range([(VERSE.index("e five"), VERSE.index("e five") + 3)]) == "12"


def test_lines_of_a_stanza_before_its_first_number_and_after_its_last_are_numbered() -> None:
    text = f"Prose.\n\n{VERSE}"
    printed = [Locator("line", "3", text.index("c three"))]
    numbered = labels_of(number_lines(text, printed), "line")
    assert numbered.range([(0, text.index("a one"))]) == ""
    assert numbered.range([(text.index("a one"), text.index("d four"))]) == "1-3"
    printed = [Locator("line", "14", text.index("d four"))]
    numbered = labels_of(number_lines(text, printed), "line")
    assert numbered.range([(text.index("d four"), text.index("And so"))]) == "14-15"


def test_pages_stay_as_they_are_beside_lines() -> None:
    page = Locator("page", "113", 6)
    assert page in number_lines(VERSE, [Locator("line", "10", 0), page])
    assert number_lines(VERSE, []) == ()


def test_labels_are_named_as_citations_have_them() -> None:
    assert name_labels("page", "113") == "p. 113"
    assert name_labels("page", "113-114") == "pp. 113-114"
    assert name_labels("line", "340") == "l. 340"
    assert name_labels("line", "340-352") == "ll. 340-352"
    assert name_labels("line", "§2.14-§2.15") == "§2.14-§2.15"
    assert name_labels("page", "") == ""


@for_each(
    ("place", "expected"),
    [
        ("p. 113", ("page", "113", "113")),
        ("pp. 113-114", ("page", "113", "114")),
        ("Page XIV", ("page", "XIV", "XIV")),
        ("p.113", ("page", "113", "113")),
        ("ll. 340–352", ("line", "340", "352")),
        ("line 3", ("line", "3", "3")),
        ("§2.14-§2.15", ("line", "§2.14", "§2.15")),
        ("§ 7", ("line", "§7", "§7")),
        ("CHAPTER V", None),
        ("Lear", None),
        ("113", None),
    ],
)
def test_a_place_may_be_a_page_or_a_line(place: str, expected: object) -> None:
    assert parse_labels(place) == expected
