"""Notes and words on the page, in Chromium, and what a person without a shell does with a book."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from chromium import check_screens, finish_job, window
from fabula.operations.annotations import list_annotation_layers
from fabula.server import Address
from offline import offline_app
from served import Served, served
from stories import CONVICT, LIGHTHOUSE

pytestmark = pytest.mark.long

BASE = "/api/v1"
NOTES = "/c/books/notes"
ADD, EDIT = "/c/books/notes?tool=add-note", "/c/books/notes?tool=edit-note"
REFUSED = "status of 40[0-9]"
"""What Chromium logs of a page that says in words what is wrong."""
PAGE = {"Accept": "text/html"}
OTHER_SITE = {"Accept": "text/html", "Sec-Fetch-Site": "cross-site"}
HOSTILE = "<script>window.broken = 1</script> {{ 7 * 7 }}"


@dataclass(frozen=True)
class Library:
    """A service without a model, and the ids of its books."""

    it: Served
    convict: str
    lighthouse: str

    def text(self, document: str) -> str:
        """The text of a book."""
        path = f"{BASE}/collections/books/documents/{document}/text"
        return str(self.it.client("read").get(path).json()["text"])

    def notes(self) -> list[dict[str, Any]]:
        """All notes of the collection, by the API."""
        found = self.it.client("read").get(f"{BASE}/collections/books/notes").json()
        return [*found["rows"]]


@pytest.fixture(scope="module")
def library(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with offline_app(address, home=tmp_path_factory.mktemp("home")) as app:
        books = app.collection("books")
        for source, text in (("convict.txt", CONVICT), ("light.txt", LIGHTHOUSE)):
            title = text.split("\n")[0].removeprefix("Title: ")
            books.ingest_text(text, source=source, title=title, language="en")
        ids = {entry.title: entry.id for entry in books.documents()}
        with served(app) as it:
            yield Library(it, ids["The Convict"], ids["The Lighthouse"])


@pytest.fixture
def notes(library: Library) -> Iterator[None]:
    """The notes of a test go with it."""
    yield
    client = library.it.client("write")
    for note in library.notes():
        path = f"{BASE}/collections/books/documents/{note['document']}/notes/{note['id']}"
        assert client.delete(path).status_code == 204


def opened(
    chromium: Browser, library: Library, role: Any = "write", **how: Any
) -> AbstractContextManager[BrowserContext]:
    """A window of somebody who is signed in."""
    cookie = library.it.state.sessions.sign_in(library.it.key(role))
    return window(chromium, library.it.url, cookie, **how)


def select(page: Page, words: str) -> None:
    """Select words of the book, as a reader does with the mouse."""
    page.evaluate(
        """words => {
            const book = document.querySelector(".book");
            const walker = document.createTreeWalker(book, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf(words);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + words.length);
                getSelection().removeAllRanges();
                getSelection().addRange(range);
                return;
            }
            throw new Error(`There is no ${words}.`);
        }""",
        words,
    )


def set_bookmark(page: Page, document: str, until: int) -> None:
    page.evaluate(
        """([document, until]) => localStorage.setItem(
            `${window.document.body.dataset.caller} bookmark books/${document}`,
            JSON.stringify({ until, name: "CHAPTER I" }))""",
        [document, until],
    )


@pytest.mark.screen
def test_the_screens_are_accessible_and_fit(
    chromium: Browser, library: Library, notes: None
) -> None:
    words, book = "/c/books/words", f"/c/books/d/{library.convict}"
    client = library.it.client("write")
    for body in ("A note.\n\nOf two paragraphs.", ""):
        path = f"{BASE}/collections/books/documents/{library.convict}/notes"
        note = {"quote": "Estella is proud", "body": body, "tag": "pride"}
        added = client.post(path, json=note)
        assert added.status_code == 201, added.text
    screens = (
        f"{words}?words=pip&run=true",
        f"{words}?tool=collocates&words=pip&run=true",
        f"{words}?tool=keyness&document={library.convict}&run=true",
        f"{words}?tool=ngrams&run=true",
        "/c/books/notes?run=true",
        f"{EDIT}&document={library.convict}&note={added.json()['id']}",
        f"{ADD}&document={library.convict}",
        book,
    )
    with opened(chromium, library) as context:
        check_screens(context, screens)


def test_a_concordance_is_sorted_and_each_line_leads_into_the_book(
    chromium: Browser, library: Library
) -> None:
    text = library.text(library.convict)
    places = len(re.findall("stranger", text))
    with opened(chromium, library, "read") as context:
        page = context.new_page()
        page.goto("/c/books")
        page.get_by_role("link", name="Words", exact=True).click()
        page.get_by_role("textbox", name="words").fill("strang*")
        page.keyboard.press("Enter")
        expect(page.locator("#found")).to_have_text(f"{places} rows")
        expect(page.locator("tbody tr")).to_have_count(places)
        page.get_by_label("sort").select_option("right")
        page.get_by_role("button", name="Show").click()
        expect(page.get_by_label("sort")).to_have_value("right")
        after = [
            re.findall(r"\w+", line.lower())
            for line in page.locator("tbody td:nth-child(5)").all_inner_texts()
        ]
        assert [line[:3] for line in after] == sorted(line[:3] for line in after)
        page.set_viewport_size({"width": 390, "height": 844})
        page.reload()
        page.locator("#found").evaluate("heading => heading.scrollIntoView()")
        expect(page.locator("td.column-node").first).to_be_in_viewport()
        page.locator("tbody a").first.click()
        expect(page.locator("mark#lit")).to_have_text("stranger")
        assert f"/d/{library.convict}?chars=" in page.url
    shown = library.it.client("read").get("/c/books/words?words=nowhere&run=true", headers=PAGE)
    assert (shown.status_code, "Nothing was found" in shown.text) == (200, True)


def test_collocates_key_words_and_counts_are_shown_and_downloaded(library: Library) -> None:
    client = library.it.client("read")
    path = "/c/books/words"
    near = client.get(f"{path}?tool=collocates&words=gargery&run=true&by=count&as=json").json()
    near = near["rows"]
    assert near[0]["word"] == "joe"
    assert [row["count"] for row in near] == sorted((r["count"] for r in near), reverse=True)
    page = client.get(f"{path}?tool=collocates&words=gargery&run=true", headers=PAGE)
    assert f"{path}?tool=concordance&amp;run=true&amp;words=joe" in page.text
    key = f"{path}?tool=keyness&document={library.convict}&against={library.lighthouse}&run=true"
    rows = [*csv.DictReader(io.StringIO(client.get(f"{key}&as=csv").text.removeprefix("\ufeff")))]
    assert "pip" in {row["word"] for row in rows}
    assert "elias" not in {row["word"] for row in rows}
    assert (
        "Still to be given: document"
        in client.get(f"{path}?tool=keyness&run=true", headers=PAGE).text
    )
    counts = client.get(f"{path}?tool=ngrams&size=2&containing=joe&run=true&as=json").json()
    assert counts["rows"][0]["words"] == "joe gargery"
    words = client.get(f"{path}?tool=ngrams&run=true&document=The+Lighthouse", headers=PAGE)
    assert "standard ratio" in words.text
    # A tab leads to an empty form, and not to a complaint of it.
    empty = client.get(path, headers=PAGE).text
    assert 'href="/c/books/words?tool=collocates"' in empty
    assert "Still to be given" not in client.get(f"{path}?tool=collocates", headers=PAGE).text
    # A place is one in a book: it is not passed over where none is named.
    placed = client.get(f"{path}?words=pip&until=CHAPTER+I&run=true", headers=PAGE)
    assert (placed.status_code, 'value="CHAPTER I"' in placed.text) == (404, True)
    assert "name the document" in placed.text
    whole = client.get(f"{path}?words=pip&until=100%25&run=true", headers=PAGE)
    assert (whole.status_code, "<tbody>" in whole.text) == (200, True)
    # A title finds its document, and what can't be looked for keeps the form.
    wrong = client.get(f"{path}?words=pip&document=Nothing&run=true", headers=PAGE)
    assert (wrong.status_code, 'value="pip"' in wrong.text) == (404, True)
    stars = client.get(f"{path}?words=*****&run=true", headers=PAGE)
    assert (stars.status_code, 'role="alert"' in stars.text) == (400, True)


def test_a_link_of_another_site_counts_nothing(library: Library) -> None:
    cookie = library.it.state.sessions.sign_in(library.it.key("read"))
    client = library.it.client("read")
    del client.headers["Authorization"]
    shown = client.get(
        "/c/books/words?words=pip&run=true", headers=OTHER_SITE | {"Cookie": f"fabula={cookie}"}
    )
    assert "link on another site" in shown.text
    assert "<tbody>" not in shown.text


def test_words_and_notes_end_at_the_readers_bookmark(
    chromium: Browser, library: Library, notes: None
) -> None:
    text = library.text(library.convict)
    end = text.index("PART TWO")
    client = library.it.client("write")
    for quote in ("Pip met the stranger", "Estella is proud"):
        path = f"{BASE}/collections/books/documents/{library.convict}/notes"
        assert client.post(path, json={"quote": quote, "body": "Mine."}).status_code == 201
    here = {"words": "pip", "document": library.convict, "until": str(end), "run": "true"}
    lines = client.get("/c/books/words", params=here | {"as": "json"}).json()
    lines = lines["rows"]
    assert lines
    assert all(row["end"] <= end for row in lines)
    with opened(chromium, library, "read") as context:
        page = context.new_page()
        page.goto(f"/c/books/d/{library.convict}")
        expect(page.locator(".ways")).to_contain_text("Notes (2)")
        expect(page.locator("#notes-beside li").first).to_be_attached()
        expect(page.locator("#notes-beside li")).to_have_count(2)
        assert page.evaluate("CSS.highlights.get('noted').size") == 2
        set_bookmark(page, library.convict, end)
        page.reload()
        expect(page.locator("#notes-beside li")).to_have_count(1)
        # The list of all books hides the notes of this one, and leads to those that were reached.
        page.goto("/c/books/notes?run=true")
        expect(page.locator("tbody tr").first).to_be_hidden()
        expect(page.locator("main")).to_contain_text("2 rows are hidden of The Convict")
        page.get_by_role("link", name="Show those up to your bookmark").click()
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("tbody")).to_contain_text("Pip met the stranger")
        page.goto(f"/c/books/words?words=pip&document={library.convict}&run=true")
        page.wait_for_url(f"**&until={end}")
        expect(page.locator("#found")).to_have_text(f"{len(lines)} rows")
        page.get_by_role("link", name="Show the whole book").click()
        expect(page.locator("#found")).to_have_text(f"{len(re.findall('Pip', text))} rows")
        # A form that did not know the book by the words that were typed sends an empty place.
        page.goto("/c/books/words?words=pip&document=The Convict&until=&run=true")
        page.wait_for_url(f"**until={end}**")
        expect(page.locator("#found")).to_have_text(f"{len(lines)} rows")
        page.goto("/c/books/words?tool=collocates&words=pip&run=true")
        expect(page.locator("main")).to_contain_text("All books are shown to their ends")


def test_words_are_highlighted_and_noted_and_the_notes_searched_changed_and_removed(
    chromium: Browser, library: Library, notes: None
) -> None:
    text = library.text(library.convict)
    with opened(chromium, library, accept_downloads=True) as context:
        page = context.new_page()
        page.goto(f"/c/books/d/{library.convict}")
        select(page, "Bring me a file")
        page.get_by_role("button", name="Highlight").click()
        expect(page.locator("mark#lit")).to_have_text("Bring me a file")
        expect(page.locator("#notes-beside")).to_contain_text("Bring me a file")
        select(page, "Joe Gargery sat by the fire")
        page.locator("#note-selected").click()
        page.get_by_label("the note").fill(HOSTILE)
        page.get_by_label("tag").fill("home")
        page.keyboard.press("Enter")
        expect(page.locator("mark#lit")).to_have_text("Joe Gargery sat by the fire")
        kept = {note["quote"]: note for note in library.notes()}
        mark, note = kept["Bring me a file"], kept["Joe Gargery sat by the fire"]
        assert (mark["kind"], note["kind"], note["body"]) == ("highlight", "note", HOSTILE)
        assert text[note["start"] : note["end"]] == "Joe Gargery sat by the fire"
        # Searched, of all books.
        page.get_by_role("link", name="Notes", exact=True).click()
        expect(page.locator("tbody tr")).to_have_count(2)
        page.get_by_label("words").fill("HOME")
        page.keyboard.press("Enter")
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("tbody")).to_contain_text(HOSTILE)
        page.get_by_role("link", name=note["id"]).click()
        expect(page.get_by_label("the note")).to_have_value(HOSTILE)
        page.get_by_label("the note").fill("He tells of the soldiers.")
        page.get_by_role("button", name="Edit").click()
        expect(page.locator("#found")).to_have_text("Done")
        changed = {each["id"]: each for each in library.notes()}[note["id"]]
        assert changed == note | {"body": "He tells of the soldiers."}
        page.goto(f"{EDIT}&document={library.convict}&note={note['id']}")
        page.get_by_role("link", name="Remove", exact=True).click()
        page.get_by_role("button", name="Remove").click()
        expect(page.locator("#found")).to_have_text("Done")
        assert [each["id"] for each in library.notes()] == [mark["id"]]


def test_a_note_is_made_without_scripts_by_its_words(
    chromium: Browser, library: Library, notes: None
) -> None:
    with opened(chromium, library, expected=REFUSED, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/c/books/d/{library.lighthouse}")
        page.get_by_role("link", name="Notes", exact=True).last.click()
        page.get_by_label("Tools").get_by_role("link", name="Add").click()
        page.get_by_label("the words").fill("Elias")
        page.get_by_label("the note").fill("Who?")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("alert").first).to_contain_text("times: name one by its characters")
        assert page.get_by_label("the note").input_value() == "Who?"
        page.get_by_label("the words").fill("broke the great lens")
        page.get_by_role("button", name="Add").click()
        page.locator("tbody a").first.click()
        expect(page.locator("mark#lit")).to_have_text("broke the great lens")


def test_who_may_only_read_sees_notes_and_changes_none(library: Library, notes: None) -> None:
    book = f"/c/books/d/{library.convict}"
    api = f"{BASE}/collections/books/documents/{library.convict}/notes"
    writer, reader = library.it.client("write"), library.it.client("read")
    stranger = library.it.client("admin", ["others"])
    id = writer.post(api, json={"quote": "Estella is proud", "body": "Mine."}).json()["id"]
    assert writer.patch(f"{api}/{id}", json={"tag": "pride"}).json()["label"] == "pride"
    assert writer.patch(f"{api}/absent", json={"tag": "pride"}).status_code == 404
    form = {"document": library.convict, "run": "true"}
    edit = form | {"tool": "edit-note", "note": id}
    assert writer.post(NOTES, data=edit | {"note": "nothing", "body": "New."}).status_code == 404
    assert writer.post(NOTES, data=edit | {"tag": "t" * 300}).status_code == 400
    # What was typed is kept to be corrected, also beside characters that the text has.
    add = form | {"tool": "add-note", "quote": "no such words", "at": "0-8"}
    again = writer.post(NOTES, data=add, headers=PAGE)
    assert again.status_code == 404
    assert ">no such words</textarea>" in again.text
    assert 'name="at" value="0-8"' in again.text
    for data in (add, edit, form | {"tool": "remove-note", "note": id}):
        for client, status in ((reader, 403), (stranger, 404)):
            assert client.get(NOTES, params=data, headers=PAGE).status_code == status, data
            assert client.post(NOTES, data=data, headers=PAGE).status_code == status, data
    assert reader.patch(f"{api}/{id}", json={"tag": ""}).status_code == 403
    looks = (
        NOTES,
        "/api/v1/collections/books/notes/export",
        f"{book}/notes/beside",
        "/c/books/words",
    )
    for url in looks:
        assert stranger.get(url, headers=PAGE).status_code == 404, url
        shown = reader.get(url, headers=PAGE)
        assert shown.status_code == 200, (url, shown.text)
        assert "edit-note" not in shown.text, url
    assert "Mine." in reader.get(f"{NOTES}?run=true", headers=PAGE).text
    assert library.notes()[0]["label"] == "pride"


def test_words_that_were_selected_before_the_script_ran_can_be_noted(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library) as context:
        page = context.new_page()
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/read.js*", hold)
        with page.expect_request("**/read.js*"):
            page.goto(f"/c/books/d/{library.convict}", wait_until="commit")
        expect(page.locator("#note-selected")).to_be_attached()
        select(page, "Bring me a file")
        expect(page.locator("#note-selected")).to_be_hidden()
        (script,) = held
        script.continue_()
        page.locator("#note-selected").click()
        expect(page.get_by_label("their characters")).to_have_value(re.compile("[0-9]+-[0-9]+"))


def test_a_person_without_a_shell_adds_corrects_asks_annotates_exports_and_removes_a_book(
    chromium: Browser, library: Library, tmp_path: Path
) -> None:
    """The journey of issue 36, whole: nothing but the page is used."""
    book = tmp_path / "lighthouse.txt"
    book.write_text(LIGHTHOUSE, encoding="utf-8")
    with opened(chromium, library, accept_downloads=True) as context:
        page = context.new_page()
        page.goto("/collections")
        page.get_by_label("Name").fill("journey")
        page.get_by_role("button", name="Open the new collection").click()
        page.get_by_role("link", name="Adding a book").click()
        page.set_input_files("#files", book)
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url("**/add?batch=*")
        page.get_by_text("More: what is found").click()
        page.get_by_label("People and places").check()
        page.get_by_role("button", name=re.compile("^(Add|Agree and add)")).click()
        finish_job(page)
        # A name and the description are corrected.
        page.get_by_role("link", name="To the library").click()
        page.get_by_role("link", name="People of The Lighthouse").click()
        page.get_by_role("link", name="Elias", exact=True).click()
        page.wait_for_url("**/entities/*")
        page.get_by_label("New name").fill("Elias Moor")
        page.get_by_role("button", name="Rename").click()
        finish_job(page)
        page.get_by_role("link", name="To the library").click()
        page.get_by_role("link", name="Manage The Lighthouse").click()
        page.get_by_role("link", name="Edit …").click()
        page.get_by_role("textbox", name="published").fill("1901")
        page.get_by_role("button", name="Edit").click()
        expect(page.get_by_role("status").first).to_have_text("The description was changed.")
        # A question, whose citation opens the book.
        page.get_by_role("link", name="Ask", exact=True).click()
        expect(page.get_by_role("link", name="Who is Elias Moor?")).to_be_visible()
        page.get_by_role("searchbox", name="Question").fill("What broke the great lens?")
        page.keyboard.press("Enter")
        expect(page.locator(".answered .badge").first).to_have_text("offline")
        page.locator(".passage .over").first.click()
        expect(page.locator("mark#lit")).to_be_visible()
        # A note, in the text, and asked.
        select(page, "a storm broke the great lens")
        page.locator("#note-selected").click()
        page.get_by_label("the note").fill("The turning point of the plot.")
        page.get_by_role("button", name="Add").click()
        expect(page.locator("#notes-beside")).to_contain_text("The turning point")
        page.get_by_role("link", name="Manage", exact=True).click()
        page.get_by_role("link", name=re.compile("Add … annotations|again … annotations")).click()
        page.get_by_role("button", name="Begin").click()
        finish_job(page)
        page.goto("/c/journey/ask?q=Where is the turning point of the plot?&mode=annotations")
        expect(page.locator(".answered")).to_contain_text("broke the great lens")
        # Files: the text, and the notes.
        page.goto("/c/journey")
        page.get_by_role("link", name="Manage The Lighthouse").click()
        with page.expect_download() as downloading:
            page.get_by_role("link", name="txt", exact=True).click()
        assert "broke the great lens" in downloading.value.path().read_text(encoding="utf-8")
        page.goto("/c/journey")
        page.get_by_role("link", name="Manage The Lighthouse").click()
        page.get_by_role("link", name="Remove this document").click()
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("status").first).to_have_text("The document was removed.")
        expect(page.locator("h1")).to_have_text("There is no collection journey yet")
        assert not list_annotation_layers(library.it.state.app.collection("journey")).rows
