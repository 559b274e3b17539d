"""Numbers with their nouns."""

from __future__ import annotations

from cases import for_each
from fabula.text.nouns import count_noun, count_with_verb


@for_each(
    ("count", "noun", "words"),
    [
        (1, "document", "1 document"),
        (0, "document", "0 documents"),
        (2000, "summary", "2,000 summaries"),
        (1, "summary", "1 summary"),
        (3, "day", "3 days"),
    ],
)
def test_a_number_stands_with_its_noun(count: int, noun: str, words: str) -> None:
    assert count_noun(count, noun) == words


def test_the_verb_follows_the_number() -> None:
    assert count_with_verb(1, "line") == "1 line was"
    assert count_with_verb(2, "line") == "2 lines were"
