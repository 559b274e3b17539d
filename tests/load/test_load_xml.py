"""Books in XML: TEI and FictionBook."""

import contextlib
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from book_files import fb2, tei
from cases import for_each
from fabula.errors import LoadError
from fabula.load import find, load
from fabula.load.blocks import Draft
from fabula.load.document import document
from fabula.load.locators import take_marks
from fabula.load.xml import read
from pace import keeps_pace

BODY = f"<p>{'Then he went up to the old house, and nobody there knew who he was. ' * 6}</p>"


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
        "contents": len("ContentsI1"),
        "running heads": len("AHEAD7"),
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


@for_each(("title", "heading"), [("<title><p>Примечания</p></title>", "Примечания"), ("", "Notes")])
def test_notes_are_a_section_of_their_own_each_with_its_number(title: str, heading: str) -> None:
    text = (
        f"<section><title><p>Глава 1</p></title><section>{BODY}"
        '<p>Один<a l:href="#n1" type="note">[1]</a>.</p></section></section>'
    )
    notes = (
        f'<body name="notes">{title}<section id="n1"><title><p>1</p></title><p>Не <emphasis>два'
        "</emphasis>.</p><p>Три.</p></section></body>"
    )
    draft = opened(fb2(text, notes=notes))
    assert [(b.heading, b.level) for b in draft.blocks if b.heading] == [
        ("Глава 1", 1),
        (heading, 1),
    ]
    assert [block.text for block in draft.blocks][-1] == "[1] Не два.\nТри."


def test_the_number_of_a_note_is_no_part_of_the_heading_of_a_section() -> None:
    note = '<a l:href="#n1" type="note">1</a>'
    parts = [
        f"<section><title><p>Один{note} день</p><p>Утро{note}</p></title>{BODY}</section>",
        f"<section><title><p>Второй{note}</p><p>Вечер</p></title>{BODY}</section>",
    ]
    assert headings(fb2("".join(parts))) == ["Один день: Утро", "Второй: Вечер"]


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


# XML that is not well-formed

REPAIRED = {
    "<p>A miller & his son</p>": "A miller & his son",
    "<p>A&nbsp;miller&mdash;his&hellip; son&eacute;</p>": "A miller—his… soné",
    "<p>A \x1emiller\x00 &#0;&#30;slept</p>": "A miller slept",
    "<p>two < three > one</p>": "two < three > one",
    "<p>a <b>bold <i>word</b> and</i> more</p>": "a bold word and more",
    "<p align=left title='x' checked>A word</p>": "A word",
    '<p title="a < b" rend="1" rend="2">A word</p>': "A word",
    "<p>A<l:x l:href='#a'> word</l:x></p>": "A word",
    "<p>A word</P></q> more": "A word more",
    "<p>A word<![CDATA[ & <another>]]><!-- a -- b --></p>": "A word & <another>",
    "<p>AT&amp;T &amp;lt; &lt;b&gt; &unknown; &</p>": "AT&T &lt; <b> &unknown; &",
    "<p>One<p>two": "One two",
    "<p>He <<said>> <so>so</so> <да>.</p>": "He <<said>> so <да>.",
    "<p>One</p><![CDATA[ two": "One <![CDATA[ two",
}


@for_each("make", [tei, fb2])
@for_each(("markup", "text"), REPAIRED.items())
def test_xml_that_is_not_well_formed_keeps_every_word_in_order(
    make: Callable[[str], bytes], markup: str, text: str
) -> None:
    draft = opened(make(f"<section>{markup}</section>").replace(b"</binary>", b""))
    words = " ".join(block.text for block in draft.blocks)
    assert words.replace("\n", " ") == text
    assert re.match(
        r"book\.xml .*(not well-formed XML \(.*\)|entities that it does)", draft.warnings[0]
    )


@for_each("cut", [20, 60, 200])
def test_a_file_that_is_cut_short_is_read_to_its_end(cut: int) -> None:
    draft = opened(tei(CHAPTERS)[:-cut])
    whole = "".join(texts(tei(CHAPTERS)))
    text = "".join(block.text for block in draft.blocks)
    assert whole.startswith(text)
    assert len(text) >= len(whole) - cut
    assert "not well-formed" in draft.warnings[0]


def test_numbers_that_mean_characters_of_windows_are_those() -> None:
    assert texts(tei("<p>It&#150;is &#147;he&#148;</p>")) == ["It–is “he”"]


