"""Text as people and databases can take it: whole Unicode, nothing that a terminal obeys."""

from __future__ import annotations

import re
from typing import Any

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters, ESC among them, but tabs and line ends."""
HALF_PAIR = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """`text` without control characters; half a surrogate pair, which nothing can store, is �."""
    return HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", CONTROL.sub("", text))


def clean_json(value: Any) -> Any:
    """A JSON value, all of its texts cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(one) for one in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(one) for key, one in value.items()}
    return value
