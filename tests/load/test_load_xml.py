"""Books in XML: TEI and FictionBook."""

from pathlib import Path

import pytest

from fabula.errors import LoadError
from fabula.load import load
from fabula.load.blocks import Draft
from fabula.load.locators import take_marks
from fabula.load.xml import read

BODY = f"<p>{'Then he went up to the old house, and nobody there knew who he was. ' * 6}</p>"
HEADER = """<teiHeader><fileDesc><titleStmt><title type="main">Żółw</title>
<author>A. Writer</author></titleStmt><publicationStmt><availability><licence>Free.</licence>
</availability></publicationStmt></fileDesc></teiHeader>"""


def tei(body: str, front: str = "") -> bytes:
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:lang="pl">{HEADER}<text><front>{front}'
        f"</front><body>{body}</body></text></TEI>"
    ).encode()


def fb2(body: str, encoding: str = "utf-8", notes: str = "") -> bytes:
    return (
        f'<?xml version="1.0" encoding="{encoding}"?><FictionBook '
        'xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">'
        "<description><title-info><author><first-name>Антон</first-name><last-name>Чехов"
        "</last-name><email>no@where</email></author><book-title>Чайка</book-title><annotation><p>Buy!</p>"
        f"</annotation><lang>ru</lang></title-info></description><body>{body}</body>{notes}<binary "
        'id="a">QUFB</binary></FictionBook>'
    ).encode(encoding)


def opened(data: bytes) -> Draft:
    return read(data, "book.xml")


def texts(data: bytes) -> list[str]:
    return [take_marks(block.text)[0] for block in opened(data).blocks]


def headings(data: bytes) -> list[str]:
    return [block.heading for block in opened(data).blocks if block.heading]


# TEI

CHAPTERS = "".join(f"<div><head>Rozdział {n}</head>{BODY}</div>" for n in ("I", "II"))


def test_divisions_are_sections_and_the_header_holds_the_facts() -> None:
    draft = opened(tei(CHAPTERS))
    assert headings(tei(CHAPTERS)) == ["Rozdział I", "Rozdział II"]
    assert (draft.title, draft.author, draft.language) == ("Żółw", "A. Writer", "pl")


def test_a_speech_is_one_block_with_its_speaker_and_its_lines() -> None:
    play = (
        "<sp><speaker>HAMLET</speaker>\n<l>To be, or <stage>aside</stage> not to\n be,</l><lg><l>"
        "that is.</l></lg></sp><stage>Exit.</stage><sp><speaker>Pol.</speaker><p>In prose\n he "
        "speaks.</p><p>And on.</p></sp>"
    )
    assert texts(tei(play)) == [
        "HAMLET\nTo be, or aside not to be,\nthat is.",
        "Exit.",
        "Pol.\nIn prose he speaks.\nAnd on.",
    ]


def test_stanzas_are_blocks_of_lines_and_a_poems_head_is_a_heading() -> None:
    poem = (
        '<lg type="poem"><head>A Rose</head><lg><l>Roses are red,</l><l>Violets are blue.</l></lg>'
        f"<lg><l>So are you.</l></lg></lg>{BODY}"
    )
    found = tei(poem + poem.replace("A Rose", "A Lily"))
    assert headings(found) == ["A Rose", "A Lily"]
    assert texts(found)[1:3] == ["Roses are red,\nViolets are blue.", "So are you."]


def test_lines_that_only_breaks_part_are_lines_in_verse_and_none_in_prose() -> None:
    assert texts(tei("<sp><ab>Who's there?<lb/>Nay, answer me.</ab></sp>")) == [
        "Who's there?\nNay, answer me."
    ]
    assert texts(tei("<p><lb/>Roses are red,<lb/>Violets are blue.<lb/></p>")) == [
        "Roses are red,\nViolets are blue."
    ]
    page = (
        "<lb/>It was the best of times, it was the worst of times, it was the<lb/>age of wisdom, it"
        ' was the age of foolish<lb break="no"/>ness, it was the epoch<pb n="3"/><lb/>of belief.'
    )
    [prose] = texts(tei(f"<p>{page}</p>"))
    assert "\n" not in prose
    assert "it was the age of wisdom, it was the age of foolishness, it was the epoch of" in prose


