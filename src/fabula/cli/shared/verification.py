"""Print what became of the quotations and citations of an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fabula.cli.shared.screen import echo
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.ask.answer import Answer
    from fabula.ask.quotations.checked import CheckedQuotation, WeakCitation

MAX_SHOWN = 160
"""How many characters of a quotation are shown."""


def print_verification(answer: Answer) -> None:
    """Print which quotations of an answer are in the books, and which citations are weak or wrong.

    Nothing is printed of an answer that no model wrote: it consists of the books' own words.
    """
    if answer.quotes:
        return
    lines = [*describe_quotations(answer.quotations), *describe_weak(answer.weak_citations)]
    if answer.citation_warning:
        lines.append(answer.citation_warning)
    if lines:
        echo("\n" + "\n".join(lines))


def describe_quotations(quotations: Sequence[CheckedQuotation]) -> Iterator[str]:
    """Yield a line of how many quotations are in the books, and lines of those that differ."""
    if not quotations:
        return
    counts = Counter(each.status for each in quotations)
    total = ", ".join(f"{counts[status]} {status}" for status in counts)
    yield f"Quotations compared with the books: {total}."
    for each in quotations:
        yield from _describe(each)


def describe_weak(weak: Sequence[WeakCitation]) -> Iterator[str]:
    """Yield a line for each citation whose passage does not bear its sentence."""
    if weak:
        yield f"{count_noun(len(weak), 'weak citation')}: the passage has no word of the sentence."
    for each in weak:
        yield f"  [{each.number}] {_shorten(each.sentence)}"


def _describe(quotation: CheckedQuotation) -> Iterator[str]:
    """Yield what a reader has to know of a quotation; nothing of an exact one where it is cited."""
    text = _shorten(quotation.original or quotation.text)
    if quotation.status == "not found":
        undone = " Its marks were taken off." if quotation.change == "unmarked" else ""
        yield f"  Not found in the books: “{text}”.{undone}"
        if quotation.printed:
            yield f"    The closest is “{_shorten(quotation.printed)}” · {quotation.place}"
    elif quotation.status == "unchecked":
        yield f"  Could not be compared: “{text}”"
    elif quotation.status == "elsewhere":
        yield f"  Not where it is cited: “{text}” · {quotation.place}"
        if quotation.differs_in_words:
            yield f"    The book has “{_shorten(quotation.printed)}”."
    elif quotation.differs_in_words:
        differences = ", ".join(quotation.differences)
        done = "was repaired" if quotation.change == "repaired" else f"differs in {differences}"
        yield f"  A quotation {done}: “{text}”"
        yield f"    The book has “{_shorten(quotation.printed)}” · {quotation.place}"


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_SHOWN else f"{words[:MAX_SHOWN]}…"
