"""Words of editions are whole: over lines and pages, with signs, and where letters are lost."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

from fabula.load.tei import draft

HEADER = (
    '<teiHeader><fileDesc><titleStmt><title>Tale</title></titleStmt></fileDesc><encodingDesc>'
    '<charDecl><glyph xml:id="per"><mapping type="standardized">per</mapping></glyph></charDecl>'
    "</encodingDesc></teiHeader>"
)  # fmt: skip


def read(body: str) -> tuple[str, tuple[str, ...]]:
    xml = f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{HEADER}<text><body><p>{body}</p></body></text></TEI>'
    made = draft(fromstring(xml), "a.xml")
    return "\n\n".join(block.text for block in made.blocks), tuple(made.warnings)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('auf dem Waſ-<lb break="no"/>\nſer ſteht Waſſer', "auf dem Waſſer ſteht Waſſer"),
        ('in Nord-<lb break="no"/>\nAmerika', "in Nord-Amerika"),
        ('auf dem Waſ<lb break="no"/>\nſer', "auf dem Waſſer"),
        ('im <hi>Waſ</hi>\n<lb break="no"/>ſer', "im Waſſer"),
        ('zwei <pb n="8" break="no"/> Worte', "zwei\ufdd18\ufdd3Worte"),
    ],
)
def test_a_word_over_the_end_of_a_line_or_page_is_one(body: str, text: str) -> None:
    assert read(body)[0] == text


def test_a_word_over_the_end_of_a_page_is_one_and_the_page_begins_behind_it() -> None:
    """As Deutsches Textarchiv has the end of a page, with its running head and signature."""
    lines = (
        "Die Glocke von Hollin ſchlug zweimal in der Nacht, und der Fluß trug den Ton hin-",
        '<fw place="bottom" type="sig">A 2</fw><pb n="7"/>\n<fw place="top">Der Keſſel.</fw>',
        "aus ins Meer, wo ihn niemand mehr hoͤrte als die Fiſcher und die Moͤven auf dem Waſ-",
        "ſer. Am andern Morgen war die Laterne fort, und das Wehr ſtand offen wie ein Mund und",
        "niemand im ganzen Dorfe wußte warum, und die Muͤllerstochter zaͤhlte die Gaͤnſe.",
    )
    found, _ = read("<lb/>\n".join(lines))
    assert "trug den Ton hinaus \ufdd17\ufdd3 ins Meer" in found
    assert "auf dem Waſſer. Am" in found


def test_words_over_the_lines_of_the_file_are_whole_where_these_are_the_prints() -> None:
    """As Perseus has James I: 624 words of four files were divided."""
    found, _ = read(
        "it is needlesse to bee repeated or pub-\nlished any more; the horrour of the sinne, "
        "faith-\nfully to persist in their obedience, and the well-\nknown and well-known booke "
        "vpon booke pub-\nlikely set foorth, so that it is published publikely and faithfully"
        " by peo- ple of Jagd- und Kriegs-Ruhm, which people"
    )
    assert "repeated or published any more" in found
    assert "the sinne, faithfully to persist" in found
    assert "the well-known and well-known booke" in found
    assert "by people of Jagd- und Kriegs-Ruhm" in found


@pytest.mark.parametrize(
    ("body", "text", "lacking"),
    [
        # Of the TCP, of Deutsches Textarchiv, and of EpiDoc.
        (
            'th<gap reason="illegible" resp="#PDCC" extent="1 letter"><desc>•</desc></gap>t night',
            "th•t night",
            "1 letter and 0 words",
        ),
        (
            'rang <gap reason="illegible" extent="2 words"><desc>〈◊〉</desc></gap> times',
            "rang ▢ ▢ times",
            "0 letters and 2 words",
        ),
        ('L<gap reason="lost" unit="chars" quantity="3"/>rne', "L•••rne", "3 letters"),
        ('at<g ref="char:abque"/> ſu<g ref="#per"/>', "atque ſuper", ""),
        ('ye<g ref="char:EOLhyphen"/>ar and <g ref="char:xyz"/>', "year and ▢", "1 word"),
        ('all <gap reason="sampling" extent="3 words"/> of it', "all of it", ""),
        ('all <gap reason="missing" unit="page" quantity="2"/> of it', "all of it", ""),
    ],
)
def test_what_could_not_be_read_is_shown_and_counted(body: str, text: str, lacking: str) -> None:
    found, warnings = read(body)
    assert " ".join(found.split()) == text
    assert len(warnings) == bool(lacking)
    assert lacking in "".join(warnings)


def test_a_list_of_witnesses_is_no_text() -> None:
    xml = (
        f"<TEI>{HEADER}<text><front><div><listWit><witness>Quarto, 1594</witness></listWit></div>"
        "</front><body><p>Who kept it?</p></body></text></TEI>"
    )
    made = draft(fromstring(xml), "a.xml")
    assert [block.text for block in made.blocks] == ["Who kept it?"]
    assert made.left_out == {"lists of witnesses": 11}
