"""RTF, from small ones that the tests write themselves."""

from pathlib import Path

import pytest

from book_files import rtf
from cases import for_each
from fabula.errors import LoadError
from fabula.load import load
from fabula.load.blocks import Draft
from fabula.load.locators import page_mark
from fabula.load.rtf import read

BODY = "Then he went up to the old house, and nobody there knew who he was. " * 6
CHAPTERS = rf"""\pard\s1\outlinelevel0 Rozdzia\'b3 I\par\pard {BODY}\par
\pard\s1\outlinelevel0 Rozdzia\'b3 II\par\pard {BODY}\par"""


def opened(body: str) -> Draft:
    return read(rtf(body), "book.rtf")


def texts(body: str) -> list[str]:
    return [block.text for block in opened(body).blocks]


def test_headings_are_sections_and_the_information_are_its_facts() -> None:
    draft = opened(CHAPTERS)
    assert [block.heading for block in draft.blocks] == ["Rozdział I", "", "Rozdział II", ""]
    assert (draft.title, draft.author) == ("Żółw", "A. Writer")


def test_an_author_in_two_forms_is_the_one_of_unicode_and_no_text() -> None:
    info = r"{\info{\upr{\author Zo?}{\*\ud\uc0{\author Zo{\uc1\u235 ?}}}}}"
    draft = read(rf"{{\rtf1\ansi{info} {BODY}\par}}".encode("latin-1"), "book.rtf")
    assert (draft.author, [block.text for block in draft.blocks]) == ("Zoë", [BODY.strip()])


def test_a_star_within_a_group_hides_nothing() -> None:
    assert texts(r"{\fs24\*\cs7\cf0 The mill stood.}{\*\odd hidden}\par") == ["The mill stood."]


def test_chapters_without_styles_are_known_by_their_words() -> None:
    body = "".join(rf"{name}\par {BODY}\par\par " for name in ("Chapter 1", "Chapter 2"))
    assert [block.heading for block in opened(body).blocks] == ["Chapter 1", "", "Chapter 2", ""]


def test_characters_of_any_kind_are_read() -> None:
    assert texts(r"za\'bf\'f3\'b3\'e6 \u322?\u-10179?\u-8704?") == ["zażółć ł😀"]
    markup = r"\ldblquote so\rdblquote\~\emdash{\b b}old \{\\\}"
    assert texts(markup) == ["“so” —bold {\\}"]


def test_verse_keeps_its_lines() -> None:
    assert texts(r"Roses are red,\line Violets are blue.\par He left.\par") == [
        "Roses are red,\nViolets are blue.",
        "He left.",
    ]


@for_each("word", [r"\footnote", r"\*\footnote"])
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
    draft = opened(f"{head}{contents}{CHAPTERS}")
    assert draft.blocks == opened(CHAPTERS).blocks
    assert draft.left_out == {"running heads": 12, "contents": 8}
    assert texts(r"See {\field{\*\fldinst PAGEREF x}{\fldrslt there}}.\par") == ["See there."]


def test_a_link_is_its_words_and_not_its_address() -> None:
    link = r"""{\field{\*\fldinst{HYPERLINK "https://a.b/c"}}{\fldrslt{\ul the lamp}}}"""
    assert texts(rf"He lit {link}, a Hyperlink.\par") == ["He lit the lamp, a Hyperlink."]


def test_what_is_no_rtf_is_refused_by_name() -> None:
    with pytest.raises(LoadError, match=r"^book\.rtf is not an RTF"):
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


def test_hidden_and_deleted_text_are_left_out_and_counted() -> None:
    draft = opened(r"Seen. {\v Unseen.}\deleted No.\deleted0  Again.\v0\par{\v hidden\par}End.\par")
    assert [block.text for block in draft.blocks] == ["Seen. Again.", "End."]
    assert draft.left_out == {"hidden text": len("Unseen.hidden"), "deleted text": len("No.")}


def test_a_raised_number_is_not_glued_to_its_word() -> None:
    body = r"geese{\super 1} on the 1{\super st} for 10\super 6\nosupersub  m{\super 2}.\par"
    assert texts(body) == ["geese[1] on the 1st for 10⁶ m²."]


