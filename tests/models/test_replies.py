"""A model's reply is read into a value, or refused with the reason and asked again."""

import json
from collections.abc import Iterator

import pytest

from cases import for_each
from fabula.errors import BadReply
from fabula.graphs.aspects.replies import read_aspects, read_details
from fabula.graphs.aspects.schemas import aspects_reply
from fabula.models import Prompt, Reply
from fabula.models.replies import ask, is_empty_value, read_lists, read_summary, shorten
from fabula.text import tokens

KNOWN = ("plot", "character", "point of view")
ASKED = Prompt("Be brief.", "Which aspects?", 100, 0.5)


class Script:
    """A chat that gives these replies and keeps the prompts."""

    def __init__(self, *replies: str | Reply) -> None:
        self.replies = list(replies)
        self.prompts: list[Prompt] = []
        self.rejected: list[bool] = []

    def complete(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        reply = self.replies[len(self.prompts) - 1]
        return reply if isinstance(reply, Reply) else Reply(reply)

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        assert prompt == ASKED, "what was asked first, without a correction"
        self.rejected.append(forget)


@for_each(
    "reply",
    [
        '{"aspects": ["plot", "point of view"]}',
        '{"aspects": ["Plot", " Point_of_View. "]}',
        '```json\n{"aspects": ["plot", "point of view"]}\n```',
        'Sure, here it is:\n```\n{"aspects": ["plot", "point of view"]}\n```\nAnything else?',
        'Here: {"aspects": ["plot", "point of view",]}',
        '{"aspects": ["plot", "point of view"',
        "{'aspects': ['plot', 'point of view']}",
        '["plot", "point of view"]',
        'As passage [1] and {so on} say: {"aspects": ["plot", "point of view"]} [2]',
        'As [1] says: ["plot", "point of view"]',
        '```python\nprint()\n```\n```json\n{"aspects": ["plot", "point of view"]}\n```',
        '{"aspects": ["plot"]}\n{"aspects": ["point of view"]}',
        '[{"aspects": ["plot"]}, {"aspects": ["point of view"]}]',
        '{"AspectsReply": {"aspects": ["plot", "point of view"]}}',
        '<tool_call>{"name": "a", "arguments": {"aspects": ["plot", "point of view"]}}</tool_call>',
        '"{\\"aspects\\": [\\"plot\\", \\"point of view\\"]}"',
        '{"aspects": ["plot", // of course\n"point of view"]}',
        "- plot\n- point of view",
        "1. **Plot**\n2. Point-of-view",
    ],
)
def test_aspects_are_read_from_whatever_form_names_them(reply: str) -> None:
    assert read_aspects(reply, KNOWN) == {"plot", "point of view"}


def test_no_aspect_at_all_is_an_answer() -> None:
    assert read_aspects('{"aspects": []}', KNOWN) == frozenset()


@for_each(
    ("reply", "message"),
    [
        ('{"aspects": ["plot", "weather"]}', "weather: not one of the aspects plot, character"),
        ('{"answer": {"value": 1}}', "aspects"),
        ('{"aspects": "plot"}', "list"),
        ('{"aspects": [1, {"name": "plot"}]}', "string"),
        ("I would say that the plot is clearest.", "is missing"),
        ("{", "is missing"),
        ("", "is missing"),
    ],
)
def test_a_reply_that_does_not_name_known_aspects_is_refused(reply: str, message: str) -> None:
    with pytest.raises(BadReply, match=message):
        read_aspects(reply, KNOWN)


# LM Studio, Ollama and llama.cpp say "stop" for a reply that met the end of their context.
@for_each(
    "cut",
    [
        '{"details": ["Marley: dead seven years", "Scrooge: sole mour',
        '```json\n{"details": ["Marley: dead seven years", "Scro',
        '{"details": ["Marley: dead seven years"], "mo',
        'Here [1] it is: {"details": ["Marley: dead seven years", "a \\"',
    ],
)
def test_json_that_was_cut_within_a_text_is_not_whole(cut: str) -> None:
    with pytest.raises(BadReply, match="not whole"):
        read_details(cut, 2)


def test_items_with_brackets_in_lines_are_no_json() -> None:
    reply = "- Scrooge [the miser]: alone\n- Marley: dead seven years"
    assert read_details(reply, 2) == ("Scrooge [the miser]: alone", "Marley: dead seven years")


def test_records_that_have_lists_are_not_taken_for_the_reply() -> None:
    records = [{"name": "Scrooge", "relations": ["Marley"]}]
    reply = json.dumps(records)
    names = ("characters", "relations")
    assert read_lists(reply, names) == {"characters": records, "relations": []}
    wrapped = json.dumps({"result": {"characters": records}})
    assert read_lists(wrapped, names) == {"characters": records, "relations": []}


def test_the_schema_tells_the_closed_list() -> None:
    schema = aspects_reply(KNOWN).model_json_schema()
    assert schema["properties"]["aspects"]["items"]["enum"] == list(KNOWN)
    assert schema["additionalProperties"] is False
    assert aspects_reply(KNOWN) is aspects_reply(KNOWN)


def test_details_are_read_up_to_their_number() -> None:
    reply = '{"details": ["- Marley:\\n dead, seven years", "Scrooge: sole mourner", "a hearse"]}'
    assert read_details(reply, 2) == ("Marley: dead, seven years", "Scrooge: sole mourner")


def test_a_detail_that_says_the_same_again_is_dropped() -> None:
    reply = (
        '{"details": ["Marley: dead seven years, Scrooge sole mourner", "",'
        ' "Scrooge: the sole mourner of Marley, dead for seven years",'
        ' "counting-house: sign still says Scrooge and Marley"]}'
    )
    assert read_details(reply, 3) == (
        "Marley: dead seven years, Scrooge sole mourner",
        "counting-house: sign still says Scrooge and Marley",
    )


@for_each("reply", ['{"details": []}', '{"details": [" ", "-"]}', "None."])
def test_a_reply_without_details_is_refused(reply: str) -> None:
    with pytest.raises(BadReply):
        read_details(reply, 2)


@for_each(
    "reply",
    [
        "Scrooge refuses.\n\nFred leaves.",
        "Summary: Scrooge refuses. Fred leaves.",
        "**Summary:**\nScrooge refuses. Fred leaves.",
        "## Plot\nScrooge refuses. Fred leaves.",
        '"Scrooge refuses. Fred leaves."',
        "```\nScrooge refuses. Fred leaves.\n```",
        '{"summary": "Scrooge refuses. Fred leaves."}',
    ],
)
def test_a_summary_is_read_without_what_stands_around_it(reply: str) -> None:
    assert read_summary(reply) == "Scrooge refuses. Fred leaves."


@for_each(
    "label",
    [
        "Zusammenfassung:",
        "**Résumé :**",
        "Streszczenie:\n",
        "Краткое содержание:",
        "要約：",
        "# Resumen\n",
    ],
)
def test_a_label_above_a_summary_is_no_part_of_it_in_any_language(label: str) -> None:
    assert read_summary(f"{label} Scrooge refuses.") == "Scrooge refuses."


def test_a_sentence_that_begins_like_a_label_stays() -> None:
    for text in ("Zusammenfassung ist kein Urteil.", "Resumen de todo.", "Итоги войны: мир."):
        assert read_summary(text) == text


@for_each(
    ("value", "language", "is_empty"),
    [
        ("brak", "pl", True),
        ("Нет.", "ru", True),
        ("なし", "ja", True),
        ("keine", "de", True),
        ("k. A.", "de-AT", True),
        ("無", "zh-TW", True),
        ("none", "fi", True),
        ("ingen", "nb", True),
        ("", "en", True),
        ("keine", "en", False),
        ("Nada", "en", False),
        ("Nada", "es", True),
        ("Nada", "", True),
        ("Anna", "", False),
    ],
)
def test_values_that_say_there_is_none(value: str, language: str, is_empty: bool) -> None:
    assert is_empty_value(value, language) == is_empty


def test_quotes_within_a_summary_stay() -> None:
    assert read_summary('"Humbug," says he, and "Bah."') == '"Humbug," says he, and "Bah."'
    assert read_summary("Summary judgment falls on him.") == "Summary judgment falls on him."


@for_each("reply", ["", " \n", "...", "{}", "```\n```"])
def test_a_summary_without_words_is_refused(reply: str) -> None:
    with pytest.raises(BadReply, match="empty"):
        read_summary(reply)


def test_a_long_text_is_shortened_at_the_end_of_a_sentence() -> None:
    text = "Mr. Fezziwig gave a ball. It cost 3.50 pounds, no more. Scrooge danced all night."
    for limit in range(9, tokens.count(text)):
        short = shorten(text, limit)
        assert tokens.count(short) <= limit
        assert text.startswith(short)
        assert short.endswith((".", "Mr.")), limit
    assert shorten(text, 1000) == text


def test_a_sentence_without_spaces_before_the_next_is_an_end_too() -> None:
    text = "他死了。鬼魂来了。史克鲁奇害怕极了。" * 5
    assert shorten(text, tokens.count(text) // 2).endswith("。")


def test_too_long_a_sentence_is_shortened_at_a_clause_and_else_at_a_word() -> None:
    clauses = "dead as a door-nail, cold as a stone, hard as flint and secret as an oyster"
    assert shorten(clauses, 12) == "dead as a door-nail, cold as a stone"
    words = "solitary squeezing wrenching grasping scraping clutching covetous sinner"
    short = shorten(words, 10)
    assert words.startswith(short + " ")


def test_a_bad_reply_is_quoted_and_asked_again() -> None:
    chat = Script('{"aspects": ["weather"]}', '{"aspects": ["plot"]}')
    assert ask(chat, ASKED, lambda reply: read_aspects(reply, KNOWN)) == {"plot"}
    again = chat.prompts[1]
    assert again.system == ASKED.system
    assert again.user == ASKED.user
    assert "weather: not one of" in again.correction
    assert '{"aspects": ["weather"]}' in again.correction


def test_a_reply_the_endpoint_kept_back_is_asked_again() -> None:
    chat = Script(Reply("", problem="m gave an empty reply."), "Scrooge refuses.")
    assert ask(chat, ASKED, read_summary) == "Scrooge refuses."
    assert "m gave an empty reply." in chat.prompts[1].correction


@for_each("reply", ["[" * 700, "[" * 5000])
def test_a_reply_that_no_parser_takes_is_a_bad_one(reply: str) -> None:
    with pytest.raises(BadReply):
        read_details(reply, 2)
    with pytest.raises(BadReply):
        read_summary(f'{{"summary": {reply}')


def test_only_the_last_bad_reply_is_quoted_and_not_all_of_a_long_one() -> None:
    chat = Script("{}", "#" * 9000, "fine.")
    assert ask(chat, ASKED, read_summary) == "fine."
    assert "{}" not in chat.prompts[2].correction
    assert len(chat.prompts[2].correction) < 2000


def test_a_model_that_never_replies_well_is_given_up() -> None:
    chat = Script(*["..."] * 6, "fine.")
    with pytest.raises(BadReply, match="No usable reply in 6 tries: The summary is empty"):
        ask(chat, ASKED, read_summary)
    assert len(chat.prompts) == 6
    assert chat.rejected == [True] * 6
