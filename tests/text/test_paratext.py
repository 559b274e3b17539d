"""What a printer or a library put around the author's words is left out of every text."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.load import load, read_text
from fabula.load.blocks import Block
from fabula.load.locators import without_marks
from fabula.load.paratext import remove_paratext

PARAGRAPH = (
    "It was a dark night, and the lamp in the harbour had gone out again. Nobody in the village "
    "would say why, though all of them had seen who went up the stairs."
)
CHAPTER = " ".join([PARAGRAPH] * 6)
NAMES = ("THE LAMP", "THE STAIRS", "THE SEA")
BODY = "\n\n".join(f"CHAPTER {n}\n{name}\n\n{CHAPTER}" for n, name in enumerate(NAMES, 1))


def kept(*texts: str, title: str = "") -> list[str]:
    body = remove_paratext([Block(text) for text in texts], title)
    return [without_marks(block.text) for block in body.blocks if without_marks(block.text)]


def words(text: str) -> str:
    return read_text(text, source="a.txt", collection="c").text


# Contents


@pytest.mark.parametrize(
    "contents",
    [
        "CONTENTS\n\nChapter 1 The Lamp\nChapter 2 The Stairs\nChapter 3 The Sea",
        "CONTENTS\n\nI. THE LAMP\n\nII. THE STAIRS\n\nIII. THE SEA",
        "Table of Contents\n\nPAGE\n\nTHE LAMP 1\n\nTHE STAIRS 9\n\nTHE SEA 17",
        "Contents.\n\nThe Lamp . . . . 1\nThe Stairs . . . . 9\nThe Sea . . . . 17",
        "Contents\n\nTHE LAMP\n\nTHE STAIRS\n\nTHE SEA",
        "CONTENTS\nI. THE LAMP\nII. THE STAIRS\nIII. THE SEA",
        "List of Illustrations\n\nThe harbour at night Frontispiece\n\nHe went up the stairs",
    ],
)
def test_a_list_of_contents_is_left_out(contents: str) -> None:
    assert words(f"A TALE\n\n{contents}\n\n{BODY}") == words(f"A TALE\n\n{BODY}")


def test_contents_of_a_web_page_are_left_out_too(tmp_path: Path) -> None:
    listed = "".join(f"<li>{name}</li>" for name in NAMES)
    chapters = "".join(f"<h2>{name}</h2><p>{PARAGRAPH}</p>" for name in NAMES)
    for name, more in (("with", f"<h2>Contents</h2><ul>{listed}</ul>"), ("without", "")):
        page = f"<html><title>A Tale</title><body><h1>A Tale</h1>{more}{chapters}</body></html>"
        (tmp_path / f"{name}.html").write_text(page)
    one, other = (load(tmp_path / f"{name}.html", "c", 10**6) for name in ("with", "without"))
    assert one.text == other.text
    assert [section.title for section in one.sections] == list(NAMES)


def test_what_follows_contents_stays() -> None:
    dedication = "To my sister, who kept the lamp."
    assert kept("CONTENTS", "I. THE LAMP", "II. THE STAIRS", dedication, PARAGRAPH) == [
        dedication,
        PARAGRAPH,
    ]


@pytest.mark.parametrize("line", ["Contents", "Illustrations"])
def test_a_word_that_opens_no_list_stays(line: str) -> None:
    assert kept(line, PARAGRAPH) == [line, PARAGRAPH]


# Libraries


def test_a_librarys_header_and_licence_are_left_out_of_any_format() -> None:
    header = (
        "This eBook is for the use of anyone.",
        "*** START OF THIS PROJECT GUTENBERG EBOOK ***",
    )
    licence = ("*** END OF THIS PROJECT GUTENBERG EBOOK ***", "You may copy it.", "Section 1.")
    assert kept(*header, "Produced by Jane Doe", PARAGRAPH, *licence) == [PARAGRAPH]


def test_a_book_that_tells_of_its_library_is_whole() -> None:
    story = [PARAGRAPH, "The project of Gutenberg began in Mainz.", "Produced by hand."]
    assert kept(*story) == story


# Pages


def test_page_numbers_that_part_sentences_are_left_out() -> None:
    texts = ("The lamp had", "11", "gone out.", "12", "Nobody knew.", "[13]", "The sea rose.")
    assert kept(*texts) == ["The lamp had", "gone out.", "Nobody knew.", "The sea rose."]


def test_numbers_of_stanzas_and_years_stay() -> None:
    texts = ("1", "The lamp went out.", "2", "The sea rose.", "3", "He slept.")
    assert kept(*texts) == list(texts)
    assert kept("It was in", "1843", "that he came.") == ["It was in", "1843", "that he came."]


def test_marks_of_pages_inside_a_sentence_are_left_out() -> None:
    assert kept("The lamp [Pg 12] had {p. 13}gone out [12].") == ["The lamp had gone out [12]."]


def test_running_heads_are_left_out_and_a_title_stays() -> None:
    heads = ("The Dark Lamp", "It rose.", "THE DARK LAMP 12", "It fell.", "The Dark Lamp 13")
    assert kept(*heads, title="The Dark Lamp") == ["It rose.", "It fell."]
    assert kept("The Dark Lamp", "It rose.", title="The Dark Lamp") == ["The Dark Lamp", "It rose."]


# Those who made the file


def test_the_makers_notes_at_the_end_are_left_out() -> None:
    notes = ("Transcriber's Notes:", "Page 44, caption, 'gigantie' changed to 'gigantic'.")
    assert kept(*[PARAGRAPH] * 60, *notes) == [PARAGRAPH] * 60


def test_a_transcriber_in_the_story_stays() -> None:
    story = [PARAGRAPH, "Transcriber's notes lay on the table.", *[PARAGRAPH] * 60]
    assert kept(*story) == story


def test_nothing_else_is_left_out() -> None:
    story = [PARAGRAPH, "THE END", "Was it?", "—", "12 Hill Street", "The sea\nthe sea\nthe sea"]
    assert kept(*story, title="The Sea") == story
