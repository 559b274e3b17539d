"""Plain text: the facts a file states, and the text that is left."""

from pathlib import Path

import pytest

import fabula
from cases import for_each
from fabula.errors import LoadError
from fabula.load import load, read_text
from fabula.load.clean import clean
from prose import PROSE, VERSE, read

STORY = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"


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


@for_each(
    ("text", "language"),
    [
        (PROSE, "en"),
        (VERSE, "pl"),
        ("Er ging in die Stadt und sah, dass es nicht das war, was er auch noch wollte.", "de"),
        ("Longtemps, je me suis couché de bonne heure, et il ne pensait pas que la nuit", "fr"),
        ("В начале было слово, и он не знал, что это было и как оно было у него.", "ru"),
        ("Det var en gang en konge som ikke visste hva han skulle gjøre med jenta si.", "no"),
        ("Kde bolo, tam bolo, bol raz jeden kráľ a ten mal tri dcéry, ktoré mal rád.", "sk"),
        ("Xyzzy plugh.", ""),
        ("1 2 3", ""),
    ],
)
def test_a_language_is_known_by_its_letters(text: str, language: str) -> None:
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

    digest = fingerprint("Once.")
    assert digest == fingerprint("Once.\n")
    changed = [
        fingerprint("Twice."),
        fingerprint("Once.", title="U"),
        fingerprint("Once.", author="B"),
        fingerprint("Once.", language="pl"),
    ]
    assert len({digest, *changed}) == 5


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
    wrapped = [block for block in text.split("\n\n") if "\n" in block]
    assert '"God bless you, merry gentleman!\nMay nothing you dismay!"' in wrapped
    assert len(wrapped) <= 6
    assert clean(text) == text


def test_reading_what_was_read_changes_nothing() -> None:
    text = load(STORY, "default", 1 << 20).text
    assert read(text).text == text


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
