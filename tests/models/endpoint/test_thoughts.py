"""A thinking model's thoughts never reach a reply, in whatever form its server leaves them."""

import itertools
import json
import random
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from caches import OpenCache
from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import BadReply
from fabula.graphs.aspects.replies import read_details
from fabula.models import Reply
from fabula.models.endpoint.openai import OpenAIChat
from fabula.models.endpoint.thoughts import OPENINGS, ThoughtFilter, split_thoughts
from fabula.models.replies import ask, read_summary
from reach import DETAILS, SUMMARY, chat, reach, text_of

THOUGHTS = "Okay, SECRET: passage [2] says a < b.\nLet me think.\n"
REPLY = "Marley was dead [1]."
FORMS = {
    "think": f"<think>\n{THOUGHTS}</think>\n\n{REPLY}",
    "the closing tag alone": f"{THOUGHTS}</think>\n\n{REPLY}",
    "thinking": f"<thinking>{THOUGHTS}</thinking>{REPLY}",
    "capitals": f"<Think>{THOUGHTS}</Think>{REPLY}",
    "a tag with attributes": f'<think time="3">{THOUGHTS}</think>{REPLY}',
    "Magistral": f"[THINK]{THOUGHTS}[/THINK]{REPLY}",
    "Magistral, closing alone": f"{THOUGHTS}[/THINK]{REPLY}",
    "Kimi": f"◁think▷{THOUGHTS}◁/think▷{REPLY}",
    "Kimi, closing alone": f"{THOUGHTS}◁/think▷{REPLY}",
    "Seed": f"<seed:think>{THOUGHTS}</seed:think>{REPLY}",
    "harmony": f"<|channel|>analysis<|message|>{THOUGHTS}<|end|><|start|>assistant<|channel|>final"
    f"<|message|>{REPLY}<|return|>",
    "harmony with a commentary": f"<|start|>assistant<|channel|>analysis<|message|>{THOUGHTS}"
    f"<|end|><|start|>assistant<|channel|>commentary<|message|>{THOUGHTS}<|end|>"
    f"<|start|>assistant<|channel|>final <|constrain|>json<|message|>{REPLY}",
    "harmony without its tokens": f"analysisWe need to. {THOUGHTS}assistantfinal{REPLY}",
    "Gemma": f"<|channel>thought\n{THOUGHTS}<channel|>{REPLY}",
    "MedGemma": f"<unused94>thought\n{THOUGHTS}<unused95>{REPLY}",
    "Cohere": f"<|START_THINKING|>{THOUGHTS}<|END_THINKING|><|START_RESPONSE|>{REPLY}"
    "<|END_RESPONSE|>",
    "Granite": f"Here is my thought process: {THOUGHTS}Here is my response: {REPLY}",
    "Hunyuan": f"<think>\n{THOUGHTS}\n</think>\n<answer>\n{REPLY}\n</answer>",
    "Open WebUI": f'<details type="reasoning">\n<summary>x</summary>{THOUGHTS}</details>{REPLY}',
    "OpenThinker": f"<|begin_of_thought|>{THOUGHTS}<|end_of_thought|>\n\n<|begin_of_solution|>"
    f"{REPLY}<|end_of_solution|>",
    "LongCat": f"<longcat_think>\n{THOUGHTS}</longcat_think>\n{REPLY}",
    "Apriel": f"Here are my reasoning steps:\n{THOUGHTS}[BEGIN FINAL RESPONSE]\n{REPLY}\n"
    "[END FINAL RESPONSE]\n<|end|>",
    "Solar": f"<|think|>{THOUGHTS}<|end|><|begin|>assistant<|content|>{REPLY}<|flush|>",
    "a box of GLM": f"<think>{THOUGHTS}</think><|begin_of_box|>{REPLY}<|end_of_box|>",
    "a turn that begins and ends": f"<|im_start|>assistant\n<think>{THOUGHTS}</think>{REPLY}"
    f"<|im_end|>\n<|im_start|>user\n{THOUGHTS}",
    "no thoughts between the tags": f"<think>\n\n</think>\n\n{REPLY}",
    "in the middle": f"Marley <think>{THOUGHTS}</think>was dead [1].",
    "after the reply": f"{REPLY}\n<think>{THOUGHTS}</think>",
    "never closed": f"{REPLY}<think>{THOUGHTS}",
    "twice": f"<think>{THOUGHTS}</think>\n<think>{THOUGHTS}</think>{REPLY}",
}