def test_what_follows_the_root_element_is_read_as_well() -> None:
    two = fb2("<section><p>One.</p></section>") + b"<body><section><p>Two.</p></section></body>"
    assert texts(two) == ["One.", "Two."]


def test_well_formed_xml_has_no_warnings() -> None:
    assert opened(tei(CHAPTERS)).warnings == opened(fb2(SECTIONS)).warnings == ()


def test_xml_without_order_is_read_in_time_that_grows_with_its_length() -> None:
    for piece in ("<a ", "<b>", "</b>", "<![CDATA[", "<!--", "&", "<a b='", "<p></q>", "&x;", "<!"):

        def read(count: int, piece: str = piece) -> None:
            with contextlib.suppress(LoadError):
                opened(tei("<p>word" + piece * count))

        assert keeps_pace(read, 10_000), piece


@for_each(
    ("encoding", "declared"),
    [
        ("windows-1251", "win-1251"),
        ("windows-1251", "CP-1251"),
        ("windows-1251", "x-cp1251"),
        ("koi8-r", "koi8r"),
        ("cp866", "ibm866"),
        ("mac_cyrillic", "x-mac-cyrillic"),
        ("iso8859-5", "ISO_8859-5:1988"),
        ("utf-8", "UTF8"),
        ("utf-8", "windows-1251"),
        ("utf-8-sig", "windows-1251"),
        ("utf-16", "utf-16"),
        ("utf-16", "utf-8"),
        ("utf-16-le", "utf-16"),
        ("utf-32", "utf-32"),
        ("utf-8", "unknown"),
    ],
)
def test_cyrillic_is_read_in_whatever_encoding_it_is(encoding: str, declared: str) -> None:
    text = fb2(SECTIONS * 3).decode().replace('encoding="utf-8"', f'encoding="{declared}"')
    assert opened(text.encode(encoding)).blocks == opened(fb2(SECTIONS * 3)).blocks


def test_cyrillic_that_is_not_as_declared_is_recognised_without_the_tags() -> None:
    text = "Старый мельник зажёг фонарь у плотины, и никто в деревне не знал, зачем он это делает."
    data = fb2(f"<section><p>{text}</p></section>")
    assert opened(data.decode().encode("windows-1251")).blocks == opened(data).blocks


@for_each(
    ("encoding", "declared"),
    [
        ("gb18030", "GB2312"),
        ("gbk", "gbk"),
        ("big5", "Big5"),
        ("cp932", "Shift-JIS"),
        ("cp932", "Windows-31J"),
        ("cp932", "x-sjis"),
        ("euc-jp", "EUC-JP"),
        ("iso2022_jp", "ISO-2022-JP"),
        ("cp949", "ks_c_5601-1987"),
        ("utf-16", "UTF-16"),
    ],
)
def test_chinese_japanese_and_korean_are_read_as_declared(encoding: str, declared: str) -> None:
    title = {"big5": "老舊書本", "cp949": "방앗간"}.get(encoding, "水車小屋")
    data = fb2(f"<section><p>{title}</p></section>").decode().replace("Чайка", title)
    data = data.replace("Антон", "A").replace("Чехов", "B").replace("utf-8", declared)
    draft = opened(data.encode(encoding))
    assert (draft.title, draft.blocks[0].text, draft.warnings) == (title, title, ())


# Entities

P4 = """<?xml version="1.0"?><!DOCTYPE TEI.2 PUBLIC "-//TEI P4//DTD Main//EN" "tei2.dtd" [
<!ENTITY % TEI.prose "INCLUDE"> <!-- ]> -->
<!ENTITY mdash "&#8212;"><!ENTITY lt "&#38;#60;"><!ENTITY who 'the <name>miller</name> &amp; son'>
<!ENTITY Zdot SDATA "[Zdot ]"><!ENTITY fig SYSTEM "fig.jpg" NDATA jpeg><!NOTATION jpeg SYSTEM "">
<!ENTITY twice "&who;&who;">%TEI.prose; <!ATTLIST p id CDATA "]>">
]>"""


def test_the_entities_of_a_doctype_are_characters() -> None:
    body = "<p>&mdash;&who;&mdash;&Zdot;&eacute; &lt;</p>"
    data = P4.encode() + tei(body).replace(b"TEI", b"TEI.2")
    assert texts(data) == ["—the miller & son—Żé <"]
    assert opened(data).warnings == ()


