"""An answer is the same JSON on every interface, and what was saved is read as it was shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from database import server_variables
from fabula.cli import main
from fabula.config.settings import OFFLINE, STATIC
from fabula.graph.trace import Trace
from fabula.jobs.callers import PERSON
from fabula.operations.shown_answer import (
    ShownAnswer,
    format_json,
    read_answer,
    show_answer,
    to_json,
)
from fabula.server import Address
from mcp_calls import called
from served import Served, events, served
from shared_library import shared_library

pytestmark = pytest.mark.shared_library

QUESTION = "Where did Anna walk?"
BASE = "/api/v1/collections/default"
LEFT_OUT_FOR_ASSISTANTS = ("context", "quotations", "quotes", "hits", "path", "brief")


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with shared_library(address, "default") as app, served(app) as it:
        yield it


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name != "seconds"}
    return [*map(without_times, value)] if isinstance(value, list) else value


def print_json(address: Address) -> Any:
    env = {
        **server_variables(address),
        "FABULA_MODEL": OFFLINE,
        "FABULA_EMBEDDING_MODEL": STATIC,
    }
    result = CliRunner().invoke(main, ["query", QUESTION, "--json"], env=env)
    assert result.exit_code == 0, result.output
    return without_times(json.loads(result.stdout))


def test_an_answer_is_the_same_json_on_every_interface(it: Served, address: Address) -> None:
    client, asked = it.client("read"), dict[str, Any](question=QUESTION)
    answer = without_times(client.post(f"{BASE}/ask", json=asked).json())
    assert answer["quotes"] and answer["hits"] and answer["path"] and answer["quotations"]
    assert print_json(address) == answer
    stream = client.post(f"{BASE}/ask", json=asked, headers={"Accept": "text/event-stream"})
    found = dict(events(stream))
    assert without_times(found["answer"]) == answer
    assert without_times(found["passages"]["context"]) == answer["context"]
    assert without_times(found["retrieval"]["path"]) == answer["path"]
    result = without_times(called(it, "ask", PERSON, collection="default", **asked))
    assert [each["number"] for each in result["context"]] == answer["cited"]
    assert all(each in answer["context"] for each in result["context"])
    emptied = {name: "" if name == "brief" else [] for name in LEFT_OUT_FOR_ASSISTANTS}
    assert result == answer | emptied | {"context": result["context"]}


def test_a_saved_answer_is_shown_as_it_was(it: Served) -> None:
    client = it.client("read")
    request = {"question": QUESTION, "conversation": "new"}
    answer = client.post(f"{BASE}/ask", json=request).json()
    saved = client.get(f"{BASE}/conversations/{answer['conversation']}").json()
    assert [turn["answer"] for turn in saved["turns"]] == [answer]


def test_json_of_an_answer_is_read_as_the_same_answer(it: Served) -> None:
    collection, path = it.state.app.collection("default"), Trace()
    answer = collection.stream(QUESTION, path=path).answer
    shown = show_answer(answer, collection.settings, path, 1.5, turn="t")
    read = read_answer(format_json(shown))
    assert isinstance(read, ShownAnswer)
    assert (read, read.documents) == (shown, shown.documents)
    assert to_json(read) == json.loads(format_json(shown))
    assert [quote.quote.matches for quote in read.quotes] == [
        each.matches for each in answer.quotes
    ]
