"""Names that a reader has not read yet: which they are, and what of a row's texts prints one."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.graph.structure import TextStructure
from fabula.graph.unread import hide_unread, index_names, make_check
from fabula.text.document import Section
from fabula.text.locator import LocatorLabels
from fabula.text.sections import outline

TEXT = (
    "Scrooge sat in his counting-house. The clerk was cold. "
    "Then Bob Cratchit put on his comforter, and Tiny Tim sang. Clerk of Scrooge-Marley."
)


def test_a_name_is_known_from_where_it_is_first_printed() -> None:
    names = index_names([(0, TEXT[:55]), (55, TEXT[55:])])
    assert names["scrooge"] == len("Scrooge")
    assert names["cratchit"] == TEXT.index("Cratchit") + len("Cratchit")
    assert names["marley"] == len(TEXT) - 1
    # These are printed in lower case as well: they are words, not names.
    assert not {"clerk", "comforter"} & names.keys()


@pytest.mark.parametrize(
    ("shown", "unread"),
    [
        ("Scrooge was rich.", False),
        ("Bob was poor.", True),
        ("It was Cratchit's comforter.", True),
        ("Scrooge-Cratchit & Co.", True),
        ("bob and tim are verbs here", False),
        ("Ebenezer is in no text at all", False),
    ],
)
def test_a_text_that_prints_a_later_name_is_found(shown: str, unread: bool) -> None:
    is_unread = make_check(index_names([(0, TEXT)]), 55)
    assert is_unread(shown) is unread


def test_a_reader_at_the_end_knows_all_names() -> None:
    is_unread = make_check(index_names([(0, TEXT)]), len(TEXT))
    assert not is_unread(TEXT)


def test_rows_that_print_a_later_name_are_left_out() -> None:
    is_unread = make_check(index_names([(0, TEXT)]), 55)
    rows: list[dict[str, Any]] = [
        {"id": "1", "text": "Scrooge is rich."},
        {"id": "2", "text": "Scrooge is rich.", "heading": "About Tim"},
        {"hit": {"id": "3", "kind": "summary", "text": "Bob is poor.", "section": "I"}},
        {"hit": {"id": "4", "kind": "chunk", "text": "Bob is poor.", "section": "I"}},
        {"ids": ["5"], "names": [["Tim"]]},
        {"id": "6", "title": "Tiny Tim: a Play", "text": "Scrooge"},
    ]
    assert hide_unread(rows, is_unread) == [rows[0], rows[3], rows[4], rows[5]]
    assert hide_unread(rows, None) == rows


def test_a_structure_ends_at_the_place() -> None:
    sections = (Section("I", 0, 0), Section("II: The Secret", 50, 0))
    structure = TextStructure(
        outline(sections, "A Book"),
        LocatorLabels((0, 40, 60), ("1", "2", "3")),
        LocatorLabels((70,), ("10",)),
    )
    cut = structure.up_to(50)
    assert [section.title for section in cut.outline.sections] == ["I"]
    assert cut.outline.depths == structure.outline.depths[:1]
    assert cut.pages == LocatorLabels((0, 40), ("1", "2"))
    assert cut.lines == LocatorLabels()