def test_the_names_of_html_are_known_where_a_dtd_is_not_at_hand() -> None:
    data = b'<!DOCTYPE TEI.2 SYSTEM "tei2.dtd">' + tei("<p>A&mdash;b&ouml;&thinsp;c.</p>")
    assert texts(data) == ["A—bö c."]
    assert opened(data).warnings == ()


def test_no_entity_within_an_entity_and_no_file_is_expanded() -> None:
    with pytest.raises(LoadError, match="defines XML entities by other entities"):
        opened(P4.encode() + tei("<p>&twice;</p>"))
    long = f'<!DOCTYPE TEI [<!ENTITY a "{"a" * 1000}">]>'.encode()
    with pytest.raises(LoadError, match="defines XML entities that expand to too much"):
        opened(long + tei(f"<p>{'&a;' * 100_000}</p>"))
    outside = b'<!DOCTYPE TEI [<!ENTITY c SYSTEM "file:///etc/hosts">]>'
    draft = opened(outside + tei("<p>A word.</p>&c;"))
    assert [block.text for block in draft.blocks] == ["A word."]
    assert "&c; to another file, file:///etc/hosts, left out here" in draft.warnings[0]


# More of TEI


def header(statement: str, source: str = "") -> Draft:
    return opened(
        f"<TEI><teiHeader><fileDesc><titleStmt>{statement}</titleStmt><sourceDesc>{source}"
        f"</sourceDesc></fileDesc></teiHeader><text><body>{BODY}</body></text></TEI>".encode()
    )


@for_each(
    ("author", "name"),
    [
        ("<idno type='isni'>0000</idno>\n<persName>Ann Lee</persName>", "Ann Lee"),
        ("<persName>\n<forename>Ann</forename><surname>Lee</surname></persName>", "Ann Lee"),
        ("<persName><surname>Lee</surname>\n<forename>Ann</forename></persName>", "Ann Lee"),
        ("<persName><surname>Lee</surname>, <forename>Ann</forename></persName>", "Ann Lee"),
        ("<forename>Ann</forename><nameLink>de</nameLink><surname>Lee</surname>", "Ann de Lee"),
        ("<persName>Ann Lee</persName><persName type='pen'>A. L.</persName>", "Ann Lee"),
        ("Ann Lee<idno>Q1</idno> <date>1800-1850</date>", "Ann Lee"),
        ("<name ref='#q'>Ann Lee</name></author><author>Bo May", "Ann Lee, Bo May"),
        ("<!-- nobody -->", ""),
    ],
)
def test_authors_are_names_without_identifiers(author: str, name: str) -> None:
    assert header(f"<title>T</title><author>{author}</author>").author == name


def test_the_main_title_is_the_title() -> None:
    titles = '<title type="sub">A Tale</title><title type="main">The Kettle</title>'
    assert header(titles).title == "The Kettle"
    assert header(f'<title type="full">{titles}</title>').title == "The Kettle"


@for_each(
    ("source", "published", "edition"),
    [
        (
            (
                "<bibl><name>A Site</name><idno>http://a/1999</idno><title>The Kettle</title>, "
                "<pubPlace>Hollin</pubPlace> <date when='1887'>87</date></bibl>"
            ),
            "1887",
            "The Kettle, Hollin, 87",
        ),
        (
            (
                "<bibl type='digitalSource'><title>A Site</title><bibl type='originalSource'>"
                "<title>The Kettle</title><date type='written' when='1880'/>"
                "<date type='print' when='1887'/>"
                "</bibl></bibl>"
            ),
            "1887",
            "The Kettle, 1887",
        ),
        (
            (
                "<biblFull><titleStmt><title>The Kettle</title><author>Lee, Ann</author>"
                "</titleStmt><editionStmt><edition>2nd</edition></editionStmt><publicationStmt><publisher>Ox"
                "</publisher><pubPlace>Hollin</pubPlace><date>1887</date></publicationStmt>"
                "</biblFull>"
            ),
            "1887",
            "The Kettle, Ann Lee, 2nd, Ox, Hollin, 1887",
        ),
        ("<p>From the edition of 1887.</p>", "1887", "From the edition of 1887."),
        ("<p/>", "", ""),
    ],
)
def test_the_edition_and_its_year_are_known(source: str, published: str, edition: str) -> None:
    draft = header("<title>The Kettle</title>", source)
    assert (draft.published, draft.edition) == (published, edition)


