"""What JSON from outside may hold, checked on the text, before anything recursive reads it.

Python's own parser, pydantic's writer, Neo4j's driver and our conversion of values all recurse.
Each has its own limit and its own error beyond it, so the depth is bounded once, here. So are the
characters that JSON can write and UTF-8 can't.
"""

from __future__ import annotations

import re

MAX_DEPTH = 50
"""Levels of lists and objects within one another."""
MAX_DIGITS = 400
"""Digits of one number: the largest float has 309. Python refuses to print 4,301 and more."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+"?', re.DOTALL)
"""A string, or what is left of the text where one does not end."""
_ESCAPES = re.compile(rb"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..")
"""A backslash that escapes nothing, and a whole surrogate pair."""
_UNWRITABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SQUARE = bytes.maketrans(b"{}", b"[]")
_LONG_NUMBER = re.compile(rb"[0-9]{%d}" % (MAX_DIGITS + 1))


def find_excess(written: bytes) -> str:
    """Return what no JSON text may have, as a clause to follow its name, or ''.

    The text need not be valid JSON: what is wrong with it otherwise is for its parser to say.
    The time is linear in the length, as each of the passes over it is.
    """
    if b"\0" in written:
        # Else a UTF-16 text could hide its brackets behind bytes that look like quotation marks.
        return "is not UTF-8"
    if b"\\u" in written and _UNWRITABLE.search(_ESCAPES.sub(b"", written)):
        return "has a text with a NUL or half of a surrogate pair in it"
    if _LONG_NUMBER.search(written) and _LONG_NUMBER.search(_STRING.sub(b"", written)):
        return f"has a number of more than {MAX_DIGITS} digits"
    if is_deep(written):
        return f"is nested more than {MAX_DEPTH} levels deep, or its brackets do not match"
    return ""


def is_deep(written: bytes) -> bool:
    """Return whether a JSON text is nested, or left open, more than MAX_DEPTH deep."""
    brackets = _STRING.sub(b"", written).translate(_SQUARE, _ALL_BUT_BRACKETS)
    for _ in range(MAX_DEPTH):
        if b"[]" not in brackets:
            break
        # Each pass takes the innermost level away.
        brackets = brackets.replace(b"[]", b"")
    # What is left without a pair is opened and never closed.
    return b"[]" in brackets or len(brackets) > MAX_DEPTH
