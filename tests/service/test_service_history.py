"""A conversation whose reader sets a place: answers that rest on later text are in no prompt.

The prompts are read at the endpoint, from the library, the API, OpenAI's interface and in the
terminal's chat.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from database import empty, server_variables
from endpoint import Endpoint
from fabula.cli import main
from fabula.jobs.callers import Caller
from fabula.library import App
from fabula.models import Turn
from fabula.operations.shown_answer import read_answer
from fabula.server import Address
from fabula.service.openai import Message, read_turns
from mcp_calls import called
from served import Served, events, served, server_of
from stories import CONVICT, WINTER

BASE = "/api/v1/collections/novels"
SECRET = "Who was the father of Estella?"
LATER = "Who helped him to hide?"
ASKED: dict[str, Any] = {"document": "The Convict", "mode": "naive", "k": 20, "order": "rank"}
"""Best first: the model of the tests answers with where the first passages are."""


@pytest.fixture(scope="module")
def made(address: Address) -> Iterator[tuple[Served, Endpoint]]:
    empty(address)
    with Endpoint() as endpoint:
        settings = server_of(address) | {"base_url": endpoint.url, "api_key": "sk-test"}
        with App(**settings, chunk_tokens=40, levels=0, details=0, attempts=1) as app:
            novels = app.collection("novels")
            novels.ingest_text(CONVICT, source="convict.txt", title="The Convict")
            novels.ingest_text(WINTER, source="winter.txt", title="Winter")
            with served(app) as it:
                yield it, endpoint


@pytest.fixture
def it(made: tuple[Served, Endpoint]) -> Served:
    return made[0]


@pytest.fixture
def client(it: Served) -> httpx2.Client:
    return it.client()


class Prompts:
    """What was sent to the chat model since this was made or `clear` was called."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint, self._first = endpoint, len(endpoint.bodies)

    def clear(self) -> None:
        self._first = len(self._endpoint.bodies)

    def __str__(self) -> str:
        bodies = self._endpoint.bodies[self._first :]
        sent = [body["messages"] for body in bodies if "messages" in body]
        assert sent, "no prompt was sent"
        return json.dumps(sent, ensure_ascii=False).replace("PROVIS", "Provis")


@pytest.fixture
def prompts(made: tuple[Served, Endpoint]) -> Prompts:
    return Prompts(made[1])


def test_a_conversation_of_the_library_forgets_what_comes_after_a_place(
    it: Served, prompts: Prompts
) -> None:
    talk = it.state.app.collection("novels").chat(**ASKED)
    text = talk.ask(SECRET).text
    assert "PROVIS" in text
    early = talk.ask("Who met the stranger?", until="Part One")
    assert early.until is not None
    prompts.clear()
    talk.ask(LATER, until="60%")
    # The answer to the question about the whole book is left out, the one up to an earlier place
    # is not.
    assert "Provis" not in str(prompts)
    assert SECRET not in str(prompts)
    assert "Who met the stranger?" in str(prompts)
    prompts.clear()
    talk.ask(LATER, until="PART ONE CHAPTER I")
    assert "Who met the stranger?" not in str(prompts), "its place is a later one"
    prompts.clear()
    talk.ask("And in the winter?", document="Winter", until="50%")
    assert "Who met the stranger?" not in str(prompts), "a place in another text"
    prompts.clear()
    talk.ask(LATER)
    assert SECRET in str(prompts), "without a place, all of the conversation counts"
    assert len(talk.history) == 6


