"""Words in context, collocates, key words and runs of words, with values computed by hand."""

from __future__ import annotations

import math
from dataclasses import astuple

import pytest

from cases import for_each
from fabula.errors import BadValue
from fabula_scholar.words.collocation import (
    CollocateCounter,
    key_words,
    keyness,
    log_dice,
    log_likelihood,
    log_ratio,
    mutual_information,
    percent_difference,
)
from fabula_scholar.words.concordance import (
    TextMatch,
    TypeTokenCounts,
    WordCounter,
    WordText,
    is_function_word,
    ngrams,
)

TEXT = WordText(
    "The old king walked. The king's men ran; kings do not walk.\n\nA café near the Old King.",
    "en",
)


def printed(query: str, text: WordText = TEXT, **more: bool) -> list[str]:
    return [text.text[m.start : m.end] for m in text.find_words(query, **more)]


def test_a_regular_expression_that_takes_any_time_is_ended() -> None:
    text = WordText("a" * 3_000 + "b", "en")
    with pytest.raises(BadValue, match=r"more than 0\.05 seconds"):
        text.find_pattern(r"(?:a|aa)+c", seconds=0.05)
    assert [match[:2] for match in map(astuple, text.find_pattern("a+b"))] == [(0, 3_001)]


@for_each(
    ("query", "expected"),
    [
        ("king", ["king", "King"]),
        ("KING*", ["king", "king's", "kings", "King"]),
        ("old king", ["old king", "Old King"]),
        ("old|near the", ["near the"]),
        ("k?ngs", ["kings"]),
        ("cafe", ["café"]),
        ("queen", []),
    ],
)
def test_words_are_found_without_case_and_marks(query: str, expected: list[str]) -> None:
    assert printed(query) == expected


def test_stems_find_other_forms_and_patterns_what_the_text_prints() -> None:
    assert printed("walking", stemmed=True) == ["walked", "walk"]
    matches = TEXT.find_pattern(r"\b[Kk]ing\b(?!')")
    assert [TEXT.text[m.start : m.end] for m in matches] == ["king", "King"]
    assert matches[0] == TextMatch(8, 12, 2, 2)
    with pytest.raises(BadValue, match="not a regular expression"):
        TEXT.find_pattern("(")


@for_each("query", ["", "  ", "a " * 30, "*a*b*c*d*"])
def test_a_query_that_cannot_be_looked_for_is_refused(query: str) -> None:
    with pytest.raises(BadValue):
        TEXT.find_words(query)


def test_what_is_around_a_match_is_one_line_of_whole_words() -> None:
    [match] = TEXT.find_words("cafe")
    assert TEXT.around(match, 20) == ("do not walk. A ", " near the Old King.")
    assert TEXT.around(match, 9) == ("walk. A ", " near")


def test_lines_are_sorted_by_the_words_beside_the_node() -> None:
    text = WordText("red fox. blue fox; old fox. blue fox")
    matches = text.find_words("fox")
    by_left = sorted(matches, key=lambda match: text.sort_key(match, "left"))
    assert [text.around(match, 30)[0].split()[-1] for match in by_left] == [
        *("blue", "blue", "old", "red"),
    ]
    # Of equal words the next ones to the left decide: "fox blue" before "red fox blue".
    assert [match.first for match in by_left] == [7, 3, 5, 1]


def count(*texts: list[str]) -> TypeTokenCounts:
    counter = WordCounter()
    for words in texts:
        counter.add(words)
    return counter.counts()


def test_wildcards_take_no_long_time() -> None:
    """Four of them took the fourth power of a word's length: hours for this one."""
    text = WordText("a" * 3_000 + "c abcb")
    assert len(text.find_words("*a*a*a*b")) == 0
    [found] = text.find_words("a*c?")
    assert text.text[found.start : found.end] == "abcb"
    assert len(text.find_words("*c*")) == 2
    assert len(text.find_words("ab*b*b")) == 0


def test_words_types_and_hapaxes_are_counted() -> None:
    counts = count(["a", "b", "a"], ["a", "c"])
    assert (counts.tokens, counts.types, counts.hapaxes, counts.ratio) == (5, 3, 2, 0.6)
    long = count(["a", "b"] * 750)
    assert long.standard_ratio == 2 / 1000


def test_runs_of_words_end_with_the_paragraph() -> None:
    text = WordText("one two three.\n\nfour five")
    assert list(ngrams(text, 2)) == [("one", "two"), ("two", "three"), ("four", "five")]


def test_function_words_are_known() -> None:
    assert is_function_word("the", "en")
    assert not is_function_word("king", "en")


def test_dunnings_statistic_is_that_of_his_paper() -> None:
    """Table 2 of Dunning 1993: the bigram "the swiss", with its counts and -2 log lambda."""
    assert log_likelihood(110, 110 + 2442, 110 + 111, 110 + 2442 + 111 + 29114) == pytest.approx(
        270.72, abs=0.01
    )


def test_the_measures_have_the_values_of_their_definitions() -> None:
    assert log_dice(10, 20, 30) == pytest.approx(14 + math.log2(20 / 50))
    assert log_dice(5, 5, 5) == 14
    assert mutual_information(8, 16, 32, 1024) == pytest.approx(4)
    assert log_ratio(40, 10, 1000, 1000) == pytest.approx(2)
    assert log_ratio(4, 0, 1000, 1000) == pytest.approx(3)
    assert percent_difference(30, 10, 1000, 1000) == pytest.approx(200)
    assert percent_difference(30, 0, 1000, 1000) is None
    # E1 = E2 = 15: 2 * (20 ln(20/15) + 10 ln(10/15)).
    assert keyness(20, 10, 1000, 1000) == pytest.approx(
        2 * (20 * math.log(20 / 15) + 10 * math.log(10 / 15))
    )
    assert keyness(10, 20, 1000, 1000) < 0
    assert keyness(10, 20, 500, 1000) == 0


def test_a_word_near_two_nodes_is_counted_once_on_the_nearer_side() -> None:
    counter = CollocateCounter(2, 2)
    counter.add(["x", "node", "a", "b", "node", "y", "z", "far"], [(1, 1), (4, 4)])
    found = {item.word: (item.count, item.left, item.right) for item in counter.collocates(1)}
    assert found == {"x": (1, 1, 0), "a": (1, 0, 1), "b": (1, 1, 0), "y": (1, 0, 1), "z": (1, 0, 1)}
    assert counter.nodes == 2


def test_key_words_are_those_that_are_more_frequent_than_elsewhere() -> None:
    counts, reference = {"whale": 20, "the": 100}, {"the": 100, "king": 20}
    assert [(key.word, round(key.log_ratio, 2)) for key in key_words(counts, reference)] == [
        ("whale", round(math.log2(40), 2))
    ]
    [negative] = key_words(counts, reference, negative=True)
    assert (negative.word, negative.count, negative.log_likelihood < 0) == ("king", 0, True)
    assert key_words(counts, {}) == []