def in_pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def cut_at(text: str, places: Collection[int]) -> list[str]:
    """The pieces of a text between these places, as far as it goes."""
    ends = [0, *sorted(place for place in places if place < len(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(ends)]


def filtered(pieces: Iterable[str], thoughts: ThoughtFilter) -> str:
    return "".join([*map(thoughts.feed, pieces), thoughts.finish()])


def completion(message: dict[str, Any], reason: str = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return http(json.dumps({"choices": [choice]}).encode(), b"application/json")


def http(content: bytes, kind: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    return head % (kind, len(content)) + content


def streamed(deltas: Iterable[dict[str, Any]]) -> bytes:
    events: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    return http(data + b"data: [DONE]\n\n", b"text/event-stream")


def serving(message: dict[str, Any], size: int = 5) -> Server:
    """An endpoint whose replies are all this message, whole or in pieces of `size` characters."""
    deltas = [
        {name: piece} for name, text in message.items() for piece in in_pieces(text or "", size)
    ]
    return Server(
        raw=lambda _, body: [streamed(deltas) if body.get("stream") else completion(message)]
    )


@for_each("form", FORMS.values(), ids=FORMS.keys())
def test_thoughts_are_taken_out_of_a_reply_in_any_form(form: str) -> None:
    reply, has_thoughts = split_thoughts(form)
    assert reply.strip() == REPLY
    assert has_thoughts


@for_each("form", FORMS.values(), ids=FORMS.keys())
@given(st.sets(st.integers(1, 400), max_size=30))
@example(set())
@example({*range(1, 400)})
@settings(max_examples=15)
def test_thoughts_are_taken_out_of_a_stream_wherever_it_is_cut(form: str, cuts: set[int]) -> None:
    thoughts = ThoughtFilter()
    assert filtered(cut_at(form, cuts), thoughts).strip() == REPLY
    assert thoughts.has_thoughts
    assert not thoughts.is_leaked


@for_each("form", FORMS.values(), ids=FORMS.keys())
def test_neither_a_whole_reply_nor_a_stream_of_an_endpoint_has_thoughts(form: str) -> None:
    with serving({"content": form}) as server:
        assert ask(chat(server), SUMMARY, read_summary) == REPLY
        assert text_of(chat(server).stream(SUMMARY)).strip() == REPLY


@for_each("size", [1, 3, 7, 1000])
@for_each(
    "form",
    [
        f"{REPLY}<|im_end|>",
        f"{REPLY}<|endoftext|>Human: {THOUGHTS}",
        f"{REPLY}<end_of_turn>\n<start_of_turn>user\n{THOUGHTS}",
        f"{REPLY}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{THOUGHTS}",
        f"{REPLY}<｜end▁of▁sentence｜>",
        f"{REPLY}</s>",
        f"<|im_start|>assistant\n{REPLY}",
        f"<|start_header_id|>assistant<|end_header_id|>\n\n{REPLY}",
    ],
)
def test_the_tokens_of_a_template_and_made_up_turns_are_no_reply(form: str, size: int) -> None:
    assert split_thoughts(form)[0].strip() == REPLY
    assert filtered(in_pieces(form, size), ThoughtFilter()).strip() == REPLY


def test_a_reply_without_thoughts_is_passed_on_as_it_comes() -> None:
    thoughts = ThoughtFilter()
    assert [thoughts.feed(piece) for piece in ("Marley", " was", " dead.")] == [
        "Marley",
        " was",
        " dead.",
    ]
    assert thoughts.finish() == ""
    draw = random.Random(1)
    for _ in range(200):
        text = "".join(draw.choices(["a ", "<", ">", "[1]", "< b", "\n", "Marley", "◁", "|"], k=12))
        text = f"Marley {text}"
        assert filtered(in_pieces(text, draw.randint(1, 9)), ThoughtFilter()) == text
        assert split_thoughts(text) == (text, False)


def test_an_answer_that_begins_as_thoughts_do_is_shown_later_and_whole() -> None:
    for opening in OPENINGS:
        text = f"{opening} Marley was dead."
        if not text.startswith("analysis"):
            assert filtered(in_pieces(text, 4), ThoughtFilter()) == text


def test_thoughts_are_taken_out_of_the_strings_of_json() -> None:
    text = json.dumps({"details": [f"<think>{THOUGHTS}</think>A ghost", f"{THOUGHTS}</think>Came"]})
    assert json.loads(split_thoughts(text)[0]) == {"details": ["A ghost", "Came"]}
    assert filtered(in_pieces(text, 3), ThoughtFilter()) == split_thoughts(text)[0]


def test_json_after_thoughts_is_read() -> None:
    with serving({"content": f'{THOUGHTS}</think>\n{{"details": ["A ghost."]}}'}) as server:
        details = ask(chat(server), DETAILS, lambda reply: read_details(reply, 2))
    assert details == ("A ghost.",)


@for_each(
    "form",
    [
        f"<think>{THOUGHTS}",
        f"{THOUGHTS}</think>",
        f"<think>{THOUGHTS}</think>",
        f"<|channel|>analysis<|message|>{THOUGHTS}",
        f"analysisWe need to. {THOUGHTS}",
        f"[THINK]{THOUGHTS}",
    ],
)
def test_thoughts_alone_are_no_reply(form: str) -> None:
    with serving({"content": form}) as server:
        reply = chat(server).complete(SUMMARY)
        assert (reply.text.strip(), reply.incomplete) == ("", True)
        assert "thoughts alone" in reply.problem and "thinking off" in reply.problem
        with pytest.raises(BadReply, match="thoughts alone"):
            text_of(chat(server).stream(SUMMARY))


def test_a_stream_whose_thoughts_do_not_look_like_any_ends_and_the_next_is_held_back(
    tmp_path: Path, open_cache: OpenCache
) -> None:
    form = f"Rivers run deep. {THOUGHTS}</think>{REPLY}"
    memory = open_cache(tmp_path)
    with serving({"content": form}) as server:
        model = OpenAIChat(reach(server.url, memory=memory), "m")
        with pytest.raises(BadReply, match="began with its thoughts"):
            text_of(model.stream(SUMMARY))
        assert text_of(model.stream(SUMMARY)) == REPLY
        later = OpenAIChat(reach(server.url, memory=memory), "m")
        assert text_of(later.stream(SUMMARY)) == REPLY, "another process knows it, too"


def test_a_whole_reply_tells_how_streams_begin() -> None:
    with serving({"content": f"Rivers run deep. {THOUGHTS}</think>{REPLY}"}) as server:
        model = chat(server)
        assert model.complete(SUMMARY).text.strip() == REPLY
        assert text_of(model.stream(SUMMARY)) == REPLY


# Thoughts in a field of their own


@for_each("name", ["reasoning_content", "reasoning", "thinking"])
def test_thoughts_in_a_field_of_their_own_are_left_there(name: str) -> None:
    with serving({name: THOUGHTS, "content": REPLY}) as server:
        assert chat(server).complete(SUMMARY) == Reply(REPLY)
        assert text_of(chat(server).stream(SUMMARY)) == REPLY


def test_thoughts_in_a_part_of_the_content_are_left_there() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHTS}]},
        {"type": "reasoning", "text": THOUGHTS},
        {"type": "text", "text": REPLY},
    ]
    raw = [completion({"content": parts})]
    with Server(raw=lambda *_: raw) as server:
        assert chat(server).complete(SUMMARY).text == REPLY


@for_each("name", ["reasoning_content", "reasoning"])
def test_json_that_a_server_took_for_thoughts_is_used(name: str) -> None:
    with serving({name: '{"details": ["A ghost."]}', "content": None}) as server:
        details = ask(chat(server), DETAILS, lambda reply: read_details(reply, 2))
        assert details == ("A ghost.",)


@for_each("name", ["reasoning_content", "reasoning"])
def test_a_text_that_a_server_took_for_thoughts_is_none_and_the_cure_is_named(name: str) -> None:
    with serving({name: REPLY, "content": None}) as server:
        reply = chat(server).complete(SUMMARY)
        assert reply.text == "" and reply.incomplete
        assert "reasoning parser" in reply.problem
        with pytest.raises(BadReply, match="reasoning parser"):
            text_of(chat(server).stream(SUMMARY))


def test_a_reply_behind_the_closing_tag_among_the_thoughts_is_used() -> None:
    with serving({"reasoning_content": f"{THOUGHTS}</think>{REPLY}", "content": ""}) as server:
        assert chat(server).complete(SUMMARY).text == REPLY
        assert text_of(chat(server).stream(SUMMARY)) == REPLY