@for_each(
    "shape",
    [
        (
            r"{\shp{\*\shpinst\shpleft0{\sp{\sn a}{\sv 1}}{\shptxt To Marta.\par}}"
            r"{\shprslt{\*\do{\dptxbxtext To Marta.\par}}}}"
        ),
        r"{\*\do\dobxpage{\dptxbx{\dptxbxtext To Marta.\par}}}",
    ],
    ids=["shape", "older"],
)
def test_a_text_box_is_read_once_after_its_paragraph(shape: str) -> None:
    assert texts(rf"She found {shape}a letter.\par She wept.\par") == [
        "She found a letter.",
        "To Marta.",
        "She wept.",
    ]


def test_the_reading_above_a_word_is_left_out_and_counted() -> None:
    field = (
        r"{\field{\*\fldinst EQ \\* jc2 \\* hps10 \\o\\ad(\\s\\up 9(\u12371?\u12394?\u12420?),"
        r"\u31881?\u23627?)}{\fldrslt}}"
    )
    draft = opened(rf"\u32769?{field}\u12399?\par")
    assert [block.text for block in draft.blocks] == ["老粉屋は"]
    assert draft.left_out == {"readings": 3}


@for_each(
    ("head", "body", "text"),
    [
        (r"\ansi\ansicpg1251", r"\'cc\'e5\'eb\'fc\'ed\'e8\'ea", "Мельник"),
        (r"\ansi\ansicpg1252{\fonttbl{\f0\fcharset204 A;}}", r"\f0 \'cc\'e5\'eb", "Мел"),
        (r"\ansi{\fonttbl{\f0\fcharset128 A;}}", r"\f0 \'95\'b2\'89\'ae\'83A", "粉屋ア"),
        (r"\ansi{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset238 B;}}", r"\f0 \'e9\f1 \'b3", "éł"),
        (r"\mac", r"caf\'8e", "café"),
        (r"\pc", r"caf\'82", "café"),
        (r"\ansi{\fonttbl{\f3\fcharset2 Symbol;}}", r"{\f3 abg}", "αβγ"),
        (r"\ansi\uc2", r"\u322\'b3\'b3x\uc0\u322 y", "łxły"),
        (r"\ansi", r"{\upr{ansi}{\*\ud{\u322?}}}", "ł"),
    ],
)
def test_characters_of_any_code_page_are_read(head: str, body: str, text: str) -> None:
    draft = read(rf"{{\rtf1{head} {body}\par}}".encode("latin-1"), "book.rtf")
    assert [block.text for block in draft.blocks] == [text]


def test_headings_are_known_by_the_style_sheet_alone() -> None:
    head = r"""{\rtf1\ansi{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 One;}{\s2\sbasedon1 Mine;}
{\s3 heading 2;}{\s4\outlinelevel6 Deep;}}"""
    body = "".join(
        rf"\pard\s{n} The {name}\par\pard {BODY}\par"
        for n, name in enumerate(("Mill", "Weir", "Ferry", "Depth"), start=1)
    )
    draft = read(f"{head}{body}}}".encode("latin-1"), "book.rtf")
    levels = [(block.heading, block.level) for block in draft.blocks if block.heading]
    assert levels == [("The Mill", 1), ("The Weir", 1), ("The Ferry", 2)]


def test_numbers_of_lists_are_text_and_bullets_are_none() -> None:
    body = r"{\listtext\pard 1.\tab}One\par{\pntext\'b7\tab}Two\par"
    assert texts(body) == ["1. One", "Two"]


def test_pictures_and_binary_data_are_no_text() -> None:
    picture = r"{\*\shppict{\pict\pngblip 8950}}{\nonshppict{\pict\wmetafile8 \bin4 }}{\x}"
    assert texts(rf"Before.{picture} After.\par") == ["Before. After."]


def test_the_bookmark_of_a_page_is_a_page() -> None:
    body = r"the lan{\*\bkmkstart page_12}{\*\bkmkend page_12}tern\par"
    assert texts(body) == [f"the lan{page_mark('12')}tern"]


def test_a_column_ends_a_paragraph_as_a_page_does() -> None:
    assert texts(rf"{BODY}\column {BODY}\page {BODY}\par") == [BODY.strip()] * 3
