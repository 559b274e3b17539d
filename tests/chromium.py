"""A real browser for tests: the machine's Chromium, or a skip that says what is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REQUIRED = os.environ.get("FABULA_BROWSER") == "required"
"""Read at once, as no test sees the settings of whoever runs it."""


@contextmanager
def browser() -> Iterator[Browser]:
    """Headless Chromium; a test without one is skipped, or fails with FABULA_BROWSER=required."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        missing = pytest.fail if REQUIRED else pytest.skip
        missing(f"there is no Chromium on the PATH: none of {', '.join(NAMES)}")
    # Chromium's sandbox does not run as root, as in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=arguments)
        try:
            yield chromium
        finally:
            chromium.close()
