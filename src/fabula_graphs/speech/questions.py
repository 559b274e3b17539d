"""What a model is asked about speakers: prompt, schema, reader and placeholder.

Replies are not trusted: a speaker must be printed in the passages or be known by name, and the
words that are said to tell who speaks must stand in the text.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabula.errors import BadReply
from fabula.graph.extraction import (
    MALFORMED,
    MAX_NAME_CHARACTERS,
    OVERLONG,
    SURPLUS,
    UNPRINTED,
    ModelQuestion,
    Records,
    TextWindow,
)
from fabula.graphs.entities.names import lower_name
from fabula.models.replies import read_lists
from fabula.models.schemas import Filled, ReplyShape
from fabula_graphs.speech.labels import SPEAKERS
from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.values import Placed
from fabula_graphs.speech.words import FIRST, SpeechWords

PROMPTS = Path(__file__).parent / "prompts"
REPLY_TOKENS = 4000
"""Room for all that a reply may have."""
MISPLACED, REPEATED, PRONOUNS = "misplaced", "repeated", "pronouns"
"""Why a record is left out besides: it is of no quotation that was asked about, of one that was
answered, or names the speaker by a pronoun."""
UNPROVEN = "unproven"
"""Counts the words that are said to tell who speaks and are not in the text."""
MAX_WORDS_CHARACTERS = 300


class SpeakerShape(ReplyShape):
    """Who says a quotation."""

    quotation: int
    speaker: str | None
    addressee: str | None
    words: str | None


class SpeakersReply(ReplyShape):
    """Who says the quotations of some passages."""

    quotations: Filled[SpeakerShape]


@dataclass(frozen=True, slots=True)
class SpeakerRecord:
    """What a model said of the quotation that begins at an offset of a chunk; '' for nothing."""

    chunk: str
    offset: int
    speaker: str
    addressee: str = ""
    words: str = ""


def ask_speakers(
    placed: Sequence[Placed],
    persons: Persons,
    words: SpeechWords,
    means: Mapping[str, float],
) -> ModelQuestion[TextWindow, Records[SpeakerRecord]]:
    """Return the question who says each quotation of a window."""
    by_chunk: dict[str, list[Placed]] = defaultdict(list)
    for item in placed:
        if not item.spoken.quotation.depth:
            by_chunk[item.chunk].append(item)

    def of(window: TextWindow) -> list[Placed]:
        return [item for id in window.ids for item in by_chunk.get(id, ())]

    return ModelQuestion(
        step=SPEAKERS,
        prompt=PROMPTS / "speakers",
        values=lambda window: {
            "passages": _number(window, by_chunk),
            "count": len(of(window)),
        },
        schema=SpeakersReply,
        max_tokens=REPLY_TOKENS,
        read=lambda reply, window: read_speakers(reply, window, of(window), persons, words),
        placeholder=lambda window, _: expected_speakers(of(window), means),
    )


def _number(window: TextWindow, by_chunk: Mapping[str, Sequence[Placed]]) -> str:
    """The passages of a window with the number of each quotation before it, as (3)."""
    parts = [f"[before] {window.before}"] if window.before else []
    number = 0
    for row, chunk in enumerate(window.chunks, 1):
        pieces = []
        at = 0
        for item in sorted(by_chunk.get(chunk.id, ()), key=lambda item: item.offset):
            number += 1
            pieces += [chunk.text[at : item.offset], f"(#{number}) "]
            at = item.offset
        pieces.append(chunk.text[at:])
        parts.append(f"[{row}] {''.join(pieces).strip()}")
    return "\n\n".join(parts)


def read_speakers(
    reply: str,
    window: TextWindow,
    placed: Sequence[Placed],
    persons: Persons,
    words: SpeechWords,
) -> Records[SpeakerRecord]:
    """Return what a reply says of the quotations of a window, which it calls by numbers from 1.

    Raises:
        BadReply: It has no list of them, or says nothing that can be used of any.
    """
    items = read_lists(reply, ["quotations"])["quotations"]
    ordered = sorted(placed, key=lambda item: item.spoken.quotation.start)
    texts = " ".join(chunk.text for chunk in window.chunks)
    checker = _Checker(" ".join(f"{window.before} {texts}".split()), persons, words)
    limit = 2 * len(ordered) + 10
    checker.dropped[SURPLUS] = len(items[limit:])
    records: dict[int, SpeakerRecord] = {}
    for item in items[:limit]:
        number = item.get("quotation") if isinstance(item, dict) else None
        if not isinstance(number, int) or isinstance(number, bool):
            checker.dropped[MALFORMED] += 1
        elif not 1 <= number <= len(ordered):
            checker.dropped[MISPLACED] += 1
        elif number in records:
            checker.dropped[REPEATED] += 1
        elif record := checker.read(item, ordered[number - 1]):
            records[number] = record
    if ordered and not records:
        raise BadReply(f"Nothing usable is said of any of the quotations 1 to {len(ordered)}.")
    kept = tuple(records[number] for number in sorted(records))
    return Records(kept, +checker.dropped)


@dataclass(frozen=True, slots=True)
class _Checker:
    """Checks answers against the words of a window, and counts what is left out."""

    printed: str
    persons: Persons
    words: SpeechWords
    dropped: Counter[str] = field(default_factory=Counter)

    def read(self, item: Mapping[str, Any], placed: Placed) -> SpeakerRecord | None:
        """Return the record of an answer; None if its speaker can't be used."""
        speaker = _line(item.get("speaker"))
        said = self.words.pronouns.get(speaker.casefold())
        if not speaker:
            # That nobody can be named is an answer, too.
            return SpeakerRecord(placed.chunk, placed.offset, "")
        if len(speaker) > MAX_NAME_CHARACTERS:
            self.dropped[OVERLONG] += 1
            return None
        if said is not None and said != FIRST:
            self.dropped[PRONOUNS] += 1
            return None
        if not self._is_known(speaker):
            self.dropped[UNPRINTED] += 1
            return None
        addressee, proof = _line(item.get("addressee")), _line(item.get("words"))
        is_pronoun = addressee.casefold() in self.words.pronouns
        if addressee and (is_pronoun or not self._is_known(addressee)):
            addressee = ""
            self.dropped[UNPROVEN] += 1
        if proof and (len(proof) > MAX_WORDS_CHARACTERS or proof not in self.printed):
            proof = ""
            self.dropped[UNPROVEN] += 1
        return SpeakerRecord(placed.chunk, placed.offset, speaker, addressee, proof)

    def _is_known(self, name: str) -> bool:
        """Whether a name is printed in the window as whole words, or that of a known person."""
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
        is_printed = re.search(pattern, self.printed, re.IGNORECASE)
        return bool(is_printed) or lower_name(name) in self.persons.keys


def expected_speakers(placed: Sequence[Placed], means: Mapping[str, float]) -> str:
    """Return a reply as a model may write it, as JSON: the speakers that the rules found."""
    share = means.get("mean_answered", 1.0)
    answered = placed[: max(1, round(share * len(placed)))] if placed else []
    ordered = sorted(answered, key=lambda item: item.spoken.quotation.start)
    quotations: list[dict[str, Any]] = [
        {
            "quotation": number,
            "speaker": item.spoken.speaker or None,
            "addressee": item.spoken.addressee or None,
            "words": "said",
        }
        for number, item in enumerate(ordered, 1)
    ]
    return json.dumps({"quotations": quotations}, ensure_ascii=False)


def _line(given: Any) -> str:
    return " ".join(given.split()).strip(' "“”„«».,;:') if isinstance(given, str) else ""