WORDS = {
    "<w>The</w>\n<w>miller</w>\n<pc>,</pc>\n<w>who</w>\n<w>slept</w>\n<pc>.</pc>": (
        "The miller, who slept."
    ),
    '<pc>"</pc>\n<w>Go</w>\n<pc>!</pc>\n<pc>"</pc>\n<w>she</w>': '"Go!" she',
    "<w>he</w>\n<pc>(</pc>\n<w>she</w>\n<pc>)</pc>": "he (she)",
    "<w>He</w><c> </c>\n<w>woke</w>\n<pc>.</pc><c> </c>\n<w>She</w>\n<w>'s</w>": "He woke. She's",
    "<w>do</w>\n<w>n't</w> <w>go</w> <pc>;</pc> <pc>«</pc> <w>so</w> <pc>»</pc>": "don't go; «so»",
    "<w join='right'>o</w>\n<w>clock</w>\n<pc join='no'>,</pc>": "oclock ,",
    "<hi><w>The</w></hi>\n<pc>,</pc>\n<s><w>a</w>\n<pc>.</pc></s>\n<s><w>B</w></s>": "The, a. B",
}


@for_each(("markup", "text"), WORDS.items())
def test_words_that_are_elements_are_spaced_as_they_are_printed(markup: str, text: str) -> None:
    assert texts(tei(f"<p>\n{markup}\n</p>")) == [text]


@for_each(
    ("markup", "text", "left_out"),
    [
        ("<choice><sic>hose</sic><corr>house</corr></choice>", "house", 4),
        ("<choice><abbr>Dr</abbr><expan>Doctor</expan></choice>", "Doctor", 2),
        ("<choice><unclear>cat</unclear><unclear>bat</unclear></choice>", "cat", 3),
        ("<choice><seg>cat</seg><seg>bat</seg><seg>rat</seg></choice>", "cat", 6),
        ("<choice><orig>hous</orig></choice>", "hous", 0),
        ("<choice><corr>a</corr><corr>b</corr><sic>c</sic></choice>", "a", 2),
        ("<app><lem>cat</lem><rdg>bat</rdg><note>a note</note></app>", "cat[1]", 3),
        ("<app><rdg>cat</rdg><rdg>bat</rdg></app>", "cat", 3),
        ("<app><rdgGrp><rdg>cat</rdg><rdg>bat</rdg></rdgGrp><rdg>rat</rdg></app>", "cat", 6),
    ],
)
def test_of_several_readings_one_is_text_and_the_others_are_counted(
    markup: str, text: str, left_out: int
) -> None:
    draft = opened(tei(f"<p>The {markup}.</p>"))
    assert draft.blocks[0].text == f"The {text}."
    assert draft.left_out.get("alternative readings", 0) == left_out


def test_a_note_at_the_end_is_read_where_the_text_refers_to_it_and_once() -> None:
    body = (
        '<p>The lamp<ref target="#n1">1</ref> was<ptr target="#n2"/> lit.</p><p>He left.</p>'
        '<div type="notes"><head>Notes</head><note xml:id="n1">Who <ref target="#n1">lit</ref> it?'
        '</note><note xml:id="n2">Then.</note><note>A last word.</note></div>'
    )
    assert texts(tei(body)) == [
        "The lamp[1] was[2] lit.",
        "[1] Who lit it?",
        "[2] Then.",
        "He left.",
        "Notes",
        "A last word.",
    ]


def test_a_note_that_refers_to_no_word_has_no_number() -> None:
    assert texts(tei("<note>Printed in Hollin.</note><p>He left.</p>")) == [
        "Printed in Hollin.",
        "He left.",
    ]


def test_a_corpus_has_a_section_for_each_text() -> None:
    letters = "".join(
        f"<TEI><teiHeader><fileDesc><titleStmt><title>To Bo ({n})</title></titleStmt></fileDesc>"
        f"</teiHeader><text><body>{head}{BODY}</body></text></TEI>"
        for n, head in enumerate(
            ("", "<head>To Bo (2)</head>", "<div><head>Noon</head><p>.</p></div>"), 1
        )
    )
    data = (
        "<teiCorpus><teiHeader><fileDesc><titleStmt><title>Letters</title></titleStmt></fileDesc>"
    )
    draft = opened(f"{data}</teiHeader>{letters}</teiCorpus>".encode())
    assert draft.title == "Letters"
    assert [(block.heading, block.level) for block in draft.blocks if block.heading] == [
        ("To Bo (1)", 1),
        ("To Bo (2)", 1),
        ("To Bo (3)", 1),
        ("Noon", 2),
    ]


