"""Read what Obsidian adds to Markdown: comments, links between notes, marks and embedded files."""

from __future__ import annotations

import re
from collections import Counter

from fabula.load.left_out import count_characters

_COMMENT = re.compile(r"%%(?!\s*%%).*?%%", re.DOTALL)
_EMBEDDED = re.compile(r"!\[\[[^\[\]\n]{1,300}\]\]")
_LINK = re.compile(
    r"\[\[(?P<target>[^\[\]|#^\n]{0,200})(?:[#^](?P<place>[^\[\]|\n]{0,200}))?"
    r"(?:\|(?P<label>[^\[\]\n]{1,300}))?\]\]"
)
_HIGHLIGHT = re.compile(r"(?<![=\\])==(?=[^\s=])(.{1,1000}?)(?<=[^\s=])==(?!=)")
_BLOCK_NAME = re.compile(
    r"(?<![ \t])[ \t]+\^[\w-]{1,60}[ \t]*$|^\^[\w-]{1,60}[ \t]*$", re.MULTILINE
)
_CALLOUT = re.compile(r"^((?:> ?)+)\[![\w-]{1,40}\][+-]?[ \t]*", re.MULTILINE)


def take_notes(text: str, left_out: Counter[str]) -> str:
    """Return a text as a reader sees it: without comments, and with the words of its links.

    Args:
        text: A tidied text in Markdown.
        left_out: What is left out is counted here, by kind.
    """

    def leave_out(kind: str, pattern: re.Pattern[str], replacement: str = "") -> None:
        nonlocal text
        before = count_characters(text)
        text = pattern.sub(replacement, text)
        left_out[kind] += before - count_characters(text)

    leave_out("comments", _COMMENT)
    if "[[" in text:
        leave_out("pictures", _EMBEDDED)
        text = _LINK.sub(_label, text)
    leave_out("marks of notes", _BLOCK_NAME)
    leave_out("marks of notes", _CALLOUT, r"\1")
    return _HIGHLIGHT.sub(r"\1", text)


def _label(match: re.Match[str]) -> str:
    """The words of a link to another note."""
    return match["label"] or match["target"].rpartition("/")[2] or match["place"] or ""
