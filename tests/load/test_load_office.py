"""What DOCX, ODT and RTF have in common."""

from collections.abc import Sequence

from book_files import docx, odt, paragraph, rtf
from cases import for_each
from fabula.load import sandbox

LINES = (
    "The Project Gutenberg EBook of A Tale",
    "*** START OF THE PROJECT GUTENBERG EBOOK A TALE ***",
    "The keeper lit the lamp at six.",
    "*** END OF THE PROJECT GUTENBERG EBOOK A TALE ***",
    "Updated editions will replace the previous one.",
)
FILES = {
    ".docx": docx("".join(map(paragraph, LINES))),
    ".odt": odt("".join(f"<text:p>{line}</text:p>" for line in LINES)),
    ".rtf": rtf("\\par ".join(LINES)),
}


POEM = (
    "Shall I compare thee to a summer's day?",
    "Thou art more lovely and more temperate:",
    "Rough winds do shake the darling buds of May,",
    "",
    "And summer's lease hath all too short a date;",
    "Sometime too hot the eye of heaven shines,",
    "And often is his gold complexion dimm'd;",
)
TALK = ["'Who is there?'", "'I am.'", "'Come in, then!' he said.", "Nobody came."]


def texts(paragraphs: Sequence[str], suffix: str) -> list[str]:
    """The texts of the blocks of a document with these paragraphs, of which '' is an empty one."""
    data = {
        ".docx": docx("".join(map(paragraph, paragraphs))),
        ".odt": odt("".join(f"<text:p>{paragraph}</text:p>" for paragraph in paragraphs)),
        ".rtf": rtf("\\par ".join(paragraphs)),
    }[suffix]
    return [block.text for block in sandbox.read(data, suffix, "tale", 10**7, 10**7).blocks]


@for_each("suffix", FILES)
def test_a_stanza_that_has_a_paragraph_for_each_line_is_one(suffix: str) -> None:
    prose = "The keeper lit the lamp at six, as he did on each of the days before, and told nobody."
    stanzas = ["\n".join(POEM[:3]), "\n".join(POEM[4:])]
    assert texts([prose, *POEM, "", prose], suffix) == [prose, *stanzas, prose]


@for_each("suffix", FILES)
def test_what_people_say_to_each_other_is_no_stanza(suffix: str) -> None:
    assert texts(TALK, suffix) == TALK


@for_each("suffix", FILES)
def test_a_speech_is_one_with_its_speaker(suffix: str) -> None:
    play = ["FRANCISCO", "Who's there?", "BARNARDO", *POEM[:3], "FRANCISCO", "Nay, answer me."]
    speech = "\n".join(["BARNARDO", *POEM[:3]])
    assert texts(play, suffix) == [*play[:2], speech, *play[-2:]]


@for_each("suffix", FILES)
def test_headings_without_a_style_are_no_lines_of_a_stanza(suffix: str) -> None:
    paragraphs = ["Part One", "Chapter 1", "The Lamp", "So it was", "and had been", "for years"]
    assert texts(paragraphs, suffix) == [*paragraphs[:2], "\n".join(paragraphs[2:])]


@for_each("suffix", FILES)
def test_a_librarys_pages_and_licence_are_no_text(suffix: str) -> None:
    draft = sandbox.read(FILES[suffix], suffix, f"tale{suffix}", 10**7, 10**7)
    assert [block.text for block in draft.blocks] == ["The keeper lit the lamp at six."]
