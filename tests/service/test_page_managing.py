"""A person without a shell looks after a library, in Chromium: describe, build, drop, remove."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from chromium import check_screens, faults, finish_job, window
from database import empty
from endpoint import Endpoint
from fabula.config.settings import STATIC
from fabula.library import App
from fabula.operations.corrections import correct
from fabula.server import Address
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER

pytestmark = pytest.mark.long

BASE = "/api/v1"
REFUSED = "status of 40[0-9]"
"""What Chromium logs of a page that says in words what is wrong."""
HOSTILE = "</title><script>window.broken = 1</script>\u202e {{ 7 * 7 }}"
SHOWN = HOSTILE.replace("\u202e", "")
"""The title that a text of that title has: without what changes the order of what is shown."""
PAGE = {"Accept": "text/html"}


@dataclass(frozen=True)
class Library:
    """A service without a model, one with a model that costs money, and the ids of their books."""

    offline: Served
    priced: Served
    endpoint: Endpoint

    def ids(self, collection: str = "books") -> dict[str, str]:
        found = self.offline.client().get(f"{BASE}/collections/{collection}/documents").json()
        return {each["title"]: each["id"] for each in found["rows"]}


@pytest.fixture(scope="module")
def library(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    empty(address)
    there: dict[str, Any] = server_of(address) | {
        "home": tmp_path_factory.mktemp("home"),
        "embedding_model": STATIC,
        "chunk_tokens": 40,
    }
    with Endpoint() as endpoint:
        model: dict[str, Any] = {
            "model": "gpt-4.1-mini",
            "base_url": endpoint.url,
            "api_key": "sk-test",
        }
        with App(**there, model="offline") as app, App(**there, **model) as asking:
            books = app.collection("books")
            for source, title, text in (
                ("light.txt", "The Lighthouse", LIGHTHOUSE),
                ("winter.txt", "Winter", WINTER),
                ("hostile.txt", HOSTILE, WINTER),
            ):
                books.ingest_text(text, source=source, title=title, author="Jane Doe")
            books.build("entities", "light.txt")
            with served(app) as offline, served(asking) as priced:
                yield Library(offline, priced, endpoint)


def opened(
    chromium: Browser, it: Served, role: Any = "write", **how: Any
) -> AbstractContextManager[BrowserContext]:
    """A window of somebody who is signed in."""
    return window(chromium, it.url, it.state.sessions.sign_in(it.key(role)), **how)


@pytest.mark.screen
def test_each_screen_is_accessible_and_fits(chromium: Browser, library: Library) -> None:
    book = f"/c/books/d/{library.ids()['The Lighthouse']}"
    screens = (
        "/collections",
        "/c/books/manage",
        "/c/books/collections?tool=remove-collection&run=true",
        "/c/books/collections?tool=reembed&run=true",
        "/c/books/documents?tool=build-graph&graph=entities&run=true",
        "/c/books/corrections?run=true",
        f"{book}/manage",
        f"/c/books/documents?tool=edit-document&document={library.ids()['The Lighthouse']}",
        "/c/books/documents?tool=remove-document&document=light.txt&run=true",
        "/c/books/documents?tool=drop-graph&graph=entities&document=light.txt&run=true",
        f"/c/books/d/{library.ids()[SHOWN]}/manage",
        "/c/empty",
    )
    with opened(chromium, library.offline, "admin") as context:
        check_screens(context, screens)


def test_a_writer_describes_a_document(chromium: Browser, library: Library) -> None:
    id = library.ids()["Winter"]
    with opened(chromium, library.offline, expected=REFUSED) as context:
        page = context.new_page()
        page.goto(f"/c/books/d/{id}/manage")
        page.get_by_role("link", name="Edit …").click()
        expect(page.get_by_role("textbox", name="author")).to_have_value("Jane Doe")
        page.get_by_role("textbox", name="title").fill("A Winter")
        page.get_by_role("textbox", name="author").fill("Ada Smith")
        page.get_by_role("textbox", name="published").fill("1901")
        page.get_by_role("textbox", name="meta").fill("place=Nizhny\ntags=cold\ntags=sad")
        page.get_by_role("button", name="Edit").click()
        expect(page.get_by_role("status").first).to_have_text("The description was changed.")
        expect(page.locator("h1")).to_have_text("A Winter")
        client = library.offline.client()
        document = client.get(f"{BASE}/collections/books/documents/{id}").json()
        assert (document["title"], document["author"]) == ("A Winter", "Ada Smith")
        assert document["published"] == "1901"
        assert document["metadata"] == {"place": "Nizhny", "tags": ["cold", "sad"]}
        page.get_by_role("link", name="Edit …").click()
        expect(page.get_by_role("textbox", name="meta")).to_have_value(
            "place=Nizhny\ntags=cold\ntags=sad"
        )
        page.get_by_role("textbox", name="title").fill("   ")
        page.get_by_role("button", name="Edit").click()
        expect(page.get_by_role("alert").first).to_contain_text("The title is empty")
    # By the API, what is left out stays as it is.
    path = f"{BASE}/collections/books/documents/{id}"
    changed = client.patch(path, json={"title": "Winter"}).json()
    assert (changed["title"], changed["author"], changed["published"]) == (
        "Winter",
        "Ada Smith",
        "1901",
    )


def test_a_graph_is_added_and_dropped_after_its_cost_and_its_loss_were_shown(
    chromium: Browser, library: Library
) -> None:
    id = library.ids()["Winter"]
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto(f"/c/books/d/{id}/manage")
        page.get_by_role("link", name="Add … communities").click()
        expect(page.locator("h1")).to_have_text("Build communities")
        expect(page.locator(".total")).to_contain_text("Nothing: no model is called.")
        page.get_by_role("button", name="Begin").click()
        finish_job(page)
        page.goto(f"/c/books/d/{id}/manage")
        page.get_by_role("link", name="Drop … entities").click()
        expect(page.locator("main form li")).to_contain_text("would drop communities, entities")
        page.get_by_role("link", name="Cancel").click()
        page.get_by_role("link", name="Drop … entities").click()
        page.get_by_role("button", name="Drop entities").click()
        expect(page.get_by_role("status").first).to_have_text("The graph was dropped.")
    document = library.offline.client().get(f"{BASE}/collections/books/documents/{id}").json()
    assert "entities" not in document["graphs"]
    assert "communities" not in document["graphs"]
    assert "aspects" in document["graphs"]


def test_the_price_is_shown_before_a_model_is_asked(chromium: Browser, library: Library) -> None:
    id = library.ids()["The Lighthouse"]
    before = library.endpoint.calls
    with opened(chromium, library.priced) as context:
        page = context.new_page()
        page.goto(
            "/c/books/documents?tool=build-graph&graph=entities&rebuild=true&run=true"
            f"&documents={id}"
        )
        expect(page.locator("h1")).to_have_text("Build entities")
        facts = page.locator(".facts").inner_text()
        assert re.search(r"Calls\n[1-9]", facts)
        assert "$" in facts
        expect(page.get_by_role("button", name="Agree and begin")).to_be_visible()
        body = {"graph": "entities", "documents": [id], "rebuild": True}
        path = f"{BASE}/collections/books/build?dry_run=true"
        expected = library.priced.client().post(path, json=body)
        assert expected.status_code == 200
        assert expected.json()["calls"] > 0
        assert f"Calls\n{expected.json()['calls']}\n" in facts
    assert library.endpoint.calls == before


def test_a_collection_is_made_filled_with_the_demo_and_removed(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline, "admin", expected=REFUSED) as context:
        page = context.new_page()
        page.goto("/c/books")
        page.locator("summary", has_text="books").first.click()
        page.get_by_role("link", name="All collections, or a new one").click()
        page.get_by_label("Name").fill("a/b")
        page.get_by_role("button", name="Open the new collection").click()
        expect(page.get_by_role("alert").first).to_contain_text("letters and digits")
        page.get_by_label("Name").fill("tales")
        page.get_by_role("button", name="Open the new collection").click()
        page.wait_for_url("**/c/tales")
        page.get_by_role("button", name="Add “A Christmas Carol”").click()
        finish_job(page)
        page.get_by_role("link", name="To the library").click()
        expect(page.get_by_role("heading", name="A Christmas Carol")).to_be_visible()
        page.get_by_role("link", name="Manage the collection").click()
        page.get_by_role("link", name="Remove the collection").click()
        page.get_by_label("To confirm").fill("books")
        page.get_by_role("button", name="Remove the collection").click()
        expect(page.get_by_role("alert").first).to_contain_text("nothing was removed")
        page.get_by_label("To confirm").fill("tales")
        page.get_by_role("button", name="Remove the collection").click()
        finish_job(page)
        page.goto("/c/tales")
        expect(page.locator("h1")).to_have_text("There is no collection tales yet")


def test_where_a_model_costs_money_the_demo_is_estimated_first(library: Library) -> None:
    client = library.priced.client("write")
    led = client.post("/c/demo/add/demo", headers=PAGE)
    assert led.status_code == 303
    assert re.fullmatch(r"/c/demo/add\?batch=[0-9a-f]{64}", led.headers["location"])
    shown = client.get(led.headers["location"], headers=PAGE)
    assert "A Christmas Carol" in shown.text
    assert "Agree and add" in shown.text


def test_a_document_is_removed_after_what_goes_with_it_was_shown(
    chromium: Browser, library: Library
) -> None:
    library.offline.state.app.collection("books").ingest_text(
        WINTER, source="gone.txt", title="Gone"
    )
    id = library.ids()["Gone"]
    with opened(chromium, library.offline, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/c/books")
        page.get_by_role("link", name="Manage Gone").click()
        page.get_by_role("link", name="Remove this document").click()
        expect(page.get_by_role("button", name="Remove")).to_be_visible()
        losses = " ".join(page.locator("main form li").all_inner_texts())
        assert "aspects" in losses
        assert re.search(r"[0-9]+ passages", losses)
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("status").first).to_have_text("The document was removed.")
    assert "Gone" not in library.ids()
    gone = library.offline.client().get(f"{BASE}/collections/books/documents/{id}")
    assert gone.status_code == 404


def test_a_document_is_downloaded(chromium: Browser, library: Library) -> None:
    id = library.ids()["The Lighthouse"]
    client = library.offline.client("read")
    text = client.get(f"{BASE}/collections/books/documents/{id}/text").json()["text"]
    with opened(chromium, library.offline, "read", accept_downloads=True) as context:
        page = context.new_page()
        page.goto(f"/c/books/d/{id}/manage")
        with page.expect_download() as downloading:
            page.get_by_role("link", name="txt", exact=True).click()
        download = downloading.value
        assert download.suggested_filename == "The Lighthouse.txt"
        assert download.path().read_text(encoding="utf-8") == text
        # Readers may take files, and change nothing.
        expect(page.get_by_role("link", name=re.compile("…"))).to_have_count(0)
    # A text is of one document.
    whole = client.get(f"{BASE}/collections/books/export", params={"format": "txt"})
    assert whole.status_code == 400


def test_a_correction_is_listed_and_undone_for_the_collection(
    chromium: Browser, library: Library
) -> None:
    it = library.offline
    books = it.state.app.collection("books")
    kept = correct(books, "rename", ("Elias", "Elias Moor"), "light.txt", later=True)
    with opened(chromium, it) as context:
        page = context.new_page()
        page.goto("/c/books/corrections?undone=true&run=true")
        row = page.get_by_role("row").filter(has_text="Elias Moor")
        row.get_by_role("link", name=str(kept.decision.number), exact=True).click()
        page.get_by_role("button", name="Undo").click()
        page.wait_for_url(re.compile("/jobs/|/corrections$"))
        page.goto("/c/books/corrections?undone=true&run=true")
        expect(page.get_by_role("columnheader", name="undone by")).to_be_visible()


def test_gaps_are_filled_and_embeddings_made_again(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto("/c/books/manage")
        page.get_by_role("link", name="Embed again").click()
        expect(page.locator("main")).to_contain_text("Nothing has been paid yet")
        page.get_by_role("button", name="Begin").click()
        finish_job(page)
        page.goto("/c/books/manage")
        page.get_by_role("link", name="Renew").click()
        page.get_by_role("button", name="Begin").click()
        finish_job(page)
    costs = library.offline.client("write").post(f"{BASE}/collections/books/reembed?dry_run=true")
    assert (costs.status_code, costs.json()["calls"]) == (200, 0)


def changes(id: str) -> list[tuple[str, str, dict[str, str]]]:
    """All requests of the page that change a library, or that show what a change would be."""
    posts: list[tuple[str, dict[str, str]]] = [
        ("/collections", {"name": "theirs"}),
        ("/c/books/add/demo", {}),
        ("/c/books/collections", {"tool": "remove-collection", "confirmed": "books"}),
        ("/c/books/collections", {"tool": "reembed"}),
        ("/c/books/documents", {"tool": "renew"}),
        ("/c/books/documents", {"tool": "build-graph", "graph": "entities"}),
        ("/c/books/documents", {"tool": "drop-graph", "graph": "aspects"}),
        ("/c/books/corrections", {"tool": "undo-correction", "number": "1"}),
        ("/c/books/documents", {"tool": "edit-document", "document": id, "title": "Theirs"}),
        ("/c/books/documents", {"tool": "remove-document", "document": id}),
    ]
    posts = [(url, data | {"run": "true"}) for url, data in posts]
    gets = [f"{url}?{urlencode(data)}" for url, data in posts if "tool" in data]
    return [("POST", url, data) for url, data in posts] + [("GET", url, {}) for url in gets]


def test_whoever_may_only_read_changes_nothing(library: Library) -> None:
    id = library.ids()["The Lighthouse"]
    reader = library.offline.client("read")
    for method, url, data in changes(id):
        refused = reader.request(method, url, data=data or None, headers=PAGE)
        assert refused.status_code == 403, (method, url)
    writer = library.offline.client("write")
    whole = {"tool": "remove-collection", "confirmed": "books", "run": "true"}
    assert writer.post("/c/books/collections", data=whole).status_code == 403
    assert "The Lighthouse" in library.ids()
    for url in ("/c/books", "/c/books/manage", f"/c/books/d/{id}/manage", "/collections"):
        shown = reader.get(url, headers=PAGE)
        assert shown.status_code == 200
        assert 'method="post"' not in shown.text.replace('action="/signout"', "").replace(
            '<form method="post" ><button>Sign out', ""
        ), url
        assert "…</a>" not in shown.text, url


def test_a_collection_of_others_is_not_there(library: Library) -> None:
    id = library.ids()["The Lighthouse"]
    stranger: httpx2.Client = library.offline.client("admin", ["others"])
    for method, url, data in changes(id):
        if url == "/collections":
            continue
        hidden = stranger.request(method, url, data=data or None, headers=PAGE)
        assert hidden.status_code == 404, (method, url)
    made = stranger.post("/collections", data={"name": "books"}, headers=PAGE)
    assert made.status_code == 403
    assert stranger.post("/collections", data={"name": "others"}, headers=PAGE).status_code == 303
    assert "books" not in stranger.get("/collections", headers=PAGE).text


def test_a_form_that_is_sent_twice_begins_one_job(library: Library) -> None:
    client = library.offline.client("write")
    form = {"tool": "build-graph", "graph": "episodes", "run": "true", "once": "a" * 32}
    led = [client.post("/c/books/documents", data=form).headers["location"] for _ in range(2)]
    assert led[0] == led[1]
    # Whoever goes back and chooses otherwise gets that, and no error.
    other = client.post("/c/books/documents", data=form | {"rebuild": "true"})
    assert (other.status_code, other.headers["location"] != led[0]) == (303, True)


def test_graphs_are_dropped_by_the_api(library: Library) -> None:
    books = library.offline.state.app.collection("books")
    books.ingest_text(WINTER, source="dropped.txt", title="Dropped")
    id = library.ids()["Dropped"]
    client = library.offline.client("write")
    path, of_it = f"{BASE}/collections/books/graphs", {"document": id}
    expected = [{"document": id, "title": "Dropped", "graphs": ["aspects"]}]
    dry = client.delete(f"{path}/aspects", params=of_it | {"dry_run": True}).json()
    assert (dry["rows"], dry["dry_run"]) == (expected, True)
    assert client.delete(f"{path}/aspects", params=of_it).json()["rows"] == expected
    assert client.delete(f"{path}/aspects", params=of_it).status_code == 404
    assert client.delete(f"{path}/text", params=of_it).status_code == 400
    dry = client.delete(f"{path}/aspects?dry_run=true").json()
    assert {row["title"] for row in dry["rows"]} >= {"The Lighthouse"}
    acts = library.offline.client().get(f"{BASE}/audit").json()["rows"]
    dropped = [act["target"] for act in acts if act["what"] == "drop"]
    assert dropped.count(f"books/{id} (graph: aspects)") == 1


def test_a_question_is_embedded_by_the_collections_own_model_where_that_needs_no_key(
    chromium: Browser, library: Library, address: Address
) -> None:
    settings: dict[str, Any] = {
        "model": "gpt-4.1-mini",
        "base_url": library.endpoint.url,
        "api_key": "sk-test",
        "embedding_model": "text-embedding-3-small",
    }
    with App(**server_of(address), **settings) as app, served(app) as it:
        begun = len(library.endpoint.bodies)
        with opened(chromium, it, "read") as context:
            page = context.new_page()
            page.goto("/c/books/ask?q=What did Elias light?&mode=hybrid")
            expect(page.locator(".answered .badge").first).to_have_text("gpt-4.1-mini")
            expect(page.locator("#unready")).to_have_count(0)
        bodies = library.endpoint.bodies[begun:]
        assert len(bodies) == 1
        assert "input" not in bodies[0], "nothing was embedded at the endpoint"


def test_where_a_question_needs_a_model_that_is_not_here_the_page_says_what_to_do(
    chromium: Browser, library: Library, address: Address, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "model": "offline",
        "base_url": library.endpoint.url,
        "api_key": "sk-test",
        "embedding_model": "text-embedding-3-small",
    }
    book = tmp_path / "winter.txt"
    book.write_text(WINTER)
    with App(**server_of(address), **settings) as app:
        app.collection("vectors").ingest(book, graphs=[])
    with opened(chromium, library.offline, "read") as context:
        page = context.new_page()
        page.goto("/c/vectors/ask")
        expect(page.locator("#unready")).to_contain_text("embedded by text-embedding-3-small")
        expect(page.locator("#unready")).to_contain_text("somebody who may change the collection")
        expect(page.locator("#unready a")).to_have_count(0)
        assert faults(page) == []
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto("/c/vectors/compare")
        page.get_by_role("link", name="embed the collection again").click()
        page.get_by_role("button", name="Begin").click()
        finish_job(page)
        page.get_by_role("link", name="To the library").click()
        page.get_by_role("link", name="Ask a question").click()
        expect(page.locator("#unready")).to_have_count(0)
        page.get_by_role("searchbox", name="Question").fill("Where did Anna walk?")
        page.keyboard.press("Enter")
        expect(page.locator(".answered .badge").first).to_have_text("offline")


def test_example_questions_name_people_and_places_and_nobody_whom_a_reader_has_not_met(
    chromium: Browser, library: Library
) -> None:
    ids = library.ids()
    client = library.offline.client("read")
    path = f"{BASE}/collections/books/examples"
    named = client.get(path, params={"document": ids["The Lighthouse"]}).json()["rows"]
    assert named[0] == {
        "question": "Who is Elias?",
        "document": ids["The Lighthouse"],
        "title": "The Lighthouse",
    }
    early = client.get(path, params={"document": ids["The Lighthouse"], "until": "20"}).json()[
        "rows"
    ]
    assert all("Elias" not in each["question"] for each in early)
    untold = client.get(path, params={"document": ids["Winter"]}).json()["rows"]
    assert {each["question"] for each in untold} == {
        "What is this story about?",
        "Who tells this story, and to whom?",
    }
    assert client.get(path, params={"document": "nothing"}).status_code == 404
    with opened(chromium, library.offline, "read") as context:
        page = context.new_page()
        page.goto("/c/books/ask")
        page.get_by_role("link", name="Who is Elias?").click()
        page.wait_for_url("**/ask?q=Who+is+Elias*")
        expect(page.locator(".answered .badge").first).to_have_text("offline")
        # Whoever has a bookmark in one of the books may not have met everybody.
        page.goto(f"/c/books/d/{ids['The Lighthouse']}")
        page.get_by_role("button", name="I have read up to here").click()
        page.goto("/c/books/ask")
        expect(page.locator("#examples")).to_be_hidden()
