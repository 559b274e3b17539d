"""Which files are read, and what is said of those that can't be."""

import os
from pathlib import Path

import pytest

from cases import for_each
from fabula.errors import LoadError
from fabula.load import SUFFIXES, find, load

LIMIT = 1_000_000


def made(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("Once upon a time.")


def test_folders_are_searched_in_sorted_order(tmp_path: Path) -> None:
    made(tmp_path, "b.txt", "a.md", "sub/c.html", "sub/deep/d.EPUB", "e.pdf", "notes.doc", "f.py")
    found = [file.relative_to(tmp_path).as_posix() for file in find([tmp_path]).files]
    assert found == ["a.md", "b.txt", "e.pdf", "sub/c.html", "sub/deep/d.EPUB"]


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    made(tmp_path, ".a.txt", ".git/b.txt", "c.txt")
    assert find([tmp_path]).files == [tmp_path / "c.txt"]


def test_files_are_taken_as_given_whatever_their_suffix(tmp_path: Path) -> None:
    made(tmp_path, "z.doc", ".hidden.txt", "a.txt")
    given = [tmp_path / name for name in ("z.doc", ".hidden.txt", "a.txt")]
    assert find(given).files == given


def test_no_file_is_found_twice(tmp_path: Path) -> None:
    made(tmp_path, "a.txt")
    assert find([tmp_path / "a.txt", tmp_path]).files == [tmp_path / "a.txt"]


def test_links_that_go_round_in_circles_end(tmp_path: Path) -> None:
    made(tmp_path, "a.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert find([tmp_path]).files == [tmp_path / "a.txt"]


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"nowhere\.txt doesn't exist"):
        find([tmp_path / "nowhere.txt"])
    with pytest.raises(LoadError, match=r"nowhere\.txt doesn't exist"):
        load(tmp_path / "nowhere.txt", "default", LIMIT)


def test_an_unknown_suffix_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    made(tmp_path, "a.py")
    with pytest.raises(LoadError, match=r"a\.py has no suffix that can be read; \.txt") as caught:
        load(tmp_path / "a.py", "default", LIMIT)
    assert all(suffix in str(caught.value) for suffix in SUFFIXES)


def test_the_same_file_by_another_path_is_the_same_document(tmp_path: Path) -> None:
    made(tmp_path, "a.TXT")
    (tmp_path / "sub").mkdir()
    direct = load(tmp_path / "a.TXT", "default", LIMIT)
    assert load(tmp_path / "sub" / ".." / "a.TXT", "default", LIMIT) == direct
    assert direct.source == str((tmp_path / "a.TXT").resolve())


@for_each("suffix", SUFFIXES)
def test_an_empty_file_is_refused(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"empty{suffix}"
    file.write_bytes(b"")
    with pytest.raises(LoadError, match=f"empty{suffix}"):
        load(file, "default", LIMIT)


@for_each("suffix", SUFFIXES)
def test_an_image_with_a_texts_name_is_refused(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"image{suffix}"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    with pytest.raises(LoadError, match=f"image{suffix}") as caught:
        load(file, "default", LIMIT)
    assert "\n" not in str(caught.value)


def test_a_huge_file_is_refused_with_the_setting_to_raise(tmp_path: Path) -> None:
    file = tmp_path / "huge.txt"
    file.write_bytes(b"word " * 1000)
    with pytest.raises(LoadError, match=r"huge\.txt has .*FABULA_MAX_FILE_MB"):
        load(file, "default", 4999)
    assert load(file, "default", 5000).text.count("word") == 1000


def test_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(LoadError, match=r"folder\.txt is a folder"):
        load(tmp_path / "folder.txt", "default", LIMIT)
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(LoadError, match=r"pipe\.txt is not an ordinary file"):
        load(tmp_path / "pipe.txt", "default", LIMIT)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    made(tmp_path, "secret.txt")
    (tmp_path / "secret.txt").chmod(0)
    with pytest.raises(LoadError, match=r"secret\.txt can't be read: permission denied"):
        load(tmp_path / "secret.txt", "default", LIMIT)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("a-christmas-carol.txt", "A Christmas Carol"),
        ("the_hound.txt", "The Hound"),
        ("Emma.txt", "Emma"),
        ("war and peace.md", "War And Peace"),
        ("1984.txt", "1984"),
        ("46-0.txt", "46-0"),
    ],
)
def test_a_files_name_is_made_readable_for_a_title(tmp_path: Path, name: str, title: str) -> None:
    made(tmp_path, name)
    assert load(tmp_path / name, "default", LIMIT).title == title


def test_a_name_that_is_no_utf_8_is_written_out(tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/fl\xf6te.txt"))
    file.write_text("Once upon a time.")
    assert load(file, "default", LIMIT).source == f"{tmp_path}/fl\\xf6te.txt"


def test_a_link_to_itself_is_reported(tmp_path: Path) -> None:
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    with pytest.raises(LoadError, match="doesn't exist"):
        load(loop, "default", LIMIT)
