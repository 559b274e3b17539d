"""What a model is asked about events and links: prompt, schema, reader and placeholder of each.

Replies are not trusted: what is too long, too much, or of no passage or pair that was asked about
is left out, and counted by the reason.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema, create_model

from fabula.errors import BadReply
from fabula.graph.demonstrations import Demonstrations
from fabula.graph.extraction import (
    MALFORMED,
    OVERLONG,
    SURPLUS,
    UNPRINTED,
    ModelQuestion,
    Record,
    Records,
    TextWindow,
)
from fabula.models.prompts import number_texts
from fabula.models.replies import is_empty_value, read_lists
from fabula.models.schemas import ReplyShape
from fabula.text.document import Chunk
from fabula_graphs.discourse.labels import EVENTS, LINKS, SLOTS
from fabula_graphs.discourse.normal import normal
from fabula_graphs.discourse.printed import EntityPlaces, WindowText
from fabula_graphs.discourse.senses import Senses
from fabula_graphs.discourse.values import ENTITY, EXPLICIT, IMPLICIT, NONE, RESOLVED, Event, Link

PROMPTS = Path(__file__).parent / "prompts"
REPLY_TOKENS = 3000
"""Room for all that a reply may have."""
MAX_EVENTS = 2
"""Events of one passage."""
MAX_VALUE_CHARACTERS, MAX_CONNECTIVE_CHARACTERS = 256, 60
"""Longer values and connectives are none."""
MAX_RECORDS = 1_000
"""Records of a reply that are read at all."""
MISPLACED, UNLISTED, REPEATED = "misplaced", "unlisted", "repeated"
"""Why a record is left out besides: it is of no passage or pair that was asked about, its sense is
not listed, or it says the same as another."""
INVENTED, NAMELESS = "invented", "nameless"
"""Why an event is left out, or its who or where: the text does not print them, and in the first
case nothing else of the event either."""
MIN_WORDS_ELSEWHERE = 2
"""Words of an event that another passage has to print, and its own none of them, for it to be taken
for the event of that one."""
UNANSWERED = "unanswered"
"""Counts the pairs that a reply does not mention."""
USUAL = {"mean_events": 1.5, "mean_slots": 4.0, "mean_words": 2.5, "mean_linked": 0.5}
"""What a dry run assumes of a model that wrote nothing yet: events of a passage, slots of an event
that have a value, words of each, and the share of pairs that it links."""
_AROUND = " \t\n\"“”„«»'‘’.,;:"
_WORD, _LONG_WORD = re.compile(r"\w"), re.compile(r"\w{3,}")

Pair = tuple[Chunk, Chunk]


class EventShape(ReplyShape):
    """What happens in a passage."""

    part: int
    who: str | None
    predicate: str | None
    what: str | None
    when: str | None
    where: str | None
    why: str | None
    how: str | None


class EventsReply(ReplyShape):
    """Events of some passages."""

    events: list[EventShape]


class LinkShape(ReplyShape):
    """How a pair of passages hangs together."""

    pair: int
    relation: Literal["explicit", "implicit", "entity", "none"]
    sense: str
    connective: str | None


class LinksReply(ReplyShape):
    """What holds between pairs of passages."""

    links: list[LinkShape]


@functools.cache
def links_reply(leaves: tuple[str, ...]) -> type[LinksReply]:
    """Return LinksReply with the closed list of senses in its schema."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(leaves)})]
    shape = create_model("LinkShape", __base__=LinkShape, sense=(closed, ...))
    return create_model("LinksReply", __base__=LinksReply, links=(list[shape], ...))


@dataclass(frozen=True)
class DiscourseRecords(Records[Record]):
    """Events or links of a reply.

    Attributes:
        listed: How many records the reply had.
        forms: How often it called a pair explicit, implicit, entity or none.
    """

    listed: int = 0
    forms: Mapping[str, int] = field(default_factory=dict)


# Events


def ask_events(
    language: str, means: Mapping[str, float], demonstrations: Demonstrations, places: EntityPlaces
) -> ModelQuestion[TextWindow, DiscourseRecords[Event]]:
    """Return the question what happens in each passage of a window."""
    return ModelQuestion(
        step=EVENTS,
        prompt=PROMPTS / "events",
        values=TextWindow.values,
        system_values={
            "text": demonstrations.text,
            "whole": demonstrations.whole,
            **demonstrations.values("events", EventsReply),
        },
        schema=EventsReply,
        max_tokens=REPLY_TOKENS,
        read=lambda reply, window: read_events(reply, WindowText(window, language, places)),
        placeholder=lambda window, _: expected_events(window, {**USUAL, **means}),
    )


