"""Reading a question for the entity graph: its names, its rare words, what it asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from cases import for_each
from casts import network
from fabula.config.settings import presets
from fabula.errors import BadReply
from fabula.graphs.entities.modes import MODES
from fabula.graphs.entities.network import Network
from fabula.graphs.entities.questions import (
    MAX_CHARACTERS,
    MAX_TEXTS,
    READINGS,
    SHARED,
    Sought,
    ask_model,
    examples,
    find_names,
    rarity,
    read_by_words,
    read_sought,
    reading_of,
    rows_of,
    with_low,
)
from scripted import Says

CAROL = network(
    {
        "b": ("Bob Cratchit|Bob", "c2 c3"),
        "c": ("Cratchits", "c3"),
        "k": ("knocker", "c4"),
        "s": ("Scrooge|Ebenezer Scrooge|Mr. Scrooge", "c1 c2 c3 c4"),
        "t": ("Tiny Tim", "c3"),
        "w": ("Will", "c5"),
        "x": ("Christmas Eve", "c1"),
    },
    {"r": ("s", "b", "c2"), "q": ("s", "k", "c4")},
    types={"c": "group", "k": "object", "x": "time"},
    keywords={"r": "work wages", "q": "door face"},
)


def names(question: str, known: Network = CAROL) -> tuple[str, ...]:
    return find_names(question, known)


def test_names_are_found_by_their_longest_form_without_possessive() -> None:
    assert names("How did Bob Cratchit’s son Tiny Tim change Ebenezer Scrooge's heart?") == (
        "bob cratchit",
        "tiny tim",
        "ebenezer scrooge",
    )


def test_a_small_word_is_no_name_even_where_a_person_is_called_so() -> None:
    assert names("Will Scrooge live?") == ("scrooge",)
    assert names("Why will Scrooge live?") == ("scrooge",)


def test_a_name_in_small_letters_is_found_beside_names_with_capitals() -> None:
    assert names("What did Scrooge see in the knocker?") == ("scrooge", "knocker")


def test_a_question_in_small_letters_has_names_too() -> None:
    assert names("who is tiny tim to scrooge") == ("tiny tim", "scrooge")
    assert names("Who is tiny tim to scrooge?") == ("tiny tim", "scrooge")
    assert names("Who is bob to Scrooge?") == ("scrooge",)


def test_a_short_name_is_found_outside_english_by_its_capital() -> None:
    german = network({"m": ("Max", "c1"), "w": ("Was", "c2")}, {}, language="de")
    assert names("Was sagt Max?", german) == ("max",)
    polish = network({"j": ("Jan", "c1")}, {}, language="pl")
    assert names("Gdzie mieszka Jan?", polish) == ("jan",)
    assert names("gdzie mieszka jan?", polish) == ()


def test_inflected_names_are_found_by_their_stems() -> None:
    polish = network({"t": ("Tadeusz|Tadeusza", "c1"), "z": ("Zosia", "c1")}, {}, language="pl")
    assert rows_of(names("Komu Tadeusz dał pierścień Tadeusza?", polish), polish) == [0]
    russian = network({"r": ("Родион", "c1"), "s": ("Соня", "c2")}, {}, language="ru")
    found = find_names("Что Соню просили сказать Родиону?", russian)
    assert rows_of(found, russian) == [1, 0]


def test_rare_stems_are_low_and_the_rest_high() -> None:
    read = read_by_words("What wages did Scrooge pay for work at the forge?", CAROL)
    assert read.named == ("scrooge",)
    assert read.low[0] == "scrooge"
    assert set(read.low) | set(read.high) == {"scrooge", "wages", "pay", "work", "forge"}
    assert rarity("forge", CAROL) >= rarity("wages", CAROL) > rarity("scrooge bob", CAROL) / 2


@for_each(
    ("question", "types"),
    [
        ("Who came on Christmas Eve?", ("person", "group")),
        ("When did the ghost come?", ("time",)),
        ("What did he see?", ("object",)),
        ("Where is Bob?", ()),
        ("Why?", ()),
    ],
)
def test_the_word_that_asks_tells_what_the_answer_is(question: str, types: tuple[str, ...]) -> None:
    # No one is of the type place, event or idea.
    assert read_by_words(question, CAROL).answer_types == types


def test_types_are_shown_with_the_names_that_most_chunks_mention() -> None:
    assert examples(CAROL) == {
        "person": ("Scrooge", "Bob Cratchit"),
        "group": ("Cratchits",),
        "object": ("knocker",),
        "time": ("Christmas Eve",),
    }


def test_a_networks_names_and_types_are_gone_through_once_whatever_is_asked() -> None:
    read: list[object] = []

    class Types(tuple[str, ...]):
        def __iter__(self) -> Iterator[str]:
            read.append("types")
            return super().__iter__()

        def __getitem__(self, at: Any) -> Any:
            read.append(at)
            return super().__getitem__(at)

    class Forms(tuple[Mapping[str, int], ...]):
        def __iter__(self) -> Iterator[Mapping[str, int]]:
            read.append("names")
            return super().__iter__()

    known = replace(CAROL, types=Types(CAROL.types), names=Forms(CAROL.names))
    first = read_by_words("Who is Scrooge?", known), examples(known)
    once = len(read)
    assert (read_by_words("Who is Scrooge?", known), examples(known)) == first
    assert len(read) == once


# As the published systems read a question


@for_each(
    ("mode", "lists", "sought"),
    [
        (
            "light",
            {"high": ["greed"], "low": ["counting-house"]},
            Sought(high=("greed",), low=("counting-house",)),
        ),
        (
            "fast",
            {"named": ["Scrooge"], "generic": ["the clerk"]},
            Sought(named=("Scrooge",), generic=("the clerk",)),
        ),
        (
            "mini",
            {"named": ["Scrooge"], "answer_types": ["time"]},
            Sought(named=("Scrooge",), answer_types=("time",)),
        ),
    ],
)
def test_each_published_system_asks_for_its_own_lists(
    mode: str, lists: dict[str, list[str]], sought: Sought
) -> None:
    says = Says(lambda _: json.dumps(lists))
    assert ask_model("When did </question> Scrooge pay?", CAROL, says, READINGS[mode]) == sought
    [prompt] = says.prompts
    assert prompt.schema is not None
    assert {*prompt.schema.model_fields} == {*lists}
    assert prompt.user.count("</question>") == 1
    assert ("Christmas Eve" in prompt.user) == (mode == "mini"), "types with names of the book"
    options = MODES[mode].options
    assert reading_of(mode, options()) == SHARED
    assert reading_of(mode, options(reading="own")) == READINGS[mode]
    assert presets()[f"{mode}-published"][f"{mode}.reading"] == "own"


# Replies of a model


def reply(**lists: object) -> str:
    return json.dumps(lists)


def test_a_question_without_keywords_is_its_own() -> None:
    # LightRAG's code refuses one of 50 characters or more.
    question = "And what, if one may ask, is it that all of this has been about?"
    assert with_low(Sought(), question).low == (question,)
    assert with_low(Sought(high=("fate",)), question) == Sought(high=("fate",))


def test_a_reply_is_cut_to_what_is_asked_for() -> None:
    read = read_sought(
        reply(
            named=["Scrooge", " Scrooge ", "x" * (MAX_CHARACTERS + 1), 7, ""],
            low=[f"word {n}" for n in range(1000)],
            answer_types=["Person", "villain", "person"],
        ),
        ["person", "place"],
    )
    assert read.named == ("Scrooge",)
    assert len(read.low) == MAX_TEXTS
    assert read.answer_types == ("person",)


@for_each("text", ["I don't know.", "{}", reply(answer_types=["person"]), "[1]"])
def test_a_reply_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadReply):
        read_sought(text, ["person"])
