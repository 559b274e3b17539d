"""Details as key facts of a chunk, and as the whole chunk condensed, as published."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from building import ask
from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import BadReply
from fabula.graph.builds import ChatStep
from fabula.graph.method import BuildText, Known
from fabula.graphs.aspects.offline_details import condensations, fragments
from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.placeholders import AspectPlaceholders
from fabula.graphs.aspects.prompted_writer import PromptedWriter
from fabula.graphs.aspects.replies import read_details, read_passages
from fabula.graphs.aspects.values import TextWords
from fabula.models.endpoint.openai import OpenAIChat
from fabula.text.ranking import inverse_document_frequencies
from fabula.text.stems import Stemmer, words
from fabula.text.tokens import count
from reach import reach
from small_models import SmallModels, build
from small_models import read as read_story
from stories import WINTER

# The published example: Scrooge's refusal twice, the second time in another form and choice.
FIRST = (
    "Fred invites Scrooge to Christmas dinner; Scrooge refuses his nephew rudely; calls it humbug"
)
SECOND = "Scrooge calls Christmas humbug; refuses nephew Fred's dinner rudely; invites him out"
REPLY = json.dumps({"details": [FIRST, SECOND]})

SENTENCES = [
    "In December a stranger knocked at the mill, wet to the skin, and asked for shelter.",
    "Martha refused him at first, but he showed her the silver watch of her son.",
    "She let him in, gave him soup, and listened until the candle had burned down.",
    "He told her that Edmund had died at sea, and that the watch was all he had left behind.",
]
IDF = inverse_document_frequencies(Stemmer("en").stems(sentence) for sentence in SENTENCES)


@pytest.fixture(scope="module")
def text() -> BuildText:
    return read_story(WINTER, Known())


# Replies


def test_the_same_facts_in_another_form_are_two_condensations_and_one_fact() -> None:
    assert read_details(REPLY, 2, "whole") == (FIRST, SECOND)
    assert read_details(REPLY, 2, "facts") == (FIRST,)


def test_the_same_text_again_is_no_second_condensation() -> None:
    reply = json.dumps({"details": [FIRST, "", f"- {FIRST.upper()}", SECOND, "A third."]})
    assert read_details(reply, 2, "whole") == (FIRST, SECOND)


def test_condensations_of_several_passages_are_kept_too() -> None:
    passages = [{"passage": n, "details": [FIRST, SECOND]} for n in (1, 2)]
    reply = json.dumps({"passages": passages})
    assert read_passages(reply, 2, 2, "whole") == {1: (FIRST, SECOND), 2: (FIRST, SECOND)}
    assert read_passages(reply, 2, 2) == {1: (FIRST,), 2: (FIRST,)}


# Prompts


def chat(server: Server) -> OpenAIChat:
    return OpenAIChat(reach(server.url, key=None, limit=4), "m")


def writer(kind: str = "a narrative") -> PromptedWriter:
    chat = ChatStep("model", "details", 1)
    return PromptedWriter(
        chat,
        chat,
        chat,
        AspectPlaceholders.expect({}, Options()),
        details_form="whole",
        detail_tokens=120,
        words=TextWords(kind=kind),
    )


@for_each("passages", [1, 3])
def test_each_prompt_asks_for_the_whole_passage_and_forbids_leaving_out(passages: int) -> None:
    texts = [f"{SENTENCES[0]} {number}" for number in range(passages)]
    with Server() as server:
        results = ask(writer().condense(texts), chat(server))
    [body] = server.bodies
    system, user = (message["content"] for message in body["messages"])
    assert "Leaving out an important detail is not allowed" in user
    assert "2 times, each time all of it" in user
    assert "at most 120 tokens" in user
    assert "in another form" in user
    assert "no fact twice" not in user
    assert "a narrative" in system
    assert len(results) == passages
    assert all(not isinstance(result, BadReply) and len(result) == 2 for result in results)


# Without a model


def parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";")]


def test_offline_each_condensation_is_of_the_whole_chunk() -> None:
    stemmer = Stemmer("en")
    made = condensations(SENTENCES, stemmer, IDF, 2, 40)
    assert len(made) == 2
    assert made[0] != made[1]
    for text in made:
        assert count(text) <= 40
        # A clause of every sentence, in the order of the chunk.
        places = [
            next(row for row, sentence in enumerate(SENTENCES) if part in sentence)
            for part in parts(text)
        ]
        assert places == sorted(places)
        assert set(places) == {0, 1, 2, 3}


def test_offline_the_second_condensation_repeats_some_clauses_and_adds_others() -> None:
    first, second = condensations(SENTENCES, Stemmer("en"), IDF, 2, 40)
    again = set(parts(first)) & set(parts(second))
    assert 0 < len(again) < len(parts(first))


def test_offline_a_chunk_that_fits_whole_has_one_condensation() -> None:
    assert len(condensations(SENTENCES[:2], Stemmer("en"), IDF, 3, 400)) == 1


def test_offline_what_a_chunk_says_twice_is_said_once() -> None:
    [text] = condensations([*SENTENCES[:2], *SENTENCES[:2]], Stemmer("en"), IDF, 1, 400)
    assert len(parts(text)) == len(set(parts(text)))


def test_offline_a_condensation_is_no_printed_sentence() -> None:
    printed = {tuple(words(sentence)) for sentence in SENTENCES}
    for limit in (12, 20, 40, 90):
        for text in condensations(SENTENCES, Stemmer("en"), IDF, 3, limit):
            assert tuple(words(text)) not in printed
            assert count(text) <= limit


@for_each("sentences", [[], ["* * *"], ["Yes."], ["我爱你。"]])
def test_offline_a_chunk_without_clauses_has_none(sentences: list[str]) -> None:
    assert condensations(sentences, Stemmer("en"), IDF, 2, 40) == ()


# The graph


def test_the_form_changes_the_details_and_nothing_else(text: BuildText) -> None:
    facts, whole = (build(text, SmallModels(), details_form=form) for form in ("facts", "whole"))
    summaries, others = (
        [node for node in made.nodes if node.label == "Summary"] for made in (facts, whole)
    )
    assert summaries == others
    texts = [
        {node.properties["text"] for node in made.nodes if node.label == "Detail"}
        for made in (facts, whole)
    ]
    assert texts[0] != texts[1]


@pytest.mark.parametrize("per_call", [1, 4])
def test_a_dry_run_counts_condensations_by_their_length(text: BuildText, per_call: int) -> None:
    options: dict[str, Any] = {
        "details_form": "whole",
        "detail_tokens": 40,
        "details_per_call": per_call,
    }
    models = SmallModels(offline=False)
    built = build(text, models, **options)
    usage = models.meter.usage()["details"]
    assert usage.calls == -(-len(text.chunks) // per_call)
    assert usage.faults == 0
    made = [node for node in built.nodes if node.label == "Detail"]
    assert len(made) == 2 * len(text.chunks)
    # 70 % of the length, as long as nothing is known of the model; some chunks are shorter.
    assert 20 < sum(node.properties["tokens"] for node in made) / len(made) <= 28


def test_facts_and_condensations_differ_in_what_they_are() -> None:
    facts = fragments(SENTENCES, Stemmer("en"), IDF, 2, 40)
    whole = condensations(SENTENCES, Stemmer("en"), IDF, 2, 40)
    shared = [
        len(set(re.findall(r"\w+", a)) & set(re.findall(r"\w+", b))) for a, b in (facts, whole)
    ]
    assert shared[0] < shared[1]
