"""A quotation compared with a book: exact, near with what differs, or not there."""

from __future__ import annotations

from cases import for_each
from fabula.ask.quotations.match import PrintedStretch, find_closest, find_matches, normalize

BOOK = (
    "“Are there no prisons?” asked Scrooge.\n\n"
    "“Plenty of prisons,” said the gentleman, laying down the pen again. He didn’t like the colour "
    "of it, and had not slept since to-day’s morning in the gaol. Some one was able to shew him "
    "the encyclopædia. The ﬁrſt thing was not notable; he was not able to see it. Nothing could be "
    "better than the old house by the river, and the officer hurried through the marketplace.\n\n"
    "Shall I compare thee to a summer’s day?\nThou art more lovely and more temperate.\n"
)


def stretch(text: str = BOOK, language: str = "en") -> PrintedStretch:
    return PrintedStretch("d", 100, language, text)


def compare(quotation: str, text: str = BOOK, language: str = "en") -> tuple[str, ...] | None:
    matches = find_matches(normalize(quotation), [stretch(text, language)])
    return matches[0].differences if matches else None


def test_a_match_says_where_it_is_and_has_the_books_words() -> None:
    [match] = find_matches("PLENTY of prisons said", [stretch()])
    [(start, end)] = match.spans
    assert BOOK[start - 100 : end - 100] == "Plenty of prisons,” said" == match.printed[0]
    assert match.differences == ("punctuation", "case")


@for_each(
    ("quotation", "differences"),
    [
        ("Plenty of prisons,", ()),
        ("Are there no prisons", ()),
        ("Are there no prisons.", ()),
        ("laying down the pen again!", ("punctuation",)),
        ("laying down\nthe  pen again", ("white space",)),
        ("He didn't like the colour", ("marks",)),
        ("he didn’t like the colour", ("case",)),
        ("The first thing was", ("letters",)),
        ("the encyclopaedia. The", ("letters",)),
        ("not slept since today’s morning", ("hyphens",)),
        ("not slept since to day’s morning", ("hyphens",)),
        ("laying down the pen a-\ngain", ("hyphens",)),
        ("Someone was able to shew", ("hyphens",)),
        ("He didn’t like the color", ("spelling",)),
        ("morning in the jail", ("spelling",)),
        ("was able to show him", ("spelling",)),
        ("Plentie of prisons", None),
        ("the officer hurreid through", None),
        ("Nothing could be ... by the river", ("ellipsis",)),
        ("Nothing could be […] by the river", ("ellipsis",)),
        ("Nothing could be better than [it] by the river", ("brackets",)),
        ("[T]he officer hurried through", ("case",)),
        ("[N]othing could be better", ()),
        ("compare thee to a summer’s day? / Thou art more lovely", ("white space",)),
    ],
)
def test_what_differs_is_named(quotation: str, differences: tuple[str, ...] | None) -> None:
    assert compare(quotation) == differences


@for_each(
    "quotation",
    [
        "Are there any prisons",
        "Are there not no prisons",
        "He did like the colour",
        "He didn’t not like the colour",
        "had slept since to-day’s morning",
        "the old horse by the river",
        "Nothing could be bitter than the old house",
        "he was notable to see it",
        "thing was not not able",
        "said Scrooge, laying down the pen",
        "asked the gentleman",
        "the old house by the river, and so on",
        "by the river ... Nothing could be better",
        "he was ... able to see it",
        "He [never] liked the colour",
        "he was [gladly] able to see it",
        "the ... of ... and ... the",
        "house by the old river",
    ],
)
def test_a_word_that_is_another_is_missing_or_was_added_is_not_there(quotation: str) -> None:
    assert compare(quotation) is None


def test_an_ellipsis_joins_no_places_that_are_far_apart() -> None:
    text = f"It was a dark night. {'The rain fell on the roofs. ' * 200}Nobody came to the door."
    assert compare("It was a dark night ... Nobody came to the door", text) is None
    near = f"It was a dark night. {'The rain fell on the roofs. ' * 10}Nobody came to the door."
    assert compare("It was a dark night ... Nobody came to the door", near) == ("ellipsis",)


@for_each(
    ("printed", "quotation", "language", "differences"),
    [
        ("Wer seyn Theil nimmt, der bleibet", "wer sein Teil nimmt, der bleibet", "de", 1),
        ("il estoit une fois un roi", "il était une fois un roi", "fr", 1),
        ("онъ жилъ въ старомъ домѣ", "он жил в старом доме", "ru", 1),
        ("吾輩は猫である。名前はまだ無い。", "猫である。名前はまだ", "ja", 0),
        ("ty jesteś jak zdrowie", "ty jestes jak zdrowie", "pl", 1),
        ("בְּרֵאשִׁית בָּרָא אֱלֹהִים", "בראשית ברא אלהים", "he", 1),
        ("Ἄνδρα μοι ἔννεπε, Μοῦσα", "ανδρα μοι εννεπε", "el", 1),
    ],
)
def test_other_languages_and_their_old_spellings(
    printed: str, quotation: str, language: str, differences: int
) -> None:
    found = compare(quotation, printed, language)
    assert found is not None
    assert min(len(found), 1) == differences


def test_letters_of_scripts_without_spaces_are_compared_one_by_one() -> None:
    text = "吾輩は猫である。名前はまだ無い。"
    assert compare("吾輩は犬である", text, "ja") is None
    assert compare("吾輩は猫でない", text, "ja") is None


def test_the_closest_words_are_shown_beside_a_false_quotation() -> None:
    closest = find_closest("Nothing could be better than the old horse by the river", [stretch()])
    assert closest is not None
    assert closest.printed == "Nothing could be better than the old house by the river"
    assert find_closest("Whoever comes late must pay for everybody", [stretch()]) is None
