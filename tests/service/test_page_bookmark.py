"""A reader's bookmark on the page, in Chromium: what comes after it is on no screen of its book."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from chromium import faults
from fabula.server import Address
from offline import offline_app
from served import Served, served
from stories import CONVICT, WINTER

pytestmark = pytest.mark.long

QUESTION = "Who is the father of Estella?"
LATER = re.compile("Provis|Compeyson|Herbert|SECRET")


@dataclass(frozen=True)
class BookService:
    """A service with the story, its address, and the character at which Part One ends."""

    it: Served
    read: str
    document: str
    end: int


@pytest.fixture(scope="module")
def story(address: Address) -> Iterator[BookService]:
    with offline_app(address, graphs=("aspects", "entities")) as app:
        novels = app.collection("novels")
        novels.ingest_text(CONVICT, source="convict.txt", title="The Convict")
        novels.ingest_text(WINTER, source="winter.txt", title="Winter")
        place = novels.reading_place("Part One", novels.document("The Convict").id)
        with served(app) as it:
            id = place.document.id
            yield BookService(it, f"/c/novels/d/{id}", id, place.end)


@contextmanager
def opened(chromium: Browser, story: BookService, **how: Any) -> Iterator[Page]:
    """A page of somebody who is signed in; it must log nothing but a redirect's own message."""
    texts: list[str] = []
    context = chromium.new_context(base_url=story.it.url, viewport={"width": 1200, "height": 800})
    try:
        page = context.new_page()
        page.on("pageerror", lambda error: texts.append(str(error)))
        page.goto(f"/enter?token={story.it.state.sessions.link()}")
        yield page
        assert texts == []
    finally:
        context.close()


def set_bookmark(page: Page, story: BookService, end: int | None = None) -> None:
    """Set the bookmark at the end of Part One, as the button would with that place in sight."""
    page.goto(story.read)
    page.evaluate(
        """([book, until]) => localStorage.setItem(
            `${document.body.dataset.caller} bookmark novels/${book}`,
            JSON.stringify({ until, name: "PART ONE" }))""",
        [story.document, story.end if end is None else end],
    )


@pytest.mark.screen
def test_the_button_sets_the_bookmark_and_the_sections_after_it_are_hidden(
    chromium: Browser, story: BookService
) -> None:
    with opened(chromium, story) as page:
        page.goto(story.read)
        sections = page.locator(".sections")
        expect(sections).to_contain_text("SECRET OF PROVIS")
        expect(page.locator("#hidden-sections")).to_be_hidden()
        page.set_viewport_size({"width": 1200, "height": 120})
        page.get_by_role("button", name="I have read up to here").click()
        hidden = sections.get_by_text("SECRET OF PROVIS")
        expect(hidden).to_be_hidden()
        expect(page.locator("#hidden-sections")).to_contain_text("come after your bookmark")
        page.set_viewport_size({"width": 1200, "height": 800})
        page.reload()
        expect(hidden).to_be_hidden()
        page.get_by_role("button", name="Show them").click()
        expect(hidden).to_be_visible()
        page.reload()
        expect(hidden).to_be_hidden()
        page.get_by_role("button", name="Remove it").click()
        expect(hidden).to_be_visible()
        expect(page.locator("#hidden-sections")).to_be_hidden()


def test_the_text_after_the_bookmark_is_hidden_until_the_reader_reads_on(
    chromium: Browser, story: BookService
) -> None:
    with opened(chromium, story) as page:
        set_bookmark(page, story)
        page.goto(story.read)
        text = page.locator(".book")
        expect(text.get_by_text("because a prisoner had fled.")).to_be_visible()
        expect(page.locator("#hidden-text")).to_contain_text("after your bookmark is hidden")
        assert not LATER.search(text.inner_text())
        page.get_by_role("button", name="Read on").click()
        expect(text.get_by_text("SECRET OF PROVIS").first).to_be_visible()
        expect(page.locator("#hidden-text")).to_be_hidden()
        # A place after the bookmark that an address names is said to be hidden.
        page.goto(f"{story.read}?chars={story.end + 10}-{story.end + 30}#lit")
        expect(page.locator("#hidden-text")).to_contain_text("The place that you asked for")
        assert not LATER.search(text.inner_text())
        page.get_by_role("button", name="Read on").click()
        expect(page.locator("#lit")).to_be_visible()


