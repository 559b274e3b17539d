"""The page that one reads in, in Chromium: shelf, ask, read, trees, entities, compare."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from cases import for_each
from chromium import faults, window
from database import empty
from endpoint import Endpoint
from fabula.config.settings import STATIC
from fabula.graph.hits import Hit
from fabula.library import App
from fabula.load import load
from fabula.operations import recaps
from fabula.server import Address
from fabula.service.page.answers import Card, TextRun
from fabula.service.page.book import (
    MAX_PAGE_CHARACTERS,
    BookSection,
    choose_sections,
    count_heading,
    join_equal_aspects,
    make_notes,
    read_spans,
)
from fabula.service.page.rendering import is_language
from fabula.text.names import source_name
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER

pytestmark = pytest.mark.long

SETTINGS: dict[str, Any] = {"embedding_model": STATIC, "chunk_tokens": 40}
MARKUP = "</title></p></main><script>window.broken = 1</script><img src=x onerror=window.broken=1>"
HOSTILE = f"{MARKUP}\u202e\u2028 \"'&amp; {{{{ 7 * 7 }}}}"
EVIL = f"The keeper said {MARKUP} and \x1b[31m left. שלום עולם, he said. " * 6
SONNET = (
    "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\n"
    "Rough winds do shake the darling buds of May,\n"
    "And summer's lease hath all too short a date:\n\n"
    "Sometime too hot the eye of heaven shines,\nAnd often is his gold complexion dimm'd;"
)
ARABIC = "كان البحار يراقب البحر كل مساء. " * 10
QUESTION = "What did the keeper bind where the lens had been?"
PARAGRAPH = "Elias carried his wife's mirror up the stairs and bound it where the lens had been."


@dataclass(frozen=True)
class Library:
    """A service with books, by their titles' first words, and one that a model answers for."""

    offline: Served
    online: Served
    endpoint: Endpoint
    ids: dict[str, str]

    def read(self, title: str) -> str:
        return f"/c/books/d/{self.ids[title]}"

    @property
    def screens(self) -> dict[str, str]:
        light = self.read("The Lighthouse")
        return {
            "shelf": "/c/books",
            "sorted": "/c/books?order=length&language=en",
            "empty shelf": "/c/nothing",
            "ask": "/c/books/ask?draft=Who%3F",
            "asked": f"/c/books/ask?q={QUESTION}&mode=hybrid",
            "nothing": "/c/books/ask?q=Who is Zebulon Pike?",
            "read": f"{light}?chars=60-120&also=300-380&q={QUESTION}",
            "trees": f"{light}/trees?q=mirror",
            "entities": f"{light}/entities",
            "compare": f"/c/books/compare?q={QUESTION}&modes=hybrid,naive",
            "missing": "/c/books/d/nothing",
        }


