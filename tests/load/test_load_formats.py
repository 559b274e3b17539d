"""Formats told by content, for what comes without a file's name."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from book_files import BOOKS, pdf
from cases import for_each
from fabula.errors import LoadError
from fabula.load import recognise_content
from fabula.load.formats import recognise

SENTENCE = "The keeper lit the lamp at six. He told nobody why."


@for_each("suffix", BOOKS)
def test_every_format_is_recognised_by_its_content(suffix: str) -> None:
    assert recognise(BOOKS[suffix], "standard input") == suffix


@for_each(
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
@for_each("encode", [str.encode, lambda text: text.encode("utf-16")])
def test_texts_are_told_apart(text: str, suffix: str, encode: Callable[[str], bytes]) -> None:
    assert recognise(encode(text), "standard input") == suffix


def test_a_name_tells_text_from_markdown_and_no_more() -> None:
    assert recognise(b"A word.", "tale.md") == ".md"
    assert recognise(b"# One\n# Two", "tale.txt") == ".txt"
    assert recognise(pdf([["A word."]]), "https://a.b/tale.txt") == ".pdf"


@for_each(
    "start",
    [
        "How a file begins: %PDF-1.7 is the mark of a PDF.",
        "%PDF-1.4 is how one begins.",
        "%PDF-1.4\n1 0 obj <<>> endobj\n%%EOF was all of my first file.",
        "PK, said he.",
        "{\\rtf is another mark.",
        "{\\rtf1\\ansi Hello} is the smallest document.",
        "GIF89a was a format.",
        "Rar! sade han.",
        "<html> and </html> are tags.",
        "<i>It was night.</i>",
        "<?xml version='1.0'?> begins a file.",
        "<TEI> is the root.",
        "<!-- the third draft -->\n\n# One",
        "<div align='center'>A Tale</div>\n\n# One",
        "<3 was all she wrote.",
        "<<Bonjour>>, dit-il.",
    ],
)
@for_each("suffix", [".txt", ".md"])
@for_each("count", [1, 60])
def test_a_text_may_begin_as_other_formats_do(start: str, suffix: str, count: int) -> None:
    text = "\n".join([start, *[SENTENCE] * count])
    assert recognise(text.encode(), f"tale{suffix}") == suffix
    document = recognise_content(text.encode(), f"tale{suffix}", "default", 10**6).parse()
    assert document.text.count(SENTENCE) == count


@for_each("suffix", [s for s in BOOKS if s not in (".txt", ".md")])
@for_each("name", ["tale.txt", "tale.md"])
def test_a_whole_document_is_recognised_under_the_name_of_a_text(suffix: str, name: str) -> None:
    assert recognise(BOOKS[suffix], name) == suffix


def test_a_pdf_may_have_other_bytes_before_it() -> None:
    data = b"HTTP/1.1 200 OK\n\n" + pdf([["A word."]])
    assert {recognise(data, name) for name in ("tale", "tale.pdf", "tale.txt")} == {".pdf"}


@for_each("text", ["%PDF-1.7\nis all there is", "junk, then %PDF-1.7"])
def test_a_damaged_pdf_stays_one_by_its_name(text: str) -> None:
    assert recognise(text.encode(), "tale.pdf") == ".pdf"


def test_a_page_may_begin_with_words_and_other_text_with_a_sign() -> None:
    assert recognise(b"Hello <b>you</b>.", "page.html") == ".html"
    assert recognise(b"<3 was all she wrote.", "standard input") == ".txt"


@for_each(
    ("data", "message"),
    [
        (b"\0" * 60 + b"BOOKMOBI" + b"\0" * 99, "is a Kindle book.*EPUB"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 99, "is an old Word document.*docx"),
        (b"PK\x03\x04" + b"\0" * 99, "is a zip of several files: unpack it"),
        (b"\x89PNG\r\n\x1a\n", "isn't text but an image"),
    ],
)
def test_what_is_not_read_is_named_with_what_to_do(data: bytes, message: str) -> None:
    with pytest.raises(LoadError, match=f"^tale {message}"):
        recognise_content(data, "tale", "default", 10**6).parse()


@for_each("suffix", [".epub", ".docx", ".odt"])
def test_a_damaged_book_is_not_taken_for_a_zip_of_several(suffix: str) -> None:
    data = b"PK\x03\x04" + b"\0" * 99
    with pytest.raises(
        LoadError, match=f"^uploads/broken{suffix} is damaged, or not a {suffix} file"
    ):
        recognise_content(data, f"uploads/broken{suffix}", "default", 10**6).parse()


def test_a_package_brings_a_reader_by_an_entry_point(tmp_path: Path) -> None:
    (tmp_path / "chats.py").write_text(
        "from fabula.load.blocks import Block, Draft\n"
        "def read(data, source, limit): return Draft((Block(data.decode()),), title='A chat')\n"
    )
    info = tmp_path / "chats-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chats\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fabula.readers]\nlog = chats:read\n")
    program = (
        "from fabula.load.readers import READERS, reader; print(READERS['.log'],"
        " reader('.log')(b'Hello.', '', 0).title, reader('.txt').__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[0] == "chats:read A chat fabula.load.text"
