"""Details as key facts of a chunk, and as the whole chunk condensed, as published."""

from __future__ import annotations

import json
from typing import Any

import pytest

from building import ask
from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import BadReply
from fabula.graph.builds import ChatStep
from fabula.graph.method import BuildText, Known
from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.placeholders import AspectPlaceholders
from fabula.graphs.aspects.prompted_writer import PromptedWriter
from fabula.graphs.aspects.replies import read_details, read_passages
from fabula.graphs.aspects.values import TextWords
from fabula.models.endpoint.openai import OpenAIChat
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
    texts = [f"In December a stranger knocked at the mill. {number}" for number in range(passages)]
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


# The graph


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
