"""Marks of pages and lines: they travel within a block's text, and become a document's locators."""

from __future__ import annotations

from fabula.load.blocks import Block, Draft
from fabula.load.document import document
from fabula.load.locators import line_mark, page_mark, take_marks, without_marks
from fabula.text.locator import Locator


def test_a_mark_is_taken_out_of_a_text_and_its_place_is_returned() -> None:
    text = f"The mil{page_mark('113')}ler slept.\n{line_mark('340')}Deeply."
    assert take_marks(text) == (
        "The miller slept.\nDeeply.",
        [Locator("page", "113", 7), Locator("line", "340", 18)],
    )
    assert without_marks(text) == "The miller slept.\nDeeply."


def test_what_is_no_label_makes_no_mark() -> None:
    assert page_mark("") == page_mark(" \n") == line_mark("x" * 25) == ""
    assert take_marks(page_mark(" xiv\n")) == ("", [Locator("page", "xiv", 0)])


def test_a_document_knows_where_its_pages_and_lines_begin() -> None:
    blocks = (
        Block(page_mark("1") + "A miller slept."),
        Block(page_mark("2")),
        Block(f"Chapter {page_mark('3')}I", f"Chapter {page_mark('3')}I", 2),
        Block(f"He woke{page_mark('4')}."),
    )
    text = document(Draft(blocks), "story.txt", "default")
    assert text.text == "A miller slept.\n\nChapter I\n\nHe woke."
    assert [(section.title, section.start, section.level) for section in text.sections] == [
        ("Chapter I", 17, 2)
    ]
    assert [(mark.label, text.text[: mark.start]) for mark in text.locators] == [
        ("1", ""),
        ("2", "A miller slept.\n\n"),
        ("3", "A miller slept.\n\nChapter "),
        ("4", "A miller slept.\n\nChapter I\n\nHe woke"),
    ]
