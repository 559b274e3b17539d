"""What DOCX, ODT and RTF have in common."""

import pytest

from fabula.load import box
from test_load_docx import docx, paragraph
from test_load_odt import odt
from test_load_rtf import rtf

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


@pytest.mark.parametrize("suffix", FILES)
def test_a_librarys_pages_and_licence_are_no_text(suffix: str) -> None:
    draft = box.read(FILES[suffix], suffix, f"tale{suffix}", 10**7, 10**7)
    assert [block.text for block in draft.blocks] == ["The keeper lit the lamp at six."]
