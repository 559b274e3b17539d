"""The page that one works in, in Chromium: sign in, add, jobs, queries, admin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect

from chromium import faults, window
from database import empty
from fabula.config.settings import STATIC
from fabula.library import App
from fabula.server import Address
from ports import free_port
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER

pytestmark = pytest.mark.long

MARKUP = "</title><script>window.broken = 1</script><img src=x onerror=window.broken=1>"
HOSTILE = f"{MARKUP}\u202e \"'& {{{{ 7 * 7 }}}}"
FORMULA = '=HYPERLINK("http://evil.example")'
QUERY = "/c/books/queries?tool=cypher"
OWN = "/c/books/queries?tool=run-cypher&run=true"
OUTCOME = 60_000
"""Milliseconds that a job of this file may take on a busy machine."""


@dataclass(frozen=True)
class Library:
    """A service with books, and the addresses of its screens."""

    served: Served
    ids: dict[str, str]
    job: str
    batch: str

    @property
    def screens(self) -> dict[str, str]:
        return {
            "signin": "/signin?to=/jobs",
            "add": "/c/books/add",
            "estimate": f"/c/books/add?batch={self.batch}&graphs=aspects&graphs=entities",
            "jobs": "/jobs",
            "none failed": "/jobs?state=paused",
            "job": f"/jobs/{self.job}",
            "queries": "/c/books/queries?run=true",
            "form": f"{QUERY}&query=outline",
            "found": f"{QUERY}&query=library&run=true",
            "nothing": f"{QUERY}&query=cast&run=true&type=nobody",
            "own": f"{OWN}&statement=MATCH (d:Document) RETURN d.title, d.tokens",
            "refused": f"{OWN}&statement=CREATE (x) RETURN x",
            "admin": "/admin",
            "keys": "/keys?tool=list-keys&run=true",
            "audit": "/keys?tool=audit&run=true",
            "by collection": "/usage?by=collection&run=true",
            "settings": "/settings?run=true",
        }


@pytest.fixture(scope="module")
def settings(address: Address, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    empty(address)
    return server_of(address) | {
        "home": tmp_path_factory.mktemp("home"),
        "model": "offline",
        "embedding_model": STATIC,
        "chunk_tokens": 40,
    }


@pytest.fixture(scope="module")
def library(settings: dict[str, Any]) -> Iterator[Library]:
    with App(**settings) as app, served(app) as it:
        books = app.collection("books")
        for number, (title, text) in enumerate(
            {"Winter": WINTER, HOSTILE: LIGHTHOUSE, FORMULA: WINTER[:900]}.items()
        ):
            books.ingest_text(text, source=f"{number}.txt", title=title, author=HOSTILE)
        ids = {entry.title: entry.id for entry in books.documents()}
        client = it.client("admin")
        client.headers["Authorization"] = f"Bearer {key_of(it, 'admin')}"
        form = [("files", ("lighthouse.txt", LIGHTHOUSE.encode())), ("files", ("x.bin", b"\0\1"))]
        begun = client.post("/api/v1/collections/others/documents", files=form).json()
        batch = client.post("/c/books/add", files=form, headers={"Accept": "application/json"})
        yield Library(it, ids, begun["id"], batch.json()["to"].rpartition("batch=")[2])


HTML = {"Accept": "text/html"}
KEYS: dict[tuple[str, str], str] = {}
"""What a key has sent is no other's: there is one for each role at each address."""


def key_of(it: Served, role: Any) -> str:
    if (it.url, role) not in KEYS:
        KEYS[it.url, role] = it.key(role)
    return KEYS[it.url, role]


def opened(
    chromium: Browser, it: Served, role: Any = "admin", **how: Any
) -> AbstractContextManager[BrowserContext]:
    """A window of somebody who is signed in, or, without a role, of nobody."""
    cookie = it.state.sessions.sign_in(key_of(it, role)) if role else None
    return window(chromium, it.url, cookie, **how)


