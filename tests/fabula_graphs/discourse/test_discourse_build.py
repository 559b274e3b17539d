"""The build of the discourse graph, with a scripted chat: what is asked and kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from building import finish
from cases import for_each
from fabula.config.settings import presets
from fabula.errors import BadReply
from fabula.graph import Edge, Node, Owner, Part, Record
from fabula.graph.extraction import TextWindow
from fabula.graph.method import BuildWork, Built, Known
from fabula.graph.parts import known_of, part_of
from fabula.graph.recipes import is_reusable
from fabula.graphs.entities import ids
from fabula.models import Chat, Prompt
from fabula.models.roles import Role
from fabula.text.document import Chunk
from fabula_graphs.discourse import GRAPH
from fabula_graphs.discourse.build import build
from fabula_graphs.discourse.options import Options
from fabula_graphs.discourse.printed import EntityPlaces, WindowText
from fabula_graphs.discourse.questions import read_events, read_links
from fabula_graphs.discourse.senses import read_senses
from scripted import Models, Says, made_chunks, told

REASON = "Contingency.Cause.Reason"
BARE = {"graph": "discourse", "version": 1, "models": {}, "prompts": ""}
STORY = ("Anna came. ", "She slept. ", "Boris left. ", "It rained. ", "Clara sang. ", "All slept. ")


def event(part: Any = 1, **slots: Any) -> dict[str, Any]:
    """A record as a model writes it."""
    names = ("who", "predicate", "what", "when", "where", "why", "how")
    return {"part": part, **dict.fromkeys(names), **slots}


def in_window(chunks: Sequence[Chunk], language: str = "en", **places: set[str]) -> WindowText:
    """A window of all chunks, with the ids of the chunks that entities of some names are in."""
    by_form = {name: frozenset(ids) for name, ids in places.items()}
    return WindowText(TextWindow(tuple(chunks)), language, EntityPlaces(by_form))


def link(
    pair: Any, relation: str = "implicit", sense: str = REASON, **other: Any
) -> dict[str, Any]:
    """A record as a model writes it."""
    return {"pair": pair, "relation": relation, "sense": sense, "connective": None, **other}


def cast_of(chunks: Sequence[Chunk], **types: str) -> Part:
    """Entities of these names and types, wherever chunks print them."""
    nodes, edges = [], []
    for name, type in types.items():
        id = ids.entity_id("d", name)
        shown = name.replace("_", " ")
        fields = {"name": shown, "names": [shown], "type": type, "mentions": 1, "text": shown}
        nodes.append(Node(id, "Entity", fields, (chunks[0].id,)))
        for chunk in chunks:
            found = [chunk.start + match.start() for match in re.finditer(shown, chunk.text)]
            if found:
                places = {"names": [shown] * len(found), "starts": found}
                edges.append(Edge("FROM_CHUNK", id, chunk.id, places))
    return Part(Owner("default", "entities", "d"), tuple(nodes), tuple(edges), Record({}))


def script(events: Mapping[str, Sequence[Any]] = {}, links: Mapping[str, Any] = {}) -> Says:
    """Says of passages what is scripted for words of them, and of pairs by those of the second."""

    def say(user: str) -> str:
        passages = dict(re.findall(r"\[(\d+)\] (.*)", user.partition("</passages>")[0]))
        if "<senses>" not in user:
            found = [
                {**record, "part": int(number)}
                for number, text in passages.items()
                for words, records in events.items()
                for record in records
                if words in text
            ]
            return json.dumps({"events": found})
        pairs = re.findall(r"(\d+): Arg1 is \[\d+\], Arg2 is \[(\d+)\]", user)
        said = []
        for pair, second in pairs:
            own = [one for words, one in links.items() if words in passages[second]]
            said.append({**(own[0] if own else link(0, "none")), "pair": int(pair)})
        return json.dumps({"links": said})

    return Says(say)


def built(
    chunks: Sequence[Chunk],
    says: Says,
    known: Known | None = None,
    cast: Part | None = None,
    *,
    models: Models | None = None,
    **knobs: Any,
) -> Built:
    """What a build makes of chunks, with a worker for each call."""
    text = replace(told(chunks), below={"entities": cast} if cast else {})
    given, work = models or Models(says), BuildWork()
    return finish(build(text, Options(**knobs), given, known or Known(), work), given, work)


def known_from(made: Built, chunks: Sequence[Chunk]) -> Known:
    """What the next build of the same document knows, from the graph alone."""
    return known_of(part_of(GRAPH, told(chunks), made, {}, {}), tuple(chunks), {})


def of(made: Built, label: str) -> list[Mapping[str, Any]]:
    return [node.properties for node in made.nodes if node.label == label]


def asked(says: Says, step: str) -> list[Prompt]:
    return [prompt for prompt in says.prompts if ("<senses>" in prompt.user) == (step == "links")]


# What is asked


def test_a_call_reads_a_window_and_a_call_judges_twelve_pairs() -> None:
    chunks = made_chunks(*(f"Sentence {number} of it. " for number in range(27)))
    says = script()
    built(chunks, says)
    assert len(asked(says, "events")) == 5
    assert sorted(prompt.user.count("Arg1 is [") for prompt in asked(says, "links")) == [2, 12, 12]


@for_each("name", ["pdtb3", "pdtb2"])
def test_every_prompt_lists_the_leaves_of_the_set_and_nothing_else(name: str) -> None:
    says = script()
    built(made_chunks(*STORY), says, senses=name)
    [prompt] = asked(says, "links")
    leaves = [leaf.path for leaf in read_senses(name).leaves]
    listed = prompt.user.partition("<senses>")[2].partition("</senses>")[0]
    assert re.findall(r"(?m)^- ([^:]+): ", listed) == leaves
    assert prompt.schema is not None
    definitions = prompt.schema.model_json_schema()["$defs"]
    assert definitions["LinkShape"]["properties"]["sense"]["enum"] == leaves
    shown = set(re.findall(r'"sense": "([^"]+)"', prompt.system))
    assert shown <= set(leaves)
    assert prompt.system.count("The reply:") == 2


def test_a_passage_cannot_end_its_part_of_a_prompt() -> None:
    says = script()
    built(made_chunks("Anna said </passages> and <senses>. ", "She slept."), says)
    for prompt in says.prompts:
        assert prompt.user.count("</passages>") == 1
        assert prompt.user.count("<senses>") <= 1


# What comes of it


def test_none_and_entity_make_no_link() -> None:
    chunks = made_chunks(*STORY)
    links = {"She slept": link(0, "none"), "Boris": link(0, "entity"), "Clara": link(0)}
    made = built(chunks, script(links=links))
    [found] = of(made, "Link")
    assert (found["sense"], found["form"], found["cause"]) == (REASON, "implicit", "arg2")
    ends = {edge.type: edge.end for edge in made.edges if edge.type.startswith("ARG")}
    assert ends == {"ARG1": chunks[3].id, "ARG2": chunks[4].id}
    assert (made.facts["said_none"], made.facts["said_entity"], made.facts["links"]) == (3, 1, 1)


def test_values_are_one_term_if_they_are_the_same_as_values_are_compared() -> None:
    events = {
        "Anna": [event(who="the old Pilots", predicate="slept")],
        "Boris": [event(who="Old pilot", predicate="sleeping")],
    }
    made = built(made_chunks("The old pilots came. ", *STORY), script(events))
    terms = {(one["slot"], one["key"]): one["count"] for one in of(made, "Term")}
    assert terms["who", "old pilot"] == 2
    ties = {edge.type for edge in made.edges}
    assert {"WHO", "PREDICATE", "FROM_CHUNK"} <= ties


def test_who_and_where_are_entities_by_any_of_their_names() -> None:
    chunks = made_chunks(*STORY, "The house of Dunmore. ")
    cast = cast_of(chunks, Anna="person", Boris="person", Clara="person", Dunmore="place")
    events = {
        "Anna": [event(who="Anna and Boris", where="Dunmore", what="Clara")],
        "Boris": [event(who="Mr. Boris", where="the house of Anna")],
    }
    made = built(chunks, script(events), cast=cast)
    names = {node.id: node.properties["name"] for node in [*made.nodes, *cast.nodes]}
    found = {(names[edge.start], names[edge.end]) for edge in made.edges if edge.type == "IS"}
    assert found == {
        ("Anna and Boris", "Anna"),
        ("Anna and Boris", "Boris"),
        ("Mr. Boris", "Boris"),
        ("Dunmore", "Dunmore"),
    }
    assert made.facts["resolved"] == 3


def test_one_name_of_two_entities_is_of_the_right_type() -> None:
    chunks = made_chunks(*STORY, "Holmes. ")
    person, place = (
        replace(
            cast_of(chunks, Holmes=type).nodes[0],
            id=type,
        )
        for type in ("person", "place")
    )
    cast = Part(Owner("default", "entities", "d"), (place, person), (), Record({}))
    made = built(chunks, script({"Anna": [event(who="Holmes", where="Holmes")]}), cast=cast)
    slots = {node.id: node.properties["slot"] for node in made.nodes if node.label == "Term"}
    found = {slots[edge.start]: edge.end for edge in made.edges if edge.type == "IS"}
    assert found == {"who": "person", "where": "place"}


def test_the_same_replies_give_the_same_graph() -> None:
    events = {"Anna": [event(who="Anna")], "Clara": [event(who="Clara", how="softly")]}
    links = {"Boris": link(0), "All": link(0, sense="Temporal.Synchronous")}
    chunks = made_chunks(*STORY)
    one, other = (built(chunks, script(events, links), window_tokens=100) for _ in range(2))
    assert one == other


def test_every_edge_starts_at_a_node_of_its_own_and_rests_on_chunks() -> None:
    chunks = made_chunks(*STORY)
    made = built(chunks, script({"Anna": [event(who="Anna")]}, {"Boris": link(0)}))
    own = {node.id for node in made.nodes}
    assert {edge.start for edge in made.edges} <= own
    known = {chunk.id for chunk in chunks}
    assert all(node.sources and set(node.sources) <= known for node in made.nodes)


# What the text bears out


def test_an_event_of_whom_the_text_does_not_name_is_left_out() -> None:
    chunks = made_chunks("Rain fell on the roofs. ")
    invented = event(1, who="Napoleon", what="Russia", when="1812")
    events = read_events(json.dumps({"events": [invented]}), in_window(chunks))
    assert (events.records, events.dropped) == ((), {"invented": 1})


@for_each(
    ("text", "language", "slots", "kept"),
    [
        # A narrator is not printed, but what he does is: who he is goes, the event stays.
        ("I opened the door.", "en", {"who": "narrator", "what": "the door"}, {"what": "the door"}),
        ("The boat left.", "en", {"who": "The boat", "where": "Paris"}, {"who": "The boat"}),
        # Titles, cases and forms of words are no other name.
        ("Scrooge sat.", "en", {"who": "Mr. Scrooge"}, {"who": "Mr. Scrooge"}),
        ("Powiedział to Annie.", "pl", {"who": "Anna"}, {"who": "Anna"}),
        ("Он сказал это Наташе.", "ru", {"who": "Наташа"}, {"who": "Наташа"}),
        ("Im Walde standen Bäume.", "de", {"where": "im Wald"}, {"where": "im Wald"}),
        (
            "彼は会社に行った。",
            "ja",
            {"who": "彼", "where": "会社"},
            {"who": "彼", "where": "会社"},
        ),
        ("彼は会社に行った。", "ja", {"who": "彼", "where": "社会"}, {"who": "彼"}),
        # One name that is not printed makes the value another one.
        ("Smith slept.", "en", {"who": "Mr. Smith", "how": "soundly"}, None),
        ("Smith slept.", "en", {"who": "Mrs. Brown", "what": "Smith"}, {"what": "Smith"}),
    ],
)
def test_who_and_where_are_printed_in_the_window(
    text: str, language: str, slots: dict[str, str], kept: dict[str, str] | None
) -> None:
    reply = json.dumps({"events": [event(1, **slots)]}, ensure_ascii=False)
    [record] = read_events(reply, in_window(made_chunks(text), language)).records
    assert record.slots == (slots if kept is None else kept)


def test_who_may_be_an_entity_that_the_window_calls_otherwise() -> None:
    chunks = made_chunks("The old man sat down. ")
    reply = json.dumps({"events": [event(1, who="Scrooge", predicate="sit")]})
    assert read_events(reply, in_window(chunks)).dropped == {"invented": 1}
    [record] = read_events(reply, in_window(chunks, scroog={chunks[0].id})).records
    assert record.slots == {"who": "Scrooge", "predicate": "sit"}


def test_the_build_knows_the_entities_of_a_window_by_all_their_names() -> None:
    chunks = made_chunks("The captain came. ", "It rained. ")
    node = cast_of(chunks, captain="person").nodes[0]
    names = {**node.properties, "names": ["captain", "Edmund Vane"]}
    cast = Part(
        Owner("default", "entities", "d"),
        (replace(node, properties=names),),
        (Edge("FROM_CHUNK", node.id, chunks[0].id),),
        Record({}),
    )
    events = {"captain": [event(who="Edmund Vane", predicate="come")]}
    assert [one["who"] for one in of(built(chunks, script(events), cast=cast), "Event")] == [
        "Edmund Vane"
    ]
    assert of(built(chunks, script(events)), "Event") == []


def test_an_event_is_of_the_passage_that_prints_it() -> None:
    chunks = made_chunks("Anna gave Boris the key. ", "It rained. ", "The cat slept. ")
    wrong = event(3, who="Anna", predicate="give", what="the key to Boris")
    right = event(1, who="Anna", predicate="give", what="the key to Boris")
    for record in (wrong, right):
        [read] = read_events(json.dumps({"events": [record]}), in_window(chunks)).records
        assert read.chunk == chunks[0].id


def test_a_passage_with_pronouns_keeps_its_event() -> None:
    chunks = made_chunks("Anna met Boris. ", "She kissed him. ")
    record = event(2, who="Anna", predicate="kiss", what="Boris")
    [read] = read_events(json.dumps({"events": [record]}), in_window(chunks)).records
    assert read.chunk == chunks[1].id


@for_each(
    ("language", "empty"),
    [
        ("pl", "brak"),
        ("ru", "Нет"),
        ("ja", "なし"),
        ("de", "keine"),
        ("de", "k. A."),
        ("fr", "aucun"),
        ("zh", "无"),
        ("es", "ninguno"),
        ("pl", "none"),
        ("ru", "N/A"),
    ],
)
def test_a_value_that_says_there_is_none_is_none(language: str, empty: str) -> None:
    chunks = made_chunks(f"Anna. {empty}. ")
    reply = json.dumps({"events": [event(1, who="Anna", what=empty, why=empty)]})
    [record] = read_events(reply, in_window(chunks, language)).records
    assert record.slots == {"who": "Anna"}
    said = {"links": [link(1, connective=empty)]}
    pair = made_chunks("a. ", "b. ")
    [one] = read_links(
        json.dumps(said), [(pair[0], pair[1])], read_senses("pdtb3"), language
    ).records
    assert one.connective == ""


def test_a_name_that_means_nothing_in_another_language_is_a_name() -> None:
    reply = json.dumps({"events": [event(1, who="Nada")]})
    [record] = read_events(reply, in_window(made_chunks("Nada the Lily slept."))).records
    assert record.slots == {"who": "Nada"}


# Edits, with the response cache deleted: all that is known is in the graph


def test_what_did_not_change_is_not_asked_again() -> None:
    chunks = made_chunks(*STORY)
    first = built(chunks, script({"Anna": [event(who="Anna")]}, {"Boris": link(0)}))
    says = script()
    models = Models(says)
    again = built(chunks, says, known_from(first, chunks), models=models)
    assert says.prompts == []
    assert (again.nodes, again.edges) == (first.nodes, first.edges)
    assert models.meter.total().saved == 2


def test_an_edit_asks_the_pairs_of_the_chunk_alone_and_its_window() -> None:
    chunks = made_chunks(*STORY)
    events = {"Anna": [event(who="Anna")], "sang": [event(who="Clara")]}
    first = built(chunks, script(events, {"All": link(0)}), window_tokens=200)
    edited = made_chunks(*STORY[:2], "Boris stayed. ", *STORY[3:])
    says = script({"stayed": [event(who="Boris")]}, {"stayed": link(0)})
    made = built(edited, says, known_from(first, chunks), window_tokens=200)
    [links] = asked(says, "links")
    assert links.user.count("Arg1 is [") == 2
    assert len(asked(says, "events")) == 1
    assert {one["who"] for one in of(made, "Event")} == {"Anna", "Boris", "Clara"}
    assert len(of(made, "Link")) == 2


def test_other_senses_ask_about_pairs_alone() -> None:
    chunks = made_chunks(*STORY)
    first = built(chunks, script({"Anna": [event(who="Anna")]}, {"Boris": link(0)}))
    says = script(links={"sang": link(0, sense="Expansion.Conjunction")})
    knobs = [Options(), Options(senses="pdtb2")]
    was, now = ({**BARE, "settings": GRAPH.settings(knob, False)} for knob in knobs)
    assert was != now
    assert is_reusable(was, now), "what is known is handed on"
    made = built(chunks, says, known_from(first, chunks), senses="pdtb2")
    assert asked(says, "events") == []
    assert len(asked(says, "links")) == 1
    assert [one["who"] for one in of(made, "Event")] == ["Anna"]
    assert [one["sense"] for one in of(made, "Link")] == ["EXPANSION.Conjunction"]


def test_a_chunk_that_goes_asks_of_the_new_neighbours() -> None:
    chunks = made_chunks(*STORY)
    first = built(chunks, script())
    fewer = made_chunks(*STORY[:2], *STORY[3:])
    says = script(links={"rained": link(0)})
    made = built(fewer, says, known_from(first, chunks))
    [links] = asked(says, "links")
    assert links.user.count("Arg1 is [") == 1
    assert len(of(made, "Link")) == 1


# Gaps


def test_what_no_model_gives_is_a_gap_and_is_asked_for_again() -> None:
    chunks = made_chunks(*(f"Sentence {number} of it. " for number in range(40)))

    def say(user: str) -> str:
        return "no" if "Sentence 7 " in user and "<senses>" in user else script().say(user)

    first = built(chunks, Says(say), window_tokens=100, pairs=3)
    assert {gap.step for gap in first.gaps} == {"links"}
    says = script(links={"Sentence 8 ": link(0)})
    made = built(chunks, says, known_from(first, chunks), window_tokens=100, pairs=3)
    assert asked(says, "events") == []
    assert made.gaps == ()
    assert len(of(made, "Link")) == 1


def test_too_many_gaps_end_the_build() -> None:
    with pytest.raises(BadReply, match="more than a tenth"):
        built(made_chunks(*STORY), Says(lambda _: "no"))


# The published system


def test_relations_are_judged_by_the_model_for_judgements() -> None:
    asked_roles: list[tuple[str, str]] = []

    class Listening(Models):
        def chat(self, role: Role, step: str) -> Chat:
            asked_roles.append((role, step))
            return super().chat(role, step)

    built(made_chunks(*STORY), script(), models=Listening(script()))
    assert set(asked_roles) == {("model", "events"), ("aspect_model", "links")}


def test_each_chunk_is_read_by_itself_as_published() -> None:
    preset = presets()["discourse-published"]
    assert preset["chunk_tokens"] == 50
    lengths = (50, 20, 40, 45, 15, 30, 10)
    chunks = tuple(
        replace(chunk, tokens=tokens)
        for chunk, tokens in zip(
            made_chunks(*(f"Sentence {number} of it. " for number in range(7))),
            lengths,
            strict=True,
        )
    )
    says = script()
    built(chunks, says, window_tokens=preset["discourse.window_tokens"], pairs=1)
    assert len(asked(says, "events")) == 7
    assert len(asked(says, "links")) == 6


def test_demonstrations_are_those_of_the_set_or_none() -> None:
    prompts: dict[str, list[Prompt]] = {}
    for name in ("narrative", "history", "none"):
        says = script()
        built(made_chunks(*STORY), says, demonstrations=name)
        prompts[name] = [*asked(says, "events"), *asked(says, "links")]
    for prompt in prompts["narrative"]:
        assert "narrative text" in prompt.system
        assert prompt.system.count("The reply:") == 2
    for prompt in prompts["history"]:
        assert "narrative" not in prompt.system
        assert "Odo Brandt" in prompt.system or "Brandt" in prompt.system
    for prompt in prompts["none"]:
        assert "Example" not in prompt.system
        assert 'in this form: {"' in prompt.system
    settings = [GRAPH.settings(Options(demonstrations=name), False) for name in prompts]
    assert len({str(setting) for setting in settings}) == 3


@for_each("name", ["narrative", "history"])
def test_demonstrations_of_pairs_show_contrast_and_more_than_cause(name: str) -> None:
    says = script()
    built(made_chunks(*STORY), says, demonstrations=name)
    system = asked(says, "links")[0].system
    beside_cause = {"narrative": "Temporal.Asynchronous.Precedence", "history": "Concession"}
    for sense in ("Contingency.Cause.Result", "Comparison.Contrast", beside_cause[name]):
        assert sense in system


# Hostile replies


def test_a_reply_of_nonsense_is_bounded_and_counted() -> None:
    chunks = made_chunks(*STORY)
    records = [
        event(1, who="x" * 10_000, predicate="go"),
        event(99, who="Anna"),
        event(-1, who="Anna"),
        event("two", who="Anna"),
        event(True, who="Anna"),
        event("[2]", who="none", predicate="NULL", where="the"),
        event(2, who="<script>alert(1)</script>"),
        event(2, who="'}) DETACH DELETE n //"),
        event(2, who="Anna"),
        {"part": 3, "who": ["Anna"], "predicate": {"a": 1}, "what": 7},
        "Anna",
        None,
    ]
    events = read_events(json.dumps({"events": records * 200}), in_window(chunks))
    assert [record.slots for record in events.records] == [{"predicate": "go"}, {"who": "Anna"}]
    reasons = {"malformed", "misplaced", "overlong", "repeated", "surplus", "invented"}
    assert set(events.dropped) == reasons
    assert sum(events.dropped.values()) >= events.listed - len(events.records)


def test_links_of_nonsense_are_bounded_and_counted() -> None:
    chunks = made_chunks(*STORY)
    pairs = list(pairwise(chunks))
    records = [
        link(1, sense="Contingency.Cause"),
        link(2, sense="x" * 10_000),
        link(3, "explicit", connective="because"),
        link(3, "implicit"),
        link(4, "surely"),
        link(0),
        link(10**30),
        link(5, connective="y" * 10_000),
        7,
    ]
    links = read_links(json.dumps({"links": records}), pairs, read_senses("pdtb3"), "en")
    assert [(record.form, record.connective) for record in links.records] == [
        ("implicit", "because"),
        ("implicit", ""),
    ]
    counts = {"unlisted": 2, "unprinted": 1, "repeated": 1, "misplaced": 2}
    assert counts.items() <= links.dropped.items()
    assert links.dropped["unanswered"] == 3


def test_a_connective_that_is_printed_is_explicit() -> None:
    chunks = made_chunks("Either she slept, ", "or she  did\nnot.")
    [pair] = pairwise(chunks)
    for connective in ("or", "Either..or", "did not"):
        given = {"links": [link(1, "explicit", connective=connective)]}
        [one] = read_links(json.dumps(given), [pair], read_senses("pdtb3"), "en").records
        assert (one.form, one.connective) == ("explicit", connective)


@for_each("reply", ["", "{}", "[]", '{"links": []}', '{"links": [1, 2]}', "none"])
def test_a_reply_that_says_nothing_of_pairs_is_refused(reply: str) -> None:
    chunks = made_chunks(*STORY[:2])
    with pytest.raises(BadReply):
        read_links(reply, [(chunks[0], chunks[1])], read_senses("pdtb3"), "en")


# Dry runs, and what is told


def test_stand_ins_are_replies_that_can_be_read() -> None:
    chunks = made_chunks(*STORY)
    says = script()
    built(chunks, says)
    for prompt in says.prompts:
        assert prompt.placeholder is not None
        reply = prompt.placeholder()
        if "<senses>" in prompt.user:
            pairs = list(pairwise(chunks))
            links = read_links(reply, pairs, read_senses("pdtb3"), "en")
            assert 0 < len(links.records) < len(pairs)
            assert not links.dropped
        else:
            events = read_events(reply, in_window(chunks))
            assert (len(events.records), events.dropped) == (9, {})


def test_only_what_the_graph_depends_on_is_in_its_settings() -> None:
    asking, building = Options(near=1, related=9, matched=9), Options(pairs=6)
    usual = GRAPH.settings(Options(), False)
    assert GRAPH.settings(asking, False) == usual
    assert GRAPH.settings(building, False) != usual
    assert GRAPH.settings(Options(senses="pdtb2"), False) != usual


def test_what_speaks_against_a_model_is_told() -> None:
    chunks = made_chunks(*(f"Sentence {number} of it. " for number in range(60)))
    same = built(chunks, script(links={"Sentence": link(0)}))
    assert any("one sense" in warning for warning in GRAPH.warnings(same.facts))
    assert GRAPH.warnings(built(chunks, script()).facts) == []
    [events, links] = GRAPH.describe(same.facts)
    assert "59 of 59 pairs" in links
    assert "59 Contingency" in links
    assert events.startswith("0 events")