def test_nothing_of_the_sections_flashes_before_the_script_runs(
    chromium: Browser, story: BookService
) -> None:
    with opened(chromium, story) as page:
        set_bookmark(page, story)
        page.route("**/read.js*", lambda route: route.abort())
        page.goto(story.read)
        expect(page.locator(".sections ol").first).to_be_hidden()
        expect(page.locator(".book")).to_be_visible()
        assert not LATER.search(page.locator(".book").inner_text())


@pytest.mark.parametrize("screen", ["trees", "entities"])
def test_a_picture_is_asked_for_up_to_the_bookmark(
    chromium: Browser, story: BookService, screen: str
) -> None:
    pictures: list[str] = []
    with opened(chromium, story) as page:
        set_bookmark(page, story)
        page.on("request", lambda request: pictures.append(request.url))
        page.goto(f"{story.read}/{screen}")
        page.wait_for_url(re.compile(f"until={story.end}"))
        expect(page.locator(".reached")).to_contain_text("(in PART ONE · CHAPTER II, ")
        expect(page.locator("main")).not_to_contain_text(LATER)
        frame = page.frame_locator(".picture iframe")
        expect(frame.locator("body")).not_to_contain_text(LATER)
        drawn = [url for url in pictures if "/picture" in url]
        assert drawn and all(f"until={story.end}" in url for url in drawn)
        assert faults(page) == []
        page.set_viewport_size({"width": 1200, "height": 800})
        page.get_by_role("link", name="Show all of the book").click()
        page.wait_for_url(re.compile("until=100%25"))
        expect(page.locator("main")).to_contain_text(LATER)
        page.get_by_role("link", name="Show it only as far as I have read").click()
        page.wait_for_url(re.compile(f"until={story.end}"))
        expect(page.locator("main")).not_to_contain_text(LATER)


def test_an_entity_is_known_as_far_as_the_bookmark(chromium: Browser, story: BookService) -> None:
    with opened(chromium, story) as page:
        set_bookmark(page, story)
        page.goto(f"{story.read}/entities")
        page.get_by_role("row", name=re.compile("^Pip")).get_by_role(
            "link", name="Pip", exact=True
        ).click()
        page.wait_for_url(re.compile(f"until={story.end}"))
        expect(page.locator("h1")).to_have_text("Pip")
        expect(page.locator("main")).not_to_contain_text(LATER)
        assert not LATER.search(page.content()), "the names that the form suggests"
        page.goto(f"{story.read}/entities?until=100%25")
        row = page.get_by_role("row", name=re.compile("^Provis"))
        later = str(row.get_by_role("link", name="Provis", exact=True).get_attribute("href"))
        reply = page.goto(later.replace("100%25", str(story.end)))
        assert reply is not None and reply.status == 404
        assert "Provis" not in page.content()


def test_modes_are_compared_up_to_the_bookmark(chromium: Browser, story: BookService) -> None:
    path = f"/c/novels/compare?q={QUESTION}&modes=hybrid,naive"
    with opened(chromium, story) as page:
        page.goto(f"{path}&document={story.document}")
        expect(page.locator("#result")).to_contain_text(LATER)
        set_bookmark(page, story)
        page.goto(f"{path}&document={story.document}")
        expect(page.locator(".columns > section")).to_have_count(2)
        expect(page.locator("[aria-busy]")).to_have_count(0)
        expect(page.locator(".columns")).to_contain_text("Read so far: The Convict")
        expect(page.locator("#result")).not_to_contain_text(LATER)
        expect(page.locator("#bookmarked")).to_contain_text("Your bookmark is in PART ONE")
        assert page.locator("#until").input_value() == str(story.end)
        assert faults(page) == []
        page.get_by_role("button", name="Ask the whole book").click()
        assert page.locator("#until").input_value() == "100%"
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url(re.compile("until=100%25"))
        expect(page.locator("#result")).to_contain_text(LATER)
        page.goto(path)
        expect(page.locator(".note", has_text="All books are asked to their ends")).to_be_visible()


