"""A model that reads for itself, for a reader with a place: no tool gives it later text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from cases import for_each
from fabula import App
from fabula.ask.answer import Answer
from fabula.config.settings import STATIC
from fabula.server import Address
from reading_model import ReadingModel
from served import server_of
from shared_library import shared_library

pytestmark = pytest.mark.shared_library

LATER = ("Provis", "PROVIS", "SECRET", "Estella", "Compeyson", "Herbert", "London", "benefactor")
"""Words that the text has only after Part One."""
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "search_words": [("search_words", {"query": "Provis Estella father secret"})],
    "search_meaning": [("search_meaning", {"query": "the father of Estella, a benefactor"})],
    "contents": [("contents", {"document": "The Convict"})],
    "read_chapter": [
        ("read_chapter", {"chapter": "PART TWO"}),
        ("read_chapter", {"chapter": "CHAPTER II: THE SECRET OF PROVIS"}),
        ("read_chapter", {"chapter": "PART ONE"}),
    ],
    "read": [("read", {"passage": 1, "before": 3, "after": 3})],
    "entity": [
        ("entity", {"name": "Provis"}),
        ("entity", {"name": "Pip"}),
        ("entity", {"name": "the stranger"}),
    ],
    "events": [("events", {"query": "Provis sent the money"}), ("events", {"query": "Pip"})],
    "facts": [("facts", {"query": "Provis, father of Estella"}), ("facts", {"query": "Pip"})],
    "speech": [
        ("speech", {"speaker": "Provis", "words": ""}),
        ("speech", {"speaker": "", "words": "benefactor"}),
        ("speech", {"speaker": "", "words": ""}),
    ],
    "summaries": [
        ("summaries", {"query": "Provis is the father of Estella", "aspect": ""}),
        ("summaries", {"query": "the whole plot", "aspect": "plot"}),
    ],
    "reports": [("reports", {"query": "Provis and Estella"})],
}
"""For each tool, calls that ask for what comes after Part One, and for what does not."""


@pytest.fixture(scope="module")
def reach(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """How the graph of the story is reached, built without a model."""
    with shared_library(address, "story"):
        home = tmp_path_factory.mktemp("agent")
        yield {**server_of(address), "home": home, "chunk_tokens": 40, "embedding_model": STATIC}


def ask(reach: dict[str, Any], model: ReadingModel, until: str) -> Answer:
    with (
        model.endpoint() as endpoint,
        App(model="m", base_url=endpoint.url, timeout=120.0, **reach) as app,
    ):
        story = app.collection("story")
        return story.query("Who is Pip's friend?", mode="agent", until=until or None)


def results_of(prompt: str) -> str:
    """What the tools gave: the prompt without the model's own words, which calls repeat.

    They stand in the line of the call, and in quotation marks where nothing is found.
    """
    prompt = re.sub(r"Call \d+, .*", "", prompt)
    for _, arguments in (call for calls in CALLS.values() for call in calls):
        for words in arguments.values():
            prompt = prompt.replace(f"'{words}'", "")
    return prompt


def test_every_tool_is_tried(reach: dict[str, Any]) -> None:
    model = ReadingModel([[("answer", {"passages": [1]})]])
    ask(reach, model, "")
    assert set(model.offered) - {"answer"} == set(CALLS)


@for_each("tools", ["taken", "refused"])
@for_each("tool", CALLS)
def test_a_tool_gives_nothing_that_comes_after_the_place(
    reach: dict[str, Any], tool: str, tools: str
) -> None:
    script = [*([call] for call in CALLS[tool]), [("answer", {"passages": [1]})]]
    model = ReadingModel(script, tools)
    answer = ask(reach, model, "Part One")
    assert len(model.prompts) == len(script)
    for prompt in model.prompts + model.answering:
        assert not [word for word in LATER if word in results_of(prompt)], prompt
    assert answer.until is not None
    for passage in answer.context:
        assert passage.hit.end <= answer.until
    steps = "\n".join(map(str, answer.hits))
    assert not [word for word in LATER if word in steps]


def test_without_a_place_the_same_calls_find_it(reach: dict[str, Any]) -> None:
    """The test above would pass with tools that find nothing."""
    found = {}
    for tool, calls in CALLS.items():
        model = ReadingModel([*([call] for call in calls), [("answer", {"passages": [1]})]])
        ask(reach, model, "")
        found[tool] = [word for word in LATER if word in results_of(model.last)]
    assert [tool for tool, words in found.items() if not words] == []
