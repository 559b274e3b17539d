"""Text as people and databases can take it: whole Unicode, nothing that a terminal obeys."""

from __future__ import annotations

import re
from typing import Any

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters, ESC among them, but tabs and line ends."""
REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Unicode's embeddings, overrides and isolates: they make a terminal show another order than the
text has, up to the end of the line. The marks U+200E, U+200F and U+061C reorder nothing else."""
HALF_PAIR = re.compile("[\ud800-\udfff]")
JSON_ESCAPED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean_text(text: str) -> str:
    """`text` without control characters; half a surrogate pair, which nothing can store, is �."""
    return HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", CONTROL.sub("", text))


def clean_output(text: str) -> str:
    """Return `text` as a terminal may be given it.

    Control characters are left out, and so is what reorders the text beside it. Data (files, JSON,
    the graph itself) keeps both; only what is printed for people loses them.
    """
    return REORDERING.sub("", clean_text(text))


def escape_json(written: str) -> str:
    """Return JSON in which each character that `clean_output` would leave out is an escape.

    `json.dumps` escapes only those below U+0020; the value that is read back is the same.
    """
    return JSON_ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def clean_json(value: Any) -> Any:
    """A JSON value, all of its texts cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(one) for one in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(one) for key, one in value.items()}
    return value
