"""Neo4j Browser's own page, driven as an analyst does it: by pasting into its editor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from chromium import PATIENCE
from fabula.server import Address


@dataclass(frozen=True, slots=True)
class Analyst:
    """Someone at the page, connected; the answer to what they run has the page to itself."""

    page: Page

    @classmethod
    def connected(cls, browser: Browser, address: Address) -> Analyst:
        """Opens the page of the server at `address` and connects with its credentials."""
        context = browser.new_context(
            viewport={"width": 1340, "height": 800},
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE)
        # The page asks for fonts and for news elsewhere: it works without.
        context.route(lambda url: "//127.0.0.1:" not in url, lambda route: route.abort())
        page = context.new_page()
        page.goto(address.browser, wait_until="commit")
        page.get_by_test_id("username").fill(address.username)
        page.get_by_test_id("password").fill(address.password)
        page.get_by_test_id("connect").click()
        page.get_by_text("You are connected as user").wait_for()
        return cls(page)

    def run(self, text: str) -> Locator:
        """Pastes `text` and runs it; the frame that answers."""
        frame = self.page.get_by_test_id("frame")
        if frame.count():
            self._enter(":clear")
            expect(frame).to_have_count(0)
        self._enter(text)
        frame.get_by_test_id("frameContents").filter(has_text=re.compile(r"\S")).wait_for()
        expect(frame.get_by_test_id("spinner")).to_have_count(0)
        return frame

    def set(self, *lines: str) -> Locator:
        """Pastes two or more `:param` lines, all at once; the frame that says that all are set."""
        frame = self.run("\n".join(lines))
        expect(frame.get_by_title("Status: success")).to_have_count(len(lines))
        return frame

    def drop(self, file: Path) -> Locator:
        """Drags a style sheet into the page; the frame that shows it."""
        transfer = self.page.evaluate_handle(
            """([text, name]) => {
                const transfer = new DataTransfer()
                transfer.items.add(new File([text], name))
                return transfer
            }""",
            [file.read_text(encoding="utf-8"), file.name],
        )
        self.page.dispatch_event(".filedrop", "drop", {"dataTransfer": transfer})
        shown = self.page.get_by_test_id("frame").filter(has_text="node.Document {")
        shown.wait_for()
        return shown

    def _enter(self, text: str) -> None:
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.page.get_by_test_id("activeEditor").locator(".monaco-editor").first.click()
        self.page.keyboard.press("Control+V")
        self.page.keyboard.press("Control+Enter")


def settings(statement: str) -> list[str]:
    """The lines of a query's head that set its parameters, as one types them."""
    return re.findall(r"(?m)^// (:param .*)$", statement)
