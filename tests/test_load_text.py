"""Plain text: cleaning, unwrapping, library pages, and the facts a file states."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

import fabula
from fabula.errors import LoadError
from fabula.load import load, read_text
from fabula.load.clean import clean, tidy
from fabula.load.text import plain
from fabula.model import Document

STORY = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"

PROSE = """\
It was the best of times, it was the worst of times, it was the age
of wisdom, it was the age of foolishness, it was the epoch of belief,
it was the epoch of incredulity, it was the season of Light, it was
the season of Darkness, it was the spring of hope.
"""
POEM = """\
  How doth the little crocodile
    Improve his shining tail,
  And pour the waters of the Nile
    On every golden scale!
"""
VERSE = """\
    Litwo! Ojczyzno moja! ty jesteś jak zdrowie:
Ile cię trzeba cenić, ten tylko się dowie,
Kto cię stracił. Dziś piękność twą w całej ozdobie
Widzę i opisuję, bo tęsknię po tobie.

    Panno święta, co Jasnej bronisz Częstochowy
I w Ostrej świecisz Bramie! Ty, co gród zamkowy
Nowogródzki ochraniasz z jego wiernym ludem!
Jak mnie dziecko do zdrowia powróciłaś cudem
"""


def read(text: str) -> Document:
    return read_text(text, source="a-tale.txt", collection="default")


def test_wrapped_prose_becomes_one_line_a_paragraph() -> None:
    paragraphs = clean(f"{PROSE}\n{PROSE}").split("\n\n")
    assert len(paragraphs) == 2
    assert all("\n" not in one for one in paragraphs)
    assert "the age of wisdom" in paragraphs[0]


def test_a_poem_in_prose_keeps_its_lines() -> None:
    paragraphs = clean(f"{PROSE}\n{POEM}\n{PROSE}").split("\n\n")
    assert [one.count("\n") for one in paragraphs] == [0, 3, 0]
    assert paragraphs[1].startswith("How doth the little crocodile\nImprove his")


def test_verse_stays_verse() -> None:
    assert [one.count("\n") for one in clean(VERSE).split("\n\n")] == [3, 3]


def test_a_list_keeps_its_lines() -> None:
    items = "\n".join(
        f"{n}. a thing which is as long as a line of prose is wide, {n}" for n in "123"
    )
    assert clean(f"{PROSE}\n{items}\n\n{PROSE}").split("\n\n")[1] == items


def test_prose_of_names_is_unwrapped_all_the_same() -> None:
    names = "He met Mr. and Mrs. Fezziwig, the two Miss Fezziwigs, and then\nMr. Topper as well.\n"
    assert "then Mr. Topper" in clean(f"{PROSE}\n{names}\n{PROSE}")


def test_indented_lines_begin_paragraphs_where_no_blank_lines_do() -> None:
    indented = "".join(f"    {PROSE}" for _ in range(3))
    assert len(clean(indented).split("\n\n")) == 3


def test_unwrapped_text_has_one_paragraph_a_line() -> None:
    line = PROSE.replace("\n", " ").strip()
    assert clean(f"{line}\n{line}\n{line}") == f"{line}\n\n{line}\n\n{line}"


def test_dashes_and_hyphens_at_a_lines_end_stay_closed() -> None:
    text = PROSE.replace("age\nof", "well-\nknown age--\nof")
    assert "the well-known age--of wisdom" in clean(text)


def test_what_is_invisible_or_odd_is_removed() -> None:
    odd = "\ufeffOne\0 t\u00adwo\u200b  three\u00a0 \t four\x07."
    odd += "\r\n\r\n\r\n\r\nFive\u2028six.\x0cSeven.\ud800"
    assert clean(odd) == "One two three four.\n\nFive\nsix.\n\nSeven.\ufffd"


def test_letters_are_composed() -> None:
    assert clean("Z\u0307o\u0301w") == "Żów"


def test_emoji_of_several_characters_stay_whole() -> None:
    assert clean("A 👩‍👩‍👧 here.") == "A 👩‍👩‍👧 here."


def test_emphasis_becomes_plain_and_names_in_code_stay() -> None:
    text = "I _do_ know _the whole\nof it_, and snake_case too. ___"
    assert (
        "".join(clean(text)).replace("\n", " ")
        == "I do know the whole of it, and snake_case too. ___"
    )


@pytest.mark.parametrize(
    "marker",
    ["[Illustration]", "[Illustration: A cat.]", "[Illustration: A\ncat [large]\nand a dog]"],
)
def test_markers_of_pictures_are_removed(marker: str) -> None:
    assert clean(f"Before.\n\n{marker}\n\nAfter.") == "Before.\n\nAfter."


def test_a_bracket_that_never_closes_loses_nothing() -> None:
    assert clean("[Illustration of a mind, he said.") == "[Illustration of a mind, he said."


def test_cleaning_twice_is_cleaning_once() -> None:
    parts = [
        PROSE,
        POEM,
        VERSE,
        "CHAPTER I.\n",
        "\n",
        "  _Well!_\n",
        "-- he said --\n",
        "\u00ada\0\t b\n",
    ]
    parts += [
        "* * *\n",
        "1. one\n2. two\n",
        "e\u0301_\u0301\n",
        "[Illustration: x]\n",
        "a_ _b\n_\nc\n",
    ]
    chance = random.Random(3)
    for _ in range(300):
        once = clean("".join(chance.choices([*parts, "\n"], k=chance.randint(1, 12))))
        assert clean(once) == once


def test_tidying_keeps_indents_and_blank_lines() -> None:
    assert tidy("  a\r\n\r\n  b") == "  a\n\n  b"


HEADER = """\
The Project Gutenberg EBook of A Tale, by Ann Author

