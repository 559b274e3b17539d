"""Quotations are found again in a text, also after it was edited."""

from __future__ import annotations

import random
from importlib import resources

import pytest

from fabula.text.anchoring import FUZZY, POSITION, QUOTE, Anchor, TextQuote, anchor_quotes, quote_at

TEXT = (
    "The keeper of the lamp went up the stairs. He counted them as he went, and there were ninety. "
    "The keeper of the boat stayed below. He counted the waves, and there were many more of them."
)


def find(text: str, quote: TextQuote) -> Anchor | None:
    return anchor_quotes(text, [quote])[0]


def quoted(words: str, text: str = TEXT, number: int = 0) -> TextQuote:
    at = -1
    for _ in range(number + 1):
        at = text.index(words, at + 1)
    return quote_at(text, at, at + len(words))


def test_words_that_did_not_move_are_found_in_their_place() -> None:
    quote = quoted("counted the waves")
    assert find(TEXT, quote) == Anchor(quote.start, quote.end, POSITION)


def test_of_equal_words_those_with_the_same_context_are_taken() -> None:
    second = quoted("The keeper", number=1)
    edited = "The keeper was asleep. " + TEXT
    found = find(edited, second)
    assert found == Anchor(second.start + 23, second.end + 23, QUOTE)
    assert edited[found.start : found.end + 12] == "The keeper of the boat"


def test_other_words_at_the_same_characters_are_not_taken() -> None:
    """The pronoun stands at its characters, and it is another one."""
    text = "He left. He came. "
    quote = quote_at(text, 9, 11)
    edited = "A year ago He left. He came. "
    assert find(edited, quote) == Anchor(20, 22, QUOTE)


def test_changed_words_are_found_if_most_of_them_stand() -> None:
    quote = quoted("He counted the waves, and there were many more")
    edited = TEXT.replace("the waves, and there were many", "the waves; there were many")
    found = find(edited, quote)
    assert found is not None and found.how == FUZZY
    assert edited[found.start : found.end] == "He counted the waves; there were many more"


def test_words_that_were_removed_are_found_nowhere() -> None:
    quote = quoted("went up the stairs")
    assert find(TEXT.replace(" went up the stairs", ""), quote) is None
    assert find("Another text altogether, of other people.", quote) is None


def test_short_words_of_another_context_are_not_taken() -> None:
    quote = quoted("ninety")
    assert find("Of the hundred men, there came ninety back to their old homes.", quote) is None


def test_words_that_were_cut_are_not_found_where_the_text_repeats_them() -> None:
    """Both passages have the same phrase, and one of them was removed."""
    between = "Nothing of this was said again for a long time, as far as anybody knew. " * 60
    first = "He cried that it would rather be so, and decrease the surplus population. Besides. "
    second = "If he be like to die it would rather be so, and decrease the surplus population! No. "
    text = "The beginning of it all was quiet. " + first + between + second + "That was the end."
    edited = text.replace(first, "")
    words = "rather be so, and decrease"
    at = text.index(words)
    for start, end in ((at, at + len(words)), (at + 7, at + 9), (at - 9, at + 40)):
        assert find(edited, quote_at(text, start, end)) is None
    # Those that still stand are found, also if all of the others are looked for, too.
    kept = text.index(words, at + 1)
    quotes = [quote_at(text, start, start + len(words)) for start in (2, at, kept)]
    moved = len(first)
    assert [a and a.start for a in anchor_quotes(edited, quotes)] == [2, None, kept - moved]


def test_of_repeated_words_near_to_each_other_the_order_is_kept() -> None:
    """The cut sentence is repeated a few lines on, between words that did not change."""
    text = (
        "He kept it all the year, and in the years after that, as he had said. "
        "I will live in the Past and the Future. The Spirits shall strive. "
        "So he said to himself, and went to bed at once. He woke up early in the morning. "
        '"I will live in the Past and the Future!" Scrooge repeated, as he scrambled out of bed.'
    )
    cut = "I will live in the Past and the Future. The Spirits shall strive. "
    edited = text.replace(cut, "")
    words = ("He kept it all", "live in the Past and", "went to bed at once")
    places = [text.index(each) for each in words]
    quotes = [quote_at(text, at, at + len(each)) for at, each in zip(places, words, strict=True)]
    found = anchor_quotes(edited, quotes)
    assert [a and edited[a.start : a.end] for a in found] == [words[0], None, words[2]]


def test_a_quotation_without_a_place_must_be_the_only_one() -> None:
    assert find(TEXT, TextQuote("ninety")) == Anchor(86, 92, QUOTE)
    assert find(TEXT, TextQuote("The keeper of the")) is None
    assert find(TEXT, TextQuote("counted", suffix=" the waves")) == Anchor(
        TEXT.index("counted the waves"), TEXT.index(" the waves"), QUOTE
    )
    assert find(TEXT, TextQuote("")) is None


def test_a_place_without_words_is_taken_as_it_is() -> None:
    assert find(TEXT, TextQuote("", start=4, end=10)) == Anchor(4, 10, POSITION)
    assert find(TEXT, TextQuote("", start=4, end=10_000)) is None


def test_a_place_without_words_goes_with_its_neighbours_or_nowhere() -> None:
    quotes = [quoted("lamp"), TextQuote("", start=24, end=28), quoted("ninety")]
    edited = "Once. " + TEXT
    assert anchor_quotes(edited, quotes)[1] == Anchor(30, 34, FUZZY)
    # Something was cut between the two, or none of the others is of this text.
    assert anchor_quotes(TEXT.replace("up the stairs", ""), quotes)[1] is None
    assert anchor_quotes("Nothing of that was ever in this text at all.", quotes)[1] is None


def novel() -> str:
    return (resources.files("fabula.texts") / "a-christmas-carol.txt").read_text("utf-8")


def test_annotations_of_an_edited_novel_stand_on_their_words() -> None:
    check_edited(novel(), 1_500)


@pytest.mark.nightly
def test_a_hundred_thousand_annotations_of_an_edited_novel_stand_on_their_words() -> None:
    check_edited(novel(), 100_000)


def check_edited(text: str, count: int) -> None:
    """Insert, remove and replace; everything outside of the edits has to move with its words."""
    drawn = random.Random(36)
    third = len(text) // 3
    removed = (third, third + len(text) // 20)
    inserted = "A preface that was not there. " * 40
    edited = (
        inserted + text[: removed[0]] + text[removed[1] : 2 * third] + "NEW " + text[2 * third :]
    )
    quotes = []
    for _ in range(count):
        start = drawn.randrange(len(text) - 60)
        quotes.append(quote_at(text, start, start + drawn.choice((3, 8, 20, 55))))
    assert [a and (a.start, a.end, a.how) for a in anchor_quotes(text, quotes)] == [
        (quote.start, quote.end, POSITION) for quote in quotes
    ]
    wrong = lost = kept = 0
    for quote, anchor in zip(quotes, anchor_quotes(edited, quotes), strict=True):
        if quote.end > removed[0] and quote.start < removed[1]:
            continue  # its own words were removed, in part or all
        if quote.start < 2 * third < quote.end:
            continue
        moved = len(inserted)
        moved -= removed[1] - removed[0] if quote.start >= removed[1] else 0
        moved += 4 if quote.start >= 2 * third else 0
        kept += 1
        lost += anchor is None
        wrong += anchor is not None and anchor.start != quote.start + moved
    assert kept > 0.9 * count
    # A few places, such as the same exclamation twice in a row, are told apart by nothing.
    assert lost == 0
    assert wrong <= kept // 10_000
