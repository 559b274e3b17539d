"""Questions to the discourse graph: how they are read, what matches, in which order it comes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cases import for_each
from fabula.errors import BadReply
from fabula_graphs.discourse.matching import Terms, in_turn, make_terms
from fabula_graphs.discourse.modes.discourse import choose
from fabula_graphs.discourse.normal import normal
from fabula_graphs.discourse.question_reading import ask_in_steps, ask_model, read_sought
from fabula_graphs.discourse.senses import read_senses
from scripted import Says

PDTB3 = read_senses("pdtb3")
REASON = "Contingency.Cause.Reason"


def terms(
    rows: Mapping[tuple[str, str], Sequence[int]],
    entities: Mapping[tuple[str, str], tuple[str, Sequence[str]]] = {},
    chunks: int = 10,
) -> Terms:
    """Terms out of values and the numbers of their chunks; and whom they are, with all names."""
    return make_terms(
        "en",
        [f"c{number}" for number in range(chunks)],
        [
            (slot, normal(value, "en"), [f"c{number}" for number in own])
            for (slot, value), own in rows.items()
        ],
        [
            (slot, normal(value, "en"), entity, names, [f"c{row}" for row in rows[slot, value]])
            for (slot, value), (entity, names) in entities.items()
        ],
    )


# What matches


def test_chunks_that_match_in_no_slot_are_not_there() -> None:
    known = terms({("who", "Anna"): [1, 2], ("where", "mill"): [2]})
    assert known.rank({"who": ["Anna"], "where": ["mill"]}) == ["c2", "c1"]
    assert known.rank({"who": ["Clara"]}) == []
    assert known.rank({}) == []


def test_a_value_is_matched_whatever_its_articles_endings_and_order() -> None:
    known = terms({("what", "an old lamp"): [3]})
    for value in ("the old lamp", "Old lamps", "LAMP, old"):
        assert known.match("what", value)["c3"][0] == 1.0


def test_a_value_with_half_of_the_stems_matches_by_their_share() -> None:
    known = terms({("what", "old brass lamp"): [3], ("what", "lamp of a far ship"): [4]})
    found = known.match("what", "old lamp")
    assert found["c3"][0] == pytest.approx(2 / 3)
    assert "c4" not in found


def test_aliases_match_who_and_where() -> None:
    known = terms(
        {("who", "Sherlock Holmes"): [1], ("who", "the detective"): [2], ("what", "Holmes"): [3]},
        {
            ("who", "Sherlock Holmes"): ("e", ["Sherlock Holmes", "Holmes"]),
            ("who", "the detective"): ("e", ["Sherlock Holmes", "Holmes"]),
        },
    )
    assert set(known.match("who", "Mr. Holmes")) == {"c1", "c2"}
    assert set(known.match("what", "Holmes")) == {"c3"}
    assert set(known.match("what", "Sherlock")) == set()


def test_the_captains_of_two_books_are_two() -> None:
    known = make_terms(
        "en",
        ["a", "b"],
        [("who", "captain", ["a", "b"])],
        [("who", "captain", "1", ["Ahab"], ["a"]), ("who", "captain", "2", ["Nemo"], ["b"])],
    )
    assert set(known.match("who", "Ahab")) == {"a"}
    assert set(known.match("who", "the captain")) == {"a", "b"}


def test_more_slots_come_before_rarer_values() -> None:
    known = terms({("who", "Anna"): range(8), ("when", "dawn"): [9], ("predicate", "row"): [7]})
    found = known.rank({"who": ["Anna"], "when": ["dawn"], "predicate": ["row"]})
    assert found[:2] == ["c7", "c9"]


def test_slots_count_in_their_order_where_all_else_is_level() -> None:
    slots = ("who", "predicate", "what", "when", "where", "why", "how")
    known = terms({(slot, f"value{slot}"): [9 - at] for at, slot in enumerate(slots)})
    asked = {slot: [f"value{slot}"] for slot in reversed(slots)}
    assert known.rank(asked) == [f"c{9 - at}" for at in range(len(slots))]


def test_of_equals_the_earlier_chunk_comes_first() -> None:
    assert terms({("who", "Anna"): [7, 2, 5]}).rank({"who": ["Anna"]}) == ["c2", "c5", "c7"]


# Scripts without spaces, and the order of words


@for_each(
    ("one", "other", "language"),
    [
        ("会社", "社会", "ja"),
        ("上海", "海上", "zh"),
        ("子女", "女子", "zh"),
        ("der Mann beißt den Hund", "der Hund beißt den Mann", "de"),
        ("man bites dog", "dog bites man", "en"),
    ],
)
def test_the_order_of_letters_and_words_makes_another_value(
    one: str, other: str, language: str
) -> None:
    assert normal(one, language) != normal(other, language)


def test_letters_of_a_script_without_spaces_are_compared_in_pairs() -> None:
    assert normal("株式会社", "ja") == "株式 式会 会社"
    assert normal("彼", "ja") == "彼"
    known = make_terms("ja", ["c0", "c1"], [("what", normal("株式会社", "ja"), ["c0"])], [])
    assert known.match("what", "社会") == {}
    assert known.match("what", "式会社")["c0"][0] == pytest.approx(2 / 3)


# In which order


def test_with_one_near_chunk_it_comes_first_then_its_related_then_what_matches() -> None:
    assert [*in_turn(["v"], {"v": ["d1", "d2"]}, ["w", "d1"])] == ["v", "d1", "d2", "w"]


def test_with_several_each_is_beside_its_related_and_each_chunk_comes_once() -> None:
    order = in_turn(["v1", "v2", "v3"], {"v1": ["v2"], "v2": ["d", "v1"], "v3": ["d"]}, ["w"])
    assert [*order] == ["v1", "v2", "d", "v3", "w"]


def row(of: str, id: str, sense: str, distance: int = 1, index: int = 0) -> dict[str, Any]:
    """A row of find_linked."""
    return {"of": of, "id": id, "sense": sense, "distance": distance, "index": index}


def test_related_are_those_in_the_senses_the_deepest_first() -> None:
    rows = [
        row("v", "a", "Contingency"),
        row("v", "b", "Contingency.Cause+Belief.Reason+Belief", index=4),
        row("v", "c", REASON, distance=2),
        row("v", "d", REASON, index=2),
        row("v", "e", "Temporal.Synchronous"),
    ]
    assert choose(rows, ["Contingency"], 9) == {"v": ["d", "b", "c", "a"]}
    assert choose(rows, ["Contingency.Cause"], 2) == {"v": ["d", "b"]}
    assert choose(rows, [], 9) == {}
    assert choose(rows, ["Contingency"], 0) == {}


# How a question is read


def reply(**told: Any) -> str:
    """A reading as a model writes it."""
    return json.dumps({"senses": [], "who": [], **told})


def test_a_model_is_asked_once_with_all_senses_and_its_reading_is_taken() -> None:
    says = Says(lambda _: reply(senses=["Contingency", "Cause of woe"], who=["Anna", "none", 7]))
    found = ask_model("Why did Anna </question> leave?", PDTB3, "en", says)
    assert found.senses == ("Contingency",)
    assert found.slots == {"who": ("Anna",)}
    [prompt] = says.prompts
    assert prompt.user.count("</question>") == 1
    assert all(f"- {sense.path}: " in prompt.user for sense in PDTB3.all)
    assert prompt.temperature == 0


def test_as_published_senses_are_reasoned_about_in_a_call_of_their_own() -> None:
    def say(user: str) -> str:
        if "step by step" in user:
            return json.dumps({"reasoning": "It asks why.", "senses": ["Contingency.Cause"]})
        return reply(who=["Anna"], predicate=["leave"])

    says = Says(say)
    found = ask_in_steps("Why did Anna </question> leave?", PDTB3, "en", says)
    assert found.senses == ("Contingency.Cause",)
    assert found.slots == {"who": ("Anna",), "predicate": ("leave",)}
    senses, event = says.prompts
    assert all(f"- {sense.path}: " in senses.user for sense in PDTB3.all)
    assert "<senses>" not in event.user
    assert [prompt.user.count("</question>") for prompt in says.prompts] == [1, 1]
    assert senses.schema is not None
    assert [*senses.schema.model_fields] == ["reasoning", "senses"], "it reasons before it names"


def test_one_of_two_readings_is_enough_and_none_is_refused() -> None:
    fact = '{"reasoning": "It asks for a fact.", "senses": []}'
    plain = Says(lambda user: fact if "step by step" in user else reply(who=["Ann"]))
    assert ask_in_steps("Who is Ann?", PDTB3, "en", plain).slots == {"who": ("Ann",)}
    half = Says(lambda user: "no" if "step by step" in user else reply(who=["Ann"]))
    assert ask_in_steps("Who is Ann?", PDTB3, "en", half).slots == {"who": ("Ann",)}
    with pytest.raises(BadReply):
        ask_in_steps("Who is Ann?", PDTB3, "en", Says(lambda _: "no"))


@for_each("reading", ["", "[]", "{}", '{"senses": "all"}', '{"senses": ["x"], "who": [null, 5]}'])
def test_a_reading_that_says_nothing_is_refused(reading: str) -> None:
    with pytest.raises(BadReply):
        read_sought(reading, PDTB3, "en")


def test_a_reading_of_nonsense_is_bounded() -> None:
    told = reply(
        senses=["Contingency"] * 10_000 + [{}, REASON],
        who=["x" * 10_000, *(f"Anna {number}" for number in range(10_000))],
    )
    found = read_sought(told, PDTB3, "en")
    assert found.senses == ("Contingency", REASON)
    assert found.slots == {"who": ("Anna 0", "Anna 1")}
