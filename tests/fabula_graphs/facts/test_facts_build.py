"""Facts are stated of windows, normalised by number, and of nothing asked twice."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from building import finish
from cases import for_each
from fabula.errors import BadReply
from fabula.graph import Node, Part
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graph.parts import known_of, part_of
from fabula.text.document import Chunk
from fabula_graphs.facts import GRAPH
from fabula_graphs.facts.build import build
from fabula_graphs.facts.ontology import read_ontology
from fabula_graphs.facts.options import Options
from fabula_graphs.facts.part_facts import LEFT_OUT, describe
from fabula_graphs.facts.stating import prove, typed_reply
from fabula_graphs.facts.values import FactStatement
from scripted import Models, Says, entity, made_chunks, told
from stated_facts import (
    FIRST,
    PERSONS,
    STATED,
    STORY,
    TO_PLACE,
    Model,
    cast_of,
    facts_of,
    texts,
    triple,
)


def known_from(made: Built, chunks: Sequence[Chunk] = STORY) -> Known:
    return known_of(part_of(GRAPH, told(chunks), made, {}, {}), tuple(chunks), {})


def one(made: Built, text: str) -> Node:
    [found] = [node for node in made.nodes if node.properties["text"] == text]
    return found


def same(one: Built, other: Built) -> bool:
    return (sorted(map(str, one.nodes)), sorted(map(str, one.edges))) == (
        sorted(map(str, other.nodes)),
        sorted(map(str, other.edges)),
    )


ALL = [
    "Bob Cratchit fears Scrooge",
    "Bob Cratchit is a parent of Tiny Tim",
    "Bob Cratchit serves Scrooge",
    "Scrooge was seen on Cornhill",
    "Tiny Tim travels to London",
]


# The graph


def test_facts_are_of_entities_and_rest_on_what_states_them() -> None:
    made = facts_of(Model())
    assert texts(made) == ALL
    parent = one(made, "Bob Cratchit is a parent of Tiny Tim")
    properties = parent.properties
    assert (properties["predicate"], properties["count"]) == ("parent_of", 1)
    assert (properties["subject_type"], properties["object_type"]) == ("person", "person")
    assert properties["proof"] == "Tiny Tim is the son of Bob Cratchit."
    assert parent.sources == (STORY[2].id,)
    assert parent.embedding is not None
    cast = {node.id: node.properties["name"] for node in cast_of().nodes if node.label == "Entity"}
    ends = {
        edge.type: cast[edge.end]
        for edge in made.edges
        if edge.start == parent.id and edge.type in ("SUBJECT", "OBJECT")
    }
    assert ends == {"SUBJECT": "Bob Cratchit", "OBJECT": "Tiny Tim"}


def test_the_prompt_has_three_demonstrations_and_the_classes() -> None:
    model = Model()
    chat = model.says()
    facts_of(model)
    models = Models(chat)
    text = BuildText(told(STORY).document, STORY, {"entities": cast_of()})
    work = BuildWork()
    finish(build(text, Options(), models, Known(), work), models, work)
    stated = chat.prompts[0]
    assert stated.system.count("\nExample ") == 3
    assert stated.system.count('"subject_type"') >= 3
    assert "- family (under group)" in stated.user
    schema = json.dumps(typed_reply(("thing", "agent")).model_json_schema())
    assert '"enum": ["thing", "agent"]' in schema


def test_all_windows_are_stated_before_any_is_normalised() -> None:
    model = Model()
    facts_of(model)
    kinds = ["state?" in user for user in model.prompts]
    assert kinds == sorted(kinds, reverse=True)
    # Of the second window words alone settle everything.
    assert (len(model.states), len(model.normalises)) == (2, 1)


def test_dates_and_numbers_are_not_taken_for_others() -> None:
    model = Model(means={"1843": "Scrooge"})
    facts_of(model)
    assert not any("] 1843" in user for user in model.normalises)


def test_two_entities_of_one_name_are_two_choices() -> None:
    chunks = made_chunks("John of Rye met John of Hull. ", "John lives in Rye. ")
    cast = cast_of(
        chunks,
        {
            "John of Rye": {
                "entities": [
                    entity("John of Rye", 1, aliases=["John"], description="The elder."),
                    entity("John of Hull", 1, aliases=["John"], description="The younger."),
                    entity("Rye", 1, type="place"),
                ],
                "relations": [],
            }
        },
    )
    stated = {"John of Rye met": [triple("John", "lives in", "Rye", 2, **TO_PLACE)]}
    for name in ("John of Rye", "John of Hull"):
        both = Part(cast.owner, tuple(map(called_john, cast.nodes)), cast.edges, cast.record)
        model = Model(stated, {"John": name})
        assert texts(facts_of(model, chunks, both)) == [f"{name} lives in Rye"]
        assert model.normalises[0].count(", person: ") == 2


def called_john(node: Node) -> Node:
    """The same entity, which is also called John alone."""
    names = node.properties.get("names", [])
    if node.label != "Entity" or not any(name.startswith("John") for name in names):
        return node
    more = {"names": ["John", *names], "counts": [1, *node.properties["counts"]]}
    return Node(node.id, node.label, {**node.properties, **more}, node.sources)


FOREIGN = {
    "zabił": "kills",
    "jest ojcem": "parent_of",
    "kocha": "loves",
    "mieszka w": "lives_in",
    "tötet": "kills",
    "ist der Vater von": "parent_of",
    "wohnt in": "lives_in",
    "habite à": "lives_in",
    "est le père de": "parent_of",
    "aime": "loves",
    "убил": "kills",
    "живёт в": "lives_in",
    "の父である": "parent_of",
}
"""Predicates of Polish, German, French, Russian and Japanese, and the relations that they are."""


def foreign(ontology_settings: dict[str, Any]) -> tuple[str, Built]:
    """What a model is asked about these predicates, and the facts of a model that knows them."""
    ends = {"lives_in": ("Bob Cratchit", "London", TO_PLACE)}
    records = [
        triple(subject, predicate, object, 1, **types)
        for predicate, relation in FOREIGN.items()
        for subject, object, types in [ends.get(relation, ("Bob Cratchit", "Scrooge", PERSONS))]
    ]
    model = Model({"Scrooge kept": records}, {**FOREIGN, "the miser": "Scrooge"})
    made = facts_of(model, **ontology_settings)
    [asked] = model.normalises
    return asked, made


def test_predicates_of_other_languages_find_their_relations() -> None:
    asked, made = foreign({})
    listed = asked.partition("The candidates of every predicate:")[2]
    assert all(f") {relation}: " in listed for relation in read_ontology("narrative").relations)
    assert "\n    (1)" in listed
    assert listed.count(") kills: ") == 1, "each relation is listed once for all predicates"
    assert {node.properties["predicate"] for node in made.nodes} == set(FOREIGN.values())
    assert made.facts["facts"] == 4


def test_of_a_large_ontology_the_nearest_relations_are_listed_by_the_collections_embedder() -> None:
    models = Models(Model({"Scrooge kept": [triple("Scrooge", "zabił", "Bob Cratchit", 1)]}).says())
    text = BuildText(told(STORY).document, STORY, {"entities": cast_of()})
    options, work = Options(window_tokens=200, listed_relations=0), BuildWork()
    finish(build(text, options, models, Known(), work), models, work)
    assert "zabił" in models.embedder.sent
    assert "is a parent of" in models.embedder.sent
    chat = models.says
    assert isinstance(chat, Says)
    [asked] = [prompt.user for prompt in chat.prompts if "</facts>" in prompt.user]
    assert asked.count("\n    (") == 5


def test_without_the_third_step_facts_are_as_they_were_stated() -> None:
    made = facts_of(Model(), check=False)
    assert texts(made) == sorted([*ALL, "Tiny Tim travels to 1843"])
    assert "dropped_unfit" not in made.facts


def test_demonstrations_are_those_of_the_set_or_none() -> None:
    systems: dict[str, str] = {}
    for name in ("narrative", "history", "none"):
        chat = Model().says()
        text = BuildText(told(STORY).document, STORY, {"entities": cast_of()})
        models, work = Models(chat), BuildWork()
        finish(build(text, Options(demonstrations=name), models, Known(), work), models, work)
        [systems[name], *_] = [prompt.system for prompt in chat.prompts if "state?" in prompt.user]
    assert systems["narrative"].count("\nExample ") == 3
    assert systems["history"].count("\nExample ") == 3
    assert "narrative" not in systems["history"]
    assert "Example" not in systems["none"]
    assert '"subject_type": "..."' in systems["none"]
    settings = {str(GRAPH.settings(Options(demonstrations=name), False)) for name in systems}
    assert len(settings) == 3


def test_without_the_second_step_words_alone_decide() -> None:
    model = Model()
    made = facts_of(model, normalise=False)
    assert model.normalises == []
    assert "Bob Cratchit fears the miser" in texts(made)
    assert "the miser was seen on Cornhill" in texts(made)
    strict = facts_of(Model(), normalise=False, strict=True)
    assert texts(strict) == sorted(
        set(texts(made)) - {"the miser was seen on Cornhill", "Tiny Tim travels to 1843"}
    )
    assert strict.facts["dropped_unrelated"] == 1


def test_what_is_left_out_is_counted_and_told() -> None:
    made = facts_of(Model())
    assert made.facts["dropped_unfit"] == 1
    assert (made.facts["facts"], made.facts["turned"], made.facts["records"]) == (5, 1, 6)
    [relations, left_out] = describe(made.facts)
    assert relations == ("by relation: 1 fears, 1 parent_of, 1 related_to, 1 serves, 1 travels_to")
    assert left_out.startswith("1 of 6 statements were left out: 1 whose ends are not")
    assert LEFT_OUT.warnings(made.facts) == []
    assert LEFT_OUT.warnings({**made.facts, "dropped_unfit": 4})


def test_the_order_of_replies_does_not_matter() -> None:
    shuffled = {words: list(records) for words, records in STATED.items()}
    for records in shuffled.values():
        random.Random(1).shuffle(records)
    assert same(facts_of(Model()), facts_of(Model(shuffled)))


# Incremental


def edited(index: int, text: str) -> tuple[Chunk, ...]:
    texts = [chunk.text for chunk in STORY]
    return made_chunks(*texts[:index], text, *texts[index + 1 :])


def test_nothing_is_asked_again_where_nothing_changed() -> None:
    first = facts_of(Model())
    again = Model()
    second = facts_of(again, known=known_from(first))
    assert again.prompts == []
    assert same(first, second)
    assert second.facts == first.facts


def test_an_edit_asks_the_window_that_changed() -> None:
    known = known_from(facts_of(Model()))
    chunks = edited(3, "In 1843 Tiny Tim came to London at last. ")
    again = Model()
    made = facts_of(again, chunks, known=known)
    assert (len(again.states), len(again.normalises)) == (1, 0)
    assert same(made, facts_of(Model(), chunks))


def test_a_new_entity_asks_only_the_window_that_has_its_name() -> None:
    first = facts_of(Model())
    cast = cast_of()
    scrooge = next(node for node in cast.nodes if node.properties.get("name") == "Scrooge")

    def more(name: str) -> Part:
        fields = {**scrooge.properties, "name": name, "names": [name], "counts": [1]}
        new = [Node(f"{at}", "Entity", fields, scrooge.sources) for at in range(2)]
        return Part(cast.owner, (*cast.nodes, *new), cast.edges, cast.record)

    unasked = Model()
    facts_of(unasked, cast=more("Fezziwig"), known=known_from(first))
    assert unasked.prompts == []
    model = Model()
    facts_of(model, cast=more("the miser"), known=known_from(first))
    assert (len(model.states), len(model.normalises)) == (0, 1)
    # About that name alone: what the predicate means is known.
    assert "] the miser" in model.normalises[0]
    assert "] was seen on" not in model.normalises[0]


def test_what_was_left_out_comes_in_when_an_entity_lets_it() -> None:
    stated = {**STATED, "Scrooge kept": [*FIRST, triple("Scrooge", "lives in", "Bob Cratchit", 1)]}
    first = facts_of(Model(stated))
    assert texts(first) == ALL
    cast = cast_of()
    nodes = [
        Node(node.id, node.label, {**node.properties, "type": "place"}, node.sources)
        if node.properties.get("name") == "Bob Cratchit"
        else node
        for node in cast.nodes
    ]
    now = Part(cast.owner, tuple(nodes), cast.edges, cast.record)
    again = Model()
    assert "Scrooge lives in Bob Cratchit" in texts(
        facts_of(again, cast=now, known=known_from(first))
    )
    assert again.prompts == []


def test_where_nothing_is_left_it_is_asked_again_and_not_lost() -> None:
    stated = {"Scrooge kept": [triple("Bob Cratchit", "juggled with", "Scrooge", 1)]}
    strict = facts_of(Model(stated), strict=True)
    assert texts(strict) == []
    lenient = facts_of(Model(stated), known=known_from(strict))
    assert texts(lenient) == ["Bob Cratchit juggled with Scrooge"]


def test_a_fact_rests_on_a_chunk_that_prints_one_of_its_ends() -> None:
    stated = {"Scrooge kept": [triple("Scrooge", "lives in", "London", 2, **TO_PLACE)]}
    [fact] = facts_of(Model(stated)).nodes
    assert fact.sources == (STORY[0].id,)


@for_each(
    ("text", "subject", "object", "proof"),
    [
        ("Annals of Rye lie here. Ann fled to Rye.", "Ann", "Rye", "Ann fled to Rye."),
        ("O’Hara saw Rye.", "O'Hara", "Rye", "O’Hara saw Rye."),
        ("The\nmiser fled. The miser of Rye woke.", "the miser", "Rye", "The miser of Rye woke."),
        ("He will go to Rye. Will stayed.", "Will", "Rye", ""),
    ],
)
def test_what_proves_a_statement_is_the_sentence_that_prints_both_ends(
    text: str, subject: str, object: str, proof: str
) -> None:
    [chunk] = made_chunks(text)
    statement = FactStatement(chunk.id, 0, subject, "fled to", object)
    assert [one.proof for one in prove([statement], [chunk], "en")] == [proof]


# Trouble


@pytest.mark.parametrize("step", ["state?", "</facts>"])
def test_a_window_that_no_model_reads_is_a_gap_and_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr("fabula.graph.gaps.MAX_SHARE", 1.0)
    broken = Model()
    chat = broken.reply
    broken.reply = lambda user: "no" if step in user and "Old Scrooge" in user else chat(user)  # type: ignore[method-assign]
    made = facts_of(broken)
    [gap] = made.gaps
    assert set(gap.sources) == {STORY[0].id, STORY[1].id}
    again = Model()
    mended = facts_of(again, known=known_from(made))
    assert mended.gaps == ()
    assert texts(mended) == ALL
    assert len(again.states) == (1 if step == "state?" else 0)


@for_each(
    "records",
    [
        [{"subject": "x" * 10_000, "predicate": "loves", "object": "Scrooge"}],
        [triple("Scrooge", "<script>alert(1)</script>", "Bob Cratchit", -5, 10**30, "x")],
        [triple("Scrooge', MATCH (n) DETACH DELETE n", "loves", "Bob Cratchit")],
        [triple("Scrooge", "loves", "Bob Cratchit", subject_type="${x}", object_type="{}")],
        [{"subject": ["Scrooge"], "predicate": 3, "object": None}, 7, None, "Scrooge", [[]]],
        [triple("Scrooge", "loves", "Bob Cratchit")] * 5_000,
        [triple("Scrooge", "loves", "Scrooge")],
        [{**triple("Scrooge", "loves", "London"), "subject_type": 5, "object_type": ["person"]}],
    ],
)
def test_hostile_replies_are_bounded_and_counted(records: Any) -> None:
    made = facts_of(Model({"Scrooge kept": records}))
    assert len(made.nodes) <= 1
    assert all(len(node.properties["text"]) < 600 for node in made.nodes)
    assert sum(count for name, count in made.facts.items() if name.startswith("dropped_")) or (
        len(made.nodes) == 1
    )


@for_each(
    "reply",
    [
        {"names": [{"n": 0, "is": 1}, {"n": 1, "is": 99}, {"n": 10**40, "is": -1}]},
        {"names": ["x", None, {"n": "1", "is": True}, {}], "predicates": [[1, 1]]},
        {"names": [{"n": 1, "is": 0}] * 100_000, "predicates": []},
    ],
)
def test_choices_out_of_range_are_none(reply: Any) -> None:
    model = Model()
    chat = model.reply
    model.reply = lambda user: json.dumps(reply) if "</facts>" in user else chat(user)  # type: ignore[method-assign]
    made = facts_of(model)
    assert made.facts["dropped_misnumbered"] > 0
    assert "Bob Cratchit fears the miser" in texts(made)


def test_no_reply_of_use_ends_the_build() -> None:
    with pytest.raises(BadReply):
        facts_of(Model({"Scrooge kept": "no", "is the son": "no"}))


def test_stand_ins_run_the_build_itself() -> None:
    class StandIn(Says):
        def complete(self, prompt: Any) -> Any:
            self.prompts.append(prompt)
            from fabula.models import Reply

            return Reply(prompt.placeholder())

    chat = StandIn(lambda user: "")
    text = BuildText(told(STORY).document, STORY, {"entities": cast_of()})
    models, work = Models(chat), BuildWork()
    made = finish(build(text, Options(window_tokens=200), models, Known(), work), models, work)
    assert len(chat.prompts) == 4
    assert made.facts["mean_statements"] > 0
