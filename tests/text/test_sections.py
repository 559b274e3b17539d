"""Sections are a tree: the path of each says in which book a chapter is."""

from __future__ import annotations

import pytest

from cases import for_each
from fabula.load.chapters import chapter_number
from fabula.text.chunk import section_namer, split
from fabula.text.document import Document, Section
from fabula.text.names import MAX_LINE_BYTES
from fabula.text.sections import (
    BETWEEN,
    find_named_sections,
    outline,
    section_paths,
    shorten_paths,
    span_of_sections,
)

ROMAN = ("I", "II", "III")
CHAPTERS = [f"CHAPTER {number}" for number in ROMAN]
BOOKS = ["BOOK ONE: 1805", "BOOK TWO: 1805", "BOOK NINE: 1812"]
EPILOGUES = ["FIRST EPILOGUE: 1813-20", "SECOND EPILOGUE"]
WAR_AND_PEACE = [title for book in [*BOOKS, *EPILOGUES] for title in [book, *CHAPTERS]]


def sections(*titles: str | tuple[str, int]) -> list[Section]:
    pairs = [(title, 0) if isinstance(title, str) else title for title in titles]
    return [Section(title, 10 * place, level) for place, (title, level) in enumerate(pairs)]


def paths(*titles: str | tuple[str, int], title: str = "") -> list[str]:
    return list(outline(sections(*titles), title).paths)