@pytest.fixture(scope="module")
def library(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    empty(address)
    there = server_of(address) | SETTINGS
    there |= {"cache_folder": tmp_path_factory.mktemp("cache")}
    offline = App(**there, model="offline")
    with offline, Endpoint() as endpoint:
        books = offline.collection("books")
        light = LIGHTHOUSE.partition("\n\n")[2]
        told = {
            "The Lighthouse": (light, "Jane Doe", "en"),
            HOSTILE: (EVIL, HOSTILE, 'en"><script>window.broken = 1</script>'),
            "Two sonnets": (SONNET, "William Shakespeare", "en"),
            "البحار": (ARABIC, "مجهول", "ar"),
            "Winter": (WINTER, "Nobody", "en"),
        }
        for number, (title, (text, author, language)) in enumerate(told.items()):
            facts: dict[str, Any] = {"title": title, "author": author, "language": language}
            books.ingest_text(text, source=f"{number}.txt", **facts)
        books.build("entities")
        titles = dict(enumerate(told))
        ids = {
            titles[int(document.source.split(".")[0])]: document.id
            for document in books.documents()
        }
        told_by: dict[str, Any] = {"model": "m", "base_url": endpoint.url, "api_key": "sk-test"}
        with (
            App(**there, **told_by) as answering,
            served(offline) as first,
            served(answering) as other,
        ):
            yield Library(first, other, endpoint, ids)


@contextmanager
def opened(chromium: Browser, it: Served, **how: Any) -> Iterator[BrowserContext]:
    """A window of somebody who came in by the link that the terminal shows."""
    how = {"viewport": {"width": 1200, "height": 800}} | how
    # The browser itself tells of what could not be had, as a test wants it.
    with window(chromium, it.url, expected="Failed to load resource", **how) as context:
        entering = context.new_page()
        entering.goto(f"/enter?token={it.state.sessions.link()}")
        entering.close()
        yield context


def settle(page: Page) -> None:
    """Waits until an answer is there, if one is to come."""
    page.wait_for_load_state()
    expect(page.locator("[aria-busy]")).to_have_count(0)


# Each screen


@for_each(
    ("paragraphs", "title", "count"),
    [
        (["STAVE ONE", "MARLEY'S GHOST", "Marley was dead"], "STAVE ONE: MARLEY'S GHOST", 2),
        (["Chapter 1.", "It rained."], "Chapter 1", 1),
        (["The Sea", "It rained."], "Part Two: The Sea", 1),
        (["* * *", "It rained."], "* * *", 1),
        (["It rained.", "Chapter 1"], "Chapter 1", 0),
        (["Chapter 1 was never written."], "Chapter 1", 0),
        (["It rained."], "", 0),
        ([], "Chapter 1", 0),
    ],
)
def test_a_heading_is_what_says_the_title_in_one_paragraph_or_several(
    paragraphs: list[str], title: str, count: int
) -> None:
    assert count_heading(paragraphs, title) == count


@pytest.mark.screen
def test_each_screen_loads_clean_is_accessible_and_fits(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        wrong = {}
        request = {"question": QUESTION, "conversation": "new"}
        body = context.request.post("/api/v1/collections/books/ask", data=request).json()
        talk = {"conversation": f"/c/books/ask?conversation={body['conversation']}"}
        for name, url in (library.screens | talk).items():
            response = page.goto(url)
            settle(page)
            assert response is not None
            assert response.status == (404 if name == "missing" else 200), name
            policy = response.headers["content-security-policy"]
            assert "unsafe-inline" not in policy, name
            assert "default-src 'none'" in policy, name
            expect(page.locator("h1")).to_have_count(1)
            expect(page.locator("main")).to_have_count(1)
            expect(page.locator("header nav[aria-label=Screens] a").nth(0)).to_be_attached()
            wrong[name] = faults(page)
        assert {name: found for name, found in wrong.items() if found} == {}


def test_a_hostile_book_is_shown_as_it_is_and_does_nothing(
    chromium: Browser, library: Library
) -> None:
    book = library.read(HOSTILE)
    path = "/c/books/ask?q=What did the keeper say of <script>window.broken = 1</script>"
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        for url in ("/c/books", book, f"{book}/trees", f"{book}/entities", path):
            page.goto(url)
            settle(page)
            page.wait_for_timeout(50)
            assert page.evaluate("window.broken") is None
            assert all(frame.evaluate("window.broken") is None for frame in page.frames)
        page.goto(book)
        assert page.locator("h1").inner_text().startswith("</title></p></main><script>")
        assert "\u202e" not in page.locator("h1").inner_text()
        assert "<img src=x onerror=window.broken=1>" in page.locator(".book").inner_text()
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0


# The shelf


def test_the_shelf_is_filtered_and_sorted_by_its_address(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto("/")
        expect(page).to_have_url(f"{library.offline.url}/c/books")
        expect(page.locator(".book-card")).to_have_count(5)
        page.get_by_placeholder("Title or author").fill("DOE")
        page.get_by_role("button", name="Show").click()
        expect(page.locator(".book-card h2")).to_have_text(["The Lighthouse"])
        assert "words=DOE" in page.url
        page.go_back()
        expect(page.locator(".book-card")).to_have_count(5)
        page.goto("/c/books?order=length")
        assert page.locator(".book-card h2").first.inner_text() == "Winter"
        page.goto("/c/nothing")
        assert page.locator("h1").inner_text() == "There is no collection nothing yet"
        expect(page.locator(".empty a", has_text="books")).to_have_count(1)


# Asking and reading


@pytest.mark.screen
def test_by_keys_alone_from_a_question_to_its_citation_in_the_book(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto("/c/books")
        page.keyboard.press("?")
        expect(page.locator("dialog[open] dt").nth(2)).to_be_attached()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_url("**/ask?q=*")
        settle(page)
        assert "plain" not in page.url
        expect(page.get_by_text("Offline: an extract.")).to_be_visible()
        expect(
            page.locator(".passage mark", has_text="bound it where the lens").nth(0)
        ).to_be_attached()
        expect(page.locator("#status")).to_have_text(re.compile("Answer complete, [1-9]"))
        number = page.locator(".answer .cite").first.inner_text()
        page.keyboard.press(number)
        assert page.evaluate("document.activeElement.className") == "over"
        page.keyboard.press("Enter")
        page.wait_for_url("**/d/*")
        target = page.locator("mark.target").first
        expect(target).to_be_in_viewport()
        assert "mirror" in " ".join(page.locator("mark.target").all_inner_texts())
        page.go_back()
        settle(page)
        expect(page.locator(".answered .passage").nth(0)).to_be_attached()


def test_keys_of_one_letter_can_be_turned_off_and_stay_so(
    chromium: Browser, library: Library
) -> None:
    """As WCAG 2.1.4 asks: who speaks to a browser sets off what is one letter."""
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto("/c/books")
        page.locator("#show-keys").click()
        page.locator("#key-switch").uncheck()
        expect(page.locator("#status")).to_have_text("Shortcuts are off")
        page.get_by_role("button", name="Close").click()
        for _ in range(2):
            page.keyboard.press("?")
            page.keyboard.press("/")
            expect(page.locator("dialog[open]")).to_have_count(0)
            assert page.evaluate("document.activeElement.id") != "question"
            page.keyboard.press("Control+k")
            assert page.evaluate("document.activeElement.id") == "question"
            # Another page of the same browser knows it, too.
            page.goto("/c/books/add")
            page.goto("/c/books")
        page.locator("#show-keys").click()
        page.locator("#key-switch").check()
        page.get_by_role("button", name="Close").click()
        page.locator("h1").click()
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "question"


@pytest.mark.screen
def test_a_models_answer_is_streamed_and_its_citations_lead_to_cards(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.online) as context:
        page = context.new_page()
        page.goto(f"/c/books/ask?q={QUESTION}&mode=hybrid")
        settle(page)
        cite = page.locator(".answer a.cite").first
        card = page.locator(f"#card-{cite.inner_text()}")
        assert cite.get_attribute("aria-describedby") == card.get_attribute("id")
        cite.hover()
        assert "lit" in str(card.get_attribute("class"))
        cited = page.locator(".passages > ol > li .cite").all_inner_texts()
        texts = list(dict.fromkeys(page.locator(".answer > p a.cite").all_inner_texts()))
        assert cited == texts
        assert "1 call," in page.locator(".after").inner_text()
        markdown = page.locator("#markdown").input_value()
        assert re.search(r"\[\^\d+\]: The Lighthouse · .*characters \d+-\d+", markdown)
        # Where one comes back to, nothing is asked again.
        calls = library.endpoint.calls
        page.locator(".passage a.over").first.click()
        page.wait_for_url("**/d/*")
        page.go_back()
        settle(page)
        expect(page.locator(".answer a.cite").nth(0)).to_be_attached()
        page.reload()
        settle(page)
        expect(page.locator(".answer a.cite").nth(0)).to_be_attached()
        assert library.endpoint.calls == calls


def test_what_no_book_says_is_an_answer_of_its_own(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto("/c/books/ask?q=Who is Zebulon Pike?")
        settle(page)
        expect(page.get_by_role("heading", name="These books do not say.")).to_be_visible()
        expect(page.locator(".passages .passage").nth(0)).to_be_attached()


def test_one_goes_on_asking_in_a_conversation_that_is_kept(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.online) as context:
        page = context.new_page()
        page.goto(f"/c/books/ask?q={QUESTION}&mode=hybrid")
        settle(page)
        page.get_by_role("button", name="A good answer").click()
        expect(page.get_by_role("button", name="A good answer")).to_have_attribute(
            "aria-pressed", "true"
        )
        further = "And what did she find there?"
        page.get_by_label("Ask a follow-up question").fill(further)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"ask\?conversation=[0-9a-f]+$"))
        settle(page)
        expect(page.locator(".turn h2")).to_have_text([QUESTION])
        good = page.locator(".turn").get_by_role("button", name="A good answer")
        assert good.get_attribute("aria-pressed") == "true"
        # Its address has all of it, and nothing is asked again.
        calls = library.endpoint.calls
        page.reload()
        expect(page.locator(".turn h2")).to_have_text([QUESTION, further])
        assert library.endpoint.calls == calls
        page.locator("#latest a.cite").first.click()
        page.wait_for_url("**/d/*")
        page.goto("/c/books/ask")
        page.locator(".previous").get_by_role("link", name=QUESTION).first.click()
        page.wait_for_url("**conversation=*")
        page.get_by_role("button", name="Delete this conversation").click()
        page.wait_for_url("**/ask")
        assert "2 questions" not in page.locator("main").inner_text()


def test_without_scripts_a_conversation_is_begun_by_going_on(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/c/books/ask?q={QUESTION}&mode=naive&plain=1")
        page.get_by_label("Ask a follow-up question").fill("Who is Elias?")
        page.keyboard.press("Enter")
        page.wait_for_url("**#latest")
        expect(page.locator(".turn h2")).to_have_text([QUESTION, "Who is Elias?"])
        id = page.url.partition("conversation=")[2].partition("#")[0]
        kept = context.request.get(f"/api/v1/collections/books/conversations/{id}").json()
        assert [turn["asked"]["mode"] for turn in kept["turns"]] == ["naive", "naive"]
        # An address that would ask does not: what is kept is sent by a form.
        page.goto(f"/c/books/ask?conversation={id}&q=What is kept?&plain=1")
        assert page.get_by_label("Ask a follow-up question").input_value() == "What is kept?"
        expect(page.locator(".turn")).to_have_count(2)


def test_trouble_is_told_where_the_answer_would_be(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto(f"/c/books/ask?q={QUESTION}")
        settle(page)
        context.route("**/ask/stream", lambda route: route.abort())
        page.goto("/c/books/ask?q=Is anybody there?")
        expect(page.locator("#alert")).to_have_text(re.compile("can't be reached"))
        expect(page.locator("#result .note.bad")).to_be_visible()
        context.unroute("**/ask/stream")
        page.goto("/c/books/ask?q=Who?&document=no such book")
        expect(page.locator("#result .note.bad")).to_contain_text("no such book")


def test_what_was_written_before_a_failure_stays_beside_it(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.online) as context:
        page = context.new_page()
        endpoint = library.endpoint
        endpoint.plan = lambda _: "cut" if endpoint.bodies[-1].get("stream") else None
        try:
            page.goto("/c/books/ask?q=Who carried the mirror up the stairs?&mode=naive")
            expect(page.locator("#result .note.bad")).to_be_visible()
            settle(page)
        finally:
            endpoint.plan = lambda _: None
        assert page.locator("#result .streamed").inner_text()
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def kept_by_tab(page: Page) -> str:
    return str(page.evaluate("JSON.stringify({...sessionStorage})"))


def test_what_a_tab_keeps_is_of_who_signed_in_and_gone_when_they_sign_out(
    chromium: Browser, library: Library
) -> None:
    it = library.online
    with opened(chromium, it) as context:
        page = context.new_page()
        path = "/c/books/ask?q=What did Anna carry?&mode=naive"
        page.goto(path)
        settle(page)
        assert "What did Anna carry?" in kept_by_tab(page)
        page.goto("/admin")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/signin")
        assert "Anna" not in kept_by_tab(page)
        # Another signs in where the first has not signed out: as when a session has ended.
        for _ in range(2):
            page.goto("/signin")
            page.get_by_label("Your key").fill(it.key("read"))
            page.keyboard.press("Enter")
            page.wait_for_url("**/c/books")
            calls = library.endpoint.calls
            page.goto(path)
            settle(page)
            assert library.endpoint.calls > calls, "it is asked for each of them"
        [kept] = [load for load in json.loads(kept_by_tab(page)) if "answer" in load]
        # By a link, which leads past the page to sign in.
        page.goto(f"/enter?token={it.state.sessions.link()}")
        page.goto("/c/books")
        assert kept not in kept_by_tab(page)


def test_what_a_tab_keeps_is_of_the_collection_as_it_was(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.online) as context:
        page = context.new_page()
        page.goto("/c/books/ask?q=What did Boris sell?&mode=naive")
        settle(page)
        calls = library.endpoint.calls
        page.reload()
        settle(page)
        assert library.endpoint.calls == calls
        books = library.offline.state.app.collection("books")
        entry = books.ingest_text("Boris sold his boat to Clara in May. " * 9, source="new.txt")
        try:
            page.reload()
            settle(page)
            assert library.endpoint.calls > calls, "what was kept is not shown as current"
        finally:
            books.open_store().remove("books", entry.document)


def test_an_address_takes_every_option_of_a_question(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.offline, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/c/books/ask?q={QUESTION}&mode=naive&plain=1&k=1&fill=false")
        expect(page.locator(".answer blockquote")).to_have_count(1)
        page.goto(f"/c/books/ask?q={QUESTION}&mode=naive&plain=1&k=0")
        assert "k: input should be greater than or equal to 1" in page.inner_text("body")


def test_without_scripts_all_can_be_read_and_asked(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.offline, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/c/books")
        page.locator("#question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_url("**plain=1")
        expect(page.locator(".answer blockquote").nth(0)).to_be_attached()
        # A link that somebody with scripts sent.
        page.goto(f"/c/books/ask?q={QUESTION}")
        page.wait_for_url("**plain=1")
        page.locator(".passage a.over").first.click()
        expect(page.locator("mark.target").first).to_be_visible()
        expect(page.locator("#place-margin .summary-text").nth(0)).to_be_attached()
        expect(page.locator(".cited a").nth(0)).to_be_attached()
        page.goto(f"/c/books/compare?q={QUESTION}&modes=hybrid,naive")
        page.wait_for_url("**plain=1")
        # What both modes found stands below, once.
        expect(page.locator(".columns :is(blockquote, .shared-line)").nth(1)).to_be_attached()
        expect(page.locator("[id^=shared-] .excerpt").nth(0)).to_be_attached()
        page.goto(f"{library.read('The Lighthouse')}/trees")
        expect(page.locator("#outline .summary-text").nth(6)).to_be_attached()
        page.goto(f"{library.read('The Lighthouse')}/entities")
        page.locator(".entities tbody a").first.click()
        page.get_by_role("link", name="Read what mentions it").click()
        expect(page.locator("mark.target").nth(0)).to_be_attached()


def test_the_margin_follows_and_leads_up_the_tree(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.offline, viewport={"width": 1200, "height": 400}) as context:
        page = context.new_page()
        page.goto(library.read("Winter"))
        before = page.locator("#place-margin .place").get_attribute("data-from")
        assert page.locator(".sections [aria-current]").inner_text() == "CHAPTER I"
        page.locator("#s4").scroll_into_view_if_needed()
        page.mouse.move(500, 300)
        page.mouse.wheel(0, 4000)
        expect(page.locator("#place-margin .place")).not_to_have_attribute("data-from", str(before))
        expect(page.locator(".sections [aria-current]")).to_have_text(re.compile("CHAPTER I?V"))
        page.locator("#place-margin details summary").first.click()
        page.locator("#place-margin details[open] a").first.click()
        page.wait_for_url("**passage=*")
        expect(page.locator("mark.target").nth(0)).to_be_attached()
        expect(page.locator(".margin .shown-passage .summary-text")).to_have_count(1)
        expect(page.locator("#ticks a")).to_have_count(page.locator("mark[id]").count())


THERE_AND_BACK = """async () => {
  for (const place of [document.documentElement.scrollHeight, 0]) {
    scrollTo(0, place);
    for (let count = 0; count < 2; count += 1) await new Promise(requestAnimationFrame);
  }
}"""


def test_whoever_scrolls_there_and_back_at_once_has_the_margin_of_the_place_in_sight(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline, viewport={"width": 1200, "height": 400}) as context:
        page = context.new_page()
        page.goto(library.read("Winter"))
        place = page.locator("#place-margin .place")
        before = str(place.get_attribute("data-from"))
        page.evaluate(THERE_AND_BACK)
        # The margin of the end would be there by now, which nobody looks at any more.
        page.wait_for_timeout(1_000)
        expect(place).to_have_attribute("data-from", before)


def test_what_is_selected_can_be_asked_about_and_linked_to(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto(library.read("The Lighthouse"))
        page.evaluate(
            """words => {
              const walk = document.createTreeWalker(document.querySelector(".book"), 4);
              for (let node; (node = walk.nextNode());) {
                const at = node.data.indexOf(words);
                if (at >= 0) getSelection().setBaseAndExtent(node, at, node, at + words.length);
              }
            }""",
            "the gulls were loud",
        )
        link = page.locator("#link-selected")
        expect(link).to_be_visible()
        address = str(link.get_attribute("href"))
        page.locator("#ask-selected").click()
        page.wait_for_url("**draft=*")
        assert "“the gulls were loud”" in page.locator("#question").input_value()
        page.goto(address)
        expect(page.locator("mark.target")).to_have_text(["the gulls were loud"])


def test_a_books_own_language_direction_and_lines_are_kept(
    chromium: Browser, library: Library
) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto(library.read("البحار"))
        assert page.locator(".book").get_attribute("lang") == "ar"
        paragraph = page.locator(".book [data-at]").first
        assert paragraph.evaluate("one => getComputedStyle(one).direction") == "rtl"
        page.goto(library.read("Two sonnets"))
        assert page.locator(".book").get_attribute("lang") == "en"
        shown = page.locator(".book p[data-at]").all_inner_texts()
        assert "\n\n".join(shown) == SONNET


def test_what_is_printed_has_the_text_and_numbered_notes(
    chromium: Browser, library: Library, tmp_path: Path
) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto(f"{library.read('The Lighthouse')}?chars=20-60&also=300-340&q={QUESTION}")
        printed = tmp_path / "printed.pdf"
        page.pdf(path=printed)
        text = " ".join(load(printed, "x", 10**7).text.split())
    assert "The keeper Elias lit the lamp" in text
    assert "[1]" in text
    assert "[2]" in text
    assert "Notes" in text
    assert "characters 20–60" in text
    assert QUESTION in text
    assert "About this place" not in text


def test_two_tabs_do_not_disturb_each_other(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.online) as context:
        one, other = context.new_page(), context.new_page()
        one.goto("/c/books/ask?q=Where did Anna walk?&mode=hybrid&document=Winter")
        other.goto(f"/c/books/ask?q={QUESTION}&mode=hybrid&document=The Lighthouse")
        settle(one)
        settle(other)
        assert "Anna" in one.locator(".answered").inner_text()
        assert "Anna" not in other.locator(".answered").inner_text()
        other.goto("/c/books/ask")
        assert {QUESTION, "Where did Anna walk?"} <= {
            *other.locator(".previous a").all_inner_texts()
        }


def test_modes_are_compared_side_by_side(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.online) as context:
        page = context.new_page()
        calls = library.endpoint.calls
        page.goto(f"/c/books/compare?q={QUESTION}&modes=hybrid,naive")
        settle(page)
        expect(page.locator(".columns > section")).to_have_count(2)
        assert library.endpoint.calls == calls + 2
        page.reload()
        settle(page)
        assert library.endpoint.calls == calls + 2, "the tab has kept them"
        # What both have used has one card, and a line in each column that leads to it.
        cards = page.locator("main .passage:not(.shared-line)").all_inner_texts()
        unnumbered = [re.sub(r"\ARead [0-9]*: |[0-9]+\s", "", card, count=2) for card in cards]
        assert len(set(unnumbered)) == len(unnumbered) >= 1
        page.locator(".columns .shared-line a").first.click()
        page.wait_for_url("**#shared-*")
        assert "used by hybrid, naive" in page.locator("[id^=shared-]").first.inner_text()
        page.locator("[id^=shared-] a").first.click()
        expect(page.locator("mark.target").first).to_be_visible()
        page.goto(f"/c/books/compare?q={QUESTION}&modes=naive")
        expect(page.get_by_text("Choose at least two")).to_be_visible()
        page.goto(f"/c/books/compare?q={QUESTION}&modes=hybrid,nonsense")
        settle(page)
        expect(page.locator(".columns .note.bad")).to_contain_text("nonsense")
        expect(page.locator(".columns .answer")).to_have_count(1)


# What it is made of


def test_static_files_are_typed_kept_and_asked_for_by_etag(library: Library) -> None:
    client = library.offline.client()
    page = client.get("/c/books").text
    for name, kind in (("fabula.css", "text/css"), ("shell.js", "text/javascript")):
        [address] = set(re.findall(rf"/static/{re.escape(name)}\?v=\w+", page))
        named = client.get(address)
        assert named.headers["content-type"].startswith(kind)
        assert "immutable" in named.headers["cache-control"]
        bare = client.get(f"/static/{name}")
        assert bare.headers["cache-control"] == "no-cache"
        again = client.get(f"/static/{name}", headers={"If-None-Match": bare.headers["etag"]})
        assert again.status_code == 304


def test_a_picture_may_run_what_it_brings_and_no_more(chromium: Browser, library: Library) -> None:
    with opened(chromium, library.offline) as context:
        page = context.new_page()
        page.goto(f"{library.read('The Lighthouse')}/trees?q=mirror")
        plot = page.frame_locator("iframe")
        expect(plot.locator("#hits li").first).to_be_visible()
        plot.locator("#n0").hover()
        expect(plot.locator("#tip")).to_be_visible()
    policy = library.offline.client().get(f"{library.read('The Lighthouse')}/pictures/trees/frame")
    told = policy.headers["content-security-policy"]
    assert "sandbox allow-scripts" in told
    assert re.search(r"script-src 'sha256-[^']+';", told)
    assert "unsafe-inline" not in told


def test_what_happened_so_far_is_told_up_to_the_place_in_view(
    chromium: Browser, library: Library
) -> None:
    books = library.offline.state.app.collection("books")
    # The tests above count what modes find without them.
    books.build("episodes", library.ids["Winter"], library.ids[HOSTILE])
    with opened(chromium, library.offline, viewport={"width": 1200, "height": 400}) as context:
        page = context.new_page()
        page.goto(library.read("The Lighthouse"))
        expect(page.locator("#so-far")).to_have_count(0)
        page.goto(library.read("Winter"))
        page.locator("#s4").scroll_into_view_if_needed()
        page.mouse.move(500, 300)
        page.mouse.wheel(0, 4000)
        link = page.locator("#so-far")
        expect(link).not_to_have_attribute("href", re.compile(r"at=0$"))
        settle(page)
        at = int((link.get_attribute("href") or "").partition("at=")[2])
        link.focus()
        link.press("Enter")
        page.wait_for_url("**/recap?at=*")
        texts = page.locator(".summary-text").all_inner_texts()
        shown, winter = page.url.partition("at=")[2], library.ids["Winter"]
        recap = recaps.recap(books.as_read(winter, shown), winter, by="chapter")
        assert len(texts) == len(recap.rows) >= 1, at
        assert faults(page) == []
        page.get_by_text("the text it is based on").first.click()
        expect(page.locator("mark.target").first).to_be_visible()
        page.goto(f"{library.read('Winter')}/recap?at=0")
        assert "tells nothing before this place" in page.locator("main").inner_text()
        page.locator("#until").fill("CHAPTER I")
        page.locator("#until").press("Enter")
        page.wait_for_url("**until=CHAPTER*")
        assert "CHAPTER I" in page.locator("main h2").first.inner_text()
        page.goto(f"{library.read(HOSTILE)}/recap")
        settle(page)
        assert "<img src=x onerror=window.broken=1>" in page.locator("main").inner_text()
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0


@pytest.mark.parametrize(
    "query", ["chars=nonsense", "chars=0-99999999", "passage=nothing", "section=99", "section=-1"]
)
def test_a_place_that_is_not_there_is_told_of(library: Library, query: str) -> None:
    answer = library.offline.client().get(f"{library.read('The Lighthouse')}?{query}")
    assert answer.status_code in (404, 422)
    assert "<h1>" in answer.text


def test_a_book_of_a_collection_that_one_may_not_see_is_not_there(library: Library) -> None:
    client = library.offline.client(role="read", collections=["others"])
    for path in ("", "/trees", "/entities", "/margin?at=0", "/pictures/trees/frame"):
        hidden = client.get(library.read("Winter") + path)
        assert (hidden.status_code, "Winter" in hidden.text) == (404, False)


def test_a_long_book_is_several_pages_of_whole_sections() -> None:
    length = 100_000
    sections = [BookSection(n, f"{n}", n * length, (n + 1) * length) for n in range(30)]
    assert choose_sections(sections[:5], 0) == sections[:5]
    shown = choose_sections(sections, 15 * length + 7)
    assert shown[0] == sections[14]
    assert sections[15] in shown
    assert shown[-1].end - shown[0].start <= MAX_PAGE_CHARACTERS
    assert choose_sections(sections, 30 * length)[-1] == sections[-1]


def test_a_book_may_call_its_language_anything() -> None:
    assert all(map(is_language, ("en", "ar", "zh-Hant")))
    assert not any(map(is_language, ("", 'en"><script>', "English", "e", "en_GB")))


def test_citations_are_numbered_in_the_order_of_the_text() -> None:
    notes = make_notes(read_spans("500-600"), read_spans("10-20,590-700,800-900"), [])
    assert [(note.number, note.span, note.is_target) for note in notes] == [
        (1, (10, 20), False),
        (2, (500, 600), True),
        (3, (800, 900), False),
    ]
    assert read_spans("1-2, 2-5,9-9") == [(1, 5)]
    assert read_spans("12") == []


def test_a_short_excerpt_begins_shortly_before_its_first_match() -> None:
    passage = Hit(
        id="c",
        kind="chunk",
        document="d",
        title="Light",
        language="en",
        section="",
        aspect="",
        level=0,
        start=0,
        end=900,
        text="",
        tokens=1,
        score=1.0,
    )

    def excerpt(*runs: TextRun) -> str:
        return "".join(run.text for run in Card(1, passage, runs, "").excerpt)

    match = TextRun("He lit the lamp.", is_highlighted=True)
    assert excerpt(TextRun("It was night. "), match) == "It was night. He lit the lamp."
    long = "The sea was loud. " * 20
    assert excerpt(TextRun(f"{long}It was night. "), match, TextRun(" So.")) == (
        f"… {'The sea was loud. ' * 8}It was night. He lit the lamp. So."
    )
    words = "and the sea was loud " * 20
    shown = excerpt(TextRun(words), match)
    assert shown.startswith("… ") and shown.endswith("loud He lit the lamp.")
    assert len(shown) < 200
    assert excerpt(TextRun(long)) == long.rstrip(), "without a match, it begins where it begins"


def test_the_head_of_a_phone_is_two_lines_and_leads_everywhere(
    chromium: Browser, library: Library
) -> None:
    phone = {"viewport": {"width": 360, "height": 640}}
    with opened(chromium, library.offline, **phone) as context:
        page = context.new_page()
        page.goto("/c/books/ask")
        assert page.locator("header.top").evaluate("head => head.offsetHeight") <= 80
        page.get_by_role("link", name="Settings").click()
        page.wait_for_url("**/admin?from=books")
        current = page.locator(".top nav [aria-current]").bounding_box()
        assert current is not None
        assert current["x"] >= 0
        right = current["x"] + current["width"]
        assert int(right) <= 360, "the current screen is in sight, but for a part of a pixel"
        # The question has its own screen, to which the shortcut leads.
        page.keyboard.press("/")
        page.wait_for_url("**/c/books/ask")


def test_the_margin_shows_an_extract_once_under_all_its_aspects() -> None:
    def hit(text: str, aspect: str, level: int) -> Hit:
        place = ("d", "A book", "en", "I")
        return Hit(f"{text} {aspect}", "summary", *place, aspect, level, 0, 9, text, 3, 0.0)

    trees = {
        "plot": [hit("a", "plot", 1), hit("b", "plot", 2)],
        "theme": [hit("a", "theme", 1), hit("c", "theme", 2), hit("b", "theme", 3)],
        "style": [hit("d", "style", 1), hit("c", "style", 2), hit("e", "style", 3)],
        "setting": [hit("f", "setting", 1), hit("a", "setting", 2)],
    }
    joined = [(name, [each.text for each in hits]) for name, hits in join_equal_aspects(trees)]
    assert joined == [
        ("plot, theme", ["a", "b", "c"]),
        ("style", ["d", "e"]),
        ("setting", ["f"]),
    ]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/srv/books/carol.txt", "carol.txt"),
        ("C:\\books\\carol.txt", "carol.txt"),
        ("uploads/books.zip/a/carol.txt", "books.zip/a/carol.txt"),
        ("carol.txt", "carol.txt"),
        ("https://books.example/carol.txt", "https://books.example/carol.txt"),
    ],
)
def test_a_source_shows_no_folder_of_the_server(source: str, shown: str) -> None:
    assert source_name(source) == shown
