"""Words that a line's or a page's end divides are whole again; true compounds keep the hyphen."""

from __future__ import annotations

from cases import for_each
from fabula.load.clean import clean, tidy
from fabula.load.text import plain
from prose import PROSE, read

DIVIDED = """\
The miller kept a lantern by the old weir, and all of his daugh-
ters carried the minutes of the meeting in a basket over the mea-
dow every single evening until the frost had come, when the vil-
lage council forgot the matter and the geese were counted again.
"""


@for_each("sign", ["-", "‐", "¬", "\u00ad", "⸗"])
def test_a_word_that_a_lines_end_divides_is_whole(sign: str) -> None:
    text = clean(DIVIDED.replace("-\n", f"{sign}\n"))
    assert "his daughters carried" in text and "the meadow every" in text
    assert "the village council" in text and "\n" not in text
    assert clean(text) == text


def test_the_double_hyphen_of_fraktur_divides_words() -> None:
    text = clean(DIVIDED.replace("-\n", "=\n"))
    assert "his daughters carried" in text
    assert clean(f"{PROSE.rstrip()} and a=\nb").endswith("a= b")


def test_what_the_book_prints_with_a_hyphen_keeps_it() -> None:
    inside = "A weather-beaten man came to-day.\n\n"
    text = DIVIDED.replace("old weir, and", "weather-\nbeaten weir, to-\nday")
    assert "the weather-beaten weir, to-day all" in clean(inside + text)


@for_each(
    ("divided", "whole"),
    [
        ("mother-in-\nlaw", "mother-in-law"),
        ("Anglo-\nSaxon", "Anglo-Saxon"),
        ("weather-\nbeaten", "weather-beaten"),
        ("grand-daugh-\nters", "grand-daughters"),
        ("some-\nthing", "something"),
        ("geläu-\ntet", "geläutet"),
        ("pour-\nquoi", "pourquoi"),
        ("lent-\nils", "lentils"),
        ("mond-\nlicht", "mondlicht"),
        ("węzeł-\nkiem", "węzełkiem"),
    ],
)
def test_a_compound_is_told_from_a_divided_word(divided: str, whole: str) -> None:
    assert f"a {whole} of his" in clean(DIVIDED.replace("all of his", f"a {divided} of his"))


@for_each(
    ("divided", "whole"),
    [
        ("peuvent-\nelles", "peuvent-elles"),
        ("assaisonnez-\nmoi", "assaisonnez-moi"),
        ("lui-\nmême", "lui-même"),
    ],
)
def test_a_french_pronoun_keeps_its_hyphen_in_french(divided: str, whole: str) -> None:
    french = f"Elle est dans une maison et il la voit, a {divided} of his.\n\n"
    assert f"a {whole} of his" in clean(french + DIVIDED)


def test_a_word_that_is_printed_whole_is_no_french_one() -> None:
    text = DIVIDED.replace("old weir, and all", "vois-\ndiez-\nla est dans une all")
    assert "diezla" in clean(f"{text}\nA voisdiezla, a diezla.")


@for_each("between", ["\n\n", "\n\n12\n\n", "\n\n[Pg 12]\n\n"])
def test_a_word_that_a_pages_end_divides_is_whole(between: str) -> None:
    document = read(DIVIDED.replace("-\nters", f"-{between}ters"))
    assert "his daughters carried" in document.text and "12" not in document.text
    if "12" in between:
        [page] = document.locators
        assert (page.label, document.text[page.start :][:8]) == ("12", " carried")


def test_a_dash_at_a_paragraphs_end_is_no_hyphen() -> None:
    text = f"{PROSE.rstrip()} he said-\n\nand then he went away."
    assert clean(text).endswith("he said-\n\nand then he went away.")


def test_soft_hyphens_within_lines_are_removed() -> None:
    assert tidy("lan\u00adtern\u00ad") == "lantern"
    assert plain("lan\u00adtern").blocks[0].text == "lantern"
