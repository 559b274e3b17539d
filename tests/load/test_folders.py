"""What is one book in a folder: its parts, its copies, and what is no book."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.load import find
from fabula.load.folders import describe_parts
from fabula.load.sources import Sources, find_gone, find_sources
from fabula.text.document import Document

STORY = "The keeper lit the lamp at six. He told nobody why. " * 3


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def read(folder: Path, *, as_one: bool = False) -> tuple[list[Document], dict[str, str]]:
    """Return the documents of a folder, and why files were skipped, by their names."""
    found: Sources = find_sources([folder], "c", 1, as_one=as_one)
    reasons = {Path(name).name: why for name, why in found.skipped.items()}
    return [source.read() for source in found.read], reasons


def test_the_files_of_a_folder_are_one_document_if_asked(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "1 - Down.md": f"# Down\n\n{STORY}\n\n## Deep\n\nDark.",
            "2.txt": "Up it went.",
            "10 - The End.md": "---\nauthor: Ann Example\n---\nOver.",
        },
    )
    [document], _ = read(tmp_path, as_one=True)
    assert (document.title, document.author) == (tmp_path.name, "Ann Example")
    assert document.source == str(tmp_path.resolve())
    assert [(section.level, section.title) for section in document.sections] == [
        (1, "Down"),
        (2, "Deep"),
        (1, "2"),
        (1, "The End"),
    ]
    assert document.text.endswith("Dark.\n\nUp it went.\n\nOver.")
    assert len(read(tmp_path)[0]) == 3


def test_files_with_numbers_are_said_to_be_parts(tmp_path: Path) -> None:
    write(tmp_path, {f"{n:02} Scene.md": f"Scene {n}." for n in range(1, 4)})
    hint = describe_parts(tmp_path, find([tmp_path]).files)
    assert "3 files from 01 Scene.md to 03 Scene.md" in hint and "--as-one" in hint
    assert describe_parts(tmp_path, [tmp_path / "a.md", tmp_path / "b.md"]) == ""


def test_the_scenes_that_an_index_lists_are_one_document_in_its_order(tmp_path: Path) -> None:
    scenes = "[Weir, [Bell], Gone]"
    index = f"---\nlongform:\n  format: scenes\n  title: The Kettle\n  scenes: {scenes}\n---\n"
    write(tmp_path, {"Index.md": index, "Bell.md": "It rang.", "Weir.md": "A [[lamp|lantern]]."})
    write(tmp_path, {"Notes.md": "Not a scene."})
    documents, skipped = read(tmp_path)
    assert {document.title: document.text for document in documents} == {
        "The Kettle": "A lantern.\n\nIt rang.",
        "Notes": "Not a scene.",
    }
    assert list(skipped) == ["Index.md"]


def test_one_book_in_several_formats_is_taken_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "11.txt": STORY,
            "11-h.htm": f"<h1>The Lamp</h1><p>{STORY}</p>",
            "old/lamp10.txt": STORY.replace("six.", "six;"),
            "other.txt": "Another story altogether, with words of its own from end to end.",
            "~$other.docx": "What Word keeps beside an open document.",
        },
    )
    documents, skipped = read(tmp_path)
    assert [Path(document.source).name for document in documents] == ["11-h.htm", "other.txt"]
    assert set(skipped) == {"11.txt", "lamp10.txt"}
    assert "11-h.htm, which was taken" in skipped["11.txt"]


def test_versions_of_one_story_in_one_format_are_read_each(tmp_path: Path) -> None:
    files = {"draft.txt": STORY, "final.txt": STORY.replace("six.", "seven."), "notes.md": "Notes."}
    write(tmp_path, files)
    documents, skipped = read(tmp_path)
    assert (len(documents), skipped) == (3, {})


@pytest.mark.parametrize("name", ["LICENSE.md", "licence.txt", "COPYING.txt", "README.md"])
def test_licences_and_empty_files_are_skipped_beside_a_book(name: str, tmp_path: Path) -> None:
    write(tmp_path, {name: "The source text is free of copyright.", "index.md": "---\na: b\n---\n"})
    write(tmp_path, {"lamp.txt": STORY})
    documents, skipped = read(tmp_path)
    assert len(documents) == 1
    assert "no book" in skipped[name] and "no words" in skipped["index.md"]


def test_a_folder_of_nothing_else_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": STORY})
    assert len(read(tmp_path)[0]) == 1


def test_a_document_whose_file_has_gone_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"here.txt": STORY})
    documents = [
        ("d1", str(tmp_path / "here.txt")),
        ("d2", str(tmp_path / "gone.txt")),
        ("d3", "/elsewhere/gone.txt"),
    ]
    gone = find_gone([tmp_path], documents)
    assert list(gone) == [str(tmp_path / "gone.txt")]
    assert "fabula remove d2" in gone[str(tmp_path / "gone.txt")]
    assert find_gone([tmp_path / "here.txt"], documents) == {}
