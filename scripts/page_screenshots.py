"""Takes the pictures of docs/page.md from a running service, in headless Chromium.

    fabula demo && fabula build entities --collection demo && fabula serve

in a home of its own (FABULA_HOME), and with the link that `fabula serve` prints

    PYTHONPATH=tests/support python scripts/page_screenshots.py LINK

writes docs/images/page-*.png anew, with at most 64 colours. It makes two notes on A Christmas
Carol, unless it has some, and stays at what the screens show without a model.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect

from chromium import browser

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE: ViewportSize = {"width": 1160, "height": 720}
COLOURS = 64
QUESTION = "What does Scrooge see in the door knocker?"
NOTES = {
    "as dead as a door-nail": "Why a door-nail? Langland has it already.",
    "solitary as an oyster": "",
}


def main(link: str) -> None:
    """Sign in by the link, and take one picture after the other."""
    address = urlsplit(link)
    with browser() as chromium:
        context = chromium.new_context(
            base_url=f"{address.scheme}://{address.netloc}", viewport=SIZE, color_scheme="light"
        )
        page = context.new_page()
        page.goto(link)
        page.goto("/c/demo")
        save(page, "shelf")
        page.goto(f"/c/demo/ask?q={QUESTION}")
        expect(page.locator(".answered .badge").first).to_be_visible()
        save(page, "ask")
        page.locator(".passage .over").first.click()
        page.wait_for_url("**/d/*")
        book = urlsplit(page.url).path
        make_notes(page)
        page.goto(f"/c/demo/ask?q={QUESTION}")
        page.locator(".passage .over").first.click()
        expect(page.locator("mark#lit")).to_be_visible()
        save(page, "read")
        page.goto(f"{book}/trees")
        page.locator(".picture iframe").scroll_into_view_if_needed()
        page.wait_for_timeout(2000)
        save(page, "trees")
        page.goto("/c/demo/words?words=ghost*&run=true&sort=right")
        save(page, "words")


def make_notes(page: Page) -> None:
    """Make the notes of the picture, by the form that needs no script."""
    page.goto("/c/demo/notes?run=true")
    if page.locator("tbody tr").count():
        return
    for words, note in NOTES.items():
        page.goto("/c/demo/notes?tool=add-note")
        page.get_by_label("the words").fill(words)
        page.get_by_label("the note").fill(note)
        page.get_by_label("tag").fill("similes")
        page.get_by_role("button", name="Add").click()
        expect(page.locator("#found")).to_have_text("Done")


def save(page: Page, name: str) -> None:
    """Save what the window shows as docs/images/page-NAME.png, as a palette of few colours."""
    page.wait_for_timeout(800)
    file = IMAGES / f"page-{name}.png"
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1])