def read_events(reply: str, text: WindowText) -> DiscourseRecords[Event]:
    """Return at most two events of each passage, which replies call by numbers from 1.

    Whoever or wherever the window does not print is left out, and the whole event if the window
    prints nothing else of it. An event that only another passage prints is of that one.

    Raises:
        BadReply: It has no list of events.
    """
    items = read_lists(reply, ["events"])["events"]
    chunks = text.window.chunks
    dropped: Counter[str] = Counter({SURPLUS: len(items[MAX_RECORDS:])})
    by_chunk: dict[str, list[Event]] = {}
    for item in items[:MAX_RECORDS]:
        if not isinstance(item, dict):
            dropped[MALFORMED] += 1
            continue
        part = read_number(item.get("part"))
        if part is None or not 1 <= part <= len(chunks):
            dropped[MISPLACED] += 1
            continue
        values = read_slots(item, text.language, dropped)
        slots = _printed_slots(values, text, dropped)
        chunk = _chunk_of(slots, chunks[part - 1], text)
        events = by_chunk.setdefault(chunk.id, [])
        if not slots:
            dropped[MALFORMED] += not values
        elif len(events) == MAX_EVENTS:
            dropped[SURPLUS] += 1
        elif any(event.slots == slots for event in events):
            dropped[REPEATED] += 1
        else:
            events.append(Event(chunk.id, len(events), slots))
    ordered = [event for chunk in chunks for event in by_chunk.get(chunk.id, ())]
    return DiscourseRecords(tuple(ordered), +dropped, len(items))


def read_slots(item: Mapping[str, Any], language: str, dropped: Counter[str]) -> dict[str, str]:
    """Return the values of a record by slot, without null, "none" and mere articles."""
    slots: dict[str, str] = {}
    for slot in SLOTS:
        value = _line(item.get(slot))
        if len(value) > MAX_VALUE_CHARACTERS:
            dropped[OVERLONG] += 1
        elif not is_empty_value(value, language) and normal(value, language):
            slots[slot] = value
    return slots


def _printed_slots(
    slots: Mapping[str, str], text: WindowText, dropped: Counter[str]
) -> dict[str, str]:
    """The values of an event that the text bears out; none if it bears out nothing."""
    unprinted = [slot for slot in RESOLVED if slot in slots and not text.prints(slots[slot])]
    if not unprinted:
        return dict(slots)
    rest = {slot: value for slot, value in slots.items() if slot not in unprinted}
    is_told = any(map(text.prints, rest.values()))
    dropped[NAMELESS if is_told else INVENTED] += 1
    return rest if is_told else {}


def _chunk_of(slots: Mapping[str, str], stated: Chunk, text: WindowText) -> Chunk:
    """Return the passage of an event: the one the reply names, unless only another prints it."""
    if len(text.window.chunks) == 1:
        return stated
    # A passage may have a pronoun for who acts, and another form of the verb.
    values = [value for slot, value in slots.items() if slot not in ("who", "predicate")]

    def count(chunk: Chunk) -> int:
        return sum(text.holds(value, chunk) for value in values)

    best = max((stated, *text.window.chunks), key=count)
    return best if not count(stated) and count(best) >= MIN_WORDS_ELSEWHERE else stated


def expected_events(window: TextWindow, means: Mapping[str, float]) -> str:
    """Return as many events as are expected, as JSON; their values are words of the passages."""
    count = round(means["mean_events"] * len(window.chunks))
    filled = max(1, min(len(SLOTS), round(means["mean_slots"])))
    size = max(1, round(means["mean_words"]))
    events = []
    for place in range(count):
        # The first event of each passage, then the second ones.
        turn, row = divmod(place, len(window.chunks))
        words = _LONG_WORD.findall(window.chunks[row].text) or ["nothing"]
        values: list[str | None] = [
            " ".join(words[(turn + slot * size + word) % len(words)] for word in range(size))
            for slot in range(filled)
        ]
        values += [None] * (len(SLOTS) - filled)
        events.append({"part": row + 1, **dict(zip(SLOTS, values, strict=True))})
    return json.dumps({"events": events}, ensure_ascii=False)


# Links


def ask_links(
    senses: Senses, language: str, means: Mapping[str, float], demonstrations: Demonstrations
) -> ModelQuestion[Sequence[Pair], DiscourseRecords[Link]]:
    """Return the question how the chunks of each pair hang together.

    It goes to the model for judgements: the published system asks a stronger model for relations
    than for events.
    """
    leaves = senses.leaves
    return ModelQuestion(
        step=LINKS,
        prompt=PROMPTS / "links",
        values=lambda pairs: {
            "senses": "\n".join(f"- {sense.path}: {sense.about}" for sense in leaves),
            **_pair_values(pairs),
        },
        system_values={
            "text": demonstrations.text,
            **demonstrations.values(
                "links", LinksReply, adapt=lambda reply: _with_senses_of(reply, senses)
            ),
        },
        schema=links_reply(tuple(sense.path for sense in leaves)),
        max_tokens=REPLY_TOKENS,
        read=lambda reply, pairs: read_links(reply, pairs, senses, language),
        placeholder=lambda pairs, _: expected_links(len(pairs), leaves[0].path, {**USUAL, **means}),
        role="aspect_model",
    )


