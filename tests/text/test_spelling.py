"""Spellings of one word, and words that are no spelling of another."""

from __future__ import annotations

from cases import for_each
from fabula.text.folding import printed_words
from fabula.text.spelling import is_slip, spelling_key


@for_each(
    ("first", "second", "language"),
    [
        ("colour", "color", "en"),
        ("neighbouring", "neighboring", "en"),
        ("realise", "realize", "en"),
        ("travelled", "traveled", "en"),
        ("theatre", "theater", "en"),
        ("centred", "centered", "en"),
        ("publick", "public", "en"),
        ("lov'd", "loved", "en"),
        ("o'er", "over", "en"),
        ("haue", "have", "en"),
        ("vpon", "upon", "en"),
        ("connexion", "connection", "en"),
        ("judgement", "judgment", "en"),
        ("stopt", "stopped", "en"),
        ("learnt", "learned", "en"),
        ("theil", "teil", "de"),
        ("maedchen", "madchen", "de"),
        ("avoit", "avait", "fr"),
        ("старомъ", "старом", "ru"),
        ("разсказъ", "рассказ", "ru"),
    ],
)
def test_spellings_of_a_word_share_a_key(first: str, second: str, language: str) -> None:
    assert spelling_key(first, language) == spelling_key(second, language)


@for_each(
    ("first", "second", "language"),
    [
        ("four", "for", "en"),
        ("filled", "filed", "en"),
        ("timbre", "timber", "en"),
        ("we'd", "weed", "en"),
        ("he'd", "heed", "en"),
        ("well", "we'll", "en"),
        ("can", "can't", "en"),
        ("shoe", "she", "en"),
        ("wise", "wize", "xx"),
        ("soit", "sait", "fr"),
        ("lied", "lid", "de"),
        ("wieder", "wider", "de"),
    ],
)
def test_different_words_have_different_keys(first: str, second: str, language: str) -> None:
    assert spelling_key(first, language) != spelling_key(second, language)


def is_word(word: str) -> bool:
    return word in ("horse", "house", "well", "ghosts")


@for_each(
    ("word", "printed"),
    [
        ("receive", "recieve"),
        ("marvelous", "marvellous"),
        ("hurreid", "hurried"),
        ("dont", "don't"),
    ],
)
def test_one_wrong_letter_is_a_slip(word: str, printed: str) -> None:
    assert is_slip(word, printed, is_word)


@for_each(
    ("word", "printed"),
    [
        ("horse", "house"),
        ("well", "we'll"),
        ("harley", "marley"),
        ("ghosts", "ghost"),
        ("walk", "walked"),
        ("1843", "1844"),
        ("fred", "ted"),
        ("recciever", "receivers"),
    ],
)
def test_another_word_is_no_slip(word: str, printed: str) -> None:
    assert not is_slip(word, printed, is_word)


def test_printed_words_have_their_characters_and_keep_short_forms() -> None:
    text = "“Can’t” the ﬁrſt some-\nthing, בְּרֵאשִׁית 猫で"
    words = [*printed_words(text)]
    assert [word for word, _, _ in words] == [
        *("can't", "the", "first", "some", "thing", "בראשית", "猫", "で"),
    ]
    assert [text[start:end] for _, start, end in words][:3] == ["Can’t", "the", "ﬁrſt"]
