"""Who says the quotations that stand inside others, and who quotes them.

Whoever speaks tells of others as a narrator does: “Tom said, ‘Come in,’ and I went.” So the words
of the outer quotation are read as the narration of the inner one, by the rules of all quotations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.rules import SpeakerRules
from fabula_graphs.speech.values import NARRATOR, TAG, Placed, Spoken
from fabula_graphs.speech.words import SpeechWords


def attribute_inner(
    placed: Sequence[Placed], text: str, words: SpeechWords, persons: Persons
) -> list[Placed]:
    """Return the quotations, those inside others with their speakers and with who quotes them.

    Only a verb of speech names the speaker of an inner quotation, as turns and sentences about
    somebody are too uncertain in so few words. "I said" means whoever speaks the outer one. Nobody
    is addressed: what is quoted is no conversation of the scene.

    Args:
        placed: All quotations in the order of their starts, the outer ones with their speakers.
        text: The text.
        words: The words of its language.
        persons: The persons of the text.
    """
    done = list(placed)
    for outer, inside in _containers(placed):
        # Its speaker may itself have been found here, if it is an inner one.
        said = done[outer].spoken
        known_at = max(said.evidence, said.mention, key=lambda span: span[1])
        start = said.quotation.start + 1
        shifted = [
            replace(
                placed[row].spoken.quotation,
                start=placed[row].spoken.quotation.start - start,
                end=placed[row].spoken.quotation.end - start,
                depth=0,
                continues=False,
            )
            for row in inside
        ]
        found = SpeakerRules(
            text[start : said.quotation.end], shifted, words, persons, needs_verb=True
        ).attribute()
        for row, inner in zip(inside, found, strict=True):
            quotation = placed[row].spoken.quotation
            spoken = Spoken(quotation)
            is_narrator = inner.speaker == NARRATOR
            if inner.rule == TAG and (said.speaker or not is_narrator):
                mention = _shift(inner.mention, start)
                if is_narrator:
                    # Who "I" is, is known where the speaker of the outer quotation is.
                    mention = max(mention, known_at, key=lambda span: span[1])
                spoken = replace(
                    inner,
                    quotation=quotation,
                    speaker=said.speaker if is_narrator else inner.speaker,
                    confidence=min(inner.confidence, said.confidence if is_narrator else 1),
                    addressee="",
                    evidence=_shift(inner.evidence, start),
                    mention=mention,
                )
            quoted_by = "" if said.is_doubtful else said.speaker
            quoted = replace(spoken, quoted_by=quoted_by, quoted_until=known_at[1])
            done[row] = replace(done[row], spoken=quoted)
    return done


def _containers(placed: Sequence[Placed]) -> Iterator[tuple[int, list[int]]]:
    """Each quotation that has others directly inside, with these, the outermost first."""
    inside: dict[int, list[int]] = {}
    open_rows: list[int] = []
    for row, item in enumerate(placed):
        quotation = item.spoken.quotation
        while open_rows and placed[open_rows[-1]].spoken.quotation.end < quotation.end:
            open_rows.pop()
        if quotation.depth and open_rows:
            inside.setdefault(open_rows[-1], []).append(row)
        open_rows.append(row)
    yield from sorted(inside.items())


def _shift(span: tuple[int, int], start: int) -> tuple[int, int]:
    return (span[0] + start, span[1] + start) if any(span) else span