def test_chapters_are_in_their_books_and_epilogues_though_all_begin_at_one() -> None:
    found = paths(*WAR_AND_PEACE)
    assert len(set(found)) == len(found)
    assert found[:3] == [BOOKS[0], f"{BOOKS[0]} · CHAPTER I", f"{BOOKS[0]} · CHAPTER II"]
    assert found[-2:] == ["SECOND EPILOGUE · CHAPTER II", "SECOND EPILOGUE · CHAPTER III"]


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        pytest.param(
            ["VOLUME I: FANTINE", "BOOK FIRST—A JUST MAN", "CHAPTER I—M. MYRIEL", "BOOK SECOND—X"],
            [1, 2, 3, 2],
            id="volume, book, chapter",
        ),
        pytest.param(
            ["PART I", "Book I", "Chapter 1", "Book II", "Chapter 1", "PART II", "Book III"],
            [1, 2, 3, 2, 3, 1, 2],
            id="books within parts, numbered through",
        ),
        pytest.param(
            ["BOOK I", "PART I", "CHAPTER 1", "PART II", "BOOK II", "PART I"],
            [1, 2, 3, 2, 1, 2],
            id="parts within books",
        ),
        pytest.param(
            ["Letter 1", "Letter 2", "Chapter 1", "Chapter 2"],
            [1, 1, 1, 1],
            id="letters before chapters",
        ),
        pytest.param(
            ["1. rész", "1. fejezet", "2. fejezet", "2. rész", "1. fejezet"],
            [1, 2, 2, 1, 2],
            id="parts of a Hungarian novel",
        ),
        pytest.param(
            ["第一部", "第一夜", "第二夜", "第二部", "第一夜"],
            [1, 2, 2, 1, 2],
            id="nights of a Japanese one",
        ),
        pytest.param(["PREFACE", "STAVE I: MARLEY", "STAVE II"], [1, 1, 1], id="a preface"),
        pytest.param(
            ["PRELUDE", "BOOK I. A", "CHAPTER I.", "BOOK II. B", "CHAPTER II.", "FINALE."],
            [1, 1, 2, 1, 2, 1],
            id="what is before and after the books",
        ),
        pytest.param(
            [
                "BOOK ONE",
                "CHAPTER I",
                "INTERLUDE",
                "CHAPTER II",
                "BOOK TWO",
                "PROLOGUE",
                "CHAPTER I",
            ],
            [1, 2, 2, 2, 1, 2, 2],
            id="what is within a book",
        ),
        pytest.param(
            ["INFERNO", "CANTO I", "CANTO II", "PURGATORIO", "CANTO I"],
            [1, 2, 2, 1, 2],
            id="titles below which numbers begin again",
        ),
        pytest.param(
            ["PART ONE", "The Arrival", "The Meal", "PART TWO", "The Way", "Epilogue"],
            [1, 2, 2, 1, 2, 1],
            id="titles within parts",
        ),
        pytest.param(
            ["I. A SCANDAL", "I.", "II.", "II. THE LEAGUE", "III. IDENTITY"],
            [1, 2, 2, 1, 1],
            id="numbers within numbered stories",
        ),
        pytest.param(
            ["DRAMATIS PERSONAE", "ACT I", "SCENE I. Elsinore", "SCENE II. A room", "ACT II"],
            [1, 1, 2, 2, 1],
            id="a play",
        ),
        pytest.param(
            ["DAMY I HUZARY: AKT I", "SCENA I", "SCENA II", "AKT II", "SCENA I"],
            [1, 2, 2, 1, 2],
            id="a play whose first act has its title",
        ),
        pytest.param(
            ["Erstes Buch", "Erstes Kapitel", "Zweites Buch", "Erstes Kapitel", "Schluss"],
            [1, 2, 1, 2, 1],
            id="German",
        ),
        pytest.param(
            ["ТОМ ПЕРВЫЙ", "ЧАСТЬ ПЕРВАЯ", "I", "ТОМ ВТОРОЙ", "ЧАСТЬ ПЕРВАЯ", "I", "ЭПИЛОГ"],
            [1, 2, 3, 1, 2, 3, 1],
            id="Russian",
        ),
        pytest.param(["第一部", "第一章 出", "第二部", "第一章"], [1, 2, 1, 2], id="Chinese"),
        pytest.param(
            ["上 先生と私", "一", "二", "中 両親と私", "一", "下 遺書", "一"],
            [1, 2, 2, 1, 2, 1, 2],
            id="Japanese",
        ),
        pytest.param(["제1부", "제1장", "제2부", "제1장"], [1, 2, 1, 2], id="Korean"),
        pytest.param(["TOM I", "Rozdział I", "TOM II", "Rozdział I"], [1, 2, 1, 2], id="Polish"),
        pytest.param(["The Letter", "A Scene of Joy", "Part of It"], [1, 1, 1], id="no numbers"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_words_of_titles_make_the_tree(titles: list[str], expected: list[int]) -> None:
    assert list(outline(sections(*titles)).depths) == expected


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        pytest.param(
            [("On the Road", 1), ("Morning", 2), ("Evening", 2), ("At Home", 1)],
            [1, 2, 2, 1],
            id="levels of a file count",
        ),
        pytest.param(
            [("BOOK ONE", 2), ("CHAPTER I", 2), ("BOOK TWO", 2), ("CHAPTER I", 2)],
            [1, 2, 1, 2],
            id="all of one level tell nothing",
        ),
        pytest.param(
            [("PART I", 3), ("CHAPTER I", 2), ("PART II", 3), ("CHAPTER I", 2)],
            [1, 2, 1, 2],
            id="chapters above their parts are a matter of type",
        ),
        pytest.param(
            [
                ("BOOK ONE", 0),
                ("CHAPTER I", 3),
                ("CHAPTER II", 3),
                ("BOOK TWO", 2),
                ("CHAPTER I", 0),
            ],
            [1, 2, 2, 1, 2],
            id="some are known",
        ),
    ],
)
def test_levels_count_where_they_tell_something(
    titles: list[tuple[str, int]], expected: list[int]
) -> None:
    assert list(outline(sections(*titles)).depths) == expected


def test_the_title_of_the_book_is_in_no_path() -> None:
    titles = [("War and Peace", 1), ("BOOK ONE", 2), ("CHAPTER I", 3)]
    assert paths(*titles, title="WAR AND PEACE") == [
        "War and Peace",
        "BOOK ONE",
        "BOOK ONE · CHAPTER I",
    ]


def test_a_path_is_short_enough_for_every_index_and_for_two_in_a_summary() -> None:
    long = "Война и мир " * 70
    found = section_paths([long, long], [1, 2])
    for first in found:
        assert len(span_of_sections(first, found[1] + "x").encode()) <= MAX_LINE_BYTES


def test_what_joins_two_paths_is_in_none() -> None:
    assert BETWEEN not in section_paths(["BOOK I – THE START"], [1])[0]
    assert span_of_sections("A", "B") == "A – B"
    assert span_of_sections("", "B") == "B"
    assert span_of_sections("A", "") == "A"


def test_titles_that_the_one_before_has_are_left_out_where_paths_are_listed() -> None:
    listed = ["BOOK I", "BOOK I · CHAPTER I", "BOOK I · CHAPTER II", "BOOK II · CHAPTER I", ""]
    assert shorten_paths(listed) == ["BOOK I", "CHAPTER I", "CHAPTER II", "BOOK II · CHAPTER I", ""]