def _with_senses_of(reply: str, senses: Senses) -> str:
    """A demonstration's reply with the nearest senses of another set."""
    value = json.loads(reply)
    for link in value["links"]:
        path = senses.find(link["sense"])
        link["sense"] = path if senses.is_leaf(path) else senses.nearest_leaf(link["sense"])
    return json.dumps(value, ensure_ascii=False)


def chunk_ids(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Return the ids of the chunks of some pairs, each once."""
    return tuple(dict.fromkeys(chunk.id for pair in pairs for chunk in pair))


def _pair_values(pairs: Sequence[Pair]) -> dict[str, str]:
    """Each chunk once, with its number, and the pairs by these numbers."""
    texts = {chunk.id: chunk.text.strip() for pair in pairs for chunk in pair}
    numbers = {id: number for number, id in enumerate(texts, 1)}
    return {
        "passages": "\n\n".join(number_texts(texts.values())),
        "pairs": "\n".join(
            f"{number}: Arg1 is [{numbers[arg1.id]}], Arg2 is [{numbers[arg2.id]}]"
            for number, (arg1, arg2) in enumerate(pairs, 1)
        ),
    }


def read_links(
    reply: str, pairs: Sequence[Pair], senses: Senses, language: str
) -> DiscourseRecords[Link]:
    """Return the links of pairs, which replies call by numbers from 1.

    Pairs that are called `none` or `entity` have no link. One that is called explicit is implicit
    if its connective is not printed.

    Raises:
        BadReply: It says nothing of any pair.
    """
    items = read_lists(reply, ["links"])["links"]
    dropped: Counter[str] = Counter({SURPLUS: len(items[MAX_RECORDS:])})
    forms: dict[int, str] = {}
    links: dict[int, Link] = {}
    for item in items[:MAX_RECORDS]:
        number = read_number(item.get("pair")) if isinstance(item, dict) else None
        if number is None:
            dropped[MALFORMED] += 1
        elif not 1 <= number <= len(pairs):
            dropped[MISPLACED] += 1
        elif number in forms:
            dropped[REPEATED] += 1
        else:
            form = _line(item.get("relation")).casefold()
            path = senses.find(_line(item.get("sense"))[:MAX_VALUE_CHARACTERS])
            if form in (NONE, ENTITY):
                forms[number] = form
            elif form not in (EXPLICIT, IMPLICIT):
                dropped[MALFORMED] += 1
            elif not senses.is_leaf(path):
                dropped[UNLISTED] += 1
            else:
                link = _link(
                    pairs[number - 1], form, path, item.get("connective"), language, dropped
                )
                links[number], forms[number] = link, link.form
    if not forms:
        raise BadReply(f"Nothing is said of any of the pairs 1 to {len(pairs)}.")
    dropped[UNANSWERED] += len(pairs) - len(forms)
    ordered = tuple(links[number] for number in sorted(links))
    return DiscourseRecords(ordered, +dropped, len(items), Counter(forms.values()))


def _link(
    pair: Pair, form: str, sense: str, given: Any, language: str, dropped: Counter[str]
) -> Link:
    arg1, arg2 = pair
    connective = _line(given)
    if is_empty_value(connective, language) or len(connective) > MAX_CONNECTIVE_CHARACTERS:
        connective = ""
    if form == EXPLICIT and not _prints(f"{arg1.text} {arg2.text}", connective):
        dropped[UNPRINTED] += 1
        form = IMPLICIT
    return Link(arg1.id, arg2.id, sense, form, connective)


def _prints(text: str, connective: str) -> bool:
    """Whether a text has a connective; of one in two parts, such as either..or, both."""
    parts = [part.strip() for part in re.split(r"\.{2,}|…", connective) if part.strip()]
    plain = " ".join(text.split())
    return bool(parts) and all(
        re.search(rf"\b{re.escape(part)}\b", plain, re.IGNORECASE) for part in parts
    )


def expected_links(pairs: int, sense: str, means: Mapping[str, float]) -> str:
    """Return as many links as are expected, one item a pair, as JSON."""
    linked = round(means["mean_linked"] * pairs)
    links = [
        {
            "pair": number,
            "relation": IMPLICIT if number <= linked else ENTITY,
            "sense": sense,
            "connective": "then" if number <= linked else None,
        }
        for number in range(1, pairs + 1)
    ]
    return json.dumps({"links": links}, ensure_ascii=False)


def read_number(given: Any) -> int | None:
    """Return a whole number, also one written as a text ("2", "[2]"); None for anything else."""
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
