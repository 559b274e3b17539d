"""The words of headings in many languages: what texts are divided into, and what they count by."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DIVISIONS = ("volume", "book", "part", "act", "chapter", "letter", "scene", "section")
"""What texts are divided into, outermost first, as heading_words.toml calls it."""
IDEOGRAPHIC = ("zh", "ko")
"""The languages of the table whose words for divisions are single characters, beside a number."""


_FILE = Path(__file__).with_name("heading_words.toml")


@functools.cache
def heading_words() -> Mapping[str, Mapping[str, Any]]:
    """Return heading_words.toml: by language, what the head of that file lists."""
    return tomllib.loads(_FILE.read_text("utf-8"))
