"""A document that is continued: what it was stays in its place, and the new text comes after it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.errors import LoadError
from fabula.load import read_text
from fabula.load.continuation import continue_document, continue_source
from fabula.load.source import DocumentSource
from fabula.text.chunk import split
from fabula.text.document import Document

WORDS = st.text("abc .\n", min_size=1, max_size=80).filter(lambda text: any(map(str.isalnum, text)))


def make_chapter(number: int, heading: bool = True) -> Document:
    text = f"Anna walked to the harbour on day {number}. Boris slept at the mill."
    title = f"CHAPTER {number}\n\n" if heading else ""
    return read_text(title + text, source=f"chapter-{number}.txt", collection="c", title="Winter")


@given(WORDS, WORDS)
def test_the_old_text_stays_in_its_place_and_the_new_one_is_whole(old: str, new: str) -> None:
    first = read_text(old, source="first", collection="c")
    second = read_text(new, source="second", collection="c")
    whole = continue_document(first, second)
    assert whole.text == f"{first.text}\n\n{second.text}"
    assert whole.sections[: len(first.sections)] == first.sections
    assert (whole.id, whole.source, whole.appended) == (first.id, "first", ("second",))
    assert whole.sha256 != first.sha256


def test_chapters_one_by_one_have_the_chunks_of_the_whole_book() -> None:
    whole = make_chapter(1)
    for number in range(2, 6):
        whole = continue_document(whole, make_chapter(number))
    text = "\n\n".join(make_chapter(number).text for number in range(1, 6))
    at_once = read_text(text, source="chapter-1.txt", collection="c", title="Winter")
    assert whole.sections == at_once.sections
    assert split(whole, 12) == split(at_once, 12)
    assert whole.sha256 == at_once.sha256


def test_a_chapter_without_a_heading_is_headed_by_its_title() -> None:
    book, bare = make_chapter(1), make_chapter(2, heading=False)
    whole = continue_document(book, bare)
    assert [section.title for section in whole.sections] == ["CHAPTER 1", bare.title]
    assert whole.text[whole.sections[1].start :] == bare.text
    no_sections = continue_document(bare, make_chapter(3, heading=False))
    assert no_sections.sections == ()


def test_fields_of_a_chapter_are_added_to_those_of_the_document() -> None:
    first, second = (
        replace(make_chapter(number), metadata={"n": str(number)}) for number in (1, 2)
    )
    second = replace(second, metadata={**second.metadata, "mood": "cold"})
    assert continue_document(first, second).metadata == {"n": "1", "mood": "cold"}


def test_the_same_text_once_more_changes_nothing() -> None:
    whole = continue_document(make_chapter(1), make_chapter(2))
    later = continue_document(whole, make_chapter(3))
    assert continue_document(later, make_chapter(2)) is later


def test_what_comes_after_a_text_that_failed_is_not_put_in_its_place() -> None:
    source = DocumentSource("chapter-3.txt", lambda: make_chapter(3))
    after = continue_source(source, lambda: make_chapter(1), "chapter-2.txt")
    with pytest.raises(LoadError, match=r"chapter-3\.txt .* chapter-2\.txt comes before it"):
        after.read()
