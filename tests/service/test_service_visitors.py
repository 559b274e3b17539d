"""Public collections: anybody reads and asks them, writes nothing, and spends what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from playwright.sync_api import expect

from chromium import browser, faults, watch
from endpoint import Endpoint
from fabula.config.serving import TABLE, Serving
from fabula.config.settings import STATIC, Settings
from fabula.errors import SettingsError
from fabula.library import App
from fabula.operations.corrections import correct
from fabula.operations.kit import find_operations
from fabula.server import Address
from fabula.service.http.route_rules import ATTRIBUTE, RouteRules
from offline import offline_app
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER, harbour_story

pytestmark = pytest.mark.long

BASE = "/api/v1/collections"
PAGE = {"Accept": "text/html"}
QUESTION = {"question": "Where did Anna walk?"}
SHUT = "letters"
"""A collection that is not public."""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


def list_public_groups() -> list[str]:
    """The screens of operations that visitors see: none where the core is alone."""
    found = [each for each in find_operations() if each.is_public and each.has_screen]
    return sorted({each.group for each in found})


@contextmanager
def service(
    address: Address, home: Path, endpoint: Endpoint, *, embedding: str = STATIC, **serving: Any
) -> Iterator[Served]:
    settings = Settings.read(
        **server_of(address),
        home=home,
        model="gpt-4.1-mini",
        base_url=endpoint.url,
        api_key="sk-test",
        embedding_model=embedding,
        chunk_tokens=40,
    )
    tables = settings.tables | {"serve": Serving(**serving)}
    with App(settings.model_copy(update={"tables": tables})) as app, served(app) as it:
        yield it


@pytest.fixture(scope="module")
def it(
    address: Address, tmp_path_factory: pytest.TempPathFactory, endpoint: Endpoint
) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with offline_app(address) as app:
        for name in ("tales", SHUT):
            app.collection(name).ingest_text(WINTER, source="winter.txt", title="Winter")
        tales = app.collection("tales")
        tales.ingest_text(LIGHTHOUSE, source="light.txt", title="The Lighthouse")
        tales.build("entities", "light.txt")
        correct(tales, "rename", ("Elias", "Elias Moor"), later=True)
    with service(address, home, endpoint, public=("tales",), public_requests_a_minute=500) as it:
        yield it


@pytest.fixture
def visitor(it: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=it.url, timeout=60) as client:
        yield client


def document(it: Served) -> str:
    """The id of the book that has people and places."""
    found = it.client("read").get(f"{BASE}/tales/documents").json()["rows"]
    return str(next(each["id"] for each in found if each["title"] == "The Lighthouse"))


@pytest.mark.journey
def test_a_visitor_reads_asks_and_finds_the_way_to_sign_in(it: Served, endpoint: Endpoint) -> None:
    before = endpoint.calls
    with browser() as chromium:
        context = chromium.new_context(base_url=it.url)
        logged: list[str] = []
        page = context.new_page()
        watch(page, logged)
        page.goto("/")
        assert page.url.endswith("/c/tales")
        names = page.get_by_role("navigation", name="Screens").get_by_role("link")
        assert names.all_inner_texts() == ["Library", "Ask", *list_public_groups()]
        expect(page.get_by_role("link", name="Manage")).to_have_count(0)
        page.get_by_role("link", name="Winter", exact=True).click()
        expect(page.locator("h1")).to_have_text("Winter")
        wrong = {page.url: faults(page)}
        page.goto("/c/tales/ask?q=Where did Anna walk?")
        expect(page.locator(".answered .badge").first).to_have_text("offline")
        expect(page.locator("form.follow-up")).to_have_count(0)
        expect(page.locator(".thumbs")).to_have_count(0)
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto("/c/tales/compare?q=Where did Anna walk?&modes=hybrid,naive")
        expect(page.get_by_role("heading", name="Shared passages")).to_be_visible()
        page.get_by_role("link", name="Sign in").click()
        page.get_by_label("Your key").fill(it.key("read"))
        page.keyboard.press("Enter")
        page.wait_for_url("**/c/tales/compare**")
        expect(page.get_by_role("link", name="Jobs")).to_be_visible()
        assert {url: found for url, found in wrong.items() if found} == {}
        assert logged == []
        context.close()
    assert endpoint.calls == before, "no model was asked"


def test_who_has_signed_in_is_a_visitor_in_a_public_collection_and_is_not_asked_to(
    it: Served, visitor: httpx2.Client
) -> None:
    """A key for other collections alone sees what visitors see, and the way back to its own."""
    other = it.client("read", [SHUT])
    for path in ("/c/tales", "/c/tales/ask"):
        shown = other.get(path, headers=PAGE).text
        assert "Sign in</a>" not in shown
        assert '<a class="enter" href="/">Your collections</a>' in shown
        assert "Sign in</a>" in visitor.get(path, headers=PAGE).text
    # Their own collection has neither.
    assert 'class="enter"' not in other.get(f"/c/{SHUT}", headers=PAGE).text


def test_what_a_visitor_may_do_by_the_api(
    it: Served, visitor: httpx2.Client, endpoint: Endpoint
) -> None:
    before = endpoint.calls
    id = document(it)
    for path in ("", "/documents", f"/documents/{id}/text", "/modes", "/aspects", "/examples"):
        assert visitor.get(f"{BASE}/tales{path}").status_code == 200, path
    answer = visitor.post(f"{BASE}/tales/ask", json=QUESTION)
    assert (answer.status_code, answer.json()["offline"]) == (200, True)
    assert visitor.post(f"{BASE}/tales/search", json=QUESTION).json()["rows"]
    assert endpoint.calls == before, "no model was asked"
    assert visitor.get(f"{BASE}/tales/export?format=txt&document={id}").text.startswith("CHAPTER I")


def test_what_a_visitor_may_not(it: Served, visitor: httpx2.Client) -> None:
    id = document(it)
    refused = [
        ("GET", f"{BASE}/tales/conversations"),
        ("GET", f"{BASE}/tales/decisions"),
        ("GET", f"{BASE}/tales/queries"),
        ("GET", f"{BASE}/tales/notes"),
        ("GET", f"{BASE}/tales/annotations"),
        ("GET", f"{BASE}/tales/documents/{id}/annotations"),
        ("GET", f"{BASE}/tales/documents/{id}/annotations/export"),
        ("POST", f"{BASE}/tales/documents/{id}/notes"),
        ("GET", f"{BASE}/letters"),
        ("GET", f"{BASE}/letters/documents"),
        ("GET", f"{BASE}"),
        ("GET", "/api/v1/jobs"),
        ("GET", "/api/v1/usage"),
        ("GET", "/api/v1/settings"),
        ("POST", f"{BASE}/tales/documents"),
        ("POST", f"{BASE}/tales/build"),
        ("POST", f"{BASE}/tales/decisions"),
        ("POST", f"{BASE}/letters/ask"),
        ("PATCH", f"{BASE}/tales/documents/{id}"),
        ("DELETE", f"{BASE}/tales/documents/{id}"),
        ("DELETE", f"{BASE}/tales"),
        ("POST", "/c/tales/ask"),
        ("POST", "/c/tales/add/demo"),
        ("POST", "/c/tales/documents"),
        ("POST", "/c/tales/collections"),
        ("POST", "/mcp"),
        ("POST", "/v1/chat/completions"),
    ]
    for method, path in refused:
        assert visitor.request(method, path, json={}).status_code == 401, (method, path)
    led = ("/c/letters", "/jobs", "/admin", "/keys", "/collections", "/c/tales/manage")
    for path in (*led, "/c/tales/add", f"/c/tales/d/{id}/manage", "/c/tales/corrections"):
        shown = visitor.get(path, headers=PAGE)
        assert (shown.status_code, shown.headers["location"][:8]) == (303, "/signin?"), path
    for path in (f"{BASE}/tales/ask", "/c/tales/ask/stream"):
        response = visitor.post(path, json=QUESTION | {"conversation": "new"})
        assert response.status_code == 403
    # Who has corrected a name is told to those who have signed in.
    assert "Corrections" not in visitor.get(f"/c/tales/d/{id}/entities", headers=PAGE).text
    assert "Corrections" in it.client("read").get(f"/c/tales/d/{id}/entities", headers=PAGE).text


@pytest.mark.journey
def test_visitors_reach_these_routes_and_no_others(it: Served) -> None:
    reached = {
        f"{method} {route.path}"
        for route in iter_route_contexts(it.service.routes)
        for method in route.methods or ()
        if getattr(route.endpoint, ATTRIBUTE, RouteRules()).is_public
    }
    below = "/api/v1/collections/{collection}"
    book = f"{below}/documents/{{document}}"
    on_page = "/c/{collection}"
    read = f"{on_page}/d/{{document}}"
    assert reached == {
        "GET /",
        f"GET {book}/plot.{{kind}}",
        *(f"POST {below}{end}" for end in ("/ask", "/ask/cost", "/search", "/compare")),
        *(f"GET {on_page}{end}" for end in ("", "/ask", "/compare")),
        *(f"POST {on_page}{end}" for end in ("/ask/stream", "/compare/stream")),
        *(f"GET {read}{end}" for end in ("", "/recap", "/margin")),
        *(
            f"GET {read}{end}"
            for end in ("/trees", "/entities", "/pictures/{drawn}", "/pictures/{drawn}/frame")
        ),
        f"GET {read}/entities/{{entity}}",
        *(f"{each.method} /api/v1{each.path}" for each in find_operations() if each.is_public),
        *(f"GET {on_page}/{group.lower()}" for group in list_public_groups()),
    }


def test_what_visitors_see_and_download_names_nobody_and_no_cost(
    it: Served, visitor: httpx2.Client
) -> None:
    id = document(it)
    writer = it.client("write")
    tales = it.state.app.collection("tales")
    note = {"quote": "The sea was grey and the gulls were loud.", "body": "a secret"}
    noted = writer.post(f"{BASE}/tales/documents/{id}/notes", json=note)
    assert noted.status_code == 201, noted.text
    tales.build("annotations", id)
    everything = writer.get(f"{BASE}/tales/export").text
    assert "a secret" in everything
    assert '"Decision"' in everything
    assert '"prompt_tokens"' in everything
    for format in ("jsonl", "graphml"):
        given = visitor.get(f"{BASE}/tales/export?format={format}")
        assert given.status_code == 200
        assert "Elias" in given.text
        for private in (
            "a secret",
            "Decision",
            "Annotation",
            "prompt_tokens",
            "made_from",
            "layers",
        ):
            assert private not in given.text, (format, private)
    assert len(visitor.get(f"{BASE}/tales/export?document={id}").text.splitlines()) > 10
    shown = visitor.get(f"{BASE}/tales/documents/{id}").json()
    assert shown["usage"] == {}
    assert all(graph["usage"] == graph["made_from"] == {} for graph in shown["graphs"].values())
    assert all("layers" not in graph["facts"] for graph in shown["graphs"].values())


def test_a_visitor_is_not_shown_what_a_book_has_cost(it: Served, visitor: httpx2.Client) -> None:
    paid = it.state.app.collection("tales").ingest_text(harbour_story("slept"), source="paid.txt")
    cost = r"\$\d|\d calls"
    for look in ("cards", "table"):
        path = f"/c/tales?look={look}"
        assert re.search(cost, it.client("read").get(path, headers=PAGE).text)
        shown = visitor.get(path, headers=PAGE).text
        assert paid.title in shown
        assert not re.search(cost, shown)
    removed = it.client("write").delete(f"{BASE}/tales/documents/{paid.document}")
    assert removed.status_code < 300, removed.text


def test_who_has_signed_in_for_another_collection_still_reads_the_public_one(
    it: Served,
) -> None:
    client = it.client("write", [SHUT])
    assert client.get("/c/tales", headers=PAGE).status_code == 200
    assert client.get(f"{BASE}/tales/documents").status_code == 200
    assert client.post(f"{BASE}/tales/search", json=QUESTION).status_code == 200
    # As a visitor, and no more than that.
    assert client.get(f"{BASE}/tales/decisions").status_code == 404
    assert client.post(f"{BASE}/tales/documents", json={}).status_code in (404, 422)
    assert client.get(f"{BASE}/{SHUT}/decisions").status_code == 200
    assert client.get("/", headers=PAGE).headers["location"] == f"/c/{SHUT}"


def test_no_path_that_looks_like_a_public_one_is(it: Served, visitor: httpx2.Client) -> None:
    for path in ("/c/tales%2f..%2fletters", "/c/tales/../letters", "/c//letters", "/c/Tales"):
        shown = visitor.get(path, headers=PAGE)
        assert shown.status_code in (303, 404), path
        assert "Winter" not in shown.text, path


def test_an_address_may_send_so_many_requests(
    address: Address, tmp_path: Path, endpoint: Endpoint
) -> None:
    with service(address, tmp_path, endpoint, public=("tales",), public_requests_a_minute=1) as it:
        with httpx2.Client(base_url=it.url, timeout=60) as client:
            statuses = [client.get(f"{BASE}/tales").status_code]
            # On a machine that is busy with other things, a minute may pass between two requests.
            while statuses[-1] == 200 and len(statuses) < 10:
                statuses.append(client.get(f"{BASE}/tales").status_code)
            assert (statuses[0], statuses[-1]) == (200, 429)
        assert it.client("read").get(f"{BASE}/tales").status_code == 200


def test_visitors_spend_what_a_setting_allows_and_no_more(
    address: Address, tmp_path: Path, endpoint: Endpoint
) -> None:
    most = 4000
    allowed: dict[str, Any] = {"public": ("tales",), "public_tokens_a_day": most}
    with service(address, tmp_path, endpoint, **allowed) as it:
        before = endpoint.calls
        statuses: list[int] = []
        with httpx2.Client(base_url=it.url, timeout=60) as client:
            while 402 not in statuses and len(statuses) < 30:
                question = {"question": f"Where did Anna walk {len(statuses)}?"}
                statuses.append(client.post(f"{BASE}/tales/ask", json=question).status_code)
        assert set(statuses) == {200, 402}
        assert endpoint.calls == before + statuses.count(200)
        [usage] = [row for row in it.state.ledger.usage("key") if row.what == "visitor"]
        assert 0 < usage.tokens <= most


def test_a_collection_that_an_endpoint_embedded_is_read_and_not_asked(
    address: Address, tmp_path: Path, endpoint: Endpoint
) -> None:
    with service(
        address, tmp_path, endpoint, embedding="text-embedding-3-small", public=("vectors",)
    ) as it:
        book = tmp_path / "winter.txt"
        book.write_text(WINTER)
        it.state.app.collection("vectors").ingest(book, graphs=[])
        before = endpoint.calls
        with httpx2.Client(base_url=it.url, timeout=60) as client:
            assert client.get("/c/vectors", headers=PAGE).status_code == 200
            response = client.post(f"{BASE}/vectors/ask", json=QUESTION)
            assert (response.status_code, "sign in to ask it" in response.text) == (403, True)
            plain = client.get("/c/vectors/ask?q=Where?&plain=1", headers=PAGE)
            assert (plain.status_code, "sign in to ask it" in plain.text) == (403, True)
        assert endpoint.calls == before
        # Who has signed in asks with the collection's own model.
        assert it.client("read").post(f"{BASE}/vectors/ask", json=QUESTION).status_code == 200


@pytest.mark.parametrize(
    "written", ['["old tales", "poems"]', "old tales; poems", "old tales;poems;"]
)
def test_public_collections_are_named_in_a_variable(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_SERVE__PUBLIC", written)
    assert Settings.read().table(TABLE).public == ("old tales", "poems")


@pytest.mark.parametrize("written", ["[tales]", '["a/b"]', "[1]"])
def test_what_is_no_name_of_a_collection_is_refused_and_not_made_public(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_SERVE__PUBLIC", written)
    with pytest.raises(SettingsError, match=r"FABULA_SERVE__PUBLIC|serve\.public"):
        Settings.read()


def test_without_a_public_collection_nobody_is_let_in(
    address: Address, tmp_path: Path, endpoint: Endpoint
) -> None:
    with (
        service(address, tmp_path, endpoint) as it,
        httpx2.Client(base_url=it.url, timeout=60) as client,
    ):
        assert client.get(f"{BASE}/tales").status_code == 401
        assert client.get("/", headers=PAGE).headers["location"].startswith("/signin")
