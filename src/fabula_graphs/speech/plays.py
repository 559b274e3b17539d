"""The speeches of a play as quotations: what stands under each speaker's name."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.graphs.entities.plays import read_speeches
from fabula.text.document import Chunk, Document
from fabula_graphs.speech.values import LABEL, Quotation


def find_speeches(document: Document, chunks: Sequence[Chunk]) -> list[Quotation]:
    """Return the speeches of a play in text order; none where the text is no play.

    A speech reaches from the line below its label to the next label, or to the end of its section;
    in a file that marks the names, to the end of its paragraph.
    Where a label names several speakers, the first stands for them.
    """
    text = document.text
    speeches = read_speeches(chunks, document.locators)
    is_stated = any(locator.kind == "speaker" for locator in document.locators)
    ends = _section_ends(chunks)
    found = []
    for number, speech in enumerate(speeches):
        begin = text.find("\n", speech.start) + 1
        after = speeches[number + 1].start if number + 1 < len(speeches) else len(text)
        end = min(after, ends[speech.chunk])
        if is_stated and (gap := text.find("\n\n", speech.start, end)) >= 0:
            end = gap
        while begin < end and text[begin].isspace():
            begin += 1
        while end > begin and text[end - 1].isspace():
            end -= 1
        if begin and begin < end:
            speaker = speech.speakers[0] if speech.speakers else None
            label = speaker.name if speaker else ""
            start = speaker.start if speaker else speech.start
            found.append(Quotation(begin, end, LABEL, number, label=label, label_start=start))
    return found


def _section_ends(chunks: Sequence[Chunk]) -> list[int]:
    """Where the section of each chunk ends."""
    ends: list[int] = []
    for chunk, after in zip(reversed(chunks), [None, *reversed(chunks[1:])], strict=False):
        is_last = after is None or after.section != chunk.section
        ends.append(chunk.end if is_last else ends[-1])
    return ends[::-1]
