"""Zips of books: one document for each, and what becomes of those that are hostile."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from book_files import CHAPTERS, docx, epub, odt, paragraph
from fabula.errors import FabulaError, LoadError
from fabula.load import find_in_zip, load, open_in_zip
from fabula.load.sources import find_sources
from fabula.load.zips import unpack

LIMIT = 1_000_000
STORY = "Once upon a time there was a keeper. He lit the lamp at six."


def packed(
    file: Path, entries: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file


def refusal(file: Path) -> str:
    """What is said of a zip, as a source that can't be read."""
    [source] = find_sources([file], "default", 1).read
    with pytest.raises(LoadError) as caught:
        source.read()
    assert file.name in str(caught.value)
    return str(caught.value)


def test_each_book_is_a_document_named_after_the_zip_and_itself(tmp_path: Path) -> None:
    file = packed(
        tmp_path / "books.zip",
        {"b/tale.txt": STORY, "a.epub": epub(CHAPTERS), "b/cover.jpg": b"", "READ.ME": ""},
    )
    found = find_sources([tmp_path], "default", 1)
    assert [document.name for document in found.read] == [f"{file}/a.epub", f"{file}/b/tale.txt"]
    assert list(found.skipped) == [f"{file}/READ.ME", f"{file}/b/cover.jpg"]
    book, tale = (document.read() for document in found.read)
    assert (book.title, tale.title, tale.text) == ("Żółw", "Tale", STORY)
    assert tale.source == f"{file.resolve()}/b/tale.txt"


def test_a_zip_is_the_same_by_another_path_and_read_once(tmp_path: Path) -> None:
    file = packed(tmp_path / "books.zip", {"tale.txt": STORY})
    (tmp_path / "link.zip").symlink_to(file)
    assert len(find_sources([file, tmp_path / "link.zip", tmp_path], "default", 1).read) == 1


def test_hidden_files_are_no_books(tmp_path: Path) -> None:
    names = ["__MACOSX/._tale.txt", ".git/a.txt", "tale.txt"]
    file = packed(tmp_path / "books.zip", dict.fromkeys(names, STORY))
    assert find_in_zip(file) == (["tale.txt"], [])


@pytest.mark.parametrize("name", ["../tale.txt", "/etc/tale.txt", "a/../../tale.txt"])
def test_a_path_out_of_the_zip_is_skipped(tmp_path: Path, name: str) -> None:
    file = packed(tmp_path / "books.zip", {name: STORY, "tale.txt": STORY})
    assert find_in_zip(file) == (["tale.txt"], [name])


def test_a_zip_in_a_zip_is_skipped_by_name(tmp_path: Path) -> None:
    inner = io.BytesIO()
    zipfile.ZipFile(inner, "w").close()
    file = packed(tmp_path / "books.zip", {"more.zip": inner.getvalue(), "tale.txt": STORY})
    assert find_in_zip(file) == (["tale.txt"], ["more.zip"])


@pytest.mark.parametrize(
    ("data", "suffix"),
    [(epub(CHAPTERS), "epub"), (docx(paragraph("In prose.")), "docx"), (odt(""), "odt")],
)
def test_one_book_that_is_called_a_zip_is_told_so(tmp_path: Path, data: bytes, suffix: str) -> None:
    file = tmp_path / "book.zip"
    file.write_bytes(data)
    assert f"is one book, and not a zip of several: rename it to .{suffix}" in refusal(file)


def test_a_zip_without_books_is_told_so(tmp_path: Path) -> None:
    assert "holds no file that Fabula reads: .txt" in refusal(
        packed(tmp_path / "a.zip", {"cover.jpg": b""})
    )


