"""What the page streams while a question is answered: its own parts, as they get known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from endpoint import Endpoint
from fabula.config.settings import STATIC
from fabula.library import App
from fabula.server import Address
from offline import offline_app
from served import Served, events, served, server_of
from stories import WINTER

ASK, COMPARE = "/c/novels/ask/stream", "/c/novels/compare/stream"
MARKUP = "<script>window.broken = 1</script>"
QUESTION = "Where did Anna walk?"
TIMES = re.compile(r"[\d.]+ (?:s|ms)\b")


@pytest.fixture(scope="module")
def offline(address: Address) -> Iterator[Served]:
    """A service without a model, with a book whose title and text are markup."""
    with offline_app(address) as app:
        novels = app.collection("novels")
        novels.ingest_text(WINTER, source="winter.txt", title="Winter")
        novels.ingest_text(f"The keeper said {MARKUP} twice. " * 9, source="x.txt", title=MARKUP)
        with served(app) as it:
            yield it


@pytest.fixture
def online(address: Address, offline: Served) -> Iterator[tuple[Served, Endpoint]]:
    """A service on the same books with a model."""
    with Endpoint() as endpoint:
        settings: dict[str, Any] = {"base_url": endpoint.url, "api_key": "sk-test", "model": "m"}
        settings |= {"embedding_model": STATIC, "chunk_tokens": 40, "attempts": 1}
        with App(**server_of(address), **settings) as app, served(app) as it:
            yield it, endpoint


@pytest.fixture
def client(offline: Served) -> httpx2.Client:
    return offline.client()


def test_an_answer_comes_in_parts_that_are_those_of_the_page_without_scripts(
    client: httpx2.Client,
) -> None:
    streamed = events(client.post(ASK, json={"question": QUESTION, "mode": "naive"}))
    names = [name for name, _ in streamed]
    assert names[:2] == ["retrieval", "passages"]
    assert names[-1] == "answer"
    assert set(names[2:-1]) == {"token"}
    assert streamed[0][1] == {"doing": "Searched with naive …"}
    assert '<li class="passage" id="card-1">' in streamed[1][1]["html"]
    last = streamed[-1][1]
    assert re.search(r'data-complete="Answer complete, \d+ passages? quoted\."', last["html"])
    plain = client.get(f"/c/novels/ask?q={QUESTION}&mode=naive&plain=1").text
    assert TIMES.sub("", last["html"]) in TIMES.sub("", plain)
    assert len(last["html"]) > 500


def test_what_a_book_says_is_escaped_in_every_part(client: httpx2.Client) -> None:
    request = {"question": f"What did the keeper say, {MARKUP}?"}
    parts = [data.get("html", "") for _, data in events(client.post(ASK, json=request))]
    compared = request | {"modes": ["naive", "hybrid"]}
    parts += [data["html"] for _, data in events(client.post(COMPARE, json=compared))]
    assert any("&lt;script&gt;" in part for part in parts)
    assert not any("<script" in part for part in parts)


def test_a_models_text_comes_as_it_is_written_and_a_failure_ends_it(
    online: tuple[Served, Endpoint],
) -> None:
    it, endpoint = online
    client = it.client()
    streamed = events(client.post(ASK, json={"question": QUESTION, "mode": "naive"}))
    text = "".join(data["text"] for name, data in streamed if name == "token")
    assert text.strip()
    assert 'class="cite"' in streamed[-1][1]["html"]
    endpoint.plan = lambda _: "cut"
    name, problem = events(client.post(ASK, json={"question": "Who is Boris?"}))[-1]
    assert (name, problem["status"]) == ("error", 502)
    assert endpoint.url not in str(problem)


def test_what_can_not_be_asked_is_refused_before_anything_streams(
    online: tuple[Served, Endpoint],
) -> None:
    it, endpoint = online
    client = it.client()
    missing = client.post(ASK, json={"question": QUESTION, "document": "no such book"})
    assert missing.status_code == 404
    assert re.search(r'<p class="lead" dir="auto">[^<]*no such book', missing.text)
    for path, status in ((ASK, 422), (COMPARE, 400)):
        wrong = client.post(path, json={"question": QUESTION, "nonsense": 1})
        assert wrong.status_code == status
        assert '<p class="lead"' in wrong.text
    browsing = httpx2.Client(base_url=it.url, timeout=60)
    it.clients.append(browsing)
    browsing.get(f"/enter?token={it.state.sessions.link()}", follow_redirects=True)
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    compared: dict[str, Any] = {"question": QUESTION, "modes": ["naive", "hybrid"]}
    for path, body in ((ASK, {"question": QUESTION}), (COMPARE, compared)):
        assert browsing.post(path, json=body, headers=foreign).status_code == 403
    assert endpoint.calls == 0


def test_modes_are_compared_column_by_column(client: httpx2.Client) -> None:
    request = {"question": QUESTION, "modes": ["naive", "hybrid"]}
    streamed = events(client.post(COMPARE, json=request))
    assert [name for name, _ in streamed] == ["columns"] * 3
    assert [data["is_complete"] for _, data in streamed] == [False, False, True]
    waiting = [data["html"].count("Answering …") for _, data in streamed]
    assert waiting == [2, 1, 0]
    for _, data in streamed:
        assert re.findall(r'<h2 id="mode-\d">(\w+)</h2>', data["html"]) == ["naive", "hybrid"]
    assert streamed[-1][1]["is_answered"]
    assert "used by naive, hybrid" in streamed[-1][1]["html"]
    plain = client.get(f"/c/novels/compare?q={QUESTION}&modes=naive,hybrid&plain=1").text
    assert TIMES.sub("", streamed[-1][1]["html"]) in TIMES.sub("", plain)


def test_a_mode_that_fails_has_its_problem_in_its_column(client: httpx2.Client) -> None:
    request = {"question": QUESTION, "modes": ["magic", "naive"]}
    _, last = events(client.post(COMPARE, json=request))[-1]
    assert (last["is_complete"], last["is_answered"]) == (True, False)
    assert re.search(r'<p class="note bad" dir="auto">[^<]*magic', last["html"])
    assert "<blockquote" in last["html"]
    none = request | {"modes": ["magic", "wizardry"]}
    assert events(client.post(COMPARE, json=none))[-1][1]["html"].count("note bad") == 2
