"""Requests of real clients are replayed: each file of clients/ says whose they are.

What programs asked was recorded from their packages; what chat programs ask for themselves is from
their sources. The service is below a path of a proxy's address, which some proxies pass on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from endpoint import Endpoint
from fabula import App, Settings
from fabula.config.serving import Serving
from fabula.server import Address
from fabula.service.core.client_tasks import is_client_task
from served import Served, served, server_of
from stories import WINTER

pytestmark = pytest.mark.long

CLIENTS = sorted((Path(__file__).parent / "clients").glob("*.json"))
ORIGIN = "http://localhost:5173"
ROOT = "/fabula"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def it(
    address: Address, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    settings = Settings.read(
        **server_of(address),
        home=tmp_path_factory.mktemp("home"),
        base_url=endpoint.url,
        api_key="sk-test",
        levels=0,
        details=0,
    )
    serving = Serving.model_validate(
        {"url": f"https://books.example.org{ROOT}/", "origins": f'["{ORIGIN}"]'}
    )
    tables = settings.tables | {"serve": serving}
    with App(settings.model_copy(update={"tables": tables})) as app:
        app.collection("novels").ingest_text(WINTER, source="w.txt", title="Winter")
        with served(app) as it:
            yield it


@pytest.mark.journey
@pytest.mark.parametrize("file", CLIENTS, ids=[file.stem for file in CLIENTS])
def test_what_a_client_sends_is_answered(it: Served, endpoint: Endpoint, file: Path) -> None:
    recorded = json.loads(file.read_text("utf-8"))
    key = {"authorization": f"Bearer {it.key('read', ['novels'])}"}
    for number, request in enumerate(recorded["requests"]):
        before = len(endpoint.bodies)
        root = ROOT if number % 2 else ""
        response = httpx2.request(
            request["method"],
            f"{it.url}{root}{request['path']}",
            headers=request["headers"] | key,
            json=request["body"],
            timeout=120,
        )
        assert response.status_code in (200, 202), response.text
        bodies = [body for body in endpoint.bodies[before:] if "messages" in body]
        {"question": _check_answer, "task": _check_task, "mcp": _check_mcp}[recorded["kind"]](
            request["body"], response, bodies
        )


def _check_answer(body: dict[str, Any], response: httpx2.Response, asked: list[Any]) -> None:
    if body.get("stream"):
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.text.rstrip().endswith("data: [DONE]")
        chunks = [json.loads(line[6:]) for line in response.text.splitlines() if "{" in line]
        is_counted = body.get("stream_options", {}).get("include_usage", False)
        assert any(chunk.get("usage") for chunk in chunks) == is_counted
    else:
        message = response.json()["choices"][0]["message"]
        assert f"https://books.example.org{ROOT}/c/novels/d/" in message["content"]
    assert "Anna" in str(asked), "the book was read"


def _check_task(body: dict[str, Any], response: httpx2.Response, asked: list[Any]) -> None:
    [sent] = asked
    assert "miller" in str(sent), "the model is told what the chat says"
    assert "Anna" not in str(sent), "nothing of the book is sent"
    assert "/c/novels" not in response.text


def _check_mcp(body: dict[str, Any], response: httpx2.Response, asked: list[Any]) -> None:
    if body["method"] == "tools/call":
        result = response.json()["result"]
        assert not result.get("isError"), result
        assert "Anna" in response.text


@pytest.mark.parametrize("client", ["openai-js", "mcp-js"])
def test_a_page_of_an_origin_may_send_what_its_packages_send(it: Served, client: str) -> None:
    [file] = [file for file in CLIENTS if file.stem == client]
    for request in json.loads(file.read_text("utf-8"))["requests"]:
        names = sorted({"authorization", *request["headers"]})
        headers = {
            "origin": ORIGIN,
            "access-control-request-method": request["method"],
            "access-control-request-headers": ",".join(names),
        }
        allowed = httpx2.options(f"{it.url}{request['path']}", headers=headers, timeout=120)
        assert allowed.status_code == 200, allowed.text
        assert allowed.headers["access-control-allow-origin"] == ORIGIN
        assert allowed.headers["access-control-allow-headers"] == ",".join(names)
        strange = headers | {"origin": "https://evil.example"}
        refused = httpx2.options(f"{it.url}{request['path']}", headers=strange, timeout=120)
        assert "access-control-allow-origin" not in refused.headers
    exposed = httpx2.get(f"{it.url}/livez", headers={"origin": ORIGIN}, timeout=120).headers
    assert "Mcp-Session-Id" in exposed["access-control-expose-headers"]


@pytest.mark.parametrize("root", [ROOT, ""], ids=["passed on", "taken away"])
def test_all_of_the_page_is_below_the_path(it: Served, root: str) -> None:
    """A proxy may pass the path on or take it away: browsers always see it."""
    with httpx2.Client(base_url=it.url, timeout=120) as browser:
        led = browser.get(f"{root}/c/novels")
        assert led.status_code == 303
        assert led.headers["location"].startswith(f"{ROOT}/signin?to=")
        form = browser.get(f"{root}/signin?to={ROOT}/c/novels")
        assert f'action="{ROOT}/signin"' in form.text
        key = {"key": it.key("read"), "to": f"{ROOT}/c/novels"}
        entered = browser.post(f"{root}/signin", data=key)
        assert entered.headers["location"] == f"{ROOT}/c/novels"
        cookie = {"cookie": entered.headers["set-cookie"].partition(";")[0]}
        shown = browser.get(f"{root}/c/novels", headers=cookie)
        assert shown.status_code == 200
        links = {
            part.partition('"')[0]
            for name in ("href", "src", "action")
            for part in shown.text.split(f' {name}="')[1:]
        }
        assert [link for link in links if link.startswith("/") and not link.startswith(ROOT)] == []
        [style] = [link for link in links if ".css" in link][:1]
        assert browser.get(root + style.removeprefix(ROOT)).status_code == 200


QUESTIONS = [
    "Give a short title to the conversation between Emma and Mr. Knightley in chapter 5.",
    "What is the title of the chapter with the conversation in which Pip is told the truth?",
    "Name the people of this chapter, in short.",
    "Summarize the discussion at the inn in 100 words, with names.",
    "In a few words: what name does Pip give in this conversation with Magwitch?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_about_a_conversation_in_the_book_is_one(question: str) -> None:
    assert not is_client_task([question])