def test_a_conversation_of_the_service_forgets_it_too(
    client: httpx2.Client, prompts: Prompts
) -> None:
    first = client.post(f"{BASE}/ask", json=ASKED | {"question": SECRET, "conversation": "new"})
    assert "PROVIS" in first.json()["answer"]
    same = ASKED | {"conversation": first.json()["conversation"]}
    prompts.clear()
    early = client.post(
        f"{BASE}/ask", json=same | {"question": "Who met the stranger?", "until": "Part One"}
    ).json()
    assert "Provis" not in str(prompts)
    assert SECRET not in str(prompts)
    assert early["sought"] == "Who met the stranger?", "there is nothing that it could refer to"
    prompts.clear()
    client.post(f"{BASE}/ask", json=same | {"question": LATER, "until": "60%"})
    assert "Provis" not in str(prompts)
    assert "Who met the stranger?" in str(prompts)
    prompts.clear()
    client.post(f"{BASE}/ask", json=same | {"question": LATER})
    assert SECRET in str(prompts)


def test_an_answer_says_up_to_where_its_reader_had_read(it: Served, client: httpx2.Client) -> None:
    novels = it.state.app.collection("novels")
    read = novels.reading_place("Part One", "The Convict")
    entry, end = read.document, read.end
    place: dict[str, Any] = {
        "name": f"The Convict, up to the end of PART ONE ({read.percent} %)",
        "document": entry.id,
        "until": end,
        "volumes": [],
    }
    body = ASKED | {"question": "Who met Pip?", "until": "Part One", "brief": True}
    answer = client.post(f"{BASE}/ask", json=body).json()
    assert answer["place"] == place
    assert answer["document"] == entry.id
    assert answer["brief"] == "", "there are no summaries"
    streamed = events(
        client.post(f"{BASE}/ask", json=body, headers={"Accept": "text/event-stream"})
    )
    assert streamed[0][1]["place"] == place
    assert streamed[-1][1]["place"] == place
    assert client.post(f"{BASE}/search", json=body).json()["place"] == place
    whole = client.post(f"{BASE}/ask", json=ASKED | {"question": "Who met Pip?"}).json()
    assert whole["place"] is None
    assert client.post(f"{BASE}/search", json={"question": "Pip?"}).json()["place"] is None
    compared = client.post(
        f"{BASE}/compare",
        json={key: value for key, value in body.items() if key != "mode"}
        | {"modes": ["naive", "hybrid"]},
    ).json()
    assert [each["answer"]["place"] for each in compared["answers"]] == [place, place]
    reader = Caller("ada", "Ada", "read", frozenset({"novels"}))
    named = {"collection": "novels", "document": "The Convict", "until": "Part One"}
    result = called(it, "ask", reader, question="Who met Pip?", **named)
    assert result["place"] == place
    assert result["cut"] is False
    found = called(it, "search", reader, question="Who met Pip?", **named)
    assert found["place"] == place
    library = it.state.app.collection("novels").query("Who met Pip?", **ASKED, until="Part One")
    assert (library.scope.name, library.scope.until) == (place["name"], end)


def test_an_answer_of_an_earlier_version_counts_as_one_about_everything() -> None:
    saved: dict[str, Any] = {"question": "Who?", "sought": "Who?", "answer": "Provis."}
    saved |= {"mode": "naive", "model": "m", "offline": False, "money": None, "seconds": 1.0}
    saved |= {"usage": {}, **dict.fromkeys(("cited", "context", "quotes", "hits", "path"), ())}
    read = read_answer(json.dumps(saved))
    assert not read.scope.is_limited
    assert read.documents == ()


