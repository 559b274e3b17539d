"""What libraries put around a text: their pages are removed, and their facts are read."""

from cases import for_each
from fabula.load.gutenberg import strip_library_text
from prose import PROSE, VERSE, read

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


@for_each("start", STARTS)
@for_each("credit", CREDITS)
@for_each("end", ENDS)
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


@for_each(
    ("headline", "title", "author"),
    [
        (
            "Project Gutenberg's Etext of The Kettle, by Ann Lee\n#8 in our series by Ann Lee",
            "The Kettle",
            "Ann Lee",
        ),
        (
            "The Project Gutenberg Etext of The Kettle's Song by Lee\n#3 in our series by Ann Lee",
            "The Kettle's Song",
            "Lee",
        ),
        (
            (
                "**The Project Gutenberg Etext of The Kettle by Ann M. Lee**\n"
                "******This file should be named kettl10.txt or kettl10.zip*****"
            ),
            "The Kettle",
            "Ann M. Lee",
        ),
    ],
)
def test_the_title_and_the_author_are_read_in_the_headers_of_the_nineties(
    headline: str, title: str, author: str
) -> None:
    small_print = (
        "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n\nWhy is this here? You "
        "know: lawyers.\n\n*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*"
    )
    book = strip_library_text(f"{headline}\n\n\n{small_print}\n\n\n{PROSE}\n\n{PROSE}")
    assert (book.metadata.get("title", ""), book.metadata.get("author", "")) == (title, author)
    assert "series" not in book.text


def test_the_end_of_a_title_is_no_author_in_the_headers_of_the_nineties() -> None:
    header = "The Project Gutenberg Etext of Stand by Me"
    marker = "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*"
    small_print = f"***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n\n{marker}"
    book = strip_library_text(f"{header}\n\n\n{small_print}\n\n\n{PROSE}\n\n{PROSE}")
    assert (book.metadata.get("title", ""), book.metadata.get("author", "")) == ("", "")


def test_what_a_publisher_offers_behind_the_end_is_left_out_and_an_afterword_is_not() -> None:
    offer = "Each large 12mo, cloth decorative, illustrated, per volume $2.00\n\nA fine book.\n\n"
    story = "Once upon a time.\n\nTHE END."
    document = read(f"{story}\n\n=THE BLUE SERIES=\n\n{offer}=THE RED SERIES=\n\n{offer}")
    assert document.text == story
    assert set(document.left_out) == {"advertisements"}
    afterword = f"{story}\n\nThe author sold it for $5 in a shop, and never wrote again."
    assert read(afterword).text == afterword
