"""The beginnings of real editions are read as their libraries have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.load import load

EDITIONS = Path(__file__).parent.parent / "data/editions"


@pytest.mark.parametrize(
    ("file", "title", "author", "published", "begins"),
    [
        (
            "eltec-eng18610",
            "Silas Marner: The Weaver of Raveloe",
            "George Eliot",
            "1861",
            "Silas Marner: the Weaver of Raveloe: By George Eliot",
        ),
        ("first1kgreek-tlg0527.tlg040", "Abdias", "Septuaginta", "1905", "ΟΒΔΕΙΟΥ"),
        ("dta-soldatenbrief-1", "[SB-Nr. 1: ", "Nikolaus Binn", "1745-06-19", "SB-Nr. 1: Nikolaus"),
        (
            "poldracor-marcowy-kawaler",
            "Marcowy kawaler",
            "Józef Bliziński",
            "1873",
            "BIBLIOTEKA TEATRÓW AMATORSKICH",
        ),
        (
            "tcp-a01991",
            "Admirable and memorable histories containing the wonders of our time.",
            "Simon Goulart, Edward Grimeston",
            "1607",
            "ADMIRABLE AND MEMORABLE HISTORIES CONTAIning the wonders of our time.",
        ),
    ],
)
def test_an_edition_says_whose_it_is(
    file: str, title: str, author: str, published: str, begins: str
) -> None:
    read = load(EDITIONS / f"{file}.xml", "default", 10**7)
    assert read.title.startswith(title)
    assert (read.author, read.published) == (author, published)
    assert read.text.startswith(begins)


def test_the_text_creation_partnerships_letters_and_line_ends() -> None:
    read = load(EDITIONS / "tcp-a01991.xml", "default", 10**7)
    assert "de diuinis Na•urae" in read.text
    assert "1 letter and 0 words" in read.warnings[0]
    # The file has "a<g ref="char:EOLhyphen"/>gaine", and others like it.
    assert "againe" in read.text
    assert "tempestuous" in read.text
    assert [each.label for each in read.locators][:3] == ["1", "2", "3"]


def test_what_the_folger_library_puts_around_a_play_is_counted(tmp_path: Path) -> None:
    around = "".join(
        f'<div type="{kind}"><p>It is hard.</p></div>'
        for kind in ("FromTheDirector", "TextualIntroduction", "synopsis")
    )
    play = '<div1 type="act" n="1"><head>ACT 1</head><sp><speaker>EGEON</speaker><ab>Proceed'
    play += ".</ab></sp></div1>"
    signs = '<interpGrp type="line"><interp>all or part of a line</interp></interpGrp>'
    file = tmp_path / "err.xml"
    file.write_text(
        f"<TEI><text><front>{around}</front><body>{play}</body><back>{signs}</back></text></TEI>"
    )
    read = load(file, "default", 10**7)
    assert read.text == "ACT 1\n\nEGEON\nProceed."
    assert read.left_out == {"front matter": 3 * len("Itishard.")}
