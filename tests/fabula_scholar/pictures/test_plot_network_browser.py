"""The network's page in Chromium: what a reader sees, slides, sorts and presses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from chromium import open_file
from fabula_scholar.pictures.network.figures import NetworkPicture
from fabula_scholar.pictures.network.page import to_network_page
from fabula_scholar.pictures.network.spread import spread
from plotted import HOSTILE, sociogram, together

pytestmark = pytest.mark.waits

MEETING = """all => {
  const boxes = all.filter(one => getComputedStyle(one).visibility === "visible" &&
    getComputedStyle(one).display !== "none" && one.getClientRects().length)
    .map(one => one.getBoundingClientRect());
  const pairs = boxes.flatMap((one, place) => boxes.slice(place + 1).map(other => [one, other]));
  const meet = pairs.filter(([one, other]) => one.left < other.right && other.left < one.right &&
    one.top + 2 < other.bottom && other.top + 2 < one.bottom).length;
  const out = boxes.filter(one => one.left < 0 || one.right > innerWidth).length;
  return [boxes.length, meet, out];
}"""


def html(of: NetworkPicture) -> str:
    return to_network_page(of, spread(of.figures, of.relations, of.walked))


@pytest.fixture
def page(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page of a hostile network and question."""
    content = html(sociogram(24, words=HOSTILE, question=HOSTILE))
    with open_file(chromium, tmp_path / "page.html", content, 1280, 800) as page:
        yield page


@pytest.fixture
def small(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """A large network in a window of 800 x 600."""
    with open_file(chromium, tmp_path / "large.html", html(sociogram(200)), 800, 600) as page:
        yield page


def slide(page: Page, slider: str, value: int) -> None:
    page.locator(slider).evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input')); }", value
    )


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"tbody td:nth-child({number})").all_inner_texts()


def there(page: Page) -> int:
    return page.locator(".figure:not(.gone):visible").count()


@pytest.mark.screen
def test_the_table_has_those_that_are_drawn_and_sorts_them(page: Page) -> None:
    assert there(page) == page.locator("tbody tr").count() == 18
    assert column(page, 1)[0].startswith("Figure 0")
    page.get_by_role("button", name="first").click()
    firsts = column(page, 4)
    assert firsts == sorted(firsts)
    page.get_by_role("button", name="first").click()
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("first")
    assert column(page, 4)[0] == "6"


def test_the_slider_shows_who_is_there_up_to_a_section_or_in_it_alone(page: Page) -> None:
    slide(page, "#to", 1)
    assert page.locator("#section").inner_text().startswith("1. Chapter 1")
    up_to_first = there(page)
    assert 0 < up_to_first < 18
    assert page.locator("tbody tr").count() == up_to_first
    slide(page, "#to", 3)
    both = there(page)
    page.locator("#alone").check()
    alone = there(page)
    assert up_to_first < both
    assert 0 < alone < both
    for first, last in zip(column(page, 4), column(page, 5), strict=True):
        assert int(first) <= 3 <= int(last)


def test_one_is_told_with_its_ties_and_a_tie_with_its_meetings(page: Page) -> None:
    page.locator("#f0 circle").click()
    card = page.locator("#card")
    assert card.locator("h2").inner_text().startswith("Figure 0</script>")
    assert "also F0 1 (alias)" in card.inner_text()
    assert page.locator("tbody tr.pin").count() == 1
    assert page.locator(".figure.lit").count() > 1
    card.locator(".ties button").first.click()
    assert "First meeting" in card.inner_text()
    assert "They met.</script>" in card.inner_text()
    assert "They met again." in card.inner_text()
    card.locator("h2 button").nth(1).click()
    assert card.locator("h2").inner_text() != ""
    page.keyboard.press("Escape")
    assert page.locator("#pinned").is_hidden()
    assert page.locator(".lit").count() == 0


def test_the_pointer_shows_whom_one_is_tied_to(page: Page) -> None:
    page.locator("#f2 circle").hover()
    assert page.locator("#tip").inner_text().startswith("Figure 2")
    assert page.locator(".faded").count() == 1
    page.mouse.move(5, 200)
    assert page.locator("#tip").is_hidden()
    assert page.locator(".faded").count() == 0


def test_names_are_searched_and_gone_to_whether_they_are_shown_or_not(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("figure 13")
    assert column(page, 1)[0].startswith("Mr. Figure 13")
    assert not page.locator("#f13").is_visible()
    page.keyboard.press("Enter")
    assert page.locator("#f13").is_visible()
    assert page.locator("#card h2").inner_text().startswith("Mr. Figure 13")


def test_whom_a_mode_walked_is_listed_lit_and_shown(page: Page) -> None:
    assert "Mode hippo visited 2" in page.locator("#how").inner_text()
    assert page.locator("#walked button").count() == 2
    assert page.locator(".figure.walked:visible").count() == 2
    page.locator("#walked button").nth(1).click()
    assert page.locator("#card h2").inner_text().startswith("Mr. Figure 23")


def test_a_large_network_is_readable_at_800_by_600(small: Page) -> None:
    assert there(small) == 50
    shown, meet, out = small.locator(".figure text").evaluate_all(MEETING)
    assert shown > 15
    assert (meet, out) == (0, 0)
    for words in ("#to", "#section", "#most", "#types label", "td", "th", "#words", "#reset"):
        boxes = small.locator(f"{words}:visible").evaluate_all(
            "all => all.map(one => [one.getBoundingClientRect(), getComputedStyle(one).fontSize])"
            ".map(([box, size]) => [box.left, box.right, parseFloat(size)])"
        )
        assert boxes, words
        assert all(left >= 0 and right <= 800 and size >= 12 for left, right, size in boxes), words
    assert small.evaluate("document.documentElement.scrollWidth") <= 800
    slide(small, "#most", 150)
    assert there(small) == 150
    assert small.locator(".figure text").evaluate_all(MEETING)[1] == 0
    small.get_by_label("place").check()
    small.get_by_label("person").uncheck()
    assert there(small) == 100
    place = small.locator("#f1 circle").get_attribute("cx")
    small.locator("#in").click()
    assert small.locator("#f1 circle").get_attribute("cx") != place
    small.locator("#reset").click()
    assert small.locator("#f1 circle").get_attribute("cx") == place


def test_communities_are_told_level_by_level_and_by_number(
    chromium: Browser, tmp_path: Path
) -> None:
    content = html(together(sociogram(24, words=HOSTILE, question=HOSTILE)))
    with open_file(chromium, tmp_path / "together.html", content, 800, 600) as page:
        listed = page.locator("#communities button")
        assert listed.count() == 2
        assert "★ 1" in listed.nth(1).inner_text()
        assert page.locator("#f0 tspan").text_content() == "2"
        listed.nth(0).hover()
        assert page.locator(".figure.lit").count() == 16
        listed.nth(0).click()
        card = page.locator("#card")
        assert "They meet.</script>" in card.inner_text()
        card.locator("details").first.click()
        assert "The passage.</script>" in card.inner_text()
        slide(page, "#level", 2)
        assert listed.count() == 3
        assert page.locator("#pinned").is_hidden()
        slide(page, "#level", 0)
        assert page.locator("#grouped").is_hidden()
        assert page.locator("#f0 tspan").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