def test_headings_have_the_depth_of_their_divisions() -> None:
    body = (
        f'<div1 type="book"><head>Book One</head><div2><head>Chapter I</head>{BODY}</div2></div1>'
        f'<div type="book" n="2"><div type="chapter" n="1">{BODY}</div><div type="textpart" '
        f'subtype="chapter" n="2">{BODY}</div></div>'
    )
    draft = opened(tei(body, f"<prologue><head>Prologue</head>{BODY}</prologue>"))
    assert [(block.heading, block.level) for block in draft.blocks if block.heading] == [
        ("Prologue", 1),
        ("Book One", 1),
        ("Chapter I", 2),
        ("Book 2", 1),
        ("Chapter 1", 2),
        ("Chapter 2", 2),
    ]


def labels(data: bytes, kind: str) -> list[tuple[str, str]]:
    text = document(opened(data), "book.xml", "default")
    return [
        (mark.label, text.text[mark.start :][:5])
        for mark in text.locators
        if mark.kind == kind and mark.label
    ]


def test_pages_are_marked_where_they_begin() -> None:
    body = (
        '<pb n="[113]"/><p>The mil<pb n="p. 114"/>ler slept.</p><pb n="xv"/><div><head>Noon</head>'
        '<p>He <pb n="A2r"/> woke.</p><pb/></div><milestone unit="page" n="9"/><p>Gone.</p>'
    )
    assert labels(tei(body), "page") == [
        ("113", "The m"),
        ("114", "ler s"),
        ("xv", "Noon\n"),
        ("A2r", "woke."),
        ("9", "Gone."),
    ]
    assert texts(tei(body))[2] == "He woke."


def test_page_numbers_of_the_printer_serve_where_breaks_have_none() -> None:
    body = '<pb/><fw type="pageNum">- 7 -</fw><fw type="header">THE KETTLE</fw><p>He slept.</p>'
    assert labels(tei(body), "page") == [("- 7 -", "He sl")]
    assert opened(tei(body)).left_out == {"page numbers": 3, "running heads": 9}


def test_verses_sections_and_paragraphs_are_places() -> None:
    """As First1KGreek and Perseus number a Bible, a treatise, and an edition by milestones."""
    part = '<div type="textpart" subtype="{}" n="{}">{}</div>'
    verses = part.format("verse", 1, "<p><lg><l>Blessed</l><l>is he.</l></lg></p><lb n='5'/>")
    verses += part.format("verse", 2, "<p>His leaf.</p>")
    bible = '<div type="edition" n="urn:cts:greekLit:tlg0527"><head>Psalms</head>{}</div>'
    psalms = bible.format(part.format("chapter", 1, f"<head>I</head>{verses}"))
    assert labels(tei(psalms), "line") == [("§1.1", "Bless"), ("§1.2", "His l")]
    paragraphs = "".join(part.format("paragraph", n, f"<p>Part {n}.</p>") for n in (1, 2))
    assert labels(tei(paragraphs), "line") == [("§1", "Part "), ("§2", "Part ")]
    stones = (
        '<div type="book" n="2"><p><milestone unit="chapter" n="3"/><milestone unit="section" '
        'n="1"/>He came. <milestone unit="section" n="2"/>He saw.</p></div>'
    )
    assert labels(tei(stones), "line") == [("§2.3.1", "He ca"), ("§2.3.2", "He sa")]
    poem = '<div1 type="sonnet" n="I"><head>I</head><l>From</l><l>That</l><l n="3">But</l></div1>'
    assert labels(tei(poem), "line") == [("1", "From\n"), ("2", "That\n"), ("3", "But")]


def test_the_critical_apparatus_and_signs_of_witnesses_are_left_out() -> None:
    """In the form of First1KGreek's Septuagint, with each page's apparatus as a footnote."""
    footnote = "<note type='footnote'>{}</note>"
    apparatus = footnote.format("9 πᾶν] pr ἐπὶ A | ὄνου F 10 ἔσται] + ἔτι AF")
    margin = "<note type='marginal'>{}</note>"
    body = f"<p>Ἦν ἀνὴρ {margin.format('B')}καὶ ἦλθεν.{apparatus}</p><p>Ὁ δὲ{apparatus} εἶπεν.</p>"
    draft = opened(tei(body))
    assert [block.text for block in draft.blocks] == ["Ἦν ἀνὴρ καὶ ἦλθεν.", "Ὁ δὲ εἶπεν."]
    assert draft.left_out == {"critical apparatus": 62, "signs of witnesses": 1}
    # A commentary has a word in each note, and names no witness.
    comment = footnote.format("3. quick] living, as the Bible has it.")
    body = f"<p>The quick{comment} fox{margin.format('B')}.</p>"
    assert "[1] 3. quick] living" in texts(tei(body))[1]
    assert opened(tei(body)).left_out == {}


