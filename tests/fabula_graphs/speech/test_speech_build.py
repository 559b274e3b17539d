"""Speakers as a model names them: checked against the text, reused, missed, and left to rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from building import finish
from fabula.graph import Node, Owner
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graph.parts import known_of, part_of
from fabula.graphs.entities import GRAPH as ENTITIES
from fabula.text.document import Chunk
from fabula_graphs.speech import GRAPH
from fabula_graphs.speech.build import build
from fabula_graphs.speech.findings import find
from fabula_graphs.speech.known_quotations import restrict_part
from fabula_graphs.speech.options import Options
from fabula_graphs.speech.part_facts import LEFT_OUT, describe
from scripted import Models, Says, built, entity, made_chunks, script, told

STORY = made_chunks(
    "“Who is there?” asked Tom.\n\n“I,” said Meg March.\n\n",
    "“Come in.”\n\n“It is dark.”\n\n",
    "A storm came.\n\n",
    "“There is a lamp,” said Tom.\n\n",
)
"""Of windows of two chunks each; the second window has one quotation."""


def answer(
    quotation: Any, speaker: Any, addressee: Any = None, words: Any = None
) -> dict[str, Any]:
    """A record as a model writes it."""
    return {"quotation": quotation, "speaker": speaker, "addressee": addressee, "words": words}


FIRST = [
    answer(1, "Tom", "Meg March", "asked Tom"),
    answer(2, "Meg March", "Tom", "said Meg March"),
    answer(3, "Tom", "Meg March"),
    answer(4, "Meg March", "Tom"),
]
REPLIES: Mapping[str, Any] = {"Who is there": FIRST, "There is a lamp": [answer(1, "Tom")]}


def model(replies: Mapping[str, Any] = REPLIES) -> Says:
    """Says of each window what is scripted for words that it has."""

    def say(user: str) -> str:
        own = re.sub(r"\[before\] .*", "", user.partition("<passages>")[2])
        [found] = [reply for words, reply in replies.items() if words in own]
        return found if isinstance(found, str) else json.dumps({"quotations": found})

    return Says(say)


def speech_of(
    says: Says,
    chunks: Sequence[Chunk] = STORY,
    known: Known | None = None,
    *,
    offline: bool = False,
    with_entities: bool = True,
) -> Built:
    text = told(chunks)
    below = {}
    if with_entities:
        people = {
            "Who": {"entities": [entity("Tom", 1), entity("Meg March", 1)], "relations": []},
        }
        cast, _ = built(chunks, Models(script(people)), window_tokens=200, gleanings=0)
        below = {"entities": part_of(ENTITIES, text, cast, {}, {})}
    given, work = BuildText(text.document, text.chunks, below), BuildWork()
    models = Models(says, offline=offline)
    wanted = build(given, Options(window_tokens=200), models, known or Known(), work)
    return finish(wanted, models, work)


def known_from(made: Built, chunks: Sequence[Chunk] = STORY) -> Known:
    return known_of(part_of(GRAPH, told(chunks), made, {}, {}), tuple(chunks), {})


def said(made: Built) -> list[tuple[str, str, str]]:
    nodes = sorted(made.nodes, key=lambda node: node.properties["start"])
    names = ("speaker", "addressee", "by")
    return [tuple(node.properties[name] for name in names) for node in nodes]


def test_a_model_names_speakers_and_the_words_that_say_so() -> None:
    says = model()
    made = speech_of(says)
    assert said(made)[:4] == [
        ("Tom", "Meg March", "model"),
        ("Meg March", "Tom", "model"),
        ("Tom", "Meg March", "model"),
        ("Meg March", "Tom", "model"),
    ]
    [first, *_] = sorted(made.nodes, key=lambda node: node.properties["start"])
    assert first.properties["evidence"] == "asked Tom"
    assert first.embedding is not None
    ties = {(edge.type, edge.start) for edge in made.edges}
    assert {("SPOKEN_BY", first.id), ("SPOKEN_TO", first.id)} <= ties
    # A window without a quotation is not asked about.
    assert len(says.prompts) == 2
    assert "(#1) “Who is there?”" in says.prompts[0].user + says.prompts[1].user
    assert made.gaps == ()


def test_a_speaker_who_is_printed_nowhere_is_left_to_the_rules() -> None:
    replies = {
        **REPLIES,
        "Who is there": [
            answer(1, "Napoleon"),
            answer(2, "she"),
            answer(3, "Meg March", "Napoleon", "said Napoleon"),
            answer(9, "Tom"),
            "nothing",
        ],
    }
    made = speech_of(model(replies))
    assert said(made)[:3] == [
        ("Tom", "Meg March", "rules"),
        ("Meg March", "Tom", "rules"),
        ("Meg March", "Meg March", "model"),
    ]
    counts = {name: made.facts[f"dropped_{name}"] for name in ("unprinted", "pronouns", "unproven")}
    assert counts == {"unprinted": 1, "pronouns": 1, "unproven": 2}
    assert made.facts["dropped_misplaced"] == made.facts["dropped_malformed"] == 1
    assert LEFT_OUT.warnings(made.facts) != []
    assert any("answers on speakers were left out" in line for line in describe(made.facts))


def test_a_reply_of_no_use_is_a_gap_that_rules_fill() -> None:
    made = speech_of(model({**REPLIES, "There is a lamp": "I can't help with that."}))
    assert [gap.step for gap in made.gaps] == ["speakers"]
    # Who is asked before it is doubtful, so nobody is said to be addressed.
    assert said(made)[-1] == ("Tom", "", "rules")
    says = model()
    again = speech_of(says, known=known_from(made))
    assert len(says.prompts) == 1
    assert again.gaps == ()
    assert said(again) == said(speech_of(model()))


def test_after_an_edit_only_windows_with_a_changed_chunk_are_asked_about() -> None:
    made = speech_of(model())
    texts = [chunk.text for chunk in STORY]
    texts[3] = "“There is a lamp here,” said Tom.\n\n"
    edited = made_chunks(*texts)
    says = model({"There is a lamp": [answer(1, "Tom")]})
    again = speech_of(says, edited, known_from(made))
    assert len(says.prompts) == 1
    assert said(again)[:4] == said(made)[:4]
    assert {node.id for node in made.nodes} & {node.id for node in again.nodes} == {
        node.id for node in made.nodes if STORY[3].id not in node.sources
    }


def test_offline_nothing_is_asked() -> None:
    says = model()
    made = speech_of(says, offline=True)
    assert says.prompts == []
    assert [row[:2] for row in said(made)] == [
        ("Tom", "Meg March"),
        ("Meg March", "Tom"),
        ("Tom", "Meg March"),
        ("Meg March", "Tom"),
        ("Tom", ""),
    ]


def test_without_entities_speakers_are_the_names_printed_and_that_is_said() -> None:
    made = speech_of(model(), offline=True, with_entities=False)
    assert {edge.type for edge in made.edges} == {"FROM_CHUNK"}
    assert said(made)[0][0] == "Tom"
    assert "there is no graph of entities: speakers are the names printed" in describe(made.facts)


def test_a_quotation_across_chunks_rests_on_both() -> None:
    chunks = made_chunks("Tom said: “Come in. ", "It is dark.”\n\n")
    made = speech_of(model(), chunks, offline=True, with_entities=False)
    [node] = made.nodes
    assert node.properties["text"] == "“Come in. It is dark.”"
    assert node.sources == tuple(chunk.id for chunk in chunks)


def test_findings_have_each_quotation_with_its_speaker() -> None:
    made = speech_of(model(), offline=True)
    part = part_of(GRAPH, told(STORY), made, {}, {})
    text = told(STORY)
    found = find(text, part).quotations
    whole = text.document.text
    assert [whole[one.start : one.end] for one in found][:2] == ["“Who is there?”", "“I,”"]
    assert found[0].speaker
    assert whole[slice(*(found[0].speaker_words or (0, 0)))] == "Tom"


def test_a_play_is_not_asked_about() -> None:
    speech = "ANNA.\nGood day.\n\nTOM.\nGood day.\n\n"
    says = model({})
    made = speech_of(says, made_chunks(speech * 3), with_entities=False)
    assert says.prompts == []
    assert {node.properties["form"] for node in made.nodes} == {"label"}
    assert [row[0] for row in said(made)] == ["ANNA", "TOM"] * 3
    assert replace(made.nodes[0], embedding=None).properties["rule"] == "label"


def test_who_quotes_is_kept_with_the_place_from_which_it_is_known() -> None:
    chunks = made_chunks(
        "“Who is there?” asked Tom.\n\n“Then Tom said, ‘Come in,’ to us,” ", "said Meg March.\n\n"
    )
    made = speech_of(model(), chunks, offline=True)
    [inner] = [node for node in made.nodes if node.properties["depth"]]
    assert (inner.properties["speaker"], inner.properties["quoted_by"]) == ("Tom", "Meg March")
    part = part_of(GRAPH, told(chunks), made, {}, {})
    read_text = tuple(
        Node(chunk.id, "Chunk", {"start": chunk.start, "end": chunk.end}, (chunk.id,))
        for chunk in chunks
    )
    text = replace(part, owner=Owner("c", "text", "d"), nodes=read_text, edges=())

    def quoted_by(*read: Chunk) -> str:
        restricted = restrict_part(part, {"text": text}, {chunk.id for chunk in read})
        [node] = [node for node in restricted.nodes if node.properties["depth"]]
        return str(node.properties["quoted_by"])

    assert quoted_by(*chunks) == "Meg March"
    assert quoted_by(chunks[0]) == "", "who quotes stands in the chunk that was not read"


def test_who_says_i_in_a_quotation_is_not_known_before_its_speaker() -> None:
    chunks = made_chunks(
        "“Who is there?” asked Meg March.\n\n“Then I said, ‘Come in,’ to Tom,” ",
        "said Meg March.\n\n",
    )
    made = speech_of(model(), chunks, offline=True)
    part = part_of(GRAPH, told(chunks), made, {}, {})
    read_text = tuple(
        Node(chunk.id, "Chunk", {"start": chunk.start, "end": chunk.end}, (chunk.id,))
        for chunk in chunks
    )
    text = replace(part, owner=Owner("c", "text", "d"), nodes=read_text, edges=())
    known = tuple(
        Node(edge.end, "Entity", {"name": "Meg March"}, ())
        for edge in made.edges
        if edge.type == "SPOKEN_BY"
    )
    entities = replace(part, owner=Owner("c", "entities", "d"), nodes=known, edges=())
    below = {"text": text, "entities": entities}

    def speakers(*read: Chunk) -> list[tuple[str, str, int]]:
        restricted = restrict_part(part, below, {chunk.id for chunk in read})
        named = [edge.start for edge in restricted.edges if edge.type == "SPOKEN_BY"]
        return [
            (node.properties["text"][:5], node.properties["speaker"], named.count(node.id))
            for node in sorted(restricted.nodes, key=lambda node: node.properties["start"])
        ]

    assert speakers(*chunks) == [
        ("“Who ", "Meg March", 1),
        ("“Then", "Meg March", 1),
        ("‘Come", "Meg March", 1),
    ]
    assert speakers(chunks[0]) == [("“Who ", "Meg March", 1), ("“Then", "", 0), ("‘Come", "", 0)]
