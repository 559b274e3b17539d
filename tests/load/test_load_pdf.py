"""PDF, from small ones that the tests write themselves."""

import io
import logging
from collections.abc import Sequence

import pytest
from pypdf import PdfReader, PdfWriter

from fabula.errors import LoadError
from fabula.load.blocks import Draft
from fabula.load.document import document
from fabula.load.pdf import read

LINES = [
    "Then he went up to the old house, and nobody there knew who",
    "he was or what he wanted, so he sat down on the extra-",
    "ordinary chair that stood by the well-known fire, and he",
    "waited for the well-",
    "known man.",
    "Another paragraph begins here and it goes on and on for a bit,",
    "until it stops.",
]


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF of these lines, written by hand."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj 0 -14 Td" for line in lines)
        stream = f"BT /F1 12 Tf 72 720 Td {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    data += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n"
    data += f"startxref\n{data.index('xref')}\n%%EOF"
    return data.encode("cp1252")


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
    return [block.text for block in draft.blocks]


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
    assert [block.text for block in draft.blocks if block.heading] == [page[0] for page in pages]


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


@pytest.mark.parametrize("keep", [0, 5, 100, 400])
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
