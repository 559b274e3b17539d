"""What of a file is not in its document's text: the kinds, how it is counted, and when to warn.

Pictures, scripts, styles and metadata are not text, and are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabula.load.locators import without_marks

HEADER = "library header"
LICENCE = "licence"
CONTENTS = "contents"
PAGE_NUMBERS = "page numbers"
PAGE_MARKS = "page marks"
RUNNING_HEADS = "running heads"
MAKERS_NOTES = "makers' notes"
ADVERTISEMENTS = "advertisements"

LIBRARY_KINDS = (HEADER, LICENCE)
"""The kinds that belong to a library, and not to the book."""
_NO_LOSS = (
    *(*LIBRARY_KINDS, "legend", "colophon", "front matter", "times", "line numbers"),
    *("scene numbers", "cut passages", "synopses"),
)
"""The kinds that are no measure of what a text lost; front matter is a document's metadata, times
and numbers become places, and an author has marked what is cut."""
_MAX_SHARE = 0.1
"""A text that lost a larger share is one to look at."""


def count_characters(text: str) -> int:
    """Return how many characters a text has, without spaces, line ends and marks.

    All that is left out is counted by this, see `Draft.left_out`.
    """
    return len("".join(without_marks(text).split()))


def describe(left_out: Mapping[str, int]) -> str:
    """Return in words how much was left out: 'licence 18,432 characters, contents 1,204'."""
    counts = sorted(((kind, n) for kind, n in left_out.items() if n), key=lambda item: -item[1])
    return ", ".join(
        f"{kind} {count:,}" + (f" character{'s' if count != 1 else ''}" if not place else "")
        for place, (kind, count) in enumerate(counts)
    )


def warn(left_out: Mapping[str, int], text: str) -> str:
    """Return a warning if a text lost more than a tenth of its characters; '' otherwise.

    A library's header and licence, and front matter, are no part of the text.
    """
    lost = {kind: count for kind, count in left_out.items() if kind not in _NO_LOSS}
    total = sum(lost.values()) + count_characters(text)
    share = sum(lost.values()) / total if total else 0
    if share <= _MAX_SHARE:
        return ""
    return f"{share:.0%} of the text was left out: {describe(lost)}."