This eBook is for the use of anyone anywhere at no cost

Title: A Tale
       A Story of Stories

Author: Ann Author

Release Date: August 11, 2004 [EBook #46]

Language: Polish

"""
STARTS = [
    "*** START OF THIS PROJECT GUTENBERG EBOOK A TALE ***\n",
    "*** START OF THE PROJECT GUTENBERG EBOOK A TALE WHOSE TITLE\nGOES ON ***\n",
    "***START OF THE PROJECT GUTENBERG EBOOK A TALE***\n",
    """***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***
Why is this

here?
*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*
""",
]
CREDITS = [
    "",
    "Produced by Jose Menendez\n",
    "E-text prepared by Somebody\nand the Team\n\n\nNote: Project Gutenberg also has an HTML\n",
    "Produced by X\n\n[Transcriber's note: The spelling\nis the author's.]\n",
]
ENDS = [
    "*** END OF THIS PROJECT GUTENBERG EBOOK A TALE ***\n\nUpdated editions will\n",
    "End of the Project Gutenberg EBook of A Tale, by Ann Author\n\n*** END OF THIS\n",
    "End of Project Gutenberg’s A Tale, by Ann Author\n",
    "***END OF THE PROJECT GUTENBERG EBOOK A TALE***\n",
    "End of The Project Gutenberg Etext of A Tale\n",
]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("credit", CREDITS)
@pytest.mark.parametrize("end", ENDS)
def test_project_gutenbergs_pages_are_removed_in_all_their_forms(
    start: str, credit: str, end: str
) -> None:
    document = read(
        f"{HEADER}{start}\n\n{credit}\n\n\nOnce upon a time.\n\nThe End.\n\n\n{end}Donate.\n"
    )
    assert document.text == "Once upon a time.\n\nThe End."
    assert (document.title, document.author, document.language) == ("A Tale", "Ann Author", "pl")


def test_a_long_title_of_two_lines_is_read_whole() -> None:
    long = "Title: The Surprising Adventures of a Merchant of Salem\n       and of His Dog\n\n"
    document = read(f"{long}{STARTS[0]}\nText.")
    assert document.title == "The Surprising Adventures of a Merchant of Salem and of His Dog"


def test_the_pages_of_wolne_lektury_are_removed() -> None:
    document = read(
        f"Adam Mickiewicz\n\nPan Tadeusz\n\n\n{VERSE}\n\n-----\nTa lektura, podobnie jak tysiące"
        " innych, dostępna jest na stronie.\n\nWydawca: Fundacja\n"
    )
    assert document.text.endswith("cudem")
    assert (document.title, document.author) == ("Pan Tadeusz", "Adam Mickiewicz")
    assert document.language == "pl"


def test_a_story_that_speaks_of_project_gutenberg_is_left_alone() -> None:
    text = "He read it at Project Gutenberg.\n\nIn the end of Project Gutenberg he believed."
    assert read(text).text == text


def test_a_front_block_is_read_and_left_out() -> None:
    document = read("Title: Emma\nAuthor: Jane Austen\nLanguage: English\n\nEmma was handsome.")
    assert (document.title, document.author, document.language) == ("Emma", "Jane Austen", "en")
    assert document.text == "Emma was handsome."


def test_a_first_paragraph_that_only_begins_like_a_front_block_stays() -> None:
    text = "Title: he had none.\nHe was a plain man."
    assert read(text).text == text


def test_without_any_facts_the_title_is_the_files_name() -> None:
    document = read("Once upon a time there was a king.")
    assert (document.title, document.author) == ("A Tale", "")


def test_what_a_program_states_wins() -> None:
    document = read_text(
        "Title: Emma\n\nEmma was handsome.",
        source="x",
        collection="c",
        title="Other",
        author="Somebody",
        language="de",
    )
    assert (document.title, document.author, document.language) == ("Other", "Somebody", "de")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (PROSE, "en"),
        (VERSE, "pl"),
        ("Er ging in die Stadt und sah, dass es nicht das war, was er auch noch wollte.", "de"),
        ("Longtemps, je me suis couché de bonne heure, et il ne pensait pas que la nuit", "fr"),
        ("В начале было слово, и он не знал, что это было и как оно было у него.", "ru"),
        ("Xyzzy plugh.", ""),
        ("1 2 3", ""),
    ],
)
def test_a_language_is_known_by_its_small_words(text: str, language: str) -> None:
    assert read(text).language == language


def test_a_text_without_words_is_refused() -> None:
    for text in ["", " \n ", "* * *", "***\n---"]:
        with pytest.raises(LoadError, match=r"a-tale\.txt has no words"):
            read(text)


def test_the_fingerprint_covers_all_that_the_graph_is_made_from() -> None:
    def fingerprint(text: str, title: str = "T", author: str = "A", language: str = "en") -> str:
        return read_text(
            text, source="s", collection="c", title=title, author=author, language=language
        ).sha256

    one = fingerprint("Once.")
    assert one == fingerprint("Once.\n")
    changed = [
        fingerprint("Twice."),
        fingerprint("Once.", title="U"),
        fingerprint("Once.", author="B"),
        fingerprint("Once.", language="pl"),
    ]
    assert len({one, *changed}) == 5


def test_a_document_is_known_by_where_it_comes_from() -> None:
    first, second = (read_text(t, source="s", collection="c") for t in ("Once.", "Twice."))
    assert first.id == second.id
    assert first.sha256 != second.sha256


def test_the_demo_story_is_read_whole() -> None:
    document = load(STORY, "default", 1 << 20)
    assert (document.title, document.author) == ("A Christmas Carol", "Charles Dickens")
    assert document.language == "en"
    assert document.source == str(STORY.resolve())
    assert [section.title for section in document.sections] == [
        "PREFACE",
        "STAVE I: MARLEY'S GHOST",
        "STAVE II: THE FIRST OF THE THREE SPIRITS",
        "STAVE III: THE SECOND OF THE THREE SPIRITS",
        "STAVE IV: THE LAST OF THE SPIRITS",
        "STAVE V: THE END OF IT",
    ]
    for section in document.sections:
        assert document.text.startswith(section.title, section.start)
    assert document.text.endswith("God bless Us, Every One!")
    assert "gutenberg" not in STORY.read_text(encoding="utf-8").lower()


def test_the_demo_storys_prose_is_unwrapped_and_its_song_is_not() -> None:
    text = load(STORY, "default", 1 << 20).text
    wrapped = [one for one in text.split("\n\n") if "\n" in one]
    assert '"God bless you, merry gentleman!\nMay nothing you dismay!"' in wrapped
    assert len(wrapped) <= 6
    assert clean(text) == text


def test_reading_what_was_read_changes_nothing() -> None:
    text = load(STORY, "default", 1 << 20).text
    assert read(text).text == text


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("a" * 2_000_000, 1),
        ("Hello there. It is me!\n\n" * 40_000, 40_000),
        ("[Illustration" * 50_000, 1),
        ("_a " * 200_000, 1),
    ],
)
def test_monstrous_texts_are_read(text: str, paragraphs: int) -> None:
    blocks = plain(text).blocks
    assert len(blocks) == paragraphs


def test_sections_come_in_text_order() -> None:
    starts = [section.start for section in load(STORY, "default", 1 << 20).sections]
    assert all(before < after for before, after in pairwise(starts))


def test_books_joined_in_one_file_are_all_kept() -> None:
    second = "The second book begins here. " + "It goes on and on. " * 3000
    text = f"The first book.\n\nEnd of Project Gutenberg's First\n\n{second}"
    assert "It goes on and on." in "".join(block.text for block in plain(text).blocks)


def test_a_page_marked_up_as_a_title_or_a_heading_is_cut_to_a_line(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    chapter = "<p>It rained on the moor all day, and nobody came.</p>"
    file.write_text(
        f"<title>A {'long ' * 5000}</title><h2>Chapter 1 {'word ' * 5000}</h2>{chapter}"
        f"<h2>Chapter 2</h2>{chapter}"
    )
    page = load(file, "default", 1_000_000)
    assert page.title.startswith("A long long") and len(page.title) <= 302
    first, second = (section.title for section in page.sections)
    assert first.startswith("Chapter 1 word") and first.endswith(" …") and len(first) <= 302
    assert second == "Chapter 2"
    assert page.text.count("word") == 5000
