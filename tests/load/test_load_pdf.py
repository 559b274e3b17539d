"""PDF, from small ones that the tests write themselves."""

import io
import logging
from collections.abc import Sequence

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    NumberObject,
)

from book_files import pdf
from cases import for_each
from fabula.errors import LoadError
from fabula.load.blocks import Draft
from fabula.load.document import document
from fabula.load.locators import take_marks, without_marks
from fabula.load.pdf import read
from fabula.load.word_gaps import resolve_gaps

LINES = [
    "Then he went up to the old house, and nobody there knew who",
    "he was or what he wanted, so he sat down on the extra-",
    "ordinary chair that stood by the well-known fire, and he",
    "waited for the well-",
    "known man.",
    "Another paragraph begins here and it goes on and on for a bit,",
    "until it stops.",
]


def rewritten(data: bytes, title: str = "", outline: Sequence[tuple[str, int]] = ()) -> PdfWriter:
    writer = PdfWriter(PdfReader(io.BytesIO(data)))
    writer.add_metadata({"/Title": title, "/Author": "A. Writer"})
    for name, page in outline:
        writer.add_outline_item(title=name, page_number=page)
    return writer


def written(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def opened(data: bytes) -> Draft:
    return read(data, "book.pdf")


def texts(draft: Draft) -> list[str]:
    return [without_marks(block.text) for block in draft.blocks]


def headings(draft: Draft) -> list[str]:
    return [block.heading for block in draft.blocks if block.heading]


def test_lines_become_paragraphs_and_parted_words_whole() -> None:
    first, second = texts(opened(pdf([LINES])))
    assert first.endswith(
        "the extraordinary chair that stood by the well-known fire, and he waited"
        " for the well-known man."
    )
    assert (
        second == "Another paragraph begins here and it goes on and on for a bit, until it stops."
    )


def test_running_heads_and_page_numbers_are_removed() -> None:
    things = ["table", "chair", "cellar", "garden", "river"]
    pages = [
        [
            "THE OLD HOUSE",
            f"This was the page that told about the {thing}, and it is full",
            "of all the things that were to be said of it, as pages are",
            f"when a writer has a {thing} in mind and nothing else",
            f"- {number} -",
        ]
        for number, thing in enumerate(things, 1)
    ]
    text = "\n".join(texts(opened(pdf(pages))))
    assert "OLD HOUSE" not in text
    assert not any(character.isdigit() for character in text)
    assert text.count("This was the page") == 5


def test_a_chapters_heading_stays_where_it_comes_first() -> None:
    pages = [["CHAPTER I", *LINES], ["CHAPTER I", *reversed(LINES)], ["CHAPTER II", *LINES * 2]]
    assert texts(opened(pdf(pages))).count("CHAPTER I") == 1
    assert headings(opened(pdf(pages))) == ["CHAPTER I", "CHAPTER II"]


def test_a_sentence_goes_on_over_the_page() -> None:
    pages = [[*LINES[:2], "1"], [*LINES[2:], "2"]]
    assert texts(opened(pdf(pages)))[0].count("extraordinary chair") == 1


def test_chapters_are_found_by_their_words() -> None:
    pages = [[f"CHAPTER {number}", *LINES * 4] for number in ("I", "II", "III")]
    assert headings(opened(pdf(pages))) == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


def test_the_outline_knows_chapters_that_their_words_do_not_tell() -> None:
    pages = [[name, *LINES * 4] for name in ("The house", "The road", "The end of it")]
    outline = [("The House", 0), ("The Road", 1), ("The End of it", 2)]
    draft = opened(written(rewritten(pdf(pages), outline=outline)))
    assert headings(draft) == ["The House", "The Road", "The End of it"]
    printed = [without_marks(block.text) for block in draft.blocks if block.heading]
    assert printed == [page[0] for page in pages]


def test_the_file_says_title_author_and_language() -> None:
    draft = opened(written(rewritten(pdf([LINES]), title="A Tale")))
    assert (draft.title, draft.author, draft.language) == ("A Tale", "A. Writer", "en-GB")
    assert document(draft, "/a/book.pdf", "default").language == "en"


def test_a_password_is_asked_to_be_removed() -> None:
    writer = rewritten(pdf([LINES]))
    writer.encrypt("secret", algorithm="RC4-128")
    with pytest.raises(LoadError, match=r"book\.pdf is protected by a password"):
        opened(written(writer))


def test_a_pdf_that_only_forbids_printing_is_read() -> None:
    writer = rewritten(pdf([LINES]))
    writer.encrypt("", owner_password="secret", algorithm="RC4-128")
    assert texts(opened(written(writer)))


def test_a_scanned_pdf_is_refused_with_what_to_do() -> None:
    with pytest.raises(LoadError, match=r"book\.pdf has no text in it.*OCR"):
        opened(pdf([[], []]))


@for_each("keep", [0, 5, 100, 400])
def test_a_broken_pdf_is_refused_by_name(keep: int) -> None:
    with pytest.raises(LoadError, match=r"^book\.pdf "):
        opened(pdf([LINES])[:keep])


def test_any_damage_is_either_read_or_refused() -> None:
    whole = pdf([LINES, LINES])
    for place in range(0, len(whole), 23):
        damaged = whole[:place] + b"<<" + whole[place + 2 :]
        try:
            assert texts(opened(damaged))
        except LoadError as error:
            assert str(error).startswith("book.pdf ")


def test_the_librarys_warnings_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened(pdf([LINES]).replace(b"startxref\n", b"startxref\n1"))
    assert capsys.readouterr() == ("", "")
    assert logging.getLogger("pypdf").handlers


def drawn(
    pages: Sequence[Sequence[tuple[float, float, float, str]]],
    labels: str = "",
) -> bytes:
    """A PDF with each text drawn at its place: (x, y, size, text)."""
    plain = pdf([[] for _ in pages])
    writer = PdfWriter(PdfReader(io.BytesIO(plain)))
    for page, texts in zip(writer.pages, pages, strict=True):
        stream = DecodedStreamObject()
        shown = " ".join(
            f"BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET" for x, y, size, text in texts
        )
        stream.set_data(shown.encode("cp1252"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    if labels:
        tree = DictionaryObject()
        ranges = [NumberObject(0), DictionaryObject({NameObject("/S"): NameObject(labels)})]
        tree[NameObject("/Nums")] = ArrayObject(ranges)
        writer.root_object[NameObject("/PageLabels")] = tree
    return written(writer)


PROSE = (
    "The miller kept a lantern by the weir, and nobody there knew",
    "why the bell rang twice at dusk. He looked at the geese, and",
    "the ferry left without him. Nobody said a word of it, and he",
    "sat down on the chair that stood by the fire and waited for",
    "the man from the village.",
)


def column(
    lines: Sequence[str], top: float, x: float = 72, indent: float = 0, size: float = 12
) -> list[tuple[float, float, float, str]]:
    """Lines one below the other, the first of them indented."""
    return [
        (x + indent * (not index), top - 14 * index, size, line) for index, line in enumerate(lines)
    ]


def test_paragraphs_are_known_by_their_indents_though_their_lines_are_full() -> None:
    full = [*PROSE[:4], "the man from the village, who never came to him in that year."]
    page = [line for n in range(6) for line in column(full, 700 - 100 * n + 30 * n, indent=12)]
    paragraphs = texts(opened(drawn([page])))
    assert paragraphs == [" ".join(full)] * 6


def test_paragraphs_are_known_by_the_gaps_between_them() -> None:
    full = [*PROSE[:4], "the man from the village, who never came to him in that year."]
    page = [line for n in range(6) for line in column(full, 700 - 90 * n)]
    assert texts(opened(drawn([page]))) == [" ".join(full)] * 6


def test_lines_far_apart_are_no_paragraphs() -> None:
    page = [(72, 740 - 30 * n, 12, line) for n, line in enumerate(PROSE * 4)]
    assert texts(opened(drawn([page]))) == [" ".join(PROSE)] * 4


def test_spaces_between_words_are_single() -> None:
    page = column([line.replace(" ", "  ") for line in PROSE], 700)
    assert texts(opened(drawn([page]))) == [" ".join(PROSE)]


def test_words_drawn_one_by_one_are_a_line() -> None:
    page = []
    for n, line in enumerate(PROSE):
        x = 72.0
        for word in line.split():
            page.append((x, 700 - 14 * n, 12, word))
            x += 7 * len(word) + 6
    assert texts(opened(drawn([page]))) == [" ".join(PROSE)]


def test_lines_of_narrow_columns_are_prose() -> None:
    lines = " ".join(PROSE * 4).split()
    narrow = [" ".join(lines[n : n + 5]) for n in range(0, len(lines), 5)]
    page = [*column(narrow[:24], 740), *column(narrow[24:], 740, x=330)]
    assert "\n" not in "".join(texts(opened(drawn([page]))))


@for_each("hyphen", ["-", "\\255", "¬"], ids=["hyphen", "soft", "not sign"])
def test_words_parted_at_the_ends_of_lines_are_whole(hyphen: str) -> None:
    lines = [
        f"The miller kept a lantern by the weir, and all his daugh{hyphen}",
        f"ters carried it in a basket with a lid over the wet mea{hyphen}",
        "dow at dusk, for the sake of a well-known man who came by,",
        "and nobody in the village knew of it.",
    ]
    text = texts(opened(drawn([column(lines, 700)])))[0]
    assert "all his daughters carried it in a basket with a lid over the wet meadow at" in text


def test_a_hyphen_that_the_author_wrote_stays() -> None:
    lines = [
        "He sat beside the door with a nail in his hand, as dead as a door-",
        "nail, and he said nothing of it at all that evening to anybody.",
    ]
    assert "as a door-nail, and" in texts(opened(drawn([column(lines, 700)])))[0]
    soft = [line.replace("door-", "door\\255").replace("said", "self\\255said") for line in lines]
    assert "self-said" in texts(opened(drawn([column(soft, 700)])))[0]


def test_a_word_parted_over_two_pages_is_whole_and_the_page_begins_within_it() -> None:
    pages = [column([*PROSE[:4], "the daugh-"], 700), column(["ters of the man.", *PROSE], 700)]
    text, marks = take_marks(opened(drawn(pages)).blocks[0].text)
    assert "the daughters of the man." in text
    places = [(mark.label, text[mark.start :][:4]) for mark in marks]
    assert places == [("1", "The "), ("2", "ters")]


WORDS = " ".join(PROSE).split()
DIFFERENT = [
    [" ".join(WORDS[(7 * n + 3 * k) % 30 :][:11]) + f" {thing}." for k in range(5)]
    for n, thing in enumerate(["table", "chair", "cellar", "garden", "river"])
]
"""The lines of pages that have no line in common."""


def test_lines_that_return_at_the_edges_of_pages_are_text_unless_they_are_apart() -> None:
    pages = [
        [*column(["Marta!", *page], 700)] if n % 4 == 0 else column(page, 700)
        for n, page in enumerate(DIFFERENT * 3)
    ]
    draft = opened(drawn(pages))
    assert sum(text.count("Marta!") for text in texts(draft)) == 4
    assert draft.left_out == {}


def labels_of(draft: Draft) -> list[str]:
    return [mark.label for block in draft.blocks for mark in take_marks(block.text)[1]]


def test_pages_have_the_labels_that_the_file_states() -> None:
    assert labels_of(opened(drawn([column(PROSE, 700)] * 3, labels="/r"))) == ["i", "ii", "iii"]


def test_pages_have_the_numbers_that_are_printed_on_them() -> None:
    pages = [
        [*column(page, 700), (300, 40, 10, f"{n}")] for n, page in enumerate(DIFFERENT, start=113)
    ]
    draft = opened(drawn(pages))
    assert labels_of(draft) == ["113", "114", "115", "116", "117"]
    assert draft.left_out == {"page numbers": 15}


def test_running_heads_are_counted() -> None:
    pages = [
        [(200, 760, 10, f"THE MILL  {n}"), *column(page, 700)]
        for n, page in enumerate(DIFFERENT, start=7)
    ]
    draft = opened(drawn(pages))
    assert draft.left_out == {"running heads": len("THEMILL7") * 3 + len("THEMILL10") * 2}
    assert labels_of(draft) == ["7", "8", "9", "10", "11"]


def test_lines_in_large_type_are_headings() -> None:
    pages = [
        [
            *([(72, 760, 24, "The Mill")] if n == 1 else []),
            (72, 730, 16, name),
            *column(PROSE, 700),
            *column(PROSE, 600),
        ]
        for n, name in enumerate(("Geese at Dusk", "The Ferry", "A Lantern"), start=1)
    ]
    draft = opened(drawn(pages))
    assert draft.title == "The Mill"
    assert [(block.heading, block.level) for block in draft.blocks if block.heading] == [
        ("Geese at Dusk", 1),
        ("The Ferry", 1),
        ("A Lantern", 1),
    ]


def test_the_outline_says_how_deep_a_heading_is() -> None:
    pages = [["The weir", *LINES, "The house", *LINES * 4], ["The road", *LINES * 4]]
    writer = rewritten(pdf(pages), title="A Tale")
    part = writer.add_outline_item(title="The Weir", page_number=0)
    writer.add_outline_item(title="1. The House", page_number=0, parent=part)
    writer.add_outline_item(title="2. The Road", page_number=1, parent=part)
    draft = opened(written(writer))
    assert [(block.heading, block.level) for block in draft.blocks if block.heading] == [
        ("The Weir", 1),
        ("1. The House", 2),
        ("2. The Road", 2),
    ]


def test_a_dropped_initial_is_the_beginning_of_its_word() -> None:
    page = [(72, 690, 40, "T"), *column(["HE miller kept a lantern by the weir", *PROSE], 700)]
    assert texts(opened(drawn([page])))[0].startswith("THE miller kept")


@for_each("title", ["Microsoft Word - kettle_final2.doc", "i-xx_key-fm.indd"])
def test_a_programs_title_is_none(title: str) -> None:
    assert opened(written(rewritten(pdf([LINES]), title=title))).title == ""


def test_a_scan_whose_cover_alone_has_text_is_told() -> None:
    draft = opened(pdf([["The Mill, a tale"], [], [], []]))
    assert draft.warnings == (
        "3 of the 4 pages of book.pdf have no text, only pictures: run OCR on it.",
    )


def test_stanzas_are_known_by_the_gaps_between_them() -> None:
    stanza = ["Shall I compare thee to a summers day?", "Thou art more lovely and more temperate:"]
    page = [*column(stanza, 700), *column(stanza, 700 - 14 * 3)]
    assert texts(opened(drawn([page]))) == ["\n".join(stanza)] * 2


def test_indented_verse_in_prose_is_one_block() -> None:
    stanza = ["Shall I compare thee to a summers day?", "Thou art more lovely and more temperate:"]
    full = [*PROSE[:4], "the man from the village, who never came to him in that year."]
    page = [
        *column(full, 700),
        *column(stanza * 2, 615, x=100),
        *(line for n in range(4) for line in column(full, 545 - 70 * n, indent=12)),
    ]
    first, verse, second = texts(opened(drawn([page])))[:3]
    assert (first, verse, second) == (" ".join(full), "\n".join(stanza * 2), " ".join(full))


def test_a_broken_page_costs_that_page() -> None:
    good = pdf([LINES, ["Second."], LINES])
    reader = PdfReader(io.BytesIO(good))
    writer = PdfWriter(reader)
    stream = DecodedStreamObject()
    stream.set_data(b"nothing")
    stream[NameObject("/Filter")] = NameObject("/Unheard")
    writer.pages[1][NameObject("/Contents")] = writer._add_object(stream)
    draft = opened(written(writer))
    assert texts(draft)[0].startswith("Then he went up")
    assert draft.warnings == ("1 of the 3 pages of book.pdf are broken: 2.",)


def test_pages_beyond_the_stated_labels_are_read() -> None:
    pages = [["One is a page."], ["Two is a page."]]
    writer = rewritten(pdf(pages))
    writer.root_object[NameObject("/PageLabels")] = DictionaryObject(
        {NameObject("/Nums"): ArrayObject()}
    )
    words = " ".join(texts(opened(written(writer))))
    assert "One is" in words and "Two is" in words


def test_names_beside_speeches_are_no_column() -> None:
    speeches = [f"I am here since {n}, and I shall not go away." for n in range(10)]
    page = []
    for n, speech in enumerate(speeches):
        page.append((72, 700 - 14 * n, 12, ("ANNA", "MARTA")[n % 2]))
        page.append((180, 700 - 14 * n, 12, speech))
    text = " ".join(" ".join(texts(opened(drawn([page])))).split())
    assert f"ANNA {speeches[0]} MARTA {speeches[1]}" in text


SPEECHES = ("Nobody answered him.", "He did not move.", "A dog ran by.")


def dialogue(gap: float, indent: float) -> list[tuple[float, float, float, str]]:
    """A page on which most lines begin a paragraph, and few go on with the line above."""
    paragraphs = [line for speech in SPEECHES for line in ([speech], [speech], [*PROSE[:2]])]
    drawn_lines: list[tuple[float, float, float, str]] = []
    y = 760.0
    for lines in paragraphs:
        drawn_lines += column(lines, y, indent=indent)
        y -= 14 * len(lines) + gap
    return drawn_lines


@for_each(("gap", "indent"), [(10, 0), (0, 20)])
def test_a_page_of_short_speeches_has_a_paragraph_for_each(gap: float, indent: float) -> None:
    """Most gaps there are those between paragraphs, and most lines begin at the indent."""
    prose = [line for n in range(4) for line in column(PROSE, 760 - n * (70 + gap), indent=indent)]
    found = texts(opened(drawn([dialogue(gap, indent), prose])))
    two = " ".join(PROSE[:2])
    assert found[:8] == [s for speech in SPEECHES for s in (speech, speech, two)][:8]
    assert found[-3:] == 3 * [" ".join(PROSE)]


def test_a_space_that_is_drawn_alone_divides_words() -> None:
    assert texts(
        opened(drawn([[(72, 760, 12, "You"), (93, 760, 12, " "), (96, 760, 12, "want")]]))
    )[0].startswith("You want")


def test_words_that_are_drawn_in_two_pieces_are_whole() -> None:
    """If the text has them as one word elsewhere; two words stay two."""
    whole = [(72, 700 - 14 * n, 12, line) for n, line in enumerate(PROSE)]
    parts = [
        (72, 760, 12, "He lit the lant"),
        (160, 760, 12, "ern by the"),
        (230, 760, 12, "weir."),
    ]
    assert texts(opened(drawn([[*parts, *whole]])))[0].startswith("He lit the lantern by the weir.")


@for_each(
    ("printed", "read_as"),
    [
        ("The V ery large bell. Very well.", "The Very large bell. Very well."),
        ("It was a fine day , and a long one .", "It was a fine day, and a long one."),
        ("Vitamin C is rare.", "Vitamin C is rare."),
        ("He was . . . gone , and wait . . .", "He was . . . gone, and wait . . ."),
        ("He came w/o.sc and e/f_f.liga ect.", "He came w/o.sc and eff ect."),
        ("In T/h.sc/e.sc year s/one.oldstyle.", "In The year s1."),
        ("In /one.oldstyle/eight.oldstyle the /f_f.liga ect of /a.sc.", "In 18 the ff ect of a."),
        ("At example.org/one.html or /x_y.old.", "At example.org/one.html or /x_y.old."),
    ],
)
def test_letters_are_those_that_a_reader_sees(printed: str, read_as: str) -> None:
    assert texts(opened(pdf([[printed]]))) == [read_as]


@for_each(
    "line",
    [
        "said Mr H is dead. That is his.",
        "Lady B and Lord W. The band and he.",
        "Z resztą poszła. Zresztą z nią.",
        "Z resztą poszła. Zresztą resztą.",
    ],
)
def test_an_initial_and_a_word_of_one_letter_are_no_parts_of_words(line: str) -> None:
    assert resolve_gaps([line]) == [line]


EIGHT_WORDS = ("geese", "ferry", "lantern", "village", "meadow", "winter", "harbour", "orchard")


def passage(word: str) -> list[str]:
    """A passage with a word of its own in each line, so that no line returns on another page."""
    return [f"{line[:50]} {word} {line[50:]}" for line in PROSE]


def numbered_chapters(heading: str, size: float) -> bytes:
    """Chapters that begin on new pages with their number, and pages with theirs at the foot."""
    pages = []
    for page, numeral in enumerate(["I", "", "II", "", "", "III", "IV", ""], 1):
        top = [(290.0, 770.0, size, heading.format(numeral))] if numeral else []
        prose = passage(EIGHT_WORDS[page - 1])
        text = [line for n in range(3) for line in column(prose, 700 - 90 * n, indent=18)]
        pages.append([*top, *text, (300.0, 30.0, 10.0, str(page))])
    return drawn(pages)


@for_each("heading", ["{}", "- {} -"])
def test_numbers_of_chapters_at_the_top_of_pages_are_headings(heading: str) -> None:
    draft = opened(numbered_chapters(heading, 16))
    assert headings(draft) == ["I", "II", "III", "IV"]
    assert draft.left_out == {"page numbers": 8}


def test_numbers_in_large_type_that_count_the_pages_are_theirs() -> None:
    pages = [
        [(300.0, 770.0, 20.0, str(n)), *column(passage(word), 700)]
        for n, word in enumerate(EIGHT_WORDS[:5], 1)
    ]
    draft = opened(drawn(pages))
    assert headings(draft) == []
    assert draft.left_out == {"page numbers": 5}


def test_a_heading_on_two_lines_is_one_title() -> None:
    text = [line for n in range(4) for line in column(PROSE, 690 - 90 * n)]
    pages = [
        [(72, 760, 18, first), (72, 738, 18, second), *text]
        for first, second in (
            ("What the miller of the weir saw", "on a night in December"),
            ("I, 1, 2", "The second visit"),
            ("by Maria Weir", "Chapter 3"),
        )
    ]
    assert headings(opened(drawn(pages))) == [
        "What the miller of the weir saw on a night in December",
        "I, 1, 2: The second visit",
        "by Maria Weir",
        "Chapter 3",
    ]


def test_a_list_of_chapters_is_not_the_first_place_of_their_headings() -> None:
    """Each heading is at the top of its page, where repetitions are running heads."""
    names = [f"Chapter {n}" for n in range(1, 6)]
    pages = ([name, *passage(word)] for name, word in zip(names, EIGHT_WORDS, strict=False))
    draft = opened(pdf([names, *pages]))
    assert headings(draft) == names
    assert "running heads" not in draft.left_out


def test_the_name_of_a_list_of_contents_is_no_line_of_the_text_above() -> None:
    front = ["Written by many hands of the village", "Contents"]
    names = ("The weir", "The mill", "The sea")
    entries = [f"{name} {'.' * 60} {number}" for number, name in enumerate(names, 3)]
    assert texts(opened(pdf([[*front, *entries], list(PROSE)])))[:2] == front
