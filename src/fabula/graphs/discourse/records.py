"""Records as replies have them: their shape, as a model is asked for it, and how they are read.

A reply is a stranger's: what is too long, too much, or of no passage or pair that was asked about
is left out, and counted by the reason.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, WithJsonSchema, create_model

from fabula.errors import BadReply
from fabula.graphs.discourse.normal import normal
from fabula.graphs.discourse.senses import Senses
from fabula.graphs.discourse.values import (
    ENTITY,
    EXPLICIT,
    IMPLICIT,
    NONE,
    SLOTS,
    Event,
    Link,
)
from fabula.models.replies import read_lists
from fabula.text.document import Chunk

MOST_EVENTS = 2
"""Of a passage."""
LONGEST, LONGEST_CONNECTIVE = 256, 60
"""Characters of a value, and of a connective: what is longer is none."""
MOST_RECORDS = 1_000
"""Of a reply that are looked at, whatever they are."""
MISPLACED, MALFORMED, OVERLONG, SURPLUS = "misplaced", "malformed", "overlong", "surplus"
UNLISTED, REPEATED = "unlisted", "repeated"
"""Why a record is left out."""
UNPRINTED, UNANSWERED = "unprinted", "unanswered"
"""Of links that are told to be explicit, and are not; and pairs of which nothing was said."""
_NOTHING = frozenset(
    ("none", "null", "nil", "n/a", "na", "unknown", "unspecified", "unclear", "not stated", "-")
)
_AROUND = " \t\n\"“”„«»'‘’.,;:"
_WORD = re.compile(r"\w")


class EventShape(BaseModel):
    """What happens in a passage."""

    model_config = ConfigDict(extra="forbid")

    part: int
    who: str | None
    predicate: str | None
    what: str | None
    when: str | None
    where: str | None
    why: str | None
    how: str | None


class EventsReply(BaseModel):
    """Events of some passages."""

    model_config = ConfigDict(extra="forbid")

    events: list[EventShape]


class LinkShape(BaseModel):
    """How a pair of passages hangs together."""

    model_config = ConfigDict(extra="forbid")

    pair: int
    relation: Literal["explicit", "implicit", "entity", "none"]
    sense: str
    connective: str | None


class LinksReply(BaseModel):
    """What holds between pairs of passages."""

    model_config = ConfigDict(extra="forbid")

    links: list[LinkShape]


@functools.cache
def links_reply(leaves: tuple[str, ...]) -> type[LinksReply]:
    """LinksReply whose schema tells an endpoint the closed list of senses."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(leaves)})]
    one = create_model("LinkShape", __base__=LinkShape, sense=(closed, ...))
    return create_model("LinksReply", __base__=LinksReply, links=(list[one], ...))


@dataclass(frozen=True, slots=True)
class Told:
    """What a reply says: events or links, how many records there were, and what was left out.

    `said` counts what was said of pairs: explicit, implicit, entity, none.
    """

    events: tuple[Event, ...] = ()
    links: tuple[Link, ...] = ()
    records: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    said: Mapping[str, int] = field(default_factory=dict)


def read_events(reply: str, chunks: Sequence[Chunk], language: str) -> Told:
    """At most two events of each passage, by its number from 1. Raises BadReply without a list."""
    given = read_lists(reply, ["events"])["events"]
    dropped: Counter[str] = Counter({SURPLUS: len(given[MOST_RECORDS:])})
    found: dict[str, list[Event]] = {}
    for one in given[:MOST_RECORDS]:
        if not isinstance(one, dict):
            dropped[MALFORMED] += 1
            continue
        part = whole(one.get("part"))
        if part is None or not 1 <= part <= len(chunks):
            dropped[MISPLACED] += 1
            continue
        slots = read_slots(one, language, dropped)
        own = found.setdefault(chunks[part - 1].id, [])
        if not slots:
            dropped[MALFORMED] += 1
        elif len(own) == MOST_EVENTS:
            dropped[SURPLUS] += 1
        elif any(other.slots == slots for other in own):
            dropped[REPEATED] += 1
        else:
            own.append(Event(chunks[part - 1].id, len(own), slots))
    events = [event for chunk in chunks for event in found.get(chunk.id, ())]
    return Told(tuple(events), (), len(given), +dropped)