REFUSED = "status of 40[0-9]"
"""What Chromium logs of a page that says in words what is wrong."""


@pytest.mark.screen
def test_each_screen_loads_clean_is_accessible_and_fits(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served, expected=REFUSED) as context:
        page = context.new_page()
        wrong = {}
        for name, url in library.screens.items():
            response = page.goto(url)
            assert response is not None
            assert response.status == (400 if name == "refused" else 200), (name, page.content())
            assert "unsafe-inline" not in response.headers["content-security-policy"], name
            expect(page.locator("h1")).to_have_count(1)
            expect(page.locator("main")).to_have_count(1)
            wrong[name] = faults(page)
        assert {name: found for name, found in wrong.items() if found} == {}


# Signing in


def test_a_key_signs_in_and_goes_on_to_where_one_was_going(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served, role="", expected=REFUSED) as context:
        page = context.new_page()
        page.goto("/jobs?state=failed")
        assert page.url.endswith("/signin?to=%2Fjobs%3Fstate%3Dfailed")
        expect(page.get_by_label("Your key")).to_be_focused()
        page.keyboard.type("fab_not_a_key")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").first).to_contain_text("unknown, revoked or expired")
        page.get_by_label("Your key").fill(library.served.key("read"))
        page.keyboard.press("Enter")
        page.wait_for_url("**/jobs?state=failed")
        page.goto("/admin")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/signin")
        page.goto("/jobs")
        assert "/signin" in page.url


# Adding


def send(page: Page, *files: tuple[str, str]) -> None:
    """Chooses files, and has them estimated."""
    payload = [
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in files
    ]
    page.set_input_files("#files", payload)  # type: ignore[arg-type]
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/add?batch=*")


@pytest.mark.screen
def test_what_came_in_is_told_with_its_cost_before_anything_is_done(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served) as context:
        page = context.new_page()
        page.goto("/c/books/add")
        send(page, ("one.txt", LIGHTHOUSE), ("broken.bin", "\0\1"), ("two.txt", WINTER))
        expect(page.locator("h1")).to_contain_text("2 documents for books")
        text = page.get_by_role("region", name="Documents").inner_text()
        assert "The Lighthouse" in text
        assert "broken.bin" in text
        expect(page.locator(".fault")).to_have_count(1)
        assert "Nothing: no model is called" in page.locator(".total").inner_text()


def test_nobody_agrees_to_another_cost_than_was_told(
    chromium: Browser, library: Library, settings: dict[str, Any]
) -> None:
    # Nothing is asked of the model: what it would cost is counted without it.
    costly = settings | {
        "model": "gpt-4.1-mini",
        "base_url": "http://[::1]:9",
        "api_key": "sk-test",
    }
    with App(**costly) as app, served(app) as it, opened(chromium, it) as context:
        page = context.new_page()
        page.goto("/c/agreed/add")
        send(page, ("one.txt", LIGHTHOUSE))
        expect(page.get_by_role("alert").filter(has_text="You changed")).to_have_count(0)
        page.get_by_text("More: what is found").click()
        page.get_by_label("People and places").check()
        page.get_by_role("button", name="Agree and add").click()
        page.wait_for_url("**/add?batch=*&graphs=aspects&graphs=entities&changed=true")
        expect(page.get_by_role("alert").filter(has_text="You changed")).to_be_visible()
        expect(page.locator(".total h2")).to_contain_text("Summaries, People and places")
        jobs = it.client().get("/api/v1/jobs").json()["rows"]
        assert "agreed" not in {job["collection"] for job in jobs}


def test_where_nothing_costs_graphs_are_changed_and_begun_at_once(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served) as context:
        page = context.new_page()
        page.goto("/c/changed/add")
        send(page, ("lines.jsonl", WINTER))
        expect(page.get_by_role("region", name="Documents")).to_contain_text("this ending")
        page.get_by_text("More: what is found").click()
        page.get_by_label("People and places").check()
        page.get_by_role("button", name="Add 1 document").click()
        page.wait_for_url("**/jobs/*")
        expect(page.locator("#state")).to_have_text("Done", timeout=OUTCOME)
        assert "aspects, entities" in page.locator("header p").last.inner_text()


