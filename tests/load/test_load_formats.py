"""Formats told by content, for what comes without a file's name."""

from collections.abc import Callable

import pytest

from book_files import BOOKS, pdf
from fabula.errors import LoadError
from fabula.load import load_content
from fabula.load.formats import recognise

SENTENCE = "The keeper lit the lamp at six. He told nobody why."


@pytest.mark.parametrize("suffix", BOOKS)
def test_every_format_is_recognised_by_its_content(suffix: str) -> None:
    assert recognise(BOOKS[suffix], "standard input") == suffix


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("<!-- a comment -->\n<!DOCTYPE html>\n<html lang='en'>", ".html"),
        ("<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'a' 'b'>\n<html>", ".html"),
        ("<p>A word.</p>", ".html"),
        ("<?xml version='1.0'?><tei:TEI xmlns:tei='a'>", ".tei"),
        ("<?xml version='1.0'?><recipe>", ".xml"),
        ("# One\n\nA word.\n\n## Two\n\nMore.", ".md"),
        ("# 1 of 2, it said. No more.", ".txt"),
        ("3 < 5 is so.", ".txt"),
        ("", ".txt"),
    ],
)
@pytest.mark.parametrize("encode", [str.encode, lambda text: text.encode("utf-16")])
def test_texts_are_told_apart(text: str, suffix: str, encode: Callable[[str], bytes]) -> None:
    assert recognise(encode(text), "standard input") == suffix


def test_a_name_tells_text_from_markdown_and_no_more() -> None:
    assert recognise(b"A word.", "tale.md") == ".md"
    assert recognise(b"# One\n# Two", "tale.txt") == ".txt"
    assert recognise(pdf([["A word."]]), "https://a.b/tale.txt") == ".pdf"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\0" * 60 + b"BOOKMOBI" + b"\0" * 99, "is a Kindle book.*EPUB"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 99, "is an old Word document.*docx"),
        (b"PK\x03\x04" + b"\0" * 99, "is a zip of several files: unpack it"),
        (b"\x89PNG\r\n\x1a\n", "isn't text but an image"),
    ],
)
def test_what_is_not_read_is_named_with_what_to_do(data: bytes, said: str) -> None:
    with pytest.raises(LoadError, match=f"^tale {said}"):
        load_content(data, "tale", "default", 10**6)


@pytest.mark.parametrize("suffix", [".epub", ".docx", ".odt"])
def test_a_damaged_book_is_not_taken_for_a_zip_of_several(suffix: str) -> None:
    data = b"PK\x03\x04" + b"\0" * 99
    with pytest.raises(
        LoadError, match=f"^uploads/broken{suffix} is damaged, or not a {suffix} file"
    ):
        load_content(data, f"uploads/broken{suffix}", "default", 10**6)
