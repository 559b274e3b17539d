"""What libraries put around books is left out and counted; what may be a book's text stays."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from cases import for_each
from fabula.load import load, read_text
from fabula.load.left_out import count_characters
from fabula.text.document import Document

LIMIT = 1_000_000
STORY = " ".join(
    [
        "Old Marta counted the geese before dusk and wrote the number on the door.",
        "A letter arrived for a man who had been dead eleven years.",
        "Nobody in Hollin knew why the bell rang twice at the weir.",
    ]
)
LICENCE = """\
*** START: FULL LICENSE ***

THE FULL PROJECT GUTENBERG LICENSE
PLEASE READ THIS BEFORE YOU DISTRIBUTE OR USE THIS WORK

1.A.  By reading or using any part of this Project Gutenberg-tm electronic work,
you indicate that you agree to all the terms of this license.

1.F.5.  Some states do not allow the exclusion or limitation of certain types of damages.

Most people start at our Web site which has the main search facility:

     http://www.gutenberg.org
"""


def book(name: str, end: str, licence: str = LICENCE) -> str:
    """A short book as Project Gutenberg offers it."""
    return f"""\
The Project Gutenberg EBook of {name}, by Ann Example

This eBook is for the use of anyone anywhere at no cost.

Title: {name}

Author: Ann Example

Language: English

*** START OF THIS PROJECT GUTENBERG EBOOK {name.upper()} ***

Produced by Somebody and the Online Distributed Proofreading Team

{name}

{STORY}

{end}

*** END OF THIS PROJECT GUTENBERG EBOOK {name.upper()} ***

{licence}
"""


def read(text: str) -> Document:
    return read_text(text, source="tale.txt", collection="c")


def story(text: str, *, title: str = "") -> str:
    return read_text(text, source="tale.txt", collection="c", title=title).text


# Several books in one file


def test_books_joined_in_one_file_are_all_read() -> None:
    document = read("\n\n".join([book("The Kettle", "It boiled."), book("The Gate", "It shut.")]))
    assert document.text == "\n\n".join(
        ["The Kettle", STORY, "It boiled.", "The Gate", STORY, "It shut."]
    )
    assert (document.title, document.author) == ("The Kettle", "Ann Example")
    assert document.warnings == (
        "The file holds 2 books of a library: they are one document, under one title.",
    )


def test_a_book_without_a_header_below_a_licence_stays() -> None:
    assert story(f"{book('The Kettle', 'It boiled.')}\nTHE GATE\n\n{STORY}") == "\n\n".join(
        ["The Kettle", STORY, "It boiled.", "THE GATE", STORY]
    )


def test_a_book_without_a_header_above_another_ones_stays() -> None:
    assert story(f"THE GATE\n\n{STORY}\n\n{book('The Kettle', 'It boiled.')}") == "\n\n".join(
        ["THE GATE", STORY, "The Kettle", STORY, "It boiled."]
    )


def test_a_story_between_a_headline_and_another_books_header_stays() -> None:
    first = f"The Project Gutenberg eBook of The Gate, by Ben Example\n\n{STORY}\n\nIt shut."
    assert story(f"{first}\n\n{book('The Kettle', 'It boiled.')}") == "\n\n".join(
        [STORY, "It shut.", "The Kettle", STORY, "It boiled."]
    )


def test_text_below_the_last_line_of_a_book_is_no_licence() -> None:
    poem = "Below the weir\nthe lantern\nburns."
    text = book("The Kettle", "It boiled.", licence=f"{poem}\n\n{STORY}")
    assert story(text).endswith(f"It boiled.\n\n{poem}\n\n{STORY}")


# What is counted


def test_each_character_is_in_the_text_or_counted() -> None:
    text = book("The Kettle", "It boiled.")
    document = read(text)
    assert count_characters(document.text) + sum(document.left_out.values()) == count_characters(
        text
    )
    assert set(document.left_out) == {"library header", "licence"}
    assert document.left_out["licence"] > document.left_out["library header"] > 200
    assert document.warnings == ()


def test_a_text_that_lost_more_than_a_tenth_is_warned_of() -> None:
    names = [f"The Tale of the {word} Lantern" for word in ("Red", "Blue", "Green", "Old")]
    chapters = "\n\n".join(f"CHAPTER {n}\n{name}\n\n{STORY}" for n, name in enumerate(names, 1))
    contents = "\n".join(f"Chapter {n}. {name} . . . . {n}" for n, name in enumerate(names, 1))
    document = read(f"CONTENTS\n\n{contents}\n\n{chapters}")
    assert document.left_out == {"contents": count_characters(f"CONTENTS{contents}")}
    assert document.warnings == ("17% of the text was left out: contents 155 characters.",)


# Other libraries


OTHERS: dict[str, tuple[str, str, tuple[str, str]]] = {
    "Project Gutenberg Australia": (
        """A Project Gutenberg of Australia eBook

Title: The Kettle
Author: Ann Example (1860-1930)
eBook No.:  0200161.txt
Edition:    1
Language:   English
Date first posted: February 2002

This eBook was produced by: Somebody

Project Gutenberg of Australia eBooks are created from printed editions
which are in the public domain in Australia.

Copyright laws are changing all over the world. Be sure to check them.

This eBook is made available at no cost and with almost no restrictions
whatsoever.

To contact Project Gutenberg of Australia go to http://gutenberg.net.au

Title:      The Kettle
Author:     Ann Example (1860-1930)""",
        "This site is full of FREE ebooks - Project Gutenberg Australia",
        ("The Kettle", "Ann Example"),
    ),
    "Faded Page": (
        """* A Distributed Proofreaders Canada eBook *

This eBook is made available at no cost and with very few restrictions.

This work is in the Canadian public domain, but may be under copyright in some
countries.

