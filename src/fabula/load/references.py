"""What is printed raised: the number of a note, an exponent, or letters, as in `M^me`."""

from __future__ import annotations

import re

_LABEL = re.compile(r"\d{1,4}(?:\s*[,–-]\s*\d{1,4})*|[*†‡§¶‖#]{1,4}")
_BRACKETED = re.compile(r"[\[({]\s*(.*?)\s*[\])}]")
_EXPONENT_BASE = re.compile(r"(?:(?<!\w)[a-zA-Z]{1,2}|(?<!\d)\d{1,3}|[)\]²³])$")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
CONTEXT_CHARACTERS = 12
"""How much text before a raised one tells what it is."""


def note_label(text: str) -> str:
    """Return the number or sign of a note, without brackets; '' if a text can't be one."""
    text = text.strip()
    if bracketed := _BRACKETED.fullmatch(text):
        text = bracketed[1]
    text = text.rstrip(".")
    return text if _LABEL.fullmatch(text) else ""


def mark_raised(text: str, before: str) -> str:
    """Return raised text so that it is not taken for a part of the word before it.

    The number of a note becomes `[1]`, and an exponent has the raised digits of Unicode. Other
    text, as in `1st`, is not changed.

    Args:
        text: The raised text.
        before: The text before it, or its last `CONTEXT_CHARACTERS`.
    """
    label = note_label(text)
    if not label or _BRACKETED.fullmatch(text.strip()):
        return text
    if label.isdigit() and _EXPONENT_BASE.search(before):
        return label.translate(_SUPERSCRIPTS)
    return f"[{label}]"
