"""A real browser for tests: the machine's Chromium, or a skip that says what is missing."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""The first opens a page in an eighth of the CPU: it has no windows."""
REQUIRED = os.environ.get("FABULA_BROWSER") == "required"
"""Read at once, as no test sees the settings of whoever runs it."""


PATIENCE = 120_000
"""Milliseconds that a test waits for what is to appear, as the machine may be busy."""
OUTCOME = 60_000
"""Milliseconds that a job may take on a busy machine."""
CONTRAST = {"runOnly": ["color-contrast"]}
"""All that darkness changes."""
LOOKS: tuple[tuple[Any, int, dict[str, Any]], ...] = (
    ("light", 1280, {}),
    ("light", 320, {}),
    ("dark", 320, CONTRAST),
    ("dark", 1280, CONTRAST),
)
"""How a page is looked at: colours, width in pixels, and what axe looks for."""
QUICKER = "Autofocus processing was blocked because a document already has a focused element"
"""What Chromium logs where somebody typed before it drew a page: they keep the focus."""


@contextmanager
def browser() -> Iterator[Browser]:
    """Headless Chromium; a test without one is skipped, or fails with FABULA_BROWSER=required."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        missing = pytest.fail if REQUIRED else pytest.skip
        missing(f"there is no Chromium on the PATH: none of {', '.join(NAMES)}")
    # Chromium's sandbox does not run as root, as in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=found, args=arguments, timeout=PATIENCE
        )
        _be_patient(chromium)
        try:
            yield chromium
        finally:
            chromium.close()


def _be_patient(chromium: Browser) -> None:
    """Let all pages of a browser wait so long for what a test does there; Playwright waits 30 s."""
    new_context, new_page = chromium.new_context, chromium.new_page

    def open_context(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context

    def open_page(**options: Any) -> Page:
        page = new_page(**options)
        page.set_default_timeout(PATIENCE)
        return page

    chromium.new_context = open_context  # type: ignore[method-assign]
    chromium.new_page = open_page  # type: ignore[method-assign]


def watch(page: Page, logged: list[str]) -> None:
    """Add to `logged` what a page logs from now on, and the errors of its scripts."""

    def log(text: str) -> None:
        if not text.startswith(QUICKER):
            logged.append(text)

    page.on("console", lambda message: log(message.text))
    page.on("pageerror", lambda error: log(str(error)))


@contextmanager
def window(
    chromium: Browser, url: str, cookie: str | None = None, expected: str = "$^", **how: Any
) -> Iterator[BrowserContext]:
    """A window of who is signed in by `cookie`, on a service at `url`.

    Its pages must log nothing but what the pattern `expected` finds, ask no other host, and run
    nothing that a stranger says.
    """
    how = {"viewport": {"width": 1280, "height": 800}} | how
    context = chromium.new_context(base_url=url, **how)
    logged: list[str] = []
    foreign: list[str] = []
    context.on("page", lambda page: watch(page, logged))
    context.on("request", lambda one: None if one.url.startswith(url) else foreign.append(one.url))
    if cookie is not None:
        assert cookie
        context.add_cookies([{"name": "fabula", "value": cookie, "url": url}])
    try:
        yield context
        assert [text for text in logged if not re.search(expected, text)] == []
        assert foreign == []
        if how.get("java_script_enabled", True):
            broken = [page.evaluate("window.broken") for page in context.pages]
            assert broken == [None] * len(broken)
    finally:
        context.close()


def drawn(page: Page) -> None:
    """Wait until a page has drawn what was brought into sight."""
    # What is brought into sight is drawn in the third frame, however slow the machine is.
    page.evaluate(
        "async () => { for (let n = 0; n < 5; n++) await new Promise(requestAnimationFrame); }"
    )


@contextmanager
def open_file(chromium: Browser, file: Path, html: str, width: int, height: int) -> Iterator[Page]:
    """A page in a window; it must ask no network and log nothing."""
    file.write_text(html, encoding="utf-8")
    page = chromium.new_page(viewport={"width": width, "height": height})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    watch(page, said)
    page.goto(file.as_uri())
    drawn(page)
    yield page
    assert asked == [file.as_uri()]
    assert said == []
    assert page.evaluate("window.broken") is None
    page.close()


def faults(page: Page) -> list[tuple[Any, ...]]:
    """What axe finds wrong with a page, by day and night, wide and narrow, and where it is cut."""
    found: list[tuple[Any, ...]] = []
    page.evaluate(Axe().axe_script)
    for colours, width, rules in LOOKS:
        page.emulate_media(color_scheme=colours)
        page.set_viewport_size({"width": width, "height": 720})
        options = {"resultTypes": ["violations"], "iframes": False, **rules}
        for violation in page.evaluate("options => axe.run(options)", options)["violations"]:
            where = [node["html"][:160] for node in violation["nodes"]][:3]
            found.append((colours, width, violation["id"], where))
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            found.append((colours, width, f"{wide} pixels wide"))
    return found


def check_screens(context: BrowserContext, urls: Iterable[str]) -> None:
    """Check that screens are there, have one heading, are accessible, and fit."""
    page = context.new_page()
    wrong = {}
    for url in urls:
        response = page.goto(url)
        assert response is not None
        assert response.status == 200, (url, page.content())
        expect(page.locator("h1")).to_have_count(1)
        wrong[url] = faults(page)
    assert {url: found for url, found in wrong.items() if found} == {}


def finish_job(page: Page) -> None:
    """Wait until the job of a page has succeeded."""
    page.wait_for_url("**/jobs/*")
    expect(page.locator("#state")).to_have_attribute("data-state", "succeeded", timeout=OUTCOME)