def test_a_note_comes_after_the_block_that_calls_it() -> None:
    assert texts(tei("<p>The lamp<note>Who lit it?</note> was lit.</p><p>He left.</p>")) == [
        "The lamp[1] was lit.",
        "[1] Who lit it?",
        "He left.",
    ]


def test_running_heads_contents_and_other_readings_are_no_text() -> None:
    contents = '<div type="contents"><head>Contents</head><list><item>I 1</item></list></div>'
    changed = CHAPTERS.replace("Then he", "Then <fw>A HEAD 7</fw>he", 1).replace(
        "old house", "old <choice><sic>hose</sic><corr>house</corr></choice>", 1
    )
    assert opened(tei(changed, contents)).blocks == opened(tei(CHAPTERS)).blocks
    assert opened(tei(changed, contents)).left_out == {
        "contents": len("ContentsI 1"),
        "running heads": len("A HEAD 7"),
        "alternative readings": len("hose"),
    }


# FictionBook

SECTIONS = "".join(
    f"<section><title><p>Глава {n}</p><p>Имя</p></title>{BODY}</section>" for n in ("1", "2")
)


def test_sections_have_their_titles_and_the_description_the_facts() -> None:
    draft = opened(fb2(SECTIONS))
    assert headings(fb2(SECTIONS)) == ["Глава 1: Имя", "Глава 2: Имя"]
    assert (draft.title, draft.author, draft.language) == ("Чайка", "Антон Чехов", "ru")


def test_the_titles_of_the_book_head_no_section_and_its_blurb_and_pictures_are_no_text() -> None:
    data = fb2(f"<title><p>Антон Чехов</p><p>Чайка</p></title>{SECTIONS}")
    assert headings(data) == headings(fb2(SECTIONS))
    assert texts(data)[0] == "Антон Чехов\nЧайка"
    assert not any(word in " ".join(texts(data)) for word in ("Buy", "QUFB", "no@where"))


def test_what_was_written_in_windows_cyrillic_is_read() -> None:
    assert opened(fb2(SECTIONS, "windows-1251")) == opened(fb2(SECTIONS))


def test_a_poem_keeps_its_stanzas_and_lines() -> None:
    poem = (
        "<section><poem><title><p>Роза</p></title><stanza><v>Раз,</v><v>два.</v></stanza><stanza>"
        "<v>Три.</v></stanza><text-author>А. Ч.</text-author></poem></section>"
    )
    assert texts(fb2(poem)) == ["Роза", "Раз,\nдва.", "Три.", "А. Ч."]


def test_notes_stand_where_the_file_has_them_each_with_its_number() -> None:
    text = '<section><p>Один<a l:href="#n1" type="note">[1]</a>.</p></section>'
    notes = (
        '<body name="notes"><title><p>Примечания</p></title><section id="n1"><title><p>1</p>'
        "</title><p>Не два.</p></section></body>"
    )
    assert texts(fb2(text, notes=notes)) == ["Один[1].", "Примечания", "1\nНе два."]
    assert headings(fb2(text, notes=notes)) == []


# Any XML


def test_any_depth_is_read() -> None:
    deep = "<seg>" * 50_000 + "deep" + "</seg>" * 50_000
    assert texts(tei(f"<p>{deep}</p>")) == ["deep"]


def test_a_page_is_read_as_a_page() -> None:
    assert texts(
        b'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>A<br/>b</p></body></html>'
    ) == ["A\nb"]


LAUGHS = '<!DOCTYPE TEI [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<recipe><p>Take an egg.</p></recipe>", "XML, but not a book.*<recipe>"),
        (b"Once upon a time.", "can't be read as XML"),
        (LAUGHS.encode() + tei("&b;"), "defines XML entities"),
        (b'<!DOCTYPE TEI [<!ENTITY a SYSTEM "file:///etc/hosts">]>' + tei("&a;"), "entity &a;"),
        (f'<?xml version="1.0"?>{LAUGHS}<TEI>&b;</TEI>'.encode("utf-16"), "entities"),
        (tei("").replace(b"</body>", b"&#0;</body>"), "has no text of its own.*not well-formed"),
    ],
    ids=["recipe", "text", "entity", "outside", "utf-16", "no words"],
)
def test_what_is_no_book_is_refused_by_name(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "book.tei"
    file.write_bytes(data)
    with pytest.raises(LoadError, match=rf"book\.tei .*{message}"):
        load(file, "default", 10**7)