Title: The Kettle
Date of first publication: 1929
Author: Ann Example
Date first posted: Jan. 1, 2015
Faded Page eBook #20150101

This eBook was produced by: Somebody""",
        "",
        ("The Kettle", "Ann Example"),
    ),
    "Google": (
        """Google

This is a digital copy of a book that was preserved for generations on library
shelves before it was carefully scanned by Google.

Public domain books are our gateways to the past.

Usage guidelines

+ Keep it legal Whatever your use, remember that you are responsible.

About Google Book Search

Google's mission is to organize the world's information.""",
        "Digitized by Google",
        ("Tale", ""),
    ),
    "Internet Archive": (
        """Digitized by the Internet Archive
in 2010 with funding from
An Example Library

http://www.archive.org/details/kettleexample""",
        "",
        ("Tale", ""),
    ),
    "HathiTrust": (
        """Generated on 2015-03-01 10:12 GMT / https://hdl.handle.net/2027/mdp.39015000000000

Public Domain, Google-digitized / http://www.hathitrust.org/access_use#pd-google""",
        "",
        ("Tale", ""),
    ),
    "Gallica": (
        """Source gallica.bnf.fr / Bibliothèque nationale de France

1/ Les contenus accessibles sur le site Gallica sont pour la plupart des reprises.

2/ Les contenus de Gallica sont la propriété de la BnF.""",
        "Source gallica.bnf.fr / Bibliothèque nationale de France",
        ("Tale", ""),
    ),
    "Wikisource": (
        "Exported from Wikisource on January 1, 2026",
        """About this digital edition

This e-book comes from the online library Wikisource. This multilingual digital library
is built by volunteers.

We distribute our books for free, starting from works not copyrighted.

Wikisource is constantly looking for new members.

The following users contributed to this book:

Ann99

Ben the Reader""",
        ("Tale", ""),
    ),
    "Wolne Lektury": (
        """Ta lektura, podobnie jak tysiące innych, jest dostępna on-line na stronie
wolnelektury.pl.

Utwór opracowany został w ramach projektu Wolne Lektury przez fundację.""",
        "",
        ("Tale", ""),
    ),
    "Standard Ebooks": (
        """Imprint

This ebook is the product of many hours of hard work by volunteers for Standard Ebooks,
and builds on the hard work of other literature lovers.

This particular ebook is based on digital scans from various sources.

Standard Ebooks is a volunteer-driven project that produces ebook editions.""",
        """Colophon

The Kettle
was published in 1843 by
Ann Example.

It was translated from Polish in 1901 by
Bo Sample.

This ebook was transcribed and produced for
Standard Ebooks
by
Cy Maker.

The cover page is adapted from
The New Bonnet,
a painting by Di Painter.
The cover and title pages feature the
League Spartan typeface.

The first edition of this ebook was released on
April 14, 2018, 9:55 p.m.
You can check for updates to this ebook at
standardebooks.org.

The volunteer-driven Standard Ebooks project relies on readers like you.

Uncopyright

Copyright pages exist to tell you that you can’t do something.

Copyright laws are different all over the world, and the source text or artwork in this ebook
may still be copyrighted in other countries.""",
        ("Tale", ""),
    ),
}
"""What each library prints before and after a book, and the title and author in it."""


@for_each("library", OTHERS)
def test_pages_of_other_libraries_are_left_out_and_counted(library: str) -> None:
    before, after, facts = OTHERS[library]
    text = f"{before}\n\nTHE KETTLE\n\n{STORY}\n\n{STORY}\n\nTHE END\n\n{after}"
    document = read(text)
    assert document.text == f"THE KETTLE\n\n{STORY}\n\n{STORY}\n\nTHE END"
    assert sum(document.left_out.values()) == count_characters(before + after)
    assert (document.title, document.author) == facts


def test_a_colophon_and_an_imprint_of_the_book_itself_stay() -> None:
    own = "Colophon\n\nThis book was set in Garamond by the widow of the printer."
    text = f"Imprint\n\nLondon, 1843.\n\n{STORY}\n\n{STORY}\n\n{own}"
    assert (read(text).text, read(text).left_out) == (text, {})


def test_the_year_of_the_first_publication_is_read() -> None:
    before, _, _ = OTHERS["Faded Page"]
    assert read(f"{before}\n\n{STORY}").published == "1929"


def test_a_scanners_line_on_each_page_is_left_out() -> None:
    page = f"{STORY}\n\nDigitized by Google"
    assert story("\n\n".join([page] * 4)) == "\n\n".join([STORY] * 4)


@for_each(
    "line",
    [
        "Google",
        "About this book",
        "Usage guidelines",
        "He had read it at Project Gutenberg, of all places.",
        "Digitized by Google, the letters looked like strangers to her.",
        "Title: none, she said.",
        "The public domain was a field behind the church.",
        "In the end of Project Gutenberg he believed.",
    ],
)
def test_what_may_be_an_authors_line_stays(line: str) -> None:
    assert story(f"{STORY}\n\n{line}\n\n{STORY}") == f"{STORY}\n\n{line}\n\n{STORY}"
    assert story(f"{STORY}\n\n{STORY}\n\n{line}") == f"{STORY}\n\n{STORY}\n\n{line}"


# Any format


def test_the_pages_of_a_web_page_are_counted_alike(tmp_path: Path) -> None:
    text = book("The Kettle", "It boiled.") + book("The Gate", "It shut.")
    paragraphs = "".join(f"<p>{part}</p>" for part in text.split("\n\n") if part.strip())
    file = tmp_path / "tale.html"
    file.write_text(f"<html><body>{paragraphs}</body></html>")
    document = load(file, "c", LIMIT)
    assert document.text == read(text).text
    assert Counter(document.left_out) == Counter(read(text).left_out)
