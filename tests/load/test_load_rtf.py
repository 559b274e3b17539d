"""RTF, from small ones that the tests write themselves."""

from pathlib import Path

import pytest

from fabula.errors import LoadError
from fabula.load import load
from fabula.load.blocks import Draft
from fabula.load.rtf import read

HEAD = r"""{\rtf1\ansi\ansicpg1250\uc1{\fonttbl{\f0\fnil\fcharset238 Times;}}
{\stylesheet{\s1\outlinelevel0 heading 1;}}{\info{\title \'af\'f3\'b3w}{\author A. Writer}}"""
BODY = "Then he went up to the old house, and nobody there knew who he was. " * 6
CHAPTERS = rf"""\pard\s1\outlinelevel0 Rozdzia\'b3 I\par\pard {BODY}\par
\pard\s1\outlinelevel0 Rozdzia\'b3 II\par\pard {BODY}\par"""


def rtf(body: str) -> bytes:
    return f"{HEAD}\n{body}}}".encode("latin-1")


def opened(body: str) -> Draft:
    return read(rtf(body), "book.rtf")


def texts(body: str) -> list[str]:
    return [block.text for block in opened(body).blocks]


def test_headings_are_sections_and_the_information_are_its_facts() -> None:
    draft = opened(CHAPTERS)
    assert [block.heading for block in draft.blocks] == ["Rozdział I", "", "Rozdział II", ""]
    assert (draft.title, draft.author) == ("Żółw", "A. Writer")


def test_chapters_without_styles_are_known_by_their_words() -> None:
    body = "".join(rf"{name}\par {BODY}\par\par " for name in ("Chapter 1", "Chapter 2"))
    assert [block.heading for block in opened(body).blocks] == ["Chapter 1", "", "Chapter 2", ""]


def test_characters_of_any_kind_are_read() -> None:
    assert texts(r"za\'bf\'f3\'b3\'e6 \u322?\u-10179?\u-8704?") == ["zażółć ł😀"]
    said = r"\ldblquote so\rdblquote\~\emdash{\b b}old \{\\\}"
    assert texts(said) == ["“so” —bold {\\}"]


def test_verse_keeps_its_lines() -> None:
    assert texts(r"Roses are red,\line Violets are blue.\par He left.\par") == [
        "Roses are red,\nViolets are blue.",
        "He left.",
    ]


@pytest.mark.parametrize("word", [r"\footnote", r"\*\footnote"])
def test_a_note_comes_after_the_paragraph_that_calls_it(word: str) -> None:
    called = rf"{{\super\chftn}}{{{word}\pard"
    note = called + r"{\super\chftn} Who lit it\par is {\i not} told.}"
    assert texts(rf"The lamp was lit{note}.\par He left.\par") == [
        "The lamp was lit[1].",
        "[1] Who lit it\nis not told.",
        "He left.",
    ]


def test_contents_and_running_heads_are_no_text() -> None:
    contents = r"""{\field{\*\fldinst { TOC \\o "1-3" }}{\fldrslt One\tab 1\par Two\tab 9\par}}"""
    head = r"{\header A RUNNING HEAD}{\footer\chpgn}"
    assert opened(f"{head}{contents}{CHAPTERS}") == opened(CHAPTERS)
    assert texts(r"See {\field{\*\fldinst PAGEREF x}{\fldrslt there}}.\par") == ["See there."]


def test_a_link_is_its_words_and_not_its_address() -> None:
    link = r"""{\field{\*\fldinst{HYPERLINK "https://a.b/c"}}{\fldrslt{\ul the lamp}}}"""
    assert texts(rf"He lit {link}, a Hyperlink.\par") == ["He lit the lamp, a Hyperlink."]


def test_what_is_no_rtf_is_refused_by_name() -> None:
    with pytest.raises(LoadError, match=r"^book\.rtf is no RTF"):
        read(b"Once upon a time.", "book.rtf")


@pytest.mark.parametrize(
    "body",
    [
        "{" * 200_000 + "deep",
        "}" * 200_000,
        r"{\footnote " * 50_000,
        r"{\field{\*\fldinst{HYPERLINK " * 20_000,
    ],
    ids=["open", "closed", "notes", "links"],
)
def test_braces_without_end_take_no_time(body: str, tmp_path: Path) -> None:
    file = tmp_path / "book.rtf"
    file.write_bytes(rtf(rf"A word.\par {body}"))
    assert "A word." in load(file, "default", 10**7).text


def test_damaged_numbers_are_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "book.rtf"
    file.write_bytes(rtf(r"A word. \u9999999999?"))
    with pytest.raises(LoadError, match=r"book\.rtf is damaged, and can't be read"):
        load(file, "default", 10**7)