def test_a_book_with_a_password_fails_alone(tmp_path: Path) -> None:
    file = packed(tmp_path / "books.zip", {"a.txt": STORY, "b.txt": STORY})
    data = bytearray(file.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    data[6] |= 1
    file.write_bytes(data)
    locked, free = find_sources([file], "default", 1).read
    assert free.read().text == STORY
    with pytest.raises(LoadError, match=r"books\.zip/a\.txt is locked by a password"):
        locked.read()


def test_a_damaged_book_fails_alone(tmp_path: Path) -> None:
    file = packed(tmp_path / "books.zip", {"a.txt": STORY, "b.txt": STORY}, zipfile.ZIP_STORED)
    file.write_bytes(file.read_bytes().replace(b"upon", b"upan", 1))
    damaged, whole = find_sources([file], "default", 1).read
    assert whole.read().text == STORY
    with pytest.raises(LoadError, match=r"books\.zip/a\.txt is a broken zip.*CRC"):
        damaged.read()


def test_a_book_over_the_limit_fails_alone(tmp_path: Path) -> None:
    words = "".join(random.Random(1).choices("abcdefgh ", k=1_100_000))
    file = packed(tmp_path / "books.zip", {"a.txt": words, "b.txt": STORY})
    large, small = find_sources([file], "default", 1).read
    assert small.read().text == STORY
    with pytest.raises(LoadError, match=r"books\.zip/a\.txt has 1\.1 MB.*FABULA_MAX_FILE_MB"):
        large.read()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_may_take_any_memory_to_unpack_is_refused(tmp_path: Path, method: int) -> None:
    file = packed(tmp_path / "books.zip", {"a.txt": STORY}, method)
    with pytest.raises(LoadError, match="is packed by method"):
        open_in_zip(file, "a.txt", "default", LIMIT).parse()


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    file = packed(tmp_path / "a.zip", {f"{n}.txt": "word " * 1_000_000 for n in range(4)})
    assert file.stat().st_size < 100_000
    assert "unpacks to more than the limit allows" in refusal(file)


def test_a_file_that_holds_more_than_it_says_is_no_way_around(tmp_path: Path) -> None:
    file = packed(tmp_path / "a.zip", {"a.txt": "word " * 1_000_000})
    data = file.read_bytes()
    size = struct.pack("<I", 5_000_000)
    assert data.count(size) == 2
    file.write_bytes(data.replace(size, struct.pack("<I", 5)))
    with pytest.raises(LoadError, match="broken zip"):
        unpack(file, "a.txt", "a.zip/a.txt", LIMIT)


def test_a_list_without_end_is_refused(tmp_path: Path) -> None:
    names = {f"{'a' * 60_000}{n}.txt": "" for n in range(40)}
    assert "lists more files than Fabula reads" in refusal(packed(tmp_path / "a.zip", names))


def test_a_pipe_and_a_folder_that_are_called_zips_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(LoadError, match="is a folder"):
        find_in_zip(tmp_path / "folder.zip")


def test_a_zip_is_no_document(tmp_path: Path) -> None:
    file = packed(tmp_path / "books.zip", {"a.txt": STORY})
    with pytest.raises(LoadError, match="is a zip of several files"):
        load(file, "default", LIMIT)


def damaged(folder: Path, seed: int, count: int) -> None:
    """Each damaged zip is books or a sentence."""
    draw = random.Random(seed)
    whole = packed(folder / "whole.zip", {"a.txt": STORY, "b/c.md": "# One\n\nTwo."}).read_bytes()
    file = folder / "a.zip"
    for _ in range(count):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            place = draw.randrange(len(data))
            if draw.random() < 0.2:
                del data[place : place + draw.choice([1, 4, 40])]
            else:
                data[place] = draw.choice([0, 1, 255, draw.randrange(256)])
        file.write_bytes(data)
        for source in find_sources([file], "default", 1).read:
            try:
                assert source.read().text
            except FabulaError as error:
                assert "a.zip" in str(error), f"seed {seed}: {error}"
                assert "\n" not in str(error), f"seed {seed}: {error!r}"


def test_any_damage_is_books_or_a_sentence(tmp_path: Path) -> None:
    damaged(tmp_path, 412, 300)


@pytest.mark.nightly
def test_much_more_damage_is_books_or_a_sentence(tmp_path: Path) -> None:
    damaged(tmp_path, random.randrange(10**6), 20_000)
