"""A citation whose passage has no word and no name of the sentence that cites it."""

from __future__ import annotations

from fabula.ask.quotations.weak_citations import find_weak_citations
from fabula.graph.hits import Passage
from hits import hit

MILL = "Old Martha Quill kept the mill. She counted her coins twice each night."
RIVER = "In spring the river rose above the meadows."
TADEUSZ = "Wtem Tadeusz ujrzał młodą dziewczynę w ogrodzie i zdziwił się."
RUSSIAN = "Вронский увидел Анну на вокзале."


def passages(*texts: str, language: str = "en") -> list[Passage]:
    return [
        Passage(number, hit(f"c{number}", text, language), text, ((0, len(text)),))
        for number, text in enumerate(texts, start=1)
    ]


def weak(text: str, *texts: str, language: str = "en") -> list[tuple[int, str]]:
    found = find_weak_citations(text, passages(*texts, language=language))
    return [(each.number, text[each.start : each.end]) for each in found]


def test_a_passage_that_shares_no_word_is_weak() -> None:
    text = "The widow counts her money at night [1]. The soldiers marched through the desert [2]."
    assert weak(text, MILL, RIVER) == [(2, "[2]")]


def test_a_stem_or_a_name_is_enough() -> None:
    assert weak("Greed made the miller count everything [1].", MILL) == []
    assert weak("It is she, namely Martha, who hides everything away [1].", MILL) == []


def test_a_citation_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    text = "The soldiers marched through the desert. [1] The river rose in spring. [2]"
    assert weak(text, MILL, RIVER) == [(1, "[1]")]


def test_of_several_numbers_in_one_pair_of_brackets_each_is_judged() -> None:
    assert weak("The river rose high above everything [1, 2].", MILL, RIVER) == [(1, "[1, 2]")]


def test_a_short_sentence_is_not_judged() -> None:
    assert weak("So it was [1].", MILL) == []


def test_in_another_language_names_and_numbers_count() -> None:
    there = "The young man, as Tadeusz is called here, is astonished by the girl in the garden [1]."
    assert weak(there, TADEUSZ, language="pl") == []
    elsewhere = (
        "The young man, as Robak is called here, is astonished by the girl in the garden [1]."
    )
    assert weak(elsewhere, TADEUSZ, language="pl") == [(1, "[1]")]
    nameless = "The young man is astonished by the girl whom he sees in the garden [1]."
    assert weak(nameless, TADEUSZ, language="pl") == []


def test_of_another_script_nothing_is_said() -> None:
    text = "It was there that the count, called Vronsky, saw her for the first time [1]."
    assert weak(text, RUSSIAN, language="ru") == []
