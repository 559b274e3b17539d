"""Titles and authors of a file's metadata that are those of a program, not of the text."""

from cases import for_each
from fabula.load.titles import real_author, real_title


@for_each(
    "title",
    [
        "Microsoft Word - kettle_final2.doc",
        "Microsoft Word - The Kettle",
        "i-xx_key-fm.indd",
        "PII: B978-0-12.fm",
        "kettle chapter 1.qxd",
        "untitled",
        "Untitled-1",
        "(untitled)",
        "Document1",
        "Ohne Titel",
        "无标题",
        "C:\\Users\\marta\\kettle",
        "kettle.tex",
        "",
        "-",
    ],
)
def test_a_programs_title_is_none(title: str) -> None:
    assert real_title(title) == ""


@for_each(
    "title",
    [
        "The Copper Kettle",
        "Document of a Life",
        "1984",
        "Mr. Fox",
        "Who Is P. D. Q.?",
        "The Scan",
        "Print - and Be Damned.",
        "A Book",
        "S.",
        "The Untitled",
    ],
)
def test_a_books_title_is_one(title: str) -> None:
    assert real_title(title) == title


@for_each("author", ["anonymous", "User", "Administrator", "python-docx", "", "  "])
def test_a_programs_author_is_none(author: str) -> None:
    assert real_author(author) == ""


@for_each("author", ["A. Writer", "Homer", "User Friendly", "老舍", "Ouida"])
def test_a_books_author_is_one(author: str) -> None:
    assert real_author(author) == author