def number(word: str) -> int:
    found = chapter_number(f"chapter {word}")
    return found.value if found else 0


@for_each(
    ("name", "expected"),
    [
        ("BOOK NINE: 1812 · CHAPTER II", ["BOOK NINE: 1812 · CHAPTER II"]),
        ("book nine chapter ii", ["BOOK NINE: 1812 · CHAPTER II"]),
        ("Book 9, Chapter 2.", ["BOOK NINE: 1812 · CHAPTER II"]),
        ("1812 chapter II", ["BOOK NINE: 1812 · CHAPTER II"]),
        ("second epilogue chapter 3", ["SECOND EPILOGUE · CHAPTER III"]),
        ("SECOND EPILOGUE", ["SECOND EPILOGUE"]),
        ("book two", ["BOOK TWO: 1805"]),
        ("1805", ["BOOK ONE: 1805", "BOOK TWO: 1805"]),
        ("CHAPTER III", [f"{part} · CHAPTER III" for part in [*BOOKS, *EPILOGUES]]),
        ("chapter X", []),
        ("book ten chapter I", []),
        ("·", []),
    ],
)
def test_a_section_is_named_by_its_path_or_the_end_of_it(name: str, expected: list[str]) -> None:
    tree = outline(sections(*WAR_AND_PEACE))
    assert [tree.paths[place] for place in find_named_sections(tree, name, number)] == expected


@for_each("name", ["natasha's ball", "NATÁSHA’S BALL", "ball"])
def test_case_diacritics_and_punctuation_of_a_name_do_not_matter(name: str) -> None:
    tree = outline(sections("Natásha’s Ball", "The Hunt"))
    assert find_named_sections(tree, name) == [0]


def headed(*blocks: tuple[str, bool]) -> Document:
    """A document of blocks; True for those that are headings."""
    text, found = "", []
    for block, is_heading in blocks:
        if is_heading:
            found.append(Section(" ".join(block.split()), len(text)))
        text += f"{block}\n\n"
    return Document("d", "c", "a.txt", "A", "", "en", text.rstrip(), tuple(found), "0" * 64)


TWO_BOOKS = headed(
    ("A word before.", False),
    ("BOOK I", True),
    ("CHAPTER I", True),
    ("It rained in May.", False),
    ("BOOK II", True),
    ("CHAPTER I", True),
    ("It snowed in June.", False),
)


def test_a_heading_without_text_begins_the_chunk_of_the_section_after_it() -> None:
    assert [(chunk.section, chunk.text) for chunk in split(TWO_BOOKS, 60)] == [
        ("", "A word before.\n\n"),
        ("BOOK I · CHAPTER I", "BOOK I\n\nCHAPTER I\n\nIt rained in May.\n\n"),
        ("BOOK II · CHAPTER I", "BOOK II\n\nCHAPTER I\n\nIt snowed in June."),
    ]


def test_headings_at_the_end_belong_to_the_section_before_them() -> None:
    ended = headed(("CHAPTER I", True), ("It rained.", False), ("THE END", True), ("FINIS", True))
    assert [(chunk.section, chunk.text) for chunk in split(ended, 60)] == [
        ("CHAPTER I", "CHAPTER I\n\nIt rained.\n\nTHE END\n\nFINIS")
    ]
    assert [chunk.section for chunk in split(headed(("A", True), ("B", True)), 60)] == ["B"]


def test_chunks_of_an_earlier_version_stay_though_they_are_headings_alone() -> None:
    # Another chunk would be another embedding, and other calls of every graph.
    known = ["BOOK I\n\n", "CHAPTER I\n\nIt rained in May.\n\n", "BOOK II\n\n"]
    chunks = split(TWO_BOOKS, 60, known)
    assert [chunk.text for chunk in chunks][1:4] == known
    assert [chunk.section for chunk in chunks] == [
        "",
        "BOOK I",
        "BOOK I · CHAPTER I",
        "BOOK II",
        "BOOK II · CHAPTER I",
    ]


def test_a_chunk_is_named_as_it_was_when_it_was_made() -> None:
    ended = headed(("CHAPTER I", True), ("It rained.", False), ("THE END", True))
    for document in (TWO_BOOKS, ended, headed(("A", False)), headed(("A", True), ("B", True))):
        name = section_namer(document)
        for chunk in split(document, 60):
            assert name(chunk.start, chunk.end) == chunk.section
