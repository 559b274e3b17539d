"""The story's page in Chromium: what a reader sees, filters, follows and presses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from chromium import open_file
from fabula_scholar.pictures.story.page import to_story_page
from plotted import HOSTILE, story

pytestmark = pytest.mark.waits


@pytest.fixture
def page(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page of a hostile story and question, in a window of 800 x 600."""
    html = to_story_page(story(60, words=HOSTILE, question=HOSTILE))
    with open_file(chromium, tmp_path / "story.html", html, 800, 600) as page:
        yield page


def rows(page: Page) -> int:
    return page.locator("tbody tr:has(td)").count()


@pytest.mark.screen
def test_the_table_tells_in_order_what_is_drawn_section_by_section(page: Page) -> None:
    assert page.locator(".event:visible").count() == rows(page) == 60
    headings = page.locator("tbody th").all_inner_texts()
    assert [heading.split("<")[0].strip() for heading in headings] == [
        "Chapter 1",
        "Chapter 2",
        "Chapter 3",
    ]
    assert page.locator("tr.found").count() == page.locator(".event.found").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 800


def test_a_row_shows_its_events_alone(page: Page) -> None:
    page.locator("#names button", has_text="Dunmore").click()
    there = page.locator(".event:visible").count()
    assert 0 < there < 60
    assert rows(page) == there
    assert set(page.locator("tbody td:nth-child(4)").all_inner_texts()) == {"Dunmore"}
    page.keyboard.press("Escape")
    assert rows(page) == 60
    page.locator("#names button", has_text="cause").click()
    assert page.locator(".link:visible").count() == page.locator(".link.cause").count()


def test_an_event_is_told_with_its_passage_and_its_causes(page: Page) -> None:
    page.locator("#e0 circle").first.click()
    card = page.locator("#card")
    assert "What it led to" in card.inner_text()
    assert "This is passage 0.</script>" in card.inner_text()
    assert page.locator(".link.lit").count() == 1
    page.locator("#stage").focus()
    page.keyboard.press("ArrowRight")
    assert "event 2 of 60" in card.inner_text()
    assert page.locator("tr.pin").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("#pinned").is_hidden()


def test_where_no_event_has_the_words_that_is_said(page: Page) -> None:
    page.locator("#words").fill("zeppelin")
    assert page.locator("#count").inner_text() == "No events found"


def test_the_text_is_stretched_and_searched(page: Page) -> None:
    place = page.locator("#e20").get_attribute("transform")
    page.locator("#in").click()
    page.wait_for_function(
        "was => document.getElementById('e20').getAttribute('transform') !== was", arg=place
    )
    page.locator("#reset").click()
    page.wait_for_function(
        "was => document.getElementById('e20').getAttribute('transform') === was", arg=place
    )
    page.keyboard.press("/")
    page.keyboard.type("away 33")
    assert rows(page) == 1
    page.keyboard.press("Enter")
    assert "event 34 of 60" in page.locator("#card").inner_text()
