"""Remove from texts what databases can't store and what terminals would obey."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fabula.text.names import REORDERING

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters, including ESC, but not tabs and line ends."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
JSON_ESCAPED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return `text` without control characters; a lone surrogate, which can't be stored, is �."""
    return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", CONTROL.sub("", text))


def clean_output(text: str) -> str:
    """Return `text` as it can be printed in a terminal.

    Control characters are left out, and so are characters that reorder the text beside them. This
    is for printed output only: files, JSON and the graph keep the latter.
    """
    return REORDERING.sub("", clean_text(text))


def escape_json(json_text: str) -> str:
    """Return JSON in which each character that `clean_output` would leave out is escaped.

    The value is the same. `json.dumps` itself escapes only those below U+0020.
    """
    return JSON_ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def clean_json(value: Any) -> Any:
    """Return a JSON value with all its texts and keys cleaned."""
    return change_texts(value, clean_text)


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with each of its texts and keys changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [change_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {change(str(key)): change_texts(item, change) for key, item in value.items()}
    return value
