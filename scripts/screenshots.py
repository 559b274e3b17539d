"""Takes the pictures of docs/browser.md from Neo4j Browser's own page, in headless Chromium.

The private server must hold A Christmas Carol and no other book, as `fabula demo` leaves it in a
home of its own (FABULA_HOME). Then, from the repository's root,

    PYTHONPATH=tests/support python scripts/screenshots.py

writes docs/images/browser-*.png anew. It takes a minute; each picture is below 250 kB.
"""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page

from analyst import Analyst, settings
from chromium import browser
from fabula.config.settings import Settings
from fabula.graph.explore import shipped_query
from fabula.server.private import PrivateServer

DOCS = Path(__file__).parents[1] / "docs"
FOG = "18"
"""The number of the chunk in which the fog thickens, in Stave I."""
CRATCHITS = {"first": "'Scrooge'", "second": "'Bob|Cratchit'"}
PLACES = "[...document.querySelectorAll('g[transform]')].map(g => g.getAttribute('transform'))"


def main() -> None:
    """Connects, drags the style sheet in, and runs three queries."""
    own = Settings.read()
    address = PrivateServer(own.home, own.neo4j_heap, own.neo4j_page_cache).start()
    with browser() as chromium:
        analyst = Analyst.connected(chromium, address)
        analyst.drop(DOCS / "browser.grass")
        picture(set_for(analyst, "tree"), "parameters")
        frame = drawn(analyst, "tree")
        picture(frame, "tree")
        frame.get_by_title("Close fullscreen").click()
        set_for(analyst, "around", index=FOG)
        frame = drawn(analyst, "around")
        frame.get_by_label("zoom-out").click()
        settle(analyst.page)
        frame.locator("g.node").first.hover()
        frame.get_by_text("Node properties").wait_for()
        picture(frame, "around")
        frame.get_by_title("Close fullscreen").click()
        set_for(analyst, "characters", **CRATCHITS)
        picture(analyst.run(shipped_query("characters").statement), "characters")


def set_for(analyst: Analyst, name: str, **given: str) -> Locator:
    """Sets a query's parameters: those `given`, as Cypher writes them, and else the defaults."""
    lines = settings(shipped_query(name).statement)
    # `fabula demo` puts the book into a collection of its own.
    for key, value in {"collection": "'demo'", **given}.items():
        lines = [re.sub(rf"^(:param {key} => ).*", rf"\g<1>{value};", line) for line in lines]
    return analyst.set(*lines)


def drawn(analyst: Analyst, name: str) -> Locator:
    """The picture that a query returns, over the whole page and at rest."""
    frame = analyst.run(shipped_query(name).statement)
    frame.get_by_title("Fullscreen").click()
    settle(analyst.page)
    frame.get_by_label("zoom-to-fit").click()
    settle(analyst.page)
    return frame


def settle(page: Page) -> None:
    """Waits until nothing moves any more."""
    before, now = None, page.evaluate(PLACES)
    while now != before:
        page.wait_for_timeout(1500)
        before, now = now, page.evaluate(PLACES)


def picture(frame: Locator, name: str) -> None:
    """Saves what the frame shows as docs/images/browser-NAME.png."""
    file = DOCS / "images" / f"browser-{name}.png"
    frame.screenshot(path=file)
    print(f"{file.relative_to(DOCS.parent)}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