def test_lines_are_numbered_as_the_edition_counts_them() -> None:
    lines = [
        f"<l{f' n={chr(34)}{n}{chr(34)}' if n % 5 == 0 else ''}>v{n:02}.</l>" for n in range(1, 13)
    ]
    poem = f"<div><lg>{''.join(lines)}</lg></div>"
    found = labels(tei(poem + poem), "line")
    assert [label for label, _ in found] == 2 * [str(n) for n in range(1, 13)]
    assert all(text.startswith(f"v{int(label):02}") for label, text in found)


def test_a_line_of_two_speakers_is_one_line() -> None:
    speeches = (
        '<sp><speaker>A.</speaker><l n="1">One.</l><l part="I">Two</l></sp><sp>'
        "<speaker>B.</speaker>"
        '<l part="F">and two.</l><l n="3">Three.</l></sp>'
    )
    assert labels(tei(f"<div>{speeches}</div>"), "line") == [
        ("1", "One.\n"),
        ("2", "Two\n\n"),
        ("3", "Three"),
    ]


def test_a_cast_is_a_list_of_lines_and_an_address_has_its_own() -> None:
    cast = (
        "<castList><head>Persons</head><castItem><role>Ann</role>, <roleDesc>a miller</roleDesc>"
        "</castItem><castGroup><head>her sons</head><castItem>Bo</castItem></castGroup></castList>"
        "<p>Bo May<address><street>Weir 2</street></address></p>"
    )
    assert texts(tei("", cast)) == ["Persons", "Ann, a miller\nher sons\nBo", "Bo May\nWeir 2"]


# Files that are included

INCLUDE = '<TEI xmlns:xi="http://www.w3.org/2001/XInclude"><text><body><p>Begin.</p>{}</body></text></TEI>'


def test_a_file_that_is_not_included_is_named_and_its_fallback_is_text() -> None:
    draft = opened(INCLUDE.format('<xi:include href="one.xml"/>').encode())
    assert [block.text for block in draft.blocks] == ["Begin."]
    assert draft.warnings[0].startswith("book.xml includes one.xml by xi:include, which was left")
    fallback = "<xi:include href='a.xml'><xi:fallback><p>Else.</p></xi:fallback></xi:include>"
    assert texts(INCLUDE.format(fallback).encode()) == ["Begin.", "Else."]
    with pytest.raises(LoadError, match=r"no text of its own.*includes one\.xml"):
        opened(INCLUDE.format('<xi:include href="one.xml"/>').replace("Begin.", "").encode())