def test_a_text_is_pasted_and_a_folder_dropped(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.served) as context:
        page = context.new_page()
        page.goto("/c/pasted/add")
        page.get_by_text("Paste a text instead").click()
        page.get_by_label("Title").fill(HOSTILE)
        page.get_by_label("Text", exact=True).fill(WINTER)
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url("**/add?batch=*")
        expect(page.locator("h1")).to_contain_text("1 document for pasted")
        page.goto("/c/pasted/add")
        page.locator(".drop").evaluate(
            """(drop, text) => {
              const data = new DataTransfer();
              data.items.add(new File([text], "dropped.txt", {type: "text/plain"}));
              drop.dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));
            }""",
            LIGHTHOUSE,
        )
        expect(page.locator("#chosen")).to_have_text("1 chosen: dropped.txt")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url("**/add?batch=*")
        expect(page.get_by_role("region", name="Documents")).to_contain_text("dropped.txt")


def test_a_refusal_is_told_where_one_is_and_can_be_mended(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served, expected=REFUSED) as context:
        page = context.new_page()
        page.goto("/c/books/add")
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("#refused")).to_contain_text("choose a file, or paste a text")
        page.set_input_files(
            "#files",
            [
                FilePayload(name="a.txt", mimeType="text/plain", buffer=b"One story."),
                FilePayload(name="a.txt", mimeType="text/plain", buffer=b"Another story."),
            ],
        )
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("#refused")).to_contain_text("Two different files are both called")


def test_whoever_may_only_read_is_told_so_and_another_can_not_use_what_one_sent(
    chromium: Browser, library: Library
) -> None:
    reader, other = library.served.client("read"), library.served.client("write")
    page = {"Accept": "text/html"}
    assert reader.get("/c/books/add", headers=page).status_code == 403
    taken = other.get(f"/c/books/add?batch={library.batch}", headers=page)
    assert taken.status_code == 404
    begun = other.post(
        "/c/books/add/begin",
        data={"batch": library.batch, "graphs": "aspects", "estimated": "aspects"},
    )
    assert begun.status_code == 404


