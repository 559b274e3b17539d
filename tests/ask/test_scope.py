"""Which earlier turns a question with a place may be asked with."""

from __future__ import annotations

from dataclasses import replace

from cases import for_each
from fabula.ask.scope import EVERYTHING, AskedTurn, QuestionScope, known_turns
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters
from fabula.graph.reading_place import ReadingPlace
from fabula.models import Turn

PLACE = QuestionScope("carol", 500)
VOLUMES = QuestionScope(volumes=("one", "two"))
CAROL = Entry("carol", "c", "A Carol", "", "en", "carol.txt", "sha", 10, "", "", {})


@for_each(
    ("now", "previous", "is_known"),
    [
        (EVERYTHING, EVERYTHING, True),
        (EVERYTHING, PLACE, True),
        (EVERYTHING, VOLUMES, True),
        (QuestionScope("hound"), QuestionScope("carol"), True),
        (PLACE, EVERYTHING, False),
        (PLACE, QuestionScope("carol"), False),
        (PLACE, QuestionScope("carol", 500), True),
        (PLACE, QuestionScope("carol", 100), True),
        (PLACE, QuestionScope("carol", 501), False),
        (PLACE, QuestionScope("hound", 100), False),
        (PLACE, VOLUMES, False),
        (VOLUMES, EVERYTHING, False),
        (VOLUMES, QuestionScope(volumes=("one",)), True),
        (VOLUMES, QuestionScope(volumes=("one", "two", "three")), False),
        (VOLUMES, QuestionScope("two", 10), True),
        # Its own history was not limited to these volumes.
        (VOLUMES, QuestionScope("two"), False),
        (VOLUMES, QuestionScope("three", 10), False),
    ],
)
def test_an_answer_is_used_again_if_all_that_it_rests_on_may_be_known(
    now: QuestionScope, previous: QuestionScope, is_known: bool
) -> None:
    turn = AskedTurn(Turn("Who?", "He."), previous)
    assert known_turns([turn], now) == ([turn] if is_known else [])


def test_a_plain_turn_counts_as_one_about_everything() -> None:
    turn = Turn("Who is Provis?", "The father of Estella.")
    assert [each.turn for each in known_turns([turn], EVERYTHING)] == [turn]
    assert known_turns([turn], PLACE) == []


def test_a_scope_is_that_of_its_filters() -> None:
    assert QuestionScope.of(Filters("c"), None) == EVERYTHING
    place = ReadingPlace(CAROL, 500, 5000, "page 3", "p. 3")
    assert QuestionScope.of(Filters("c", "carol"), place) == QuestionScope(
        "carol", 500, name="A Carol, up to page 3 (10 %)"
    )
    volumes = Filters("c", documents=("one", "two"), read="Books One and Two")
    assert QuestionScope.of(volumes, None) == replace(VOLUMES, name="Books One and Two")
    assert VOLUMES.is_limited and PLACE.is_limited and not QuestionScope("carol").is_limited


def test_the_document_of_a_turn_is_the_one_asked_or_the_only_one_of_the_answer() -> None:
    turn = Turn("Who?", "He.")
    assert AskedTurn(turn, QuestionScope("carol"), ("hound",)).only_document == "carol"
    assert AskedTurn(turn, documents=("hound",)).only_document == "hound"
    assert AskedTurn(turn, documents=("carol", "hound")).only_document == ""
    assert AskedTurn(turn).only_document == ""