def test_a_chat_completion_says_its_place_and_reads_it_in_the_history(
    client: httpx2.Client, prompts: Prompts
) -> None:
    def complete(*messages: str, **more: Any) -> dict[str, Any]:
        roles = ("user", "assistant")
        body = {
            "model": "fabula/novels:naive",
            "messages": [
                {"role": roles[at % 2], "content": text} for at, text in enumerate(messages)
            ],
            "document": "The Convict",
            "fabula": True,
        }
        reply = client.post("/v1/chat/completions", json=body | more)
        assert reply.status_code == 200, reply.text
        prompts_sent: dict[str, Any] = reply.json()
        return prompts_sent

    whole = complete(SECRET)
    content = whole["choices"][0]["message"]["content"]
    assert "Read so far" not in content
    content = f"Provis was. {content}"
    assert whole["fabula"]["place"] is None
    early = complete("Who met the stranger?", until="PART ONE CHAPTER I")
    said = early["choices"][0]["message"]["content"]
    line = said.splitlines()[-1]
    assert line.startswith("- Read so far: The Convict, up to the end of PART ONE · CHAPTER I (")
    assert f"-{early['fabula']['place']['until']})" in line
    link = line.rpartition("(")[2].removesuffix(")").removeprefix(str(client.base_url).rstrip("/"))
    assert client.get(link).status_code == 200
    prompts.clear()
    complete(SECRET, content, "Who met the stranger?", said, LATER, until="Part One")
    assert "Provis" not in str(prompts)
    assert SECRET not in str(prompts)
    assert "Who met the stranger?" in str(prompts)
    assert "Read so far" not in str(prompts)
    prompts.clear()
    complete(SECRET, content, LATER)
    assert SECRET in str(prompts)


def test_a_series_is_said_and_read_again_by_its_volumes(
    it: Served, client: httpx2.Client, prompts: Prompts
) -> None:
    series = it.state.app.collection("series")
    for number, word in (("One", "castle"), ("Two", "bridge"), ("Ten", "tower")):
        text = f"The {word} of stone was old. Anna built the {word} of stone with Boris."
        series.ingest_text(text, source=f"{word}.txt", title=f"The Stones, Book {number}")
    ask: dict[str, Any] = {"model": "fabula/series:naive", "fabula": True}
    question = "Who built it of stone?"

    def complete(until: str, *history: dict[str, str]) -> dict[str, Any]:
        messages = [*history, {"role": "user", "content": question}]
        body = ask | {"messages": messages, "until": until}
        reply = client.post("/v1/chat/completions", json=body)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    first = complete("The Stones, Book Two")
    ids = [series.document(f"The Stones, Book {number}").id for number in ("One", "Two")]
    assert first["fabula"]["place"]["volumes"] == ids
    content = first["choices"][0]["message"]["content"]
    assert content.splitlines()[-1].startswith("- Read so far: The Stones, Book One, The Stones")
    history = (
        {"role": "user", "content": "Who was it?"},
        {"role": "assistant", "content": content},
    )
    prompts.clear()
    complete("The Stones, Book Ten", *history)
    assert "Who was it?" in str(prompts)
    prompts.clear()
    complete("The Stones, Book One", *history)
    assert "Who was it?" not in str(prompts)


def test_the_chat_of_the_terminal_keeps_what_may_be_known(
    it: Served,
    made: tuple[Served, Endpoint],
    prompts: Prompts,
    address: Address,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        **server_variables(address),
        "OPENAI_BASE_URL": made[1].url,
        "OPENAI_API_KEY": "sk-test",
        "FABULA_COLLECTION": "novels",
        "FABULA_MODE": "naive",
        "FABULA_CACHE": "false",
    }.items():
        monkeypatch.setenv(name, value)
    early = "Who met the stranger?"
    typed = [SECRET, "/until PART ONE CHAPTER I", early, "/until Part One", LATER]
    flags = ["chat", "--document", "The Convict"]
    result = CliRunner().invoke(main, flags, input="\n".join(typed), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    sent = [
        body["messages"][-1]["content"]
        for body in made[1].bodies
        if "messages" in body and LATER in str(body["messages"])
    ]
    last = sent[-1]
    assert early in last
    assert SECRET not in last and "Provis" not in last


def test_a_message_of_millions_of_characters_is_read_at_once() -> None:
    """A search that goes back for each bracket took hours, in which the service stood still."""
    line = "- Read so far: " + " [](/d/a)" * 100_000
    messages = [Message(role="user", content="Who?"), Message(role="assistant", content=line)]
    began = time.perf_counter()
    [turn] = read_turns(messages)
    assert time.perf_counter() - began < 60
    assert turn.turn == Turn("Who?", "")
