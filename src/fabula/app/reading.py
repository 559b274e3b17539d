"""A document's own text around a place, and what its graphs say of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.ask.notebook import show_text
from fabula.errors import NotFound, did_you_mean
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.load.chapters import chapter_number
from fabula.store import Store
from fabula.text.names import quoted

AROUND = 1200
"""Characters before and after the place, at the least; what is there is whole chunks."""
MOST_SAID = 20
"""Summaries and details that are told of."""
CHUNK = re.compile(r"\d{1,9}")
SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")
CHARACTERS = re.compile(rf"{SPAN.pattern}(?:, *{SPAN.pattern})*")
"""One stretch or several, as citations print them."""
WHOLE = 10**9
MAX_PLACE = 2000
"""Characters of what names a place: a hundred stretches of a long book, or any heading."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A stretch of a document, from character `start` on; `lit` is what is meant, within `text`."""

    section: str
    start: int
    text: str
    lit: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        """The character after the last."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands at a place of a document, by section; '...' belongs where two do not touch.

    `of` is the summary or the detail that was asked for, which the lit passages bear; `said` is
    what the graphs say of them.
    """

    document: Entry
    lines: tuple[Lines, ...]
    said: tuple[Hit, ...]
    of: Hit | None = None

    def __repr__(self) -> str:
        where = ", ".join(f"{one.start}-{one.end}" for one in self.lines)
        return f"<Reading of {quoted(self.document.title)}, characters {where}>"

    def _repr_html_(self) -> str:
        headings = [f"{self.document.title} · {one.section}".rstrip(" ·") for one in self.lines]
        shown = zip(headings, self.lines, strict=True)
        return "".join(show_text(heading, one.text, one.lit) for heading, one in shown)


def read(store: Store, document: Entry, at: str = "") -> Reading:
    """The text around a place: characters as 120-340 or 120-150, 300-340, a chunk's number, the
    heading of a section or a part of it, or the id of a passage; '' is the beginning.

    Raises NotFound where there is no such place.
    """
    at = at.strip()
    if len(at) > MAX_PLACE:
        raise NotFound(
            f"{quoted(at)} is no place of {document.title}: it has {len(at):,} characters, and "
            f"{MAX_PLACE:,} are the most."
        )
    if not at:
        return _around(store, document, [(0, 0)])
    if CHARACTERS.fullmatch(at):
        spans = [(int(start), int(end)) for start, end in SPAN.findall(at)]
        rows = store.texts(document, spans)
        if all(any(_meets(span, row) for row in rows) for span in spans):
            return _around(store, document, sorted(spans))
        ends = max((row["end"] for row in store.text(document, 0, WHOLE)), default=0)
        raise NotFound(f"{document.title} has no characters {at}: it ends at {ends}.")
    place = store.place(document, at, int(at) if CHUNK.fullmatch(at) else -1)
    if place is None and (section := _numbered_section(store, document, at)):
        place = store.place(document, section, -1)
    if place is None:
        raise NotFound(_unknown(store, document, at))
    if place.kind == "chunk":
        return _around(store, document, [(place.start, place.end)])
    sources = store.sources(document.collection, [place.id])[place.id]
    return _around(store, document, [(one.start, one.end) for one in sources], place)


def _numbered_section(store: Store, document: Entry, at: str) -> str:
    """Return the first section that has the number which `at` names in words or figures, or ''.

    'Stave Two' is 'STAVE II: THE FIRST OF THE THREE SPIRITS'. A number with a title beside it is
    not looked for here: titles are compared as they are printed.
    """
    number = chapter_number(at)
    if number is None or number.titled:
        return ""
    sections = (row["section"] for row in store.text(document, 0, WHOLE))
    return next((one for one in sections if chapter_number(one) == number), "")


def _around(
    store: Store, document: Entry, lit: Sequence[tuple[int, int]], of: Hit | None = None
) -> Reading:
    # Beside what bears a summary nothing else is shown: it is long enough.
    around = 0 if of else AROUND
    lines: list[Lines] = []
    chunks: list[str] = []
    for row in store.texts(document, _joined(lit, around)):
        start, end, text = row["start"], row["end"], row["text"]
        marks = [(max(a, start) - start, min(b, end) - start) for a, b in lit]
        marks = [(a, b) for a, b in marks if a < b]
        if marks:
            chunks.append(row["id"])
        before = lines[-1] if lines else None
        if before and before.section == row["section"] and before.end == start:
            shift = len(before.text)
            marks = [*before.lit, *((a + shift, b + shift) for a, b in marks)]
            lines[-1] = Lines(before.section, before.start, before.text + text, _merged(marks))
        else:
            lines.append(Lines(row["section"], start, text, _merged(marks)))
    said = store.said(document, chunks, MOST_SAID)
    return Reading(document, tuple(lines), tuple(said), of)


def _meets(span: tuple[int, int], row: Mapping[str, Any]) -> bool:
    """Whether a chunk holds any character of a stretch, which is no empty one."""
    start, end = span
    return start < end and bool(row["start"] < end and start < row["end"])


def _joined(lit: Sequence[tuple[int, int]], around: int) -> list[tuple[int, int]]:
    """The stretches with what is around them, in text order, those that meet as one."""
    return list(_merged([(max(0, a - around), b + around) for a, b in sorted(lit)]))


def _merged(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _unknown(store: Store, document: Entry, at: str) -> str:
    sections = dict.fromkeys(row["section"] for row in store.text(document, 0, WHOLE))
    hint = did_you_mean(
        at,
        filter(None, sections),
        "Name characters as 120-340, a chunk's number, a section's heading or a passage's id.",
    )
    return f"{document.title} has no chunk, section or passage {quoted(at)}. {hint}"