def test_an_answer_says_what_was_read(chromium: Browser, story: BookService) -> None:
    with opened(chromium, story) as page:
        set_bookmark(page, story)
        page.goto(f"/c/novels/ask?q={QUESTION}&document={story.document}")
        expect(page.locator(".answered")).to_contain_text("Read so far: The Convict")
        expect(page.locator("#result")).not_to_contain_text(LATER)
        page.locator("form.follow-up input[type=search]").fill("And what did he do then?")
        page.locator("form.follow-up button").click()
        page.wait_for_url(re.compile("conversation="))
        expect(page.locator(".answered")).to_contain_text("Read so far: The Convict")
        expect(page.locator("main")).not_to_contain_text(LATER)


def test_the_page_is_drawn_up_to_a_place_without_scripts(story: BookService) -> None:
    client = story.it.client()
    at = {"until": str(story.end)}
    for path in ("trees", "pictures/trees/frame", "entities", "pictures/network/frame"):
        assert LATER.search(client.get(f"{story.read}/{path}").text), path
        reply = client.get(f"{story.read}/{path}", params=at)
        assert reply.status_code == 200
        assert not LATER.search(reply.text), path
    compared = {"q": QUESTION, "modes": "hybrid,naive", "document": story.document, "plain": "1"}
    assert LATER.search(client.get("/c/novels/compare", params=compared).text)
    assert not LATER.search(client.get("/c/novels/compare", params=compared | at).text)
    api = f"/api/v1/collections/novels/documents/{story.document}"
    for path in ("outline", "plot.svg", "plot.svg?drawn=network"):
        assert LATER.search(client.get(f"{api}/{path}").text), path
        limited = client.get(f"{api}/{path}{'&' if '?' in path else '?'}until={story.end}")
        assert limited.status_code == 200
        assert not LATER.search(limited.text), path
    assert client.get(f"{story.read}/trees", params={"until": "Chapter Ninety"}).status_code == 404


@pytest.mark.screen
def test_the_bookmark_is_set_where_one_reads(chromium: Browser, story: BookService) -> None:
    with opened(chromium, story) as page:
        page.set_viewport_size({"width": 360, "height": 400})
        page.goto(story.read)
        strip, name = page.locator("#set-bookmark"), page.locator("#bookmark-name")
        sections = page.locator(".book section[data-section]")
        sections.last.scroll_into_view_if_needed()
        page.evaluate("scrollBy(0, 200)")
        expect(strip).to_be_in_viewport()
        page.keyboard.press("b")
        expect(name).to_be_visible()
        expect(strip).to_be_in_viewport()
        chapter = sections.filter(has_text="because a prisoner had fled.").first
        chapter.get_by_role("button", name="I have read this chapter").click()
        expect(name).to_have_text(re.compile(r"^PART ONE · CHAPTER II?, \d+ %$"))
        # The reader goes on; opened again, the book ends at the bookmark, and is open there.
        expect(page.locator("#hidden-text")).to_be_hidden()
        page.goto("/c/novels")
        page.goto(story.read)
        expect(page.locator("#hidden-text")).to_be_in_viewport()
        assert not LATER.search(page.locator(".book").inner_text())


@pytest.mark.screen
def test_a_name_in_the_text_opens_its_card_as_far_as_the_bookmark(
    chromium: Browser, story: BookService
) -> None:
    with opened(chromium, story) as page:
        set_bookmark(page, story)
        page.goto(story.read)
        # So short a book does not scroll: the section in view stays the heading of its first part.
        page.evaluate(
            """async () => {
                const { markNames } = await import("/static/names.js");
                await markNames(document.querySelectorAll(".book section[data-section]")[1]);
            }"""
        )
        named = page.locator("#named a")
        expect(named.first).to_have_attribute("href", re.compile(f"until={story.end}$"))
        # The text that is marked has no element: its place is asked of the browser.
        place = page.evaluate(
            """() => {
                const range = [...CSS.highlights.get("names")][0];
                range.startContainer.parentElement.scrollIntoView({ block: "center" });
                const box = range.getBoundingClientRect();
                return [range.toString(), box.x + box.width / 2, box.y + box.height / 2];
            }"""
        )
        page.mouse.click(place[1], place[2])
        page.wait_for_url(re.compile(rf"/entities/\w+\?until={story.end}$"))
        expect(page.locator("main")).to_contain_text(place[0])
        expect(page.locator("main")).not_to_contain_text(LATER)
