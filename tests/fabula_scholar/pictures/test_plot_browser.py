"""The page of a plot, looked at in Chromium: what a reader sees, points at and presses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from chromium import drawn, open_file
from fabula_scholar.pictures.trees.page import to_tree_page
from plotted import HOSTILE, QUESTION, found, known, long, picture

pytestmark = [pytest.mark.long, pytest.mark.waits]


@pytest.fixture
def page(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page of a hostile book and question."""
    aspects = known(words=HOSTILE)
    html = to_tree_page(picture(aspects, HOSTILE, QUESTION), found(aspects), "hybrid")
    with open_file(chromium, tmp_path / "page.html", html, 1200, 800) as page:
        yield page


@pytest.fixture
def small(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """A book of 120,000 words in a window of 800 x 600: 1,000 chunks, 500 summaries."""
    html = to_tree_page(picture(long(1000, sections=40)), [], "")
    with open_file(chromium, tmp_path / "long.html", html, 800, 600) as page:
        yield page


def view(page: Page) -> str:
    drawn(page)
    return page.get_attribute("#view", "transform") or ""


def near_the_first(page: Page) -> None:
    """Zooms in at the left end of the text."""
    box = page.locator("#n0").bounding_box()
    assert box
    page.mouse.move(box["x"], box["y"] + 2)
    for _ in range(6):
        page.mouse.wheel(0, -300)
    view(page)


def is_in_sight(page: Page, passage: str) -> bool:
    """Whether a passage stands within the picture's frame, from left to right."""
    box, frame = (page.locator(selector).bounding_box() for selector in (passage, "#stage"))
    assert box
    assert frame
    return frame["x"] < box["x"] < frame["x"] + frame["width"]


def stretched(transform: str) -> float:
    return float(transform.split("scale(")[1].split()[0])


def tip(page: Page) -> str:
    return page.locator("#tip:not([hidden])").inner_text()


@pytest.mark.screen
def test_every_passage_is_seen_and_has_a_name(page: Page) -> None:
    for kind, count in {"chunk": 12, "summary": 6, "detail": 24}.items():
        boxes = page.locator(f".node.{kind}").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(({width, height, right}) => "
            "width > 1 && height > 1 && right < innerWidth)"
        )
        assert boxes == [True] * count
    assert page.locator("svg").get_by_role("button", name="theme, level 2").count() == 1
    assert page.locator("h1").inner_text().startswith("</script><script>window.broken = 1")


def test_a_passage_tells_its_text_where_the_pointer_is(page: Page) -> None:
    page.locator("#n0").hover()
    assert "chunk 1" in tip(page)
    assert "One" in tip(page)
    assert "<b>\"'&amp;" in tip(page)
    page.locator(".node.summary .mark").first.hover()
    assert "theme, level 1" in tip(page)
    assert "theme at level 1" in tip(page)
    page.mouse.move(3, 3)
    assert page.locator("#tip").is_hidden()


def test_keys_go_from_passage_to_passage_and_tell_each(page: Page) -> None:
    page.locator("#reset").focus()
    page.keyboard.press("Tab")  # help
    page.keyboard.press("Tab")  # the picture
    page.keyboard.press("Tab")  # its first passage
    drawn(page)
    assert "chunk 1" in tip(page)
    page.keyboard.press("ArrowRight")
    drawn(page)
    assert "chunk 2" in tip(page)
    page.keyboard.press("ArrowUp")
    drawn(page)
    assert "level 1" in tip(page)
    page.keyboard.press("Enter")
    assert "level 1" in page.locator("#card").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#pinned").is_hidden()


def test_wheel_drag_keys_and_buttons_move_the_view(page: Page) -> None:
    start = view(page)
    page.mouse.move(400, 300)
    page.mouse.wheel(0, -300)
    zoomed = view(page)
    assert stretched(zoomed) > stretched(start)
    page.mouse.down()
    page.mouse.move(460, 340, steps=4)
    page.mouse.up()
    dragged = view(page)
    assert dragged != zoomed
    assert page.locator("#pinned").is_hidden()
    page.locator("#stage").focus()
    page.keyboard.press("ArrowLeft")
    assert view(page) != dragged
    page.locator("#in").click()
    page.locator("#reset").click()
    assert view(page) == start
    page.locator("#stage").focus()
    page.keyboard.press("+")
    assert view(page) != start
    page.keyboard.press("0")
    assert view(page) == start


def test_a_band_is_folded_and_the_others_move_up(page: Page) -> None:
    plot = page.locator(".band").nth(1)
    before = plot.bounding_box()
    theme = page.get_by_role("button", name="theme", exact=True)
    theme.click()
    view(page)
    assert page.locator(".band").nth(0).locator(".node:visible").count() == 0
    assert page.locator(".band").nth(0).locator(".cover:visible").count() > 0
    after = plot.bounding_box()
    assert before
    assert after
    assert after["y"] < before["y"] - 50
    theme.click()
    assert page.locator(".band").nth(0).locator(".node:visible").count() == 3


def test_levels_open_and_close_one_after_the_other(page: Page) -> None:
    plot = page.locator(".band").nth(1)
    page.get_by_role("button", name="▾ level 1").nth(1).click()
    assert plot.locator(".tier:visible").count() == 1
    assert plot.locator(".lines path:visible").count() == 0
    page.get_by_role("button", name="▸ level 1 (2)").click()
    assert plot.locator(".tier:visible").count() == 2
    assert plot.locator(".lines path:visible").count() > 0
    page.get_by_role("button", name="▾ level 1").nth(1).click()
    page.locator("#n0").click()
    page.locator("#above li button", has_text="plot, level 1").first.click()
    assert plot.locator(".tier:visible").count() == 2
    assert plot.locator(".node.pin:visible").count() == 1


def test_members_are_drawn_where_the_pointer_is(page: Page) -> None:
    assert page.locator(".tie, .reach").count() == 0
    assert page.locator('.lines[data-to="0"] path:visible').count() == 0
    page.locator(".node.summary .mark").first.hover()
    assert page.locator(".tie").count() == 6
    assert page.locator(".reach").count() == 1
    page.mouse.move(3, 3)
    assert page.locator(".tie, .reach").count() == 0


def test_a_click_pins_a_passage_with_all_above_and_below_it(page: Page) -> None:
    page.locator(".node.summary .mark").nth(0).click()
    on = page.locator(".node.on")
    kinds = on.evaluate_all("all => all.map(one => one.classList[1])")
    assert {kind: kinds.count(kind) for kind in kinds} == {"chunk": 6, "summary": 2, "detail": 12}
    assert page.locator(".trace .tie").count() == 7
    assert page.locator("#above li").count() == 1
    assert page.locator("#below li").count() == 6
    page.locator("#below li button").first.click()
    assert page.locator("#card .what").inner_text().startswith("chunk 7")
    page.locator("#unpin").click()
    assert on.count() == 0


def test_what_a_question_found_is_listed_and_highlighted(page: Page) -> None:
    assert page.locator("#question").inner_text().startswith("Who said </script>")
    assert "3 passages, mode hybrid" in page.locator("#how").inner_text()
    listed = page.locator("#hits li").all_inner_texts()
    assert "chunk 4 · score 0.900" in listed[0].replace("\n", " ")
    assert page.locator(".node.hit").count() == 3
    assert page.locator(".badge").count() == 3
    page.locator("#hits li button").nth(1).click()
    assert "found as 2" in page.locator("#card .what").inner_text()
    assert page.locator(".node.summary.pin.hit").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_are_readable_in_light_and_dark(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ratio = page.evaluate(
        """() => {
          const light = (colour) => {
            const [red, green, blue] = colour.match(/\\d+/g).map((one) => {
              const part = one / 255;
              return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
          };
          const paper = light(getComputedStyle(document.body).backgroundColor);
          const words = ".name, button.level, .heading, #line, #question, #how, header p";
          return Math.min(...[...document.querySelectorAll(words)].map((one) => {
            const ink = light(getComputedStyle(one).color);
            return Math.max(ink, paper) / Math.min(ink, paper);
          }));
        }"""
    )
    assert ratio > 4.5


# A long book in a small window


def test_a_long_book_begins_with_its_tops_and_no_lines_to_chunks(small: Page) -> None:
    tops = small.locator(".node.summary:visible")
    assert small.locator(".node.summary").count() > 200
    assert 1 < tops.count() < 40
    assert small.locator(".line:visible").count() < 40
    assert small.locator(".cover:visible").count() > 0
    small.get_by_role("button", name="▸ level 1").first.click()
    assert small.locator(".node.summary:visible").count() > 100
    assert small.locator('.lines[data-to="0"] path:visible').count() == 0


def test_all_is_in_sight_and_large_enough_to_read_at_800_by_600(small: Page) -> None:
    for words in (".name", "button.level", ".heading", "#line", "#words", "#reset", "header p"):
        shown = small.locator(f"{words}:visible")
        assert shown.count() > 0, words
        for box in shown.evaluate_all(
            "all => all.map(one => [one.getBoundingClientRect(), getComputedStyle(one).fontSize])"
            ".map(([box, size]) => [box.left, box.right, parseFloat(size)])"
        ):
            left, right, size = box
            assert (left >= 0, right <= 800, size >= 12) == (True, True, True), words
    headings = small.locator(".heading:visible").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(({left, right}) => [left, right])"
    )
    assert len(headings) > 3
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(headings))
    assert small.evaluate("document.documentElement.scrollWidth") <= 800


