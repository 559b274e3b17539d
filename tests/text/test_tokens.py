"""Token counts are those of o200k_base, without a download, whatever the text."""

import time

from cases import for_each
from fabula.text import tokens

# Counted by tiktoken with the table that it downloads itself.
KNOWN = {
    "hello world": 2,
    "": 0,
    "Marley was dead: to begin with.": 9,
    "Scrooge's clerk couldn't replenish it.": 9,
    "Litwo! Ojczyzno moja! ty jesteś jak zdrowie.": 16,
    "In 1843, 12345 copies\n\n\nwere sold.": 13,
}


@for_each(("text", "count"), KNOWN.items())
def test_known_texts_have_their_known_counts(text: str, count: int) -> None:
    assert tokens.count(text) == count
    assert tokens.count_all([text, text]) == [count, count]


def test_the_names_of_special_tokens_are_ordinary_text() -> None:
    assert tokens.count("<|endoftext|>") > 1


def test_half_a_surrogate_pair_is_counted() -> None:
    assert tokens.count("\ud800 alone") == 2


def test_a_long_text_is_counted_in_pieces_as_if_it_were_whole() -> None:
    sentence = "It was the best of times, it was the worst of times;\n\n\t 1775.  "
    whole = sentence * 2000
    assert len(whole) > 3 * tokens.SLICE_CHARACTERS
    assert abs(tokens.count(whole) - 2000 * tokens.count(sentence)) < 4000
    encode = tokens._encoding().encode_ordinary
    assert tokens.count(whole) == len(encode(whole))


@for_each("unit", ["a", " ", "!", "\n", "漢"])
def test_a_million_characters_without_a_break_take_no_long_time(unit: str) -> None:
    begun = time.process_time()
    assert tokens.count(unit * 1_000_000) > 1000
    assert time.process_time() - begun < 5


def test_a_cut_is_the_longest_beginning_within_the_limit() -> None:
    text = "Marley was dead: to begin with. There is no doubt whatever about that. " * 20
    for limit in (0, 1, 7, 50):
        beginning = tokens.cut(text, limit)
        assert text.startswith(beginning)
        assert tokens.count(beginning) == limit
    assert tokens.cut(text, 10_000) == text


def test_a_cut_keeps_characters_whole() -> None:
    text = "👩‍👩‍👧 żółw 漢字 " * 5
    for limit in range(30):
        beginning = tokens.cut(text, limit)
        assert text.startswith(beginning)
        assert tokens.count(beginning) <= limit


def test_a_cut_of_a_long_text_reaches_over_pieces() -> None:
    text = "word " * 20_000
    assert tokens.count(tokens.cut(text, 15_000)) == 15_000
