"""Print what became of the quotations and citations of an answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fabula.cli.shared.screen import echo

if TYPE_CHECKING:
    from fabula.ask.answer import Answer

MAX_SHOWN = 160
"""How many characters of a quotation are shown."""


def print_verification(answer: Answer) -> None:
    """Print which quotations of an answer are in the books, and which citations are weak or wrong.

    Nothing is printed of an answer that no model wrote: it consists of the books' own words.
    """
    if answer.quotes:
        return
    lines = []
    if counts := Counter(each.status for each in answer.quotations):
        total = ", ".join(f"{number} {status}" for status, number in counts.items())
        lines.append(f"Quotations compared with the books: {total}.")
    lines += [f"  {line}" for each in answer.quotations if (line := each.describe(_shorten))]
    lines += [
        f"Weak citation [{each.number}]: the passage has no word of “{_shorten(each.sentence)}”."
        for each in answer.weak_citations
    ]
    if answer.citation_warning:
        lines.append(answer.citation_warning)
    if lines:
        echo("\n" + "\n".join(lines))


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_SHOWN else f"{words[:MAX_SHOWN]}…"