def read_slots(given: Mapping[str, Any], language: str, dropped: Counter[str]) -> dict[str, str]:
    """What a record says, slot by slot, without what is null, "none" or nothing but articles."""
    found: dict[str, str] = {}
    for slot in SLOTS:
        value = _line(given.get(slot))
        if len(value) > LONGEST:
            dropped[OVERLONG] += 1
        elif value.casefold() not in _NOTHING and normal(value, language):
            found[slot] = value
    return found


def read_links(reply: str, pairs: Sequence[tuple[Chunk, Chunk]], senses: Senses) -> Told:
    """What a reply says of pairs, by their numbers from 1; of none and entity there is no link.

    What is told to be explicit is implicit where its connective is not printed. Raises BadReply
    where nothing is said of any pair.
    """
    given = read_lists(reply, ["links"])["links"]
    dropped: Counter[str] = Counter({SURPLUS: len(given[MOST_RECORDS:])})
    said: dict[int, str] = {}
    links: dict[int, Link] = {}
    for one in given[:MOST_RECORDS]:
        number = whole(one.get("pair")) if isinstance(one, dict) else None
        if number is None:
            dropped[MALFORMED] += 1
        elif not 1 <= number <= len(pairs):
            dropped[MISPLACED] += 1
        elif number in said:
            dropped[REPEATED] += 1
        else:
            relation = _line(one.get("relation")).casefold()
            path = senses.find(_line(one.get("sense"))[:LONGEST])
            if relation in (NONE, ENTITY):
                said[number] = relation
            elif relation not in (EXPLICIT, IMPLICIT):
                dropped[MALFORMED] += 1
            elif not senses.is_leaf(path):
                dropped[UNLISTED] += 1
            else:
                links[number] = _link(
                    pairs[number - 1], relation, path, one.get("connective"), dropped
                )
                said[number] = links[number].form
    if not said:
        raise BadReply(f"Nothing is said of any of the pairs 1 to {len(pairs)}.")
    dropped[UNANSWERED] += len(pairs) - len(said)
    return Told(
        (), tuple(links[n] for n in sorted(links)), len(given), +dropped, Counter(said.values())
    )


def _link(
    pair: tuple[Chunk, Chunk], form: str, sense: str, given: Any, dropped: Counter[str]
) -> Link:
    arg1, arg2 = pair
    connective = _line(given)
    if connective.casefold() in _NOTHING or len(connective) > LONGEST_CONNECTIVE:
        connective = ""
    if form == EXPLICIT and not _prints(f"{arg1.text} {arg2.text}", connective):
        dropped[UNPRINTED] += 1
        form = IMPLICIT
    return Link(arg1.id, arg2.id, sense, form, connective)


def _prints(text: str, connective: str) -> bool:
    """Whether a text has a connective; of one in two parts, as either..or, both."""
    parts = [part.strip() for part in re.split(r"\.{2,}|…", connective) if part.strip()]
    plain = " ".join(text.split())
    return bool(parts) and all(
        re.search(rf"\b{re.escape(part)}\b", plain, re.IGNORECASE) for part in parts
    )


def whole(given: Any) -> int | None:
    """A whole number, be it written as a text, as "2" or "[2]"; None for anything else."""
    if isinstance(given, bool):
        return None
    if isinstance(given, int):
        return given
    if isinstance(given, float) and given.is_integer():
        return int(given)
    digits = re.fullmatch(r"\W*(\d{1,9})\W*", given) if isinstance(given, str) else None
    return int(digits[1]) if digits else None


def _line(given: Any) -> str:
    line = " ".join(given.split()) if isinstance(given, str) else ""
    return line.strip(_AROUND) if _WORD.search(line) else ""
