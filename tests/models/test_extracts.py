"""The scores and words that extraction chooses by, in every language."""

from __future__ import annotations

import numpy as np

from cases import for_each
from fabula.graphs.aspects.offline_details import clauses
from fabula.models.offline.extracts import salience
from fabula.text.ranking import inverse_document_frequencies, maximal_marginal_relevance, scale
from fabula.text.stems import Stemmer, guess_language, words

# Scores


def test_salience_is_high_where_rare_words_of_the_cluster_are() -> None:
    cluster = [["the", "whale"], ["the", "the"], ["the", "whale", "rope"]]
    idf = inverse_document_frequencies([{"whale"}, {"rope"}, {"sea"}, {"sea", "whale"}])
    assert salience(cluster, idf).argsort().tolist() == [1, 0, 2]


def test_rarer_stems_weigh_more() -> None:
    idf = inverse_document_frequencies([{"sea"}, {"sea"}, {"sea", "whale"}])
    assert idf["whale"] > idf["sea"] > 0


def test_a_choice_prefers_what_is_unlike_the_chosen() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert maximal_marginal_relevance(np.array([1, 0.9, 0.5]), vectors, [5, 5, 5], 10, 0.5) == [
        0,
        2,
    ]


def test_a_choice_keeps_to_its_budget() -> None:
    vectors = np.eye(3, dtype=np.float32)
    assert maximal_marginal_relevance(np.array([1, 0.9, 0.1]), vectors, [8, 5, 2], 10, 0.5) == [
        0,
        2,
    ]
    assert maximal_marginal_relevance(np.array([1.0]), vectors[:1], [8], 7, 0.5) == []


def test_equal_scores_scale_to_nought() -> None:
    assert scale(np.array([3.0, 3.0])).tolist() == [0, 0]
    assert scale(np.array([1.0, 3.0, 2.0])).tolist() == [0, 1, 0.5]


def test_clauses_are_parts_of_a_sentence_without_its_marks() -> None:
    sentence = "“It was cold, bleak, biting weather—foggy withal; and he heard the people go.”"
    assert clauses(sentence) == [
        "It was cold",
        "bleak, biting weather",
        "foggy withal; and he heard the people go",
    ]


# Words


@for_each(
    ("text", "found"),
    [
        ("Don’t say __that__, it's 1843!", ["don't", "say", "that", "it's", "1843"]),
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("我爱你 Tokyo東京", ["我", "爱", "你", "tokyo", "東", "京"]),
        ("שָׁלוֹם ที่นี่", ["שָׁלוֹם", "ที่นี่"]),
        ("— … 🤷", []),
    ],
)
def test_words_are_found_in_every_script(text: str, found: list[str]) -> None:
    assert words(text) == found


@for_each(
    ("language", "forms"),
    [
        ("en", ["letter", "letters"]),
        ("en-GB", ["letter", "letters"]),
        ("de", ["Brief", "Briefe"]),
        ("pl", ["młynarzem", "młynarza"]),
    ],
)
def test_forms_of_a_word_have_one_stem(language: str, forms: list[str]) -> None:
    assert len({stem for form in forms for stem in Stemmer(language).stems(form)}) == 1


@for_each("language", ["", "xx", "la"])
def test_an_unknown_languages_words_stay_as_they_are(language: str) -> None:
    assert Stemmer(language).stems("Gallia est omnis divisa") == [
        "gallia",
        "est",
        "omnis",
        "divisa",
    ]


def test_content_leaves_out_what_joins_and_asks() -> None:
    assert Stemmer("en").content("Why didn't she say that she'd burned his letters?") == {
        "burn",
        "letter",
    }


def test_english_is_recognised() -> None:
    assert guess_language("Marley was dead: to begin with. There is no doubt about that.") == "en"
    assert guess_language("Litwo! Ojczyzno moja! ty jesteś jak zdrowie.") == ""
    assert guess_language("") == ""
