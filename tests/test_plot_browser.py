"""The page of a plot, looked at in Chromium: what a reader sees, points at and presses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from chromium import browser
from fabula.plot.page import to_page
from plotted import HOSTILE, QUESTION, found, known, picture


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as chromium:
        yield chromium


@pytest.fixture
def page(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page of a hostile book and question; it must ask no network and log nothing."""
    one = known(words=HOSTILE)
    file = tmp_path / "page.html"
    file.write_text(
        to_page(picture(one, HOSTILE, QUESTION), found(one), "hybrid"), encoding="utf-8"
    )
    page = chromium.new_page(viewport={"width": 1200, "height": 800})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    yield page
    assert asked == [file.as_uri()]
    assert said == []
    assert page.evaluate("window.broken") is None
    page.close()


def view(page: Page) -> str:
    page.wait_for_timeout(60)  # a frame is drawn
    return page.get_attribute("#view", "transform") or ""


def tip(page: Page) -> str:
    return page.locator("#tip:not([hidden])").inner_text()


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
    page.keyboard.press("Tab")  # the picture
    page.keyboard.press("Tab")  # its first passage
    page.wait_for_timeout(100)
    assert "chunk 1" in tip(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(100)
    assert "chunk 2" in tip(page)
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(100)
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
    assert float(zoomed.split("scale(")[1][:-1]) > float(start.split("scale(")[1][:-1])
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
    page.keyboard.press("Tab")
    page.keyboard.press("+")
    assert view(page) != start
    page.keyboard.press("0")
    assert view(page) == start


def test_a_band_is_switched_off_and_the_others_move_up(page: Page) -> None:
    plot = page.locator(".band").nth(1)
    before = plot.bounding_box()
    page.get_by_role("button", name="theme", exact=True).click()
    assert page.locator(".band").nth(0).is_hidden()
    view(page)
    after = plot.bounding_box()
    assert before
    assert after
    assert after["y"] < before["y"] - 50
    page.get_by_role("button", name="theme", exact=True).click()
    assert page.locator(".band").nth(0).is_visible()


def test_a_click_pins_a_passage_with_all_above_and_below_it(page: Page) -> None:
    page.locator(".node.summary .mark").nth(0).click()
    on = page.locator(".node.on")
    kinds = on.evaluate_all("all => all.map(one => one.classList[1])")
    assert {kind: kinds.count(kind) for kind in kinds} == {"chunk": 6, "summary": 2, "detail": 12}
    assert page.locator(".trace path").count() == 7
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
          const words = [".band .aspect", ".level", ".part", "#question", "#how"];
          return Math.min(...words.map((one) => {
            const style = getComputedStyle(document.querySelector(one));
            const ink = light(one.startsWith("#") ? style.color : style.fill);
            return Math.max(ink, paper) / Math.min(ink, paper);
          }));
        }"""
    )
    assert ratio > 4.5
