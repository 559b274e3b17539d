"""The entity graph is built of what models or rules say, and of nothing twice."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from cases import for_each
from endpoint.model import reply
from fabula.errors import BadReply
from fabula.graph import Edge, Node
from fabula.graph.method import Built
from fabula.graphs.entities.descriptions import BLOCK, Statements, blocks
from fabula.graphs.entities.part_facts import describe, warnings
from fabula.models.parallel import Workers
from fabula.text.document import Chunk
from scripted import Models, Records, Says, built, entity, known_from, made_chunks, relation, script

STORY = made_chunks(
    *(
        "Ebenezer Scrooge sat in the counting-house. Bob Cratchit warmed himself. ",
        "Scrooge said humbug to Fred. ",
        "Fred wished Ebenezer Scrooge a merry Christmas. ",
        "Bob Cratchit went home to Tiny Tim. ",
    )
)
"""Of windows of two chunks each."""
SCROOGE = entity("Ebenezer Scrooge", 1, 2, aliases=["Scrooge"], description="He is a miser.")
SAID: dict[str, Records] = {
    "humbug": {
        "entities": [
            SCROOGE,
            entity("Bob Cratchit", 1, description="He is cold."),
            entity("Fred", 2),
            entity("Jacob Marley"),
        ],
        "relations": [
            relation("Ebenezer Scrooge", "Fred", 2, strength=7, keywords=["scorn"]),
            relation("Fred", "Scrooge", 2, strength=3, keywords=["mirth"]),
        ],
    },
    "merry": {
        "entities": [
            entity("Fred", 1, description="He is merry."),
            entity("Ebenezer Scrooge", 1, description="He is a miser."),
            entity("Bob Cratchit", 2),
            entity("Tiny Tim", 2),
        ],
        "relations": [
            relation("Fred", "Ebenezer Scrooge", 1, strength=4, keywords=["mirth"]),
            relation("Bob Cratchit", "Tiny Tim", 2),
        ],
    },
}
WINDOWS: dict[str, Any] = {"window_tokens": 200, "gleanings": 0}
MANY = 8
"""Statements that a call merges."""
FIRST = ("Ada", "Bor", "Cla", "Dim", "Eli", "Fed", "Gri")
LAST = ("bert", "cor", "dana", "frid", "gard", "helm", "lind", "mund", "rik", "win")


def made(chunks: Sequence[Chunk] = STORY, said: Any = SAID, **knobs: Any) -> Built:
    return built(chunks, Models(script(said)), **{**WINDOWS, **knobs})[0]


def one(graph: Built, label: str, name: str) -> Node:
    [found] = [
        node for node in graph.nodes if node.label == label and node.properties["name"] == name
    ]
    return found


def edges(graph: Built, start: Node, *types: str) -> list[Edge]:
    return [edge for edge in graph.edges if edge.start == start.id and edge.type in types]


def same(one: Built, other: Built) -> bool:
    """Whether two graphs are the same but for what they tell of how they were made."""

    def ordered(graph: Built) -> tuple[list[str], list[str], list[str]]:
        vectors = [f"{node.id} {node.embedding}" for node in graph.nodes]
        return sorted(map(str, graph.nodes)), sorted(map(str, graph.edges)), sorted(vectors)

    return ordered(one) == ordered(other)


def edited(chunks: Sequence[Chunk], index: int, text: str) -> tuple[Chunk, ...]:
    """The same chunks with another text in the place of one."""
    texts = [chunk.text for chunk in chunks]
    return made_chunks(*texts[:index], text, *texts[index + 1 :])


# The graph


def test_entities_have_their_names_and_rest_on_their_chunks() -> None:
    graph = made()
    scrooge = one(graph, "Entity", "Ebenezer Scrooge")
    properties = scrooge.properties
    assert dict(zip(properties["names"], properties["counts"], strict=True)) == {
        "Ebenezer Scrooge": 2,
        "Scrooge": 1,
    }
    assert (
        properties["mentions"],
        properties["chunks"],
        properties["degree"],
        properties["by"],
    ) == (3, 3, 1, "model")
    assert properties["text"] == "He is a miser."
    assert (properties["section"], properties["start"], properties["end"]) == ("I", 0, STORY[0].end)
    assert scrooge.sources == tuple(chunk.id for chunk in STORY[:3])
    assert scrooge.embedding is not None
    [first, second, _] = edges(graph, scrooge, "FROM_CHUNK")
    assert (first.end, first.properties["names"]) == (STORY[0].id, ["Ebenezer Scrooge"])
    assert second.properties["starts"] == [STORY[1].start]
    assert second.properties["said"] == "He is a miser."


def test_relations_add_up_count_and_strength_once_a_chunk() -> None:
    graph = made()
    scrooge, fred = (one(graph, "Entity", name) for name in ("Ebenezer Scrooge", "Fred"))
    first, second = sorted((scrooge, fred), key=lambda node: node.id)
    name = f"{first.properties['name']} – {second.properties['name']}"
    tied = one(graph, "Relation", name)
    assert (tied.properties["count"], tied.properties["strength"]) == (2, 7 + 4)
    assert tied.properties["keywords"] == ["mirth", "scorn"]
    assert tied.sources == (STORY[1].id, STORY[2].id)
    ends = {edge.type: edge.end for edge in edges(graph, tied, "SOURCE", "TARGET")}
    assert ends == {"SOURCE": first.id, "TARGET": second.id}
    [plain] = [edge for edge in graph.edges if edge.type == "RELATES_TO" and edge.end == second.id]
    assert (plain.start, plain.properties) == (first.id, {"count": 2, "strength": 11})
    [both, _] = edges(graph, tied, "FROM_CHUNK")
    assert both.properties["strength"] == 7
    assert both.properties["keywords"] in (["scorn", "mirth"], ["mirth", "scorn"])


def test_what_is_not_borne_out_is_counted_and_told() -> None:
    graph = made()
    assert graph.facts["dropped_unprinted"] == 1
    assert (graph.facts["entities"], graph.facts["relations"], graph.facts["windows"]) == (4, 2, 2)
    counted, lost = describe(graph.facts)
    assert counted == "by type: 4 person"
    assert lost == (
        "1 of 12 records were not borne out by the text, and left out: 1 with a name that is "
        "printed nowhere"
    )
    assert list(warnings(graph.facts)) == []
    assert list(describe({"entities": 0})) == ["no entities were found"]


def test_replies_in_any_order_of_arrival_give_the_same_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = made()
    for seed in range(5):
        draw = random.Random(seed)
        put = Workers.put
        monkeypatch.setattr(
            Workers,
            "put",
            lambda self, priority, run, put=put, draw=draw: put(self, draw.randrange(9), run),
        )
        shuffled = {
            words: {kind: draw.sample(list(some), len(some)) for kind, some in records.items()}
            for words, records in SAID.items()
        }
        assert same(made(said=shuffled), wanted)
        monkeypatch.undo()


def test_a_text_in_which_nobody_is_has_an_empty_graph() -> None:
    graph = made(said={})
    assert (graph.nodes, graph.edges, graph.gaps) == ((), (), ())


# Again


def test_the_same_chunks_are_not_asked_about_again() -> None:
    chunks = made_chunks(*(chunk.text for chunk in STORY), "Nobody was in the yard. ")
    before = built(chunks, Models(script(SAID)), **WINDOWS)[0]
    models = Models(script({}))
    again, _ = built(chunks, models, known_from(before, chunks), **WINDOWS)
    assert same(again, before)
    assert (models.meter.total().calls, models.meter.usage()["extraction"].saved) == (0, 3)
    assert models.embedder.sent == []
    assert again.facts == before.facts


@for_each("gleanings", [0, 1])
def test_an_edit_of_one_chunk_asks_its_window_alone(gleanings: int) -> None:
    knobs = {**WINDOWS, "gleanings": gleanings}
    before = built(STORY, Models(script(SAID)), **knobs)[0]
    now = edited(STORY, 1, "And Scrooge said humbug to Fred, and humbug again. ")
    models = Models(script(SAID))
    again, _ = built(now, models, known_from(before, STORY), **knobs)
    fresh, _ = built(now, Models(script(SAID)), **knobs)
    assert same(again, fresh), "as if it were made for the first time"
    assert models.meter.usage()["extraction"].calls == 1 + gleanings
    moved = one(again, "Entity", "Tiny Tim")
    [edge] = edges(again, moved, "FROM_CHUNK")
    text = "".join(chunk.text for chunk in now)
    assert [text[start : start + 8] for start in edge.properties["starts"]] == ["Tiny Tim"]


def test_windows_that_an_edit_moved_are_not_asked_again() -> None:
    before = made()
    now = made_chunks("A new beginning. ", "It is. ", *(chunk.text for chunk in STORY))
    models = Models(script(SAID))
    built(now, models, known_from(before, STORY), **WINDOWS)
    assert models.meter.usage()["extraction"].calls == 1
    less = made_chunks(*(chunk.text for chunk in STORY[1:]))
    models = Models(script(SAID))
    built(less, models, known_from(before, STORY), **WINDOWS)
    assert models.meter.total().calls == 1, "what is left of a window is read anew"


def test_what_the_graph_gives_back_is_what_was_said() -> None:
    text = (*(chunk.text for chunk in STORY), "Mr. Scrooge, Ebenezer Scrooge, old Scrooge. ")
    chunks = made_chunks(*text)
    replies = {
        **SAID,
        "old Scrooge": {
            "entities": [
                entity("Mr. Scrooge", 1, type="group"),
                entity("Ebenezer Scrooge", 1, aliases=["old Scrooge"]),
                entity("Scrooge", 1, type="idea", description=""),
            ],
            "relations": [],
        },
    }
    before = built(chunks, Models(script(replies)), **WINDOWS)[0]
    scrooges = [node for node in before.nodes if "Mr. Scrooge" in node.properties.get("names", ())]
    assert len(scrooges) == 1, "one entity has several records of one chunk"
    again, _ = built(chunks, Models(script({})), known_from(before, chunks), **WINDOWS)
    assert same(again, before)


# Gaps


def refusing(words: str) -> Says:
    chat = script(SAID)
    say = chat.say
    chat.say = lambda user: "No." if words in user else say(user)
    return chat


LONG = made_chunks(*(f"Nobody was there on day {day}. " for day in range(40)), STORY[3].text)


def test_a_window_without_a_usable_reply_is_a_gap_and_asked_again() -> None:
    models = Models(refusing("Tiny Tim"))
    before, gaps = built(LONG, models, **WINDOWS)
    [gap] = gaps
    assert (gap.step, gap.sources) == ("extraction", (LONG[40].id,))
    assert "3 tries" in gap.why
    models = Models(script({"Tiny Tim": SAID["merry"]}))
    again, gaps = built(LONG, models, known_from(before, LONG), **WINDOWS)
    assert (models.meter.total().calls, gaps) == (1, ())
    assert one(again, "Entity", "Tiny Tim")


def test_what_was_missed_in_vain_is_a_gap_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabula.graph.gaps.MAX_SHARE", 1.0)
    chat = script(SAID)
    whole = chat.say
    chat.say = lambda user: "No." if "What was missed" in user else whole(user)
    knobs: dict[str, Any] = {"window_tokens": 200, "gleanings": 1}
    graph, gaps = built(STORY, Models(chat), **knobs)
    assert one(graph, "Entity", "Fred"), "what was listed at first is kept"
    assert gaps
    assert {gap.step for gap in gaps} == {"extraction"}
    models = Models(script(SAID))
    again, gaps = built(STORY, models, known_from(graph, STORY), **knobs)
    assert (gaps, models.meter.total().calls > 0) == ((), True)
    assert same(again, graph)


def test_too_many_gaps_fail_the_document() -> None:
    with pytest.raises(BadReply, match="more than a tenth"):
        built(STORY, Models(refusing("")), **WINDOWS)


# Descriptions


def often(count: int) -> tuple[tuple[Chunk, ...], dict[str, Records]]:
    """A story in which each chunk says another thing of one man."""
    chunks = made_chunks(*(f"Fred came on day {day:02}. " for day in range(count)))
    replies: dict[str, Records] = {
        f"day {day:02}": {
            "entities": [entity("Fred", 1, description=f"He came, the {day}.")],
            "relations": [],
        }
        for day in range(count)
    }
    return chunks, replies


@for_each(("count", "calls"), [(MANY - 1, 0), (MANY, 1)])
def test_the_eighth_statement_has_them_merged(count: int, calls: int) -> None:
    chunks, said = often(count)
    models = Models(script(said))
    graph, _ = built(chunks, models, window_tokens=1, gleanings=0)
    text = one(graph, "Entity", "Fred").properties["text"]
    joined = "\n".join(f"He came, the {day}." for day in range(count))
    assert text == ("All of this was said." if calls else joined)
    assert models.meter.total().calls == count + calls
    again = Models(script({}))
    same_text, _ = built(chunks, again, known_from(graph, chunks), window_tokens=1, gleanings=0)
    assert same(same_text, graph)
    assert (again.meter.total().calls, again.meter.total().saved) == (0, count + calls)


def test_a_description_is_asked_again_only_where_its_statements_changed() -> None:
    chunks, said = often(MANY + 2)
    knobs: dict[str, Any] = {"window_tokens": 1, "gleanings": 0}
    graph, _ = built(chunks, Models(script(said)), **knobs)
    other = edited(chunks, 3, "Nobody came. ")
    models = Models(script(said))
    built(other, models, known_from(graph, chunks), **knobs)
    assert models.meter.usage()["descriptions"].calls == 1
    models = Models(script(said))
    built(chunks, models, known_from(graph, chunks), **knobs)
    assert models.meter.total().calls == 0


def test_a_description_that_no_model_gives_is_a_gap_and_asked_again() -> None:
    chunks, said = often(30)
    chat = script(said)
    say = chat.say
    chat.say = lambda user: "..." if "<statements>" in user else say(user)
    knobs: dict[str, Any] = {"window_tokens": 1, "gleanings": 0}
    graph, [gap] = built(chunks, Models(chat), **knobs)
    fred = one(graph, "Entity", "Fred")
    assert (gap.step, gap.rests_on, len(gap.sources)) == ("descriptions", {fred.id: 1.0}, 30)
    assert fred.properties["text"].startswith("He came, the 0.\nHe came, the 1.")
    again, gaps = built(chunks, Models(script(said)), known_from(graph, chunks), **knobs)
    assert (gaps, one(again, "Entity", "Fred").properties["text"]) == ((), "All of this was said.")


def test_very_many_statements_are_merged_in_blocks() -> None:
    texts = tuple(f"{number} " + "word " * 99 for number in range(200))
    some = blocks(texts, BLOCK)
    assert [text for block in some for text in block] == list(texts)
    assert len(some) == 3
    assert Statements("x", texts, ()).are_many
    assert not Statements("x", ("a " * 1000,), ()).are_many
    assert Statements("x", ("a " * 1300,), ()).are_many
    assert Statements("x", ("a", "b"), ()).digest != Statements("x", ("ab",), ()).digest


def test_a_call_merges_the_statements_about_several() -> None:
    everyone = [f"Name{letter}" for letter in "ABCDEFGHIJKL"]
    says = [f"Day {day:02}: {' and '.join(everyone)}. " for day in range(MANY)]
    chunks = made_chunks(*says)
    replies: dict[str, Records] = {
        f"Day {day:02}": {
            "entities": [entity(one, 1, description=f"{one} {day}") for one in everyone],
            "relations": [],
        }
        for day in range(MANY)
    }
    script_says, alone = script(replies), []

    def say(user: str) -> str:
        if "each subject" not in user:
            alone.append(user)
            return script_says.say(user)
        numbers = re.findall(r"(?m)^\[(\d+)\] (\w+)$", user)
        told = [{"number": int(n), "description": f"{one} is there."} for n, one in numbers]
        return json.dumps({"descriptions": told[: len(told) - forgotten]})

    forgotten = 0
    models = Models(Says(say))
    graph, _ = built(chunks, models, window_tokens=1, gleanings=0)
    assert models.meter.usage()["descriptions"].calls == 2
    for name in everyone:
        assert one(graph, "Entity", name).properties["text"] == f"{name} is there."
    again = Models(script({}))
    built(chunks, again, known_from(graph, chunks), window_tokens=1, gleanings=0)
    assert (again.meter.usage()["descriptions"].calls, again.meter.total().saved) == (0, MANY + 2)
    # Where a reply leaves one out, in vain corrected, each is asked about alone.
    forgotten, alone[:] = 1, []
    graph, gaps = built(chunks, Models(Says(say)), window_tokens=1, gleanings=0)
    assert (len([user for user in alone if "<statements>" in user]), gaps) == (len(everyone), ())
    assert one(graph, "Entity", "NameL").properties["text"] == "All of this was said."


@for_each(("gleanings", "most"), [(1, 300), (0, 150)])
def test_sixty_thousand_words_take_so_many_calls(gleanings: int, most: int) -> None:
    # Five books have so many chunks and chapters together; each chunk is about three of seventy.
    people = [first + last for first in FIRST for last in LAST]
    texts = [
        " met ".join(people[(at * step) % len(people)] for step in (1, 3, 7)) + f" on day {at}. "
        for at in range(28 * 15)
    ]
    chunks = [
        replace(chunk, section=str(chunk.index // 15)) for chunk in made_chunks(*texts, tokens=180)
    ]
    models = Models(Says(lambda user: reply(user, None)))
    graph, _ = built(chunks, models, gleanings=gleanings)
    calls = {step: usage.calls for step, usage in models.meter.usage().items()}
    assert sum(calls.values()) <= most
    assert 0 < calls["descriptions"] <= 10
    assert graph.facts["entities"] > 60


# Triples


def test_facts_are_asked_for_where_they_are_wanted() -> None:
    chat = script(SAID)
    say = chat.say
    facts = [
        {"subject": "Fred", "predicate": "wished well", "object": "Scrooge", "parts": [1]},
        {"subject": "Fred", "predicate": "is", "object": "the tsar", "parts": [1]},
    ]
    chat.say = lambda user: (
        json.dumps({"triples": facts}) if "state?" in user and "merry" in user else say(user)
    )
    models = Models(chat)
    graph, _ = built(STORY, models, **WINDOWS, triples=True)
    [fact] = [node for node in graph.nodes if node.label == "Triple"]
    assert fact.properties["text"] == "Fred wished well Scrooge"
    assert (fact.properties["count"], fact.sources) == (1, (STORY[2].id,))
    ends = {edge.type: edge.end for edge in edges(graph, fact, "SUBJECT", "OBJECT")}
    assert ends["SUBJECT"] == one(graph, "Entity", "Fred").id
    assert models.meter.usage()["triples"].calls == 2
    assert (graph.facts["triples"], graph.facts["dropped_unprinted"]) == (1, 2)
    now = edited(STORY, 0, "Ebenezer Scrooge sat. ")
    models = Models(chat)
    known = known_from(graph, STORY)
    again, _ = built(now, models, known, **WINDOWS, triples=True)
    assert models.meter.usage()["triples"].calls == 1
    fresh, _ = built(now, Models(chat), **WINDOWS, triples=True)
    assert same(again, fresh)


def test_facts_that_are_wanted_later_are_asked_for_alone() -> None:
    models = Models(script(SAID))
    before = made()
    graph, _ = built(STORY, models, known_from(before, STORY), **WINDOWS, triples=True)
    assert {step: usage.calls for step, usage in models.meter.usage().items()} == {
        "triples": 2,
        "extraction": 0,
    }
    again, _ = built(STORY, models, known_from(graph, STORY), **WINDOWS)
    assert same(again, before)


def test_what_a_person_decides_of_names_asks_no_model() -> None:
    models = Models(script({}))
    before = made()
    known = known_from(before, STORY)
    joined, _ = built(STORY, models, known, **WINDOWS, join=["Fred = Ebenezer Scrooge"])
    names = [node.properties["names"] for node in joined.nodes if node.label == "Entity"]
    assert sorted(["Ebenezer Scrooge", "Fred", "Scrooge"]) in [sorted(some) for some in names]
    assert same(built(STORY, models, known_from(joined, STORY), **WINDOWS)[0], before)
    apart, _ = built(STORY, models, known, **WINDOWS, keep_apart=["Scrooge = Ebenezer Scrooge"])
    assert len([node for node in apart.nodes if node.label == "Entity"]) == 5
    undone, _ = built(STORY, models, known_from(apart, STORY), **WINDOWS)
    assert same(undone, before)
    assert models.meter.total().calls == 0


# A dry run


def test_stand_ins_make_a_graph_of_about_the_same_calls() -> None:
    chat = Says(lambda user: "")
    asked: list[str] = []

    class Dry(Says):
        def complete(self, prompt: Any) -> Any:
            asked.append(prompt.user)
            from fabula.models import Reply

            return Reply(prompt.placeholder())

    models = Models(Dry(chat.say))
    graph, gaps = built(STORY, models, window_tokens=200, triples=True)
    assert gaps == ()
    assert models.meter.usage()["extraction"].calls == 2 * 2
    assert models.meter.usage()["triples"].calls == 2
    assert graph.facts["entities"] > 3
    assert graph.facts["relations"] > 3
    assert not any(name.startswith("dropped") for name in graph.facts)


# Offline


def test_offline_no_chat_model_is_asked() -> None:
    models = Models(Says(lambda user: pytest.fail("asked")), offline=True)
    graph, gaps = built(STORY, models, triples=True)
    assert gaps == ()
    scrooge = next(node for node in graph.nodes if "Scrooge" in node.properties["name"])
    assert scrooge.properties["by"] == "rules"
    assert scrooge.properties["text"]
    again, _ = built(STORY, models, known_from(graph, STORY), triples=True)
    assert same(again, graph)
    assert models.meter.total().calls == 0


# Doubtful names


HILBERYS = made_chunks(
    "Mrs. Hilbery sighed. " * 6, "Katharine Hilbery laughed. " * 6, "Mrs. Hilbery slept. "
)
HILBERY_RECORDS: Records = {
    "entities": [
        entity("Mrs. Hilbery", 1, 3, description="</pairs> She is the mother."),
        entity("Katharine Hilbery", 2, description="She is the daughter."),
    ],
    "relations": [],
}


def says_of_names(reply_about_pairs: str) -> Says:
    windows = script({"sighed": HILBERY_RECORDS})
    return Says(lambda user: reply_about_pairs if "<pairs>" in user else windows.say(user))


@for_each(("is_same", "count"), [(True, 1), (False, 2)])
def test_a_model_is_asked_about_doubtful_names_once(is_same: bool, count: int) -> None:
    reply = json.dumps({"pairs": [{"number": 1, "same": is_same, "why": "kin"}]})
    chat = says_of_names(reply)
    graph, gaps = built(HILBERYS, Models(chat), window_tokens=900, gleanings=0)
    [asked] = [prompt for prompt in chat.prompts if "<pairs>" in prompt.user]
    assert "Mrs. Hilbery, person, 7 times" in asked.user
    assert asked.user.count("</pairs>") == 1, "the text cannot close the fence"
    assert (len([node for node in graph.nodes if node.label == "Entity"]), gaps) == (count, ())
    again = says_of_names(reply)
    models = Models(again)
    rebuilt, _ = built(
        HILBERYS, models, known_from(graph, HILBERYS), window_tokens=900, gleanings=0
    )
    assert (models.meter.total().calls, again.prompts) == (0, [])
    assert same(graph, rebuilt)


def test_names_that_no_model_decides_on_stay_apart_and_are_a_gap() -> None:
    chat = says_of_names("I cannot say.")
    graph, gaps = built(HILBERYS, Models(chat), window_tokens=900, gleanings=0)
    [gap] = gaps
    assert (gap.step, set(gap.sources)) == ("names", {HILBERYS[0].id, HILBERYS[1].id})
    assert len([node for node in graph.nodes if node.label == "Entity"]) == 2
    reply = json.dumps({"pairs": [{"number": 1, "same": True, "why": "one"}]})
    again, gaps = built(
        HILBERYS,
        Models(says_of_names(reply)),
        known_from(graph, HILBERYS),
        window_tokens=900,
        gleanings=0,
    )
    assert (len([node for node in again.nodes if node.label == "Entity"]), gaps) == (1, ())
