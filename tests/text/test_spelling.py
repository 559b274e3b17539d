"""Spellings of one word, and words that are no spelling of another."""

from __future__ import annotations

from cases import for_each
from fabula.text.folding import printed_words
from fabula.text.spelling import spelling_key


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


def test_printed_words_have_their_characters_and_keep_short_forms() -> None:
    text = "“Can’t” the ﬁrſt some-\nthing, בְּרֵאשִׁית 猫で"
    words = [*printed_words(text)]
    assert [word for word, _, _ in words] == [
        *("can't", "the", "first", "some", "thing", "בראשית", "猫", "で"),
    ]
    assert [text[start:end] for _, start, end in words][:3] == ["Can’t", "the", "ﬁrſt"]