def test_names_headings_and_the_line_of_the_text_stay_while_zoomed_and_moved(small: Page) -> None:
    line = small.locator("#line").bounding_box()
    small.mouse.move(500, 300)
    for _ in range(6):
        small.mouse.wheel(0, -300)
    small.get_by_role("button", name="▸ level 1").first.click()
    small.mouse.move(500, 300)
    small.mouse.down()
    small.mouse.move(400, 100, steps=4)
    small.mouse.up()
    view(small)
    assert small.get_by_role("button", name="plot", exact=True).is_visible()
    heading = small.locator(".heading:visible").first.bounding_box()
    section = small.locator(".heading:visible").first.inner_text()
    assert heading
    # The section that the left edge is in is named, though it begins left of the window.
    at = small.evaluate(
        "document.elementsFromPoint(120, document.querySelector('#book .chunk')"
        ".getBoundingClientRect().top + 4).find(one => one.matches('.chunk')).ariaLabel"
    )
    assert section in at
    now = small.locator("#line").bounding_box()
    assert line
    assert now
    assert 400 < now["y"] < now["y"] + now["height"] <= 600
    box = small.locator("#n0").bounding_box()
    assert box
    assert box["height"] < 30


def test_a_heading_brings_its_section(small: Page) -> None:
    small.locator(".heading:visible").nth(2).click()
    view(small)
    title = small.locator(".heading:visible").first.inner_text()
    shown = small.locator(".chunk").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().right > 120 && "
        "one.getBoundingClientRect().left < innerWidth).map(one => one.ariaLabel)"
    )
    assert sum(title in one for one in shown) == 25
    assert len(shown) < 40


def test_words_are_searched_lit_listed_and_gone_to(small: Page) -> None:
    small.keyboard.press("/")
    small.keyboard.type("Word 77")
    assert small.locator("#count").inner_text().startswith("33 passages")
    assert small.locator(".match").count() == 33
    small.locator("#words").fill("word 777.")
    assert small.locator("#count").inner_text() == "1 passage"
    assert small.locator("#matches mark").inner_text() == "word 777."
    near_the_first(small)
    assert not is_in_sight(small, "#n777")
    small.locator("#words").focus()
    small.keyboard.press("Enter")
    view(small)
    assert small.locator("#card .what").inner_text() == "chunk 778"
    assert is_in_sight(small, "#n777")
    small.locator("#words").fill("no such words")
    assert small.locator("#count").inner_text() == "No passages"
    small.keyboard.press("Escape")
    assert small.locator("#searched").is_hidden()
