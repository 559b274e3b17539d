"""Quotations of a model's answer, as each interface of the service and the terminal give them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import openai
import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from chromium import browser, watch
from database import empty
from endpoint import Endpoint
from fabula import App
from fabula.cli import main
from fabula.config.settings import STATIC
from fabula.jobs.callers import Caller
from fabula.server import Address
from mcp_calls import called
from served import Served, events, served, server_of
from stories import LIGHTHOUSE

# An endpoint that answers each question with a text of the test's own, in small pieces.

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
PIECE = 7
"""Characters of a piece."""


class Replies:
    """What `Endpoint(raw=...)` takes: it answers chat calls with `text`, and no other calls."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def __call__(self, number: int, body: dict[str, Any]) -> Iterable[bytes] | None:
        if "messages" not in body or not self.text:
            return None
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        if not body.get("stream"):
            message = {"role": "assistant", "content": self.text}
            reply = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            return _http(json.dumps(reply).encode(), b"application/json")
        pieces = [self.text[at : at + PIECE] for at in range(0, len(self.text), PIECE)]
        choices: list[dict[str, Any]] = [
            {"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces
        ]
        events = [{"id": "x", "choices": [choice]} for choice in (*choices, last)]
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        return _http(data + b"data: [DONE]\n\n", b"text/event-stream")


def _http(content: bytes, kind: bytes) -> list[bytes]:
    return [HEAD % (kind, len(content)) + content]


pytestmark = pytest.mark.long

QUESTION = "What did the keeper Elias write into the black ledger?"
EXACT = "lit the lamp every evening at six"
NEAR = "he wrote every Ship into a black ledger"
PRINTED = "He wrote every ship into a black ledger"
FALSE = "he wrote every sin into a black ledger"
ANSWER = (
    f"Elias “{EXACT}” [1]. It says “{NEAR}”, and “{FALSE}” [1]. "
    "Soldiers marched through deserts of Arabia [1]."
)


@dataclass(frozen=True)
class Library:
    """A service whose model always gives the same answer."""

    it: Served
    app: App
    replies: Replies
    settings: dict[str, Any]


@pytest.fixture(scope="module")
def library(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    empty(address)
    replies = Replies(ANSWER)
    with Endpoint(raw=replies) as endpoint:
        settings: dict[str, Any] = server_of(address) | {
            "base_url": endpoint.url,
            "api_key": "sk-test",
            "model": "m",
            "embedding_model": STATIC,
            "cache": False,
            "home": tmp_path_factory.mktemp("home"),
        }
        with App(**settings, graphs=()) as app:
            text = LIGHTHOUSE.partition("\n\n")[2]
            app.collection("books").ingest_text(text, source="l.txt", title="The Lighthouse")
            with served(app) as it:
                yield Library(it, app, replies, settings)


def statuses(quotations: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["text"], each["status"]) for each in quotations]


EXPECTED = [(EXACT, "exact"), (NEAR, "near"), (FALSE, "not found")]


def test_the_library_has_them_once_the_answer_is_read(library: Library) -> None:
    stream = library.app.collection("books").stream(QUESTION)
    pieces = [*stream]
    assert "".join(pieces) == ANSWER
    answer = stream.answer
    assert [(each.text, each.status) for each in answer.quotations] == EXPECTED
    assert [each.printed for each in answer.quotations][1] == PRINTED
    assert [each.number for each in answer.weak_citations] == [1]
    assert answer.quotations[1].differences == ("case",)
    assert "The Lighthouse" in answer.quotations[1].place
    assert stream.answer.quotations is answer.quotations, "they are compared once"


def test_strict_repairs_the_answer_and_says_so(library: Library) -> None:
    answer = library.app.collection("books").query(QUESTION, quotations="strict")
    assert f"“{PRINTED}”" in answer.text
    assert f"“{FALSE}”" not in answer.text
    assert FALSE in answer.text
    assert [each.change for each in answer.quotations] == ["", "repaired", "unmarked"]
    assert [answer.text[each.start : each.end] for each in answer.quotations] == [
        f"“{EXACT}”",
        f"“{PRINTED}”",
        FALSE,
    ]


def test_off_compares_nothing(library: Library) -> None:
    answer = library.app.collection("books").query(QUESTION, quotations="off")
    assert (answer.text, answer.quotations, answer.weak_citations) == (ANSWER, (), ())


def test_the_api_gives_them_whole_and_with_the_end_of_a_stream(library: Library) -> None:
    client = library.it.client("read", ["books"])
    given = client.post("/api/v1/collections/books/ask", json={"question": QUESTION}).json()
    assert statuses(given["quotations"]) == EXPECTED
    assert [each["number"] for each in given["weak_citations"]] == [1]
    streamed = client.post(
        "/api/v1/collections/books/ask",
        json={"question": QUESTION, "quotations": "strict"},
        headers={"Accept": "text/event-stream"},
    )
    received = events(streamed)
    shown = "".join(data["text"] for name, data in received if name == "token")
    assert statuses(received[-1][1]["quotations"])[2] == (FALSE, "not found")
    assert f"“{FALSE}”" not in shown
    assert f"“{PRINTED}”" in shown


def test_openais_interface_lists_false_ones_and_has_all_in_an_extension(library: Library) -> None:
    key = library.it.key("read", ["books"])
    with openai.OpenAI(base_url=f"{library.it.url}/v1", api_key=key) as client:
        messages: Any = [{"role": "user", "content": QUESTION}]
        completion = client.chat.completions.create(
            model="fabula/books", messages=messages, extra_body={"fabula": True}
        )
    content = str(completion.choices[0].message.content)
    assert content.startswith(ANSWER)
    assert f"- Not found in the books: “{FALSE}”. The closest is “{PRINTED}”." in content
    assert f"- The book has “{PRINTED}”, not “{NEAR}”" in content
    assert statuses(completion.fabula["quotations"]) == EXPECTED  # type: ignore[attr-defined]


def test_an_assistant_is_told_by_mcp(library: Library) -> None:
    caller = Caller("ada", "Ada", "read", frozenset({"books"}))
    given = called(library.it, "ask", caller, question=QUESTION, collection="books")
    assert statuses(given["quotations"]) == EXPECTED
    assert [each["number"] for each in given["weak_citations"]] == [1]


def test_the_terminal_says_what_is_not_as_the_books_have_it(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_HOME", str(library.settings["home"]))
    for name, value in {
        "NEO4J_URI": library.settings["neo4j_uri"],
        "NEO4J_USERNAME": library.settings["neo4j_username"],
        "NEO4J_PASSWORD": library.settings["neo4j_password"],
        "OPENAI_BASE_URL": library.settings["base_url"],
        "OPENAI_API_KEY": "sk-test",
        "FABULA_MODEL": "m",
        "FABULA_EMBEDDING_MODEL": STATIC,
        "FABULA_COLLECTION": "books",
        "FABULA_CACHE": "false",
    }.items():
        monkeypatch.setenv(name, value)
    shown = CliRunner().invoke(main, ["query", QUESTION])
    assert shown.exit_code == 0, shown.output
    assert "Quotations compared with the books: 1 exact, 1 near, 1 not found." in shown.output
    assert f"Not found in the books: “{FALSE}”." in shown.output
    assert f"The book has “{PRINTED}”, not “{NEAR}” (The Lighthouse" in shown.output
    assert "Weak citation [1]: the passage has no word of “" in shown.output
    as_json = CliRunner().invoke(main, ["query", QUESTION, "--json"])
    given = json.loads(as_json.stdout)
    assert statuses(given["quotations"]) == EXPECTED
    assert given["weak_citations"][0]["number"] == 1
    strict = CliRunner().invoke(main, ["query", QUESTION, "--quotations", "strict"])
    assert "1 not found" in strict.output
    assert "Its marks were taken off." in strict.output


def test_the_page_marks_them_and_lists_the_books_own_words(library: Library) -> None:
    with browser() as chromium:
        context = chromium.new_context(base_url=library.it.url)
        page = context.new_page()
        texts: list[str] = []
        watch(page, texts)
        page.goto(f"/enter?token={library.it.state.sessions.link()}")
        page.goto(f"/c/books/ask?q={QUESTION}&mode=hybrid")
        section = page.get_by_role("region", name="Quotations")
        expect(section).to_contain_text("1 of 3 as the books have them")
        expect(page.locator(".answer .quoted.missing")).to_have_text([f"“{FALSE}”"])
        expect(page.locator(".answer .quoted.near")).to_have_text([f"“{NEAR}”"])
        expect(page.locator(".answer a.cite.weak")).to_have_count(1)
        expect(section).to_contain_text(PRINTED)
        section.get_by_role("link").first.click()
        page.wait_for_url("**/d/*")
        expect(page.locator("mark").first).to_contain_text("every ship")
        assert [each for each in texts if "Failed to load resource" not in each] == []
        context.close()
