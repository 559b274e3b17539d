"""What a printer or a library put around the author's words is left out of every text."""

from __future__ import annotations

from pathlib import Path

from cases import for_each
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


@for_each(
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


@for_each("line", ["Contents", "Illustrations"])
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


def test_cries_of_the_title_are_no_running_heads() -> None:
    story = [part for n in range(5) for part in ("“Marta!”", f"Nobody answered on day {n}.")]
    assert kept(*story, title="Marta") == story
    lines = [part for n in range(5) for part in ("Marta", f"The bell rang {n} times.")]
    assert kept(*lines, title="Marta") == lines
    divided = [part for n in range(5) for part in ("He called", "“Marta!”", f"and ran {n} miles.")]
    assert kept(*divided, title="Marta") == divided


def test_a_title_that_divides_sentences_is_a_running_head() -> None:
    text = [part for n in range(4) for part in (f"The bell rang {n}", "MARTA", "times more.")]
    assert "MARTA" not in kept(*text, title="Marta")


def test_lines_that_count_up_stay_unless_they_are_a_pages() -> None:
    days = [part for n in range(1, 6) for part in (f"Day {n}", "The sea rose.")]
    assert kept(*days) == days
    pages = [part for n in range(12, 18) for part in (f"{n} THE KETTLE", "The sea rose.")]
    assert kept("THE KETTLE", *pages) == ["THE KETTLE", *["The sea rose."] * 6]


def test_numbers_of_stanzas_that_run_on_stay() -> None:
    ends = ("and,", "the sea.", "he slept.", "he woke.", "it rose.", "it fell.")
    stanzas = [part for n, end in enumerate(ends, 1) for part in (str(n), f"the lamp {end}")]
    assert kept(*stanzas) == stanzas


def test_what_is_left_out_is_counted_by_kind() -> None:
    blocks = [Block(text) for text in ("The lamp [Pg 12]", "11", "had", "12", "gone [Pg 14]", "13")]
    body = remove_paratext([*blocks, Block("out.")], "")
    assert body.left_out == {"page marks": 12, "page numbers": 6}


def test_marks_of_pages_become_the_pages_of_the_text() -> None:
    text = "[Pg 1] The lamp [p. xii] was[Pg 13] lit. [sic] [Page 14]\n\n[S. 15] It rose."
    document = read_text(text, source="a.txt", collection="c")
    assert document.text == "The lamp was lit. [sic]\n\nIt rose."
    assert [(page.label, document.text[page.start :][:8]) for page in document.locators] == [
        ("1", "The lamp"),
        ("xii", "was lit."),
        ("13", " lit. [s"),
        ("14", "\n\nIt ros"),
        ("15", "It rose."),
    ]


@for_each(
    "story",
    [
        ("Contents", "a comb\na mirror\nthree letters\na key", PARAGRAPH),
        ("Illustrations", "the sea in the lamp", "the lamp in the sea", PARAGRAPH),
        ("CONTENTS", "The bag was empty, but for a comb", "and a mirror", PARAGRAPH),
    ],
)
def test_a_list_that_lists_no_chapters_stays(story: tuple[str, ...]) -> None:
    assert kept(*story) == list(story)


def test_a_list_of_poems_that_are_no_chapters_is_left_out() -> None:
    names = ("The Lamp", "The Stairs", "The Sea")
    poems = [part for name in names for part in (name, f"{name} was dark\nand nobody sang")]
    assert kept("Contents", "\n".join(names), *poems) == poems


def test_the_title_below_a_list_with_page_numbers_stays() -> None:
    story = ["THE DARK LAMP", "A Tale", *[PARAGRAPH] * 3]
    entries = ("I. THE LAMP 1", "II. THE STAIRS 9", "III. THE SEA 17")
    assert kept("CONTENTS", *entries, *story) == story


# Those who made the file


def test_the_makers_notes_at_the_end_are_left_out() -> None:
    notes = ("Transcriber's Notes:", "Page 44, caption, 'gigantie' changed to 'gigantic'.")
    assert kept(*[PARAGRAPH] * 60, *notes) == [PARAGRAPH] * 60


@for_each(
    "note",
    [
        ("Transcriber's note: the author's spelling has been kept.",),
        ("[Transcriber's Note: This etext was produced from a magazine.]",),
        (
            "[Transcriber's Notes:",
            "1. Page 4: 'teh' changed to 'the'.",
            "2. Page 9: a comma added.]",
        ),
        ("Anmerkungen zur Transkription:", "Offensichtliche Druckfehler wurden korrigiert."),
        ("Note du transcripteur : l'orthographe a été conservée.",),
    ],
)
def test_a_makers_note_costs_no_more_than_itself(note: tuple[str, ...]) -> None:
    short = [PARAGRAPH, "It rose.", "The lantern went out for good."]
    assert kept(*note, *short) == short
    assert kept("THE KETTLE", *note, *short) == ["THE KETTLE", *short]
    assert kept(*short, *note) == short


def test_the_text_behind_a_makers_bracket_stays() -> None:
    note = "[Transcriber's Note: This etext was produced from If.]"
    assert kept(f"{note} The sea rose.", PARAGRAPH) == ["The sea rose.", PARAGRAPH]


@for_each(
    "note",
    [
        "[Transcriber's Note: a page is missing in the original here.]",
        "Transcriber's note: here the old man wept.",
        "The Project Gutenberg eBook of The Kettle, by Ann Example",
    ],
)
def test_a_note_between_paragraphs_of_the_author_stays(note: str) -> None:
    story = [*[PARAGRAPH] * 30, note, *[PARAGRAPH] * 10, "The lantern went out for good."]
    assert kept(*story) == story


def test_a_transcriber_in_the_story_stays() -> None:
    story = [PARAGRAPH, "Transcriber's notes lay on the table.", *[PARAGRAPH] * 60]
    assert kept(*story) == story


def test_nothing_else_is_left_out() -> None:
    story = [PARAGRAPH, "THE END", "Was it?", "—", "12 Hill Street", "The sea\nthe sea\nthe sea"]
    assert kept(*story, title="The Sea") == story