def test_files_of_the_same_folder_are_included(tmp_path: Path) -> None:
    files = {
        "book.xml": INCLUDE.format(
            '<xi:include href="parts/one.xml"/><xi:include href="note.txt" parse="text"/>'
            '<xi:include href="parts/two.xml" xpointer="b"/>'
        ),
        "parts/one.xml": INCLUDE.format('<xi:include href="three.xml"/>'),
        "parts/two.xml": '<div><p xml:id="a">No.</p><p xml:id="b">Yes.</p></div>',
        "parts/three.xml": '<p xmlns:xi="http://www.w3.org/2001/XInclude">Three.</p>',
        "note.txt": "A & b.",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    text = load(tmp_path / "book.xml", "default", 10**7)
    assert text.text == "Begin.\n\nBegin.\n\nThree.\n\nA & b.\n\nYes."
    assert text.warnings == ()
    assert find([tmp_path]).files == [tmp_path / "book.xml"]
    assert find([tmp_path / "parts"]).files == [
        tmp_path / "parts" / n for n in ("one.xml", "two.xml")
    ]


def test_files_that_include_each_other_are_all_read(tmp_path: Path) -> None:
    for name, other in (("a.xml", "b.xml"), ("b.xml", "a.xml")):
        (tmp_path / name).write_text(INCLUDE.format(f'<xi:include href="{other}"/>'))
    assert find([tmp_path]).files == [tmp_path / "a.xml", tmp_path / "b.xml"]


def test_files_elsewhere_circles_and_damaged_files_are_not_included(tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text("<p>hunter2</p>")
    book = tmp_path / "book" / "book.xml"
    book.parent.mkdir()
    (book.parent / "link.xml").symlink_to(tmp_path / "secret.xml")
    (book.parent / "bad.xml").write_text("no XML")
    names = ("../secret.xml", "link.xml", str(tmp_path / "secret.xml"), "bad.xml", "book.xml")
    book.write_text(INCLUDE.format("".join(f'<xi:include href="{name}"/>' for name in names)))
    text = load(book, "default", 10**7)
    assert "hunter2" not in text.text
    assert text.text.count("Begin.") < 30
    assert {name for name in names if any(name in warning for warning in text.warnings)} == {*names}


# More of FictionBook


def test_numbers_of_notes_are_not_glued_to_words() -> None:
    text = '<section><p>Один<a l:href="#n1" type="note"><sup>1</sup></a>.</p></section>'
    assert texts(fb2(text)) == ["Один[1]."]


def test_sections_within_sections_are_deeper_and_the_printed_book_is_known() -> None:
    body = (
        f"<section><title><p>Часть 1</p></title><section><title><p>Глава 1</p></title>{BODY}"
        f"</section></section><section><title><p>Часть 2</p></title>{BODY}</section>"
    )
    printed = (
        "<publish-info><book-name>Чайка</book-name><publisher>Мир</publisher><city>Москва</city>"
        "<year>1896</year></publish-info></description>"
    )
    draft = opened(fb2(body).replace(b"</description>", printed.encode()))
    assert [(block.heading, block.level) for block in draft.blocks if block.heading] == [
        ("Часть 1", 1),
        ("Глава 1", 2),
        ("Часть 2", 1),
    ]
    assert (draft.published, draft.edition) == ("1896", "Чайка, Москва, Мир, 1896")
    assert draft.left_out == {}


def test_a_zip_of_one_book_under_another_name_is_that_book() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("book.fb2", fb2(SECTIONS))
    assert read(packed.getvalue(), "book.fb2", 10**7) == opened(fb2(SECTIONS))


def test_a_library_may_put_its_own_element_around_a_book() -> None:
    assert texts(b"<record><metadata>" + tei(CHAPTERS) + b"</metadata></record>") == texts(
        tei(CHAPTERS)
    )


def sections(data: bytes) -> list[tuple[int, str]]:
    return [
        (section.level, section.title) for section in document(read(data, ""), "a", "c").sections
    ]


def test_the_number_and_the_title_of_a_division_are_one_heading() -> None:
    argument = (
        "In which the miller, who had slept for three days, wakes and asks for a dish that nobody "
        "in the whole of the town is able to cook"
    )
    parts = "".join(
        f"<div><head>{number}.</head>\n<pb n='{number}'/>"
        f"<head>{argument} {number}.</head>{BODY}</div>"
        for number in range(1, 4)
    )
    draft = read(tei(parts), "")
    assert [block.heading for block in draft.blocks if block.heading] == [
        f"{number}: {argument} {number}" for number in range(1, 4)
    ]
    assert take_marks(draft.blocks[0].text)[0] == f"1.\n{argument} 1."


def test_a_heading_with_a_number_of_its_own_is_not_the_title_of_another() -> None:
    chapters = "".join(
        f"<div><head>CHAPTER {number}</head><head>A Kettle</head>{BODY}</div>" for number in "23"
    )
    first = f"<div><head>BOOK ONE</head><head>CHAPTER 1</head>{BODY}</div>"
    assert [title for _, title in sections(tei(first + chapters))] == [
        "BOOK ONE",
        "CHAPTER 1",
        "CHAPTER 2: A Kettle",
        "CHAPTER 3: A Kettle",
    ]


def test_text_behind_a_second_heading_stays() -> None:
    body = f"<div><head>I</head><head>A Kettle</head> It boils. {BODY}</div>"
    text = "\n".join(block.text for block in read(tei(body * 2), "").blocks)
    assert text.count("A Kettle") == text.count("It boils.") == 2


def test_the_heading_of_an_inner_division_is_not_the_title_of_the_outer_one() -> None:
    body = "".join(
        f"<div><head>ACT {act}</head><div><head>{first} DREAM</head>{BODY}</div>"
        f"<div><head>{second} DREAM</head>{BODY}</div></div>"
        for act, first, second in (("ONE", "FIRST", "SECOND"), ("TWO", "THIRD", "FOURTH"))
    )
    assert sections(tei(body)) == [
        (1, "ACT ONE"),
        (2, "FIRST DREAM"),
        (2, "SECOND DREAM"),
        (1, "ACT TWO"),
        (2, "THIRD DREAM"),
        (2, "FOURTH DREAM"),
    ]


def test_the_entries_of_a_diary_are_below_its_chapters() -> None:
    body = "".join(
        f"<div><head>CHAPTER {chapter}</head>"
        + "".join(f"<p>April {day}.—{'We went to the old house again. ' * 20}</p>" for day in days)
        + "</div>"
        for chapter, days in (("I", (3, 4)), ("II", (7, 9)))
    )
    assert sections(tei(body)) == [
        (1, "CHAPTER I"),
        (2, "April 3"),
        (2, "April 4"),
        (1, "CHAPTER II"),
        (2, "April 7"),
        (2, "April 9"),
    ]


@for_each(
    ("stated", "title"),
    [
        ("The Kettle : ELTeC edition", "The Kettle"),
        ("A chaleira: Edição para o ELTeC", "A chaleira"),
        ("V ráji (vydání ELTeC)", "V ráji"),
        ("The Kettle: A Romance : ELTeC edition", "The Kettle: A Romance"),
        ("The Kettle: an electronic edition", "The Kettle"),
        ("The Kettle [a machine-readable transcription]", "The Kettle"),
        ("The Kettle: A Romance", "The Kettle: A Romance"),
        ("The Digital Edition", "The Digital Edition"),
        ("Mrs. Dalloway, an electronic edition", "Mrs. Dalloway"),
        ("St. Ives - a machine-readable transcription", "St. Ives"),
        ("Dr. Faustus electronic edition", "Dr. Faustus electronic edition"),
        (", a" * 40_000, ", a" * 40_000),
    ],
)
def test_what_a_title_says_of_the_file_is_no_part_of_it(stated: str, title: str) -> None:
    assert header(f"<title>{stated}</title>", "<p/>").title == title


def test_the_first_edition_dates_a_text_and_not_the_page_that_the_file_was_made_from() -> None:
    source = (
        "<bibl type='digitalSource'><title>A Site</title><date>December 2, 2003</date></bibl>"
        "<bibl type='printSource'><title>The Kettle</title><date>1901</date></bibl>"
        "<bibl type='firstEdition'><title>The Kettle</title><date>1887</date></bibl>"
    )
    assert header("<title>The Kettle</title>", source).published == "1887"


def test_words_of_a_corpus_without_white_space_have_spaces_between_them() -> None:
    glued = (
        "<p><s><w>The</w><w>old</w><w>miller</w><pc>,</pc><w>who</w><w>slept</w><pc>.</pc></s>"
        "<s><w>He</w><w>woke</w><pc>!</pc></s></p>"
    )
    assert texts(tei(glued)) == ["The old miller, who slept. He woke!"]
    assert (
        texts(tei(f"{glued}<p><w>to</w> <w>day</w></p><p><w>Wed</w><w>nes</w><w>day</w></p>"))[-1]
        == "Wednesday"
    )


def test_sentences_and_sources_are_not_glued_to_what_is_before_them() -> None:
    assert texts(tei("<p><s>One.</s><s>Two.</s></p>")) == ["One. Two."]
    cited = (
        "<epigraph><cit><quote>All the world</quote><bibl>As you like it</bibl></cit></epigraph>"
    )
    assert texts(tei(f"{cited}<p>It rained.</p>"))[0] == "All the world\nAs you like it"
    assert "One\nTwo" in texts(fb2("<section><p>One<br/>Two</p></section>"))


RUSSIAN = "Он сказал это, и ушёл домой к матери, которая ждала его у плотины. "


def test_what_was_encoded_twice_is_mended_in_xml_as_well() -> None:
    twice = RUSSIAN.encode().decode("cp1251", "replace")
    draft = opened(fb2(f"<section>\n<p>{twice}</p>\n</section>"))
    assert RUSSIAN.strip() in [block.text for block in draft.blocks]
    assert "encoded twice" in draft.warnings[0]


def test_pairs_of_surrogates_and_controls_of_windows_in_xml_are_characters() -> None:
    data = fb2("<section><p>He sent HERE it, don\x92t\x85</p></section>")
    data = data.replace(b"HERE", b"\xed\xa0\xbd\xed\xb1\x89")
    assert "He sent 👉 it, don’t…" in texts(data)