def test_without_scripts_a_book_is_added_and_its_job_watched(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/c/plain/add")
        send(page, ("plain.txt", WINTER))
        page.get_by_role("button", name=re.compile("1 document$")).click()
        page.wait_for_url("**/jobs/*")
        # The page comes again by itself.
        expect(page.locator("#state")).to_have_text("Done", timeout=OUTCOME)
        page.locator(".items a").click()
        expect(page.locator("h1")).to_contain_text("Plain")


# Jobs


def test_a_hostile_name_is_shown_as_it_is_and_does_nothing(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served) as context:
        page = context.new_page()
        page.goto("/c/hostile/add")
        name = f"{HOSTILE.replace('/', '')}.txt"
        send(page, (name, WINTER), ("../../etc/passwd.txt", LIGHTHOUSE))
        assert "<script>window.broken" in page.locator("main").inner_text()
        assert "\u202e" not in page.locator("main").inner_text()
        page.get_by_role("button", name=re.compile("2 documents$")).click()
        page.wait_for_url("**/jobs/*")
        expect(page.locator("#state")).to_have_text("Done", timeout=OUTCOME)
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
        page.goto("/jobs")
        assert page.evaluate("window.broken") is None


def test_two_tabs_watch_one_job_and_cancelling_twice_is_told(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served, expected=REFUSED) as context:
        first, second = context.new_page(), context.new_page()
        for page in (first, second):
            page.goto(f"/jobs/{library.job}")
            expect(page.locator("#state")).to_have_text(re.compile("Done|Failed"), timeout=OUTCOME)
        expect(first.get_by_role("button", name="Cancel")).to_have_count(0)
        refused = library.served.client().post(
            "/jobs",
            data={"tool": "cancel-job", "job": library.job, "run": "true"},
            headers={"Accept": "text/html"},
        )
        assert refused.status_code == 409
        assert "can be cancelled" in refused.text


# Queries


def test_a_query_is_filled_in_run_and_leads_into_the_book(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.served) as context:
        page = context.new_page()
        page.goto("/c/books")
        page.get_by_role("link", name="Queries", exact=True).click()
        page.get_by_role("link", name="above", exact=True).click()
        page.get_by_label("book", exact=True).select_option(label="Winter")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url(f"**/queries?*document={library.ids['Winter']}*")
        assert page.get_by_label("book", exact=True).input_value() == library.ids["Winter"]
        page.locator(".cells a").first.click()
        page.wait_for_url(re.compile(rf"/c/books/d/{library.ids['Winter']}\?passage="))
        expect(page.locator("h1")).to_contain_text("Winter")


def test_a_file_of_what_was_found_holds_no_formulas(library: Library) -> None:
    client = library.served.client("read")
    address = f"{QUERY}&query=library&run=true&as="
    csv = client.get(f"{address}csv")
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in csv.headers["content-disposition"]
    assert "'=HYPERLINK" in csv.text
    assert "\n=" not in csv.text
    assert {row["title"] for row in client.get(f"{address}json").json()["rows"]} == set(library.ids)


def test_own_cypher_is_for_admins_and_only_reads(library: Library) -> None:
    page = {"Accept": "text/html"}
    own = f"{OWN}&statement=MATCH (n) DETACH DELETE n"
    for key in (library.served.client("write"), library.served.client("admin", ["books"])):
        assert key.get(own, headers=page).status_code == 403
    refused = library.served.client("admin").get(own, headers=page)
    assert refused.status_code == 400
    assert "may only read" in refused.text


def test_a_collection_that_one_may_not_see_can_not_be_queried(library: Library) -> None:
    client = library.served.client("read", ["others"])
    path = "/c/{}/queries?tool=cypher&query=library&run=true"
    hidden, missing = (client.get(path.format(name)) for name in ("books", "nowhere"))
    assert hidden.status_code == missing.status_code == 404
    assert client.get(f"/jobs/{library.job}").status_code == 200
    assert library.served.client("read", ["books"]).get(f"/jobs/{library.job}").status_code == 404


# Admin


def test_a_key_is_made_shown_once_used_and_revoked(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.served) as context:
        page = context.new_page()
        page.goto("/admin")
        page.get_by_role("link", name="Keys", exact=True).click()
        page.get_by_role("link", name="Make", exact=True).click()
        page.get_by_label("name", exact=True).fill(HOSTILE.replace("\u202e", ""))
        page.get_by_label("tokens a day").fill("1000")
        page.get_by_role("button", name="Make").click()
        key = page.locator(".found-text").first.inner_text()
        found = library.served.state.keys.find(key)
        assert found is not None
        assert (found.role, found.quotas.tokens_a_day) == ("read", 1000)
        page.goto("/keys?tool=list-keys&run=true")
        assert key not in page.content()
        page.get_by_role("link", name=found.id).click()
        page.get_by_role("button", name="Revoke").click()
        expect(page.locator(".found-text")).to_contain_text("is revoked")
        assert library.served.state.keys.find(key) is None
        page.get_by_role("link", name="Audit log").click()
        page.get_by_role("button", name="Show").click()
        expect(page.locator("main")).to_contain_text("revoke key")


def test_a_reader_sees_what_it_may(library: Library) -> None:
    seen = library.served.client("read").get("/admin", headers={"Accept": "text/html"})
    assert seen.status_code == 200
    assert "Models" in seen.text
    for hidden in ("Keys", "Audit log"):
        assert hidden not in seen.text
    reader = library.served.client("read")
    for tool in ("make-key", "list-keys", "audit"):
        assert reader.get(f"/keys?tool={tool}&run=true", headers=HTML).status_code == 403
    settings = reader.get("/settings?run=true", headers=HTML).text
    assert "neo4j_uri" not in settings
    assert "api_key" not in settings
    admin = library.served.client("admin").get("/admin", headers={"Accept": "text/html"})
    secret = library.served.state.app.settings.neo4j_password.get_secret_value()
    assert secret not in admin.text


# From a book to a citation


def walk(page: Page, name: str, most: int = 60) -> None:
    """Goes on with Tab until what has this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        at = page.evaluate(
            "() => { const at = document.activeElement; return [at.ariaLabel, at.textContent,"
            " ...[...(at.labels || [])].map((one) => one.textContent)].join(' '); }"
        )
        if name in at:
            return
    raise AssertionError(f"Tab does not lead to {name!r}")


def test_by_keys_alone_from_signing_in_to_reading_a_citation(
    chromium: Browser, library: Library, tmp_path: Path
) -> None:
    with opened(chromium, library.served, role="") as context:
        book = tmp_path / "lighthouse.txt"
        book.write_text(LIGHTHOUSE)
        page = context.new_page()
        # Heard from the start: a key and the wish to hear of a chooser go to Chromium by two ways,
        # and the key may be there first.
        page.on("filechooser", lambda chooser: chooser.set_files(book))
        page.goto("/c/journey/add")
        # Chromium gives the field the keyboard with the first frame that it draws.
        expect(page.get_by_label("Your key")).to_be_focused()
        page.keyboard.type(library.served.key("write"))
        page.keyboard.press("Enter")
        page.wait_for_url("**/c/journey/add")
        walk(page, "Books")
        assert page.evaluate("document.activeElement.id") == "files"
        page.keyboard.press("Space")
        expect(page.locator("#files")).to_have_value(re.compile(book.name))
        walk(page, "Continue")
        page.keyboard.press("Enter")
        page.wait_for_url("**/add?batch=*")
        walk(page, "1 document")
        page.keyboard.press("Enter")
        page.wait_for_url("**/jobs/*")
        expect(page.locator("#state")).to_have_text("Done", timeout=OUTCOME)
        page.reload()
        page.keyboard.press("/")
        page.keyboard.type("Where was the mirror bound?")
        page.keyboard.press("Enter")
        page.wait_for_url("**/ask?q=*")
        expect(page.locator("[aria-busy]")).to_have_count(0, timeout=OUTCOME)
        walk(page, "Read 1:")
        page.keyboard.press("Enter")
        page.wait_for_url("**/c/journey/d/*")
        expect(page.locator(".book mark").first).to_be_attached()


def test_a_restart_in_between_loses_nothing_and_the_page_comes_back(
    chromium: Browser, library: Library, settings: dict[str, Any]
) -> None:
    """The job goes on with whoever is there, and the page with the next service at its address."""
    away = "ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE"
    text = "\n\n".join(f"Chapter {number}\n\n{LIGHTHOUSE}" for number in range(6))
    with (
        App(**settings) as app,
        App(**settings) as other,
        free_port() as port,
        ExitStack() as until,
    ):
        it = until.enter_context(served(app, port))
        with opened(chromium, it, expected=away) as context:
            page = context.new_page()
            page.goto("/c/restarted/add")
            send(page, *((f"{number}.txt", f"{text}{number}") for number in range(8)))
            page.get_by_role("button", name=re.compile("8 documents$")).click()
            page.wait_for_url("**/jobs/*")
            expect(page.locator("#state")).to_have_text("Running", timeout=OUTCOME)
            until.close()
            with served(other, port):
                expect(page.locator("#state")).to_have_text("Done", timeout=2 * OUTCOME)
                expect(page.locator(".items a")).to_have_count(8)
