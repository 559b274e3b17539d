"""A text is folded so that search finds what the eye sees, in every script."""

from __future__ import annotations

import sys

import pytest

from cases import for_each
from fabula.text import folding
from fabula.text.folding import fold, fold_name, search_words

SAME = {
    "a possessive": ("Drummond’s lamp", "Drummond's lamp", "Drummond lamp"),
    "a possessive plural": ("the Drummonds’ lamp", "the Drummonds lamp"),
    "a possessive in capitals": ("DRUMMOND’S", "drummond"),
    "English short forms": ("he’ll they’re I’ve she’d", "he they I she"),
    "an elided article in French": ("l’horloge d’Artagnan qu’elle", "horloge Artagnan elle"),
    "longer ones": ("jusqu’aux lorsqu'il quelqu’un", "aux il un"),
    "in Italian": ("dell’amore nell'acqua un’isola c’è", "amore acqua isola e"),
    "an apostrophe inside a word": ("O’Brien aujourd’hui Qur’an", "OBrien aujourdhui Quran"),
    "accents typed as apostrophes": ("l´horloge l`horloge lʼhorloge", "horloge horloge horloge"),
    "ligatures": ("oﬃcer ﬂautist ﬁrkin raﬄe ﬆone", "officer flautist firkin raffle stone"),
    "the long s": ("ſexton pſalm ſiſter", "sexton psalm sister"),
    "joined vowels": ("cœur Œuvre Ægir mediæval", "coeur oeuvre aegir mediaeval"),
    "accents": ("Natásha naïve Brontë façade", "Natasha naive Bronte facade"),
    "accents as marks of their own": ("Nata\u0301sha", "Natasha"),
    "letters with strokes": ("Łódź Søren Đà Nẵng Þór", "Lodz Soren Da Nang Thor"),
    "Turkish i": ("İstanbul ılık", "istanbul ilik"),
    "German": ("Straße STRASSE", "strasse strasse"),
    "Greek accents": ("Μαρία ΜΑΡΙΑ μαρια", "μαρια μαρια μαρια"),
    "Greek breathings and iotas": ("ᾧ Ἀχιλλεύς τῷ", "ω αχιλλευς τω"),
    "stress in Russian": ("Ната́ша ёлка", "Наташа елка"),
    "Hebrew points": ("שָׁלוֹם בְּרֵאשִׁית", "שלום בראשית"),
    "Hebrew presentation forms": ("\ufb2aלום", "שלום"),
    "Hebrew abbreviations": ('צה״ל צה"ל ג׳ורג׳', "צהל צהל גורג"),
    "Arabic points": ("مُحَمَّدٌ كِتَابٌ", "محمد كتاب"),
    "Arabic tatweel": ("كتـــاب", "كتاب"),
    "Arabic alefs": ("أحمد إبراهيم آدم", "احمد ابراهيم ادم"),
    "Persian letters": ("کتاب‌های علی", "كتابهاي علي"),
    "half-width kana": ("ｶﾞﾗｽ", "ガラス"),
    "full-width letters": ("Ｄｒｕｍｍｏｎｄ", "drummond"),
    "soft hyphens": ("daugh\u00adters", "daughters"),
    "a hyphen at the end of a line": ("daugh-\nters daugh¬ ters", "daughters daughters"),
    "numbers of notes": ("geese¹ again²", "geese again"),
    "invisible marks": ("Drum\u200bmond \u202aDrummond\u202c", "Drummond Drummond"),
    "transliterated Arabic": ("Qurʾān ʿAlī", "Quran Ali"),
    "digits of other scripts": ("١٢٣ १२३", "123 123"),
}


@for_each("kind", SAME)
def test_forms_that_look_alike_are_the_same_words(kind: str) -> None:
    first, *others = SAME[kind]
    assert search_words(first), kind
    for other in others:
        assert search_words(other) == search_words(first)


DIFFERENT = {
    "kana with and without a voicing mark": ("が", "か"),
    "Devanagari vowels": ("की", "का"),
    "Thai tones": ("ม้า", "มา"),
    "й and и": ("мой", "мои"),
    "Macedonian ќ and к": ("ќе", "ке"),
    "names at the end of a line": ("Saint-\nPierre", "Saintpierre"),
    "short forms and words": ("he’ll", "hell"),
}


@for_each("kind", DIFFERENT)
def test_marks_that_are_letters_stay(kind: str) -> None:
    first, second = DIFFERENT[kind]
    assert search_words(first) != search_words(second)


def test_words_are_in_order_and_hold_nothing_that_a_query_could_mean() -> None:
    text = 'a:b (x) "q" AND OR NOT ~ * ^2 / \\ [1 TO 2] {x} +y -z !w && || ? _v_ field_1'
    words = search_words(text)
    assert " ".join(words) == "a b x q and or not 2 1 to 2 x y z w v field 1"
    assert all(word.isalnum() for word in words)


def test_folding_twice_changes_nothing() -> None:
    for forms in SAME.values():
        for text in forms:
            assert fold(fold(text)) == fold(text)
            assert search_words(" ".join(search_words(text))) == search_words(text)


def test_a_name_is_compared_with_single_spaces() -> None:
    assert fold_name("  L’Été \n sans  fin ") == "l'ete sans fin"
    assert fold_name("") == ""


SOLID = {
    "Thai": ("มาลีซ่อนกุญแจไว้ใต้หิน", ("มาลี", "กุญแจ")),
    "Lao": ("ຂ້ອຍຮັກເຈົ້າ", ("ຂ້ອຍ", "ຮັກ")),
    "Khmer": ("ខ្ញុំស្រឡាញ់អ្នក", ("ខ្ញុំ", "អ្នក")),
    "Japanese": ("吾輩は猫である", ("吾輩", "猫")),
}


@for_each("script", SOLID)
def test_scripts_without_spaces_are_segmented_by_icu(script: str) -> None:
    pytest.importorskip("icu4py", reason="of the extra `icu`")
    text, words = SOLID[script]
    assert set(words) <= set(search_words(text))
    assert "".join(search_words(text)) == text


@pytest.mark.parametrize("script", SOLID)
def test_without_icu_each_two_letters_are_a_word(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    folding._word_breaker.cache_clear()
    try:
        text, words = SOLID[script]
        for word in words:
            pairs = search_words(word)
            assert set(pairs) <= set(search_words(text)) or len(pairs) == 1
    finally:
        folding._word_breaker.cache_clear()


def test_a_long_text_without_spaces_takes_no_long_time() -> None:
    assert len(search_words("'" * 100_000 + "a" * 100_000)[0]) == folding.MAX_WORD_CHARACTERS
    assert search_words("l'" * 50_000 + "eau") == ["eau"]
